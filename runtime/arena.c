/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - lists and tables in shared memory, without locks.
 *
 * Taking from a list: read the head (count 5, chunk 2), read 2's next, say 9, and exchange the
 * head for (count 6, chunk 9) if it is still (5, 2).  Tables only grow: an entry is filled, marked
 * ready, and then found through its index.  Two threads that add the same function at once make
 * two entries, of which the index knows one.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "runtime/arena.h"

#define LOAD(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define STORE(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)

/*
 * mmap() alone knows pages only.  So a place is taken that is a chunk too large, the file is put where a chunk may
 * begin in it, and what is left on both sides is given back:
 *
 *	0x7f0000001000 ... | 0x7f0000004000 the file ... | 0x7f0008004000 ... 0x7f0008005000
 */
void *arena_map_file(int fd, size_t bytes)
{
	size_t whole = (bytes + VPROF_CHUNK_BYTES - 1) / VPROF_CHUNK_BYTES * VPROF_CHUNK_BYTES;
	char *place = mmap(NULL, whole + VPROF_CHUNK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before = -(uintptr_t)place % VPROF_CHUNK_BYTES;
	void *base;
	int r;

	if (place == MAP_FAILED)
		return MAP_FAILED;
	base = mmap(place + before, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	r = errno;
	if (base == MAP_FAILED) {
		munmap(place, whole + VPROF_CHUNK_BYTES);
	} else {
		if (before)
			munmap(place, before);
		munmap(place + before + whole, VPROF_CHUNK_BYTES - before);
	}
	errno = r;
	return base;
}

static bool part_fits(uint64_t offset, uint64_t bytes, size_t all)
{
	return offset % 64 == 0 && offset <= all && bytes <= all - offset;
}

bool arena_open_map(struct arena_map *a, void *base, size_t bytes)
{
	struct arena_control copy, *c = &copy;

	if (bytes < sizeof(*c))
		return false;
	memcpy(c, base, sizeof(*c));	/* it may change between two looks */
	if (LOAD(&c->magic) != ARENA_MAGIC || c->bytes != bytes ||
	    !part_fits(c->slots, sizeof(struct arena_slot) * ARENA_SLOTS, bytes) ||
	    !part_fits(c->stacks, (uint64_t)VPROF_STACK_BYTES * ARENA_SLOTS, bytes) ||
	    !part_fits(c->functions, sizeof(struct arena_function) * ARENA_FUNCTIONS, bytes) ||
	    !part_fits(c->index, sizeof(uint32_t) * ARENA_INDEX, bytes) ||
	    !part_fits(c->labels, sizeof(struct arena_label) * ARENA_LABELS, bytes) ||
	    !part_fits(c->text, ARENA_TEXT_BYTES, bytes) ||
	    !part_fits(c->plan, sizeof(struct arena_plan) * ((uint64_t)c->plan_mask + 1), bytes) ||
	    !part_fits(c->links, sizeof(uint64_t) * ((uint64_t)c->chunk_cnt + 1), bytes) ||
	    !part_fits(c->releasers, sizeof(struct arena_bucket) * ARENA_BUCKETS, bytes) ||
	    !part_fits(c->waiters, sizeof(uint32_t) * ARENA_WAITERS, bytes) ||
	    !part_fits(c->places, sizeof(uint32_t) * ARENA_PLACES, bytes) ||
	    !part_fits(c->lots, 2 * sizeof(uint64_t) * ARENA_LOTS, bytes) ||
	    !part_fits(c->chunks, (uint64_t)VPROF_CHUNK_BYTES * c->chunk_cnt, bytes))
		return false;
	a->base = base;
	a->control = base;
	a->chunks = a->base + c->chunks;
	a->stacks = a->base + c->stacks;
	a->chunk_cnt = c->chunk_cnt;
	a->plan_mask = c->plan_mask;
	a->slots = (struct arena_slot *)(a->base + c->slots) - 1;
	a->links = (uint64_t *)(a->base + c->links);
	a->functions = (struct arena_function *)(a->base + c->functions);
	a->index = (uint32_t *)(a->base + c->index);
	a->labels = (struct arena_label *)(a->base + c->labels);
	a->text = a->base + c->text;
	a->plan = (struct arena_plan *)(a->base + c->plan);
	a->releasers = (struct arena_bucket *)(a->base + c->releasers);
	a->waiters = (uint32_t *)(a->base + c->waiters);
	a->places = (uint32_t *)(a->base + c->places);
	a->lots = (uint64_t *)(a->base + c->lots);
	return true;
}

static void list_push(uint64_t *head, uint64_t *next, uint32_t number)
{
	uint64_t old = LOAD(head), new;

	do {
		__atomic_store_n(next, old & UINT32_MAX, __ATOMIC_RELAXED);
		new = (old & ~(uint64_t)UINT32_MAX) + (1ULL << 32) + number;
	} while (!__atomic_compare_exchange_n(head, &old, new, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
}

/* The caller will write there at once; the line is in the cache of the drainer's processor, or further away. */
static void prefetch_to_write(const void *at)
{
#ifdef __x86_64__
	__asm__ __volatile__("prefetchw %0" : : "m"(*(const char *)at));	/* gcc asks to read, without -mprfchw */
#else
	__builtin_prefetch(at, 1);
#endif
}

uint32_t arena_take_chunk(const struct arena_map *a)
{
	uint64_t *head = &a->control->free_chunks, old = LOAD(head), new;

	do {
		if (!(uint32_t)old || (uint32_t)old > a->chunk_cnt)
			return 0;
		prefetch_to_write(arena_chunk(a, (uint32_t)old));
		new = (old & ~(uint64_t)UINT32_MAX) + (1ULL << 32) +
		      (uint32_t)LOAD(&a->links[(uint32_t)old]);
	} while (!__atomic_compare_exchange_n(head, &old, new, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	__atomic_fetch_sub(&a->control->free_cnt, 1, __ATOMIC_RELAXED);
	return (uint32_t)old;
}

void arena_give_chunk(const struct arena_map *a, uint32_t number)
{
	__atomic_fetch_add(&a->control->free_cnt, 1, __ATOMIC_RELAXED);
	list_push(&a->control->free_chunks, &a->links[number], number);
}

void arena_fill_chunk(const struct arena_map *a, uint32_t number)
{
	STORE(&arena_chunk(a, number)->state, CHUNK_FULL);
	list_push(&a->control->full_chunks, &a->links[number], number);
}

uint32_t arena_take_full(const struct arena_map *a)
{
	uint64_t *head = &a->control->full_chunks, old = LOAD(head);

	while (!__atomic_compare_exchange_n(head, &old, (old & ~(uint64_t)UINT32_MAX) + (1ULL << 32),
					    true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return (uint32_t)old;
}

uint32_t arena_take_slot(const struct arena_map *a)
{
	uint64_t *head = &a->control->free_slots, old = LOAD(head), new;

	do {
		if (!(uint32_t)old || (uint32_t)old > ARENA_SLOTS)
			return 0;
		new = (old & ~(uint64_t)UINT32_MAX) + (1ULL << 32) +
		      (uint32_t)LOAD(&a->slots[(uint32_t)old].next);
	} while (!__atomic_compare_exchange_n(head, &old, new, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	return (uint32_t)old;
}

void arena_give_slot(const struct arena_map *a, uint32_t number)
{
	STORE(&a->slots[number].used, 0);
	list_push(&a->control->free_slots, &a->slots[number].next, number);
}

/* Offset of a copy of s; 0 (the empty string) if there is no room. */
static uint32_t add_text(const struct arena_map *a, const char *s)
{
	size_t bytes = strlen(s) + 1;
	uint64_t at = LOAD(&a->control->text_used);

	do {
		if (at > ARENA_TEXT_BYTES || bytes > ARENA_TEXT_BYTES - at)
			return 0;
	} while (!__atomic_compare_exchange_n(&a->control->text_used, &at, at + bytes, true,
					      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	memcpy(a->text + at, s, bytes);
	return (uint32_t)at;
}

static uint32_t take_number(uint32_t *cnt, uint32_t limit)
{
	uint32_t number = LOAD(cnt);

	do {
		if (number + 1 >= limit)
			return 0;
	} while (!__atomic_compare_exchange_n(cnt, &number, number + 1, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	return number + 1;
}

/* Two processes may be at the same function: whoever comes second finds the other's number and leaves its own
 * without a name, or the trace would have two functions of one name. */
static uint32_t add_function(const struct arena_map *a, uint32_t *entry, const struct vprof_site *site,
			     uint32_t level)
{
	uint32_t fid = take_number(&a->control->function_cnt, ARENA_FUNCTIONS), found = 0;
	struct arena_function *f = &a->functions[fid];

	if (!fid)
		return 0;
	*f = (struct arena_function){ .key = site->key, .name = add_text(a, site->name),
				      .file = add_text(a, site->file), .line = site->line, .level = level };
	if (!__atomic_compare_exchange_n(entry, &found, fid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
	    a->functions[found % ARENA_FUNCTIONS].key == site->key) {
		*f = (struct arena_function){ .key = 0 };
		STORE(&f->ready, 1);
		return found;
	}
	STORE(&f->ready, 1);
	return fid;
}

uint32_t arena_function(const struct arena_map *a, const struct vprof_site *site, uint32_t level)
{
	uint32_t found, own = 0;

	for (uint64_t at = arena_hash(site->key);; at++) {
		uint32_t *entry = &a->index[at % ARENA_INDEX];

		found = LOAD(entry);
		if (!found && !own) {
			own = add_function(a, entry, site, level);
			found = LOAD(entry);
			if (!own || own == found)
				return own;
		} else if (!found && __atomic_compare_exchange_n(entry, &found, own, false, __ATOMIC_ACQ_REL,
								 __ATOMIC_ACQUIRE)) {
			return own;
		}
		if (a->functions[found % ARENA_FUNCTIONS].key == site->key)
			return found;
	}
}

static bool is_text(const struct arena_map *a, uint32_t at, const char *s)
{
	size_t bytes = strlen(s) + 1;

	return at <= ARENA_TEXT_BYTES && bytes <= ARENA_TEXT_BYTES - at && !memcmp(a->text + at, s, bytes);
}

/* Its place is taken by the text itself, so whoever finds that has all of it, and sees to it that the drainer does. */
static void publish_label(const struct arena_map *a, uint32_t id)
{
	uint32_t *cnt = &a->control->label_cnt, before = LOAD(cnt);

	while (before < id && !__atomic_compare_exchange_n(cnt, &before, id, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	STORE(&a->labels[id].ready, 1);
}

/* Two threads may be at the same name: places are taken in order, so whoever comes second finds the first's number, and leaves its
 * own copy of the text unused.  With two numbers, who resumes an interval would not find its lot, nor END its BEGIN. */
uint32_t arena_label(const struct arena_map *a, const char *name)
{
	uint32_t text = 0;

	for (uint32_t id = 1; id < ARENA_LABELS; id++) {
		uint32_t *place = &a->labels[id].name, taken = LOAD(place);

		if (!taken && !text) {
			text = add_text(a, name);
			if (!text)
				return 0;
		}
		if (!taken && __atomic_compare_exchange_n(place, &taken, text, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			taken = text;
		if (!LOAD(&a->labels[id].ready))
			publish_label(a, id);
		if (taken == text || is_text(a, taken, name))
			return id;
	}
	return 0;
}

uint32_t arena_level(const struct arena_map *a, uint64_t key)
{
	uint32_t mask = a->plan_mask;

	for (uint64_t at = arena_hash(key);; at++) {
		const struct arena_plan *p = &a->plan[at & mask];

		if (p->key == key && key)
			return (uint32_t)p->level;
		if (!p->key)
			return a->control->default_level;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - lists and tables in shared memory, without locks.
 *
 * Taking from a list: read the head (count 5, chunk 2), read 2's next, say 9, and exchange the
 * head for (count 6, chunk 9) if it is still (5, 2).  Tables only grow.  A function's entry is filled,
 * put at the head of a list, and marked ready.  Two threads that add the same function at once make two entries, of which
 * the list has one.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "runtime/shared/arena.h"

enum { PAGE = 4096 };			/* where pages are larger, some are checked twice */

#define LOAD(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define STORE(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)

/*
 * mmap() alone aligns to pages only.  So a range that is one chunk too large is reserved, the file is mapped
 * at the first multiple of a chunk in it, and the rest on both sides is unmapped:
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
	memcpy(c, base, sizeof(*c));	/* it may change between two reads */
	if (LOAD(&c->magic) != ARENA_MAGIC || c->bytes != bytes ||
	    !part_fits(c->slots, sizeof(struct arena_slot) * ARENA_SLOTS, bytes) ||
	    !part_fits(c->stacks, (uint64_t)VPROF_STACK_BYTES * ARENA_SLOTS, bytes) ||
	    !part_fits(c->functions, sizeof(struct arena_function) * ARENA_FUNCTIONS, bytes) ||
	    !part_fits(c->heads, sizeof(uint32_t) * ARENA_HEADS, bytes) ||
	    !part_fits(c->index, sizeof(uint32_t) * ARENA_INDEX, bytes) ||
	    !part_fits(c->labels, sizeof(struct arena_label) * ARENA_LABELS, bytes) ||
	    !part_fits(c->text, ARENA_TEXT_BYTES, bytes) ||
	    !part_fits(c->plan, sizeof(struct arena_plan) * ((uint64_t)c->plan_mask + 1), bytes) ||
	    !part_fits(c->links, sizeof(uint64_t) * ((uint64_t)c->chunk_cnt + 1), bytes) ||
	    !part_fits(c->releasers, sizeof(struct arena_bucket) * ARENA_BUCKETS, bytes) ||
	    !part_fits(c->waiters, sizeof(uint32_t) * ARENA_WAITERS, bytes) ||
	    !part_fits(c->places, sizeof(uint32_t) * ARENA_PLACES, bytes) ||
	    !part_fits(c->lots, 2 * sizeof(uint64_t) * ARENA_LOTS, bytes) ||
	    !part_fits(c->opened, sizeof(struct arena_opened) * ARENA_OPENED, bytes) ||
	    !part_fits(c->callers, sizeof(struct arena_caller) * ARENA_CALLERS, bytes) ||
	    !part_fits(c->modules, sizeof(struct arena_module) * ARENA_MODULES, bytes) ||
	    !part_fits(c->stamp_maxima, sizeof(arena_maxima) * ARENA_BUCKETS, bytes) ||
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
	a->heads = (uint32_t *)(a->base + c->heads);
	a->index = (uint32_t *)(a->base + c->index);
	a->labels = (struct arena_label *)(a->base + c->labels);
	a->text = a->base + c->text;
	a->plan = (struct arena_plan *)(a->base + c->plan);
	a->releasers = (struct arena_bucket *)(a->base + c->releasers);
	a->waiters = (uint32_t *)(a->base + c->waiters);
	a->places = (uint32_t *)(a->base + c->places);
	a->lots = (uint64_t *)(a->base + c->lots);
	a->opened = (struct arena_opened *)(a->base + c->opened);
	a->callers = (struct arena_caller *)(a->base + c->callers);
	a->modules = (struct arena_module *)(a->base + c->modules);
	a->stamp_maxima = (arena_maxima *)(a->base + c->stamp_maxima);
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

/* The caller is about to write there; the line is in the cache of the drainer's processor, or farther away. */
static void prefetch_to_write(const void *at)
{
#ifdef __x86_64__
	__asm__ __volatile__("prefetchw %0" : : "m"(*(const char *)at));	/* without -mprfchw, gcc emits
										 * a prefetch for reading */
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

/*
 * Whether there is memory for a range that only the caller will write; it starts at a multiple of 8 and has
 * at least 8 bytes.  The first write to a page for which there is no memory would kill the process (SIGBUS).
 * If the kernel writes there first, it returns an error instead.
 */
static bool has_memory(char *at, size_t bytes)
{
	for (char *end = at + bytes; at < end; at = (char *)(((uintptr_t)at | (PAGE - 1)) + 1))
		if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, at, sizeof(uint64_t)))
			return false;
	return true;
}

/* Offset of a copy of s; 0 (the empty string) if there is no room. */
static uint32_t add_text(const struct arena_map *a, const char *s)
{
	size_t len = strlen(s), bytes = (len + 8) & ~(size_t)7;
	uint64_t at = LOAD(&a->control->text_used);
	int saved_errno = errno;
	bool room = true;

	do {
		if (at > ARENA_TEXT_BYTES || bytes > ARENA_TEXT_BYTES - at || at % 8) {
			arena_count_dropped(a, TABLE_TEXT);
			return 0;
		}
	} while (!__atomic_compare_exchange_n(&a->control->text_used, &at, at + bytes, true,
					      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	if (at + bytes > ARENA_TEXT_FIRST)
		room = has_memory(a->text + at, bytes);
	errno = saved_errno;
	if (!room) {
		arena_count_dropped(a, TABLE_TEXT);
		return 0;
	}
	memcpy(a->text + at, s, len + 1);
	return (uint32_t)at;
}

static bool is_text(const struct arena_map *a, uint32_t at, const char *s)
{
	size_t bytes = strlen(s) + 1;

	return at <= ARENA_TEXT_BYTES && bytes <= ARENA_TEXT_BYTES - at && !memcmp(a->text + at, s, bytes);
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

/* Functions of a unit are added in sequence and mostly come from one file, whose name is stored once. */
static uint32_t add_file(const struct arena_map *a, uint32_t fid, const char *file)
{
	const struct arena_function *before = &a->functions[fid - 1];

	return LOAD(&before->ready) && before->file && is_text(a, before->file, file) ? before->file : add_text(a, file);
}

static uint32_t add_function(const struct arena_map *a, const struct vprof_site *site, uint32_t level)
{
	uint32_t fid = take_number(&a->control->function_cnt, ARENA_FUNCTIONS);
	struct arena_function *f = &a->functions[fid];
	int saved_errno = errno;
	bool room = fid && (fid < ARENA_FUNCTIONS_FIRST || has_memory((char *)f, sizeof(*f)));

	errno = saved_errno;
	if (!room) {
		arena_count_dropped(a, TABLE_FUNCTIONS);
		return 0;
	}
	*f = (struct arena_function){ .key = site->key, .name = add_text(a, site->name),
				      .file = add_file(a, fid, site->file), .line = site->line, .level = level };
	return fid;
}

/* Searches the list that begins with first; 0: not found. */
static uint32_t find_function(const struct arena_map *a, uint32_t first, uint64_t key)
{
	uint32_t steps = ARENA_FUNCTIONS;	/* other processes may have written anything */

	for (uint32_t fid = first; fid && fid < ARENA_FUNCTIONS && --steps; fid = a->functions[fid].next)
		if (a->functions[fid].key == key)
			return fid;
	return 0;
}

/* Two processes may add the same function at once: the second finds the number of the first and leaves its
 * own entry without a name, or the trace would have two functions of one name. */
uint32_t arena_function(const struct arena_map *a, const struct vprof_site *site, uint32_t level)
{
	uint32_t *head = &a->heads[arena_hash(site->key) % ARENA_HEADS];
	uint32_t first = LOAD(head), found = find_function(a, first, site->key), own;
	struct arena_function *f;

	if (found)
		return found;
	own = add_function(a, site, level);
	if (!own)
		return 0;
	f = &a->functions[own];
	do {
		f->next = first;
	} while (!__atomic_compare_exchange_n(head, &first, own, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
		 !(found = find_function(a, first, site->key)));
	if (found)
		*f = (struct arena_function){ .key = 0 };
	STORE(&f->ready, 1);
	return found ? found : own;
}

static uint32_t *index_of(const struct arena_map *a, const char *name, size_t most)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	while (most-- && *name)
		hash = (hash ^ (unsigned char)*name++) * 0x100000001b3ULL;
	return &a->index[arena_hash(hash) % ARENA_INDEX];
}

static uint32_t *next_in_index(const struct arena_map *a, uint32_t *entry)
{
	return entry + 1 < a->index + ARENA_INDEX ? entry + 1 : a->index;
}

/* The text itself claims the place, so a thread that finds it has the whole label, and makes sure that the
 * drainer and other threads find it, too.  There is exactly one place in the index for it. */
static void publish_label(const struct arena_map *a, uint32_t id)
{
	uint32_t *cnt = &a->control->label_cnt, before = LOAD(cnt), name = LOAD(&a->labels[id].name);
	uint32_t *entry = index_of(a, a->text + name, name < ARENA_TEXT_BYTES ? ARENA_TEXT_BYTES - name : 0), steps = ARENA_INDEX;

	for (uint32_t taken = 0; !__atomic_compare_exchange_n(entry, &taken, id, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
				 taken != id && --steps; taken = 0)
		entry = next_in_index(a, entry);
	while (before < id && !__atomic_compare_exchange_n(cnt, &before, id, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	STORE(&a->labels[id].ready, 1);
}

/* Searches the labels in the index. */
static uint32_t find_label(const struct arena_map *a, const char *name)
{
	uint32_t *entry = index_of(a, name, SIZE_MAX), steps = ARENA_INDEX;

	for (uint32_t id; (id = LOAD(entry)) && id < ARENA_LABELS && --steps; entry = next_in_index(a, entry))
		if (is_text(a, a->labels[id].name, name))
			return id;
	return 0;
}

/*
 * Two threads may add the same name at once: places are taken in order, so the second finds the number of the
 * first, and leaves its own copy of the text unused.  With two numbers a RESUME would not find its interval's
 * lot, nor END its BEGIN.  All labels up to label_cnt are in the index; those after it are searched one by
 * one.
 */
uint32_t arena_label(const struct arena_map *a, const char *name)
{
	uint32_t cnt = LOAD(&a->control->label_cnt), found = find_label(a, name), text = 0;

	if (found)
		return found;
	for (uint32_t id = cnt < ARENA_LABELS ? cnt + 1 : ARENA_LABELS; id < ARENA_LABELS; id++) {
		uint32_t *place = &a->labels[id].name, taken = LOAD(place);

		if (!taken && !text) {
			text = add_text(a, name);
			if (!text)
				break;
		}
		if (!taken && __atomic_compare_exchange_n(place, &taken, text, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			taken = text;
		if (!LOAD(&a->labels[id].ready))
			publish_label(a, id);
		if (taken == text || is_text(a, taken, name))
			return id;
	}
	arena_count_dropped(a, TABLE_LABELS);
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

static bool is_module(const struct arena_module *m, const struct arena_module *other)
{
	return m->start == other->start && m->end == other->end && m->base == other->base && m->program == other->program;
}

void arena_module(const struct arena_map *a, const struct arena_module *m, const char *name)
{
	uint32_t cnt = LOAD(&a->control->module_cnt), number;

	for (uint32_t i = 1; i <= cnt && i < ARENA_MODULES; i++)
		if (LOAD(&a->modules[i].ready) && is_module(m, &a->modules[i]) && is_text(a, a->modules[i].name, name))
			return;
	number = take_number(&a->control->module_cnt, ARENA_MODULES);
	if (!number)
		return;
	a->modules[number] = *m;
	a->modules[number].name = add_text(a, name);
	STORE(&a->modules[number].ready, 1);
}

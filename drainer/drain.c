/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.c - from chunks to blocks of the trace file.
 *
 * A chunk holds records as the runtime wrote them: 16 bytes for an invocation, more for events. A first word
 * of zero is a hole: nothing was written there, or a killed thread was in the middle of it.  Records become
 * differences and varints (trace/format.h), chunks are collected to blocks.
 *
 * A process that ended returns nothing.  Its threads' remaining chunks are drained here, and the frames that
 * were open on their shadow stacks become OPEN_FRAME events.
 *
 * The chunks of a thread are written in the order in which it filled them, because records may have the same time, as the ids of an
 * interval have the time of its BEGIN, and then the reader takes them in the order of the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/proc.h"
#include "drainer/drain.h"

enum { BLOCK_FLUSH_BYTES = 1 << 18, CACHE_LINE_BYTES = 64, DEMOTED_FROM = 8 };

/* The records of one thread on their way into d->records. */
struct batch {
	uint64_t cnt, before;		/* before: start of the record before */
	uint64_t since, until;		/* the earliest and the latest end of a call, or event; 0: none */
	uint64_t serial;
	uint32_t pid, tid;
	size_t from, cnt_at, records_at;	/* in d->records: the batch, the number of records, these */
};

static void earlier(uint64_t *since, uint64_t ticks)
{
	if (ticks && (!*since || ticks < *since))
		*since = ticks;
}

static void later(uint64_t *until, uint64_t ticks)
{
	if (ticks > *until)
		*until = ticks;
}

static void put_head(struct drainer *d, struct batch *b, uint64_t head, uint64_t start)
{
	encode_varint(&d->records, head);
	encode_varint(&d->records, zigzag((int64_t)(start - b->before)));
	b->before = start;
	b->cnt++;
}

/* Encodes up to cnt calls, until another record comes; returns how many.  Of c, only the sought call is updated. */
static size_t put_calls(struct drainer *d, struct batch *b, struct encoded_calls *c, const uint64_t *words, size_t cnt)
{
	c->before = b->before;
	c->first_end = UINT64_MAX;
	c->last_end = 0;
	cnt = encode_calls(&d->records, c, words, cnt);
	for (size_t i = 0; i < cnt && budget_counts(&d->budget); i++)
		budget_call(&d->budget, (uint32_t)words[2 * i + 1] >> 8);
	b->before = c->before;
	b->cnt += cnt;
	if (cnt)
		earlier(&b->since, c->first_end);
	later(&b->until, c->last_end);
	return cnt;
}

static void put_event(struct drainer *d, struct batch *b, unsigned int kind, uint64_t ticks,
		      const uint64_t *words)
{
	put_head(d, b, kind << 1 | 1, ticks);
	for (unsigned int i = 0; i < event_words(kind); i++)
		encode_varint(&d->records, words[i]);
	if (kind != EVENT_OPEN_FRAME)
		earlier(&b->since, kind == EVENT_FRAME ? words[0] : ticks);
	later(&b->until, kind == EVENT_FRAME || kind == EVENT_WAIT ? words[0] : ticks);
	if (kind == EVENT_BEGIN)
		d->stats.begins++;
	if (kind == EVENT_END)
		d->stats.ends++;
	if (kind == EVENT_LOSS) {
		earlier(&b->since, words[0]);
		d->record_losses++;
		d->record_lost += words[1];
	}
}

/* For the recorder that finds the arena if this one is killed now: how much is collected or had no room. */
static void tell_held(struct drainer *d)
{
	struct arena_held *held = &d->arena.control->held;
	uint64_t since = d->record_since, until = d->record_until;

	if (d->is_head)
		return;
	earlier(&since, d->dropped_since);
	later(&until, d->dropped_until);
	held->since = since;
	held->until = until;
	__atomic_store_n(&held->cnt, d->record_cnt - d->record_losses + d->record_lost + d->dropped_cnt + d->dropped_lost,
			 __ATOMIC_RELEASE);
}

/* Names are written before the records that use them: the next block may be the one that has no room. */
void drain_flush(struct drainer *d)
{
	drain_tables(d);
	d->file.in_haste = d->hurry_cnt && d->emptied_cnt > d->hurry_cnt && !d->file.limit;
	if (!d->records.len) {
		tell_held(d);
		return;
	}
	if (trace_file_records(&d->file, BLOCK_CHUNKS, d->records.data, d->records.len, d->record_since, d->record_until)) {
		contents_block(&d->contents, d->file.number, d->record_since, d->record_until, d->record_cnt);
		d->stats.records += d->record_cnt;
		d->stats.lost_records += d->record_lost;
		if (d->ring.parts.cnt && !d->is_head)
			later(&d->ring.parts.items[d->ring.parts.cnt - 1].until_ticks, d->record_until);
	} else if (ring_drops(&d->ring) && !d->is_head && !d->ring.is_failing) {
		d->stats.lost_records += d->record_lost;
		ring_failed(d);
	} else {
		d->dropped_cnt += d->record_cnt - d->record_losses;
		d->dropped_lost += d->record_lost;
		earlier(&d->dropped_since, d->record_since);
		later(&d->dropped_until, d->record_until);
	}
	contents_dropped(&d->contents);
	d->records.len = 0;
	d->record_cnt = d->record_since = d->record_until = d->record_losses = d->record_lost = 0;
	tell_held(d);
}

/* Not called before a chunk is returned: a chunk in the file must not be in the arena as well. */
static void flush_if_large(struct drainer *d)
{
	if (d->records.len > BLOCK_FLUSH_BYTES)
		drain_flush(d);
}

static struct batch begin_batch(struct drainer *d, uint64_t serial, uint32_t pid, uint32_t tid)
{
	struct batch b = { .serial = serial, .pid = pid, .tid = tid, .from = d->records.len };

	encode_varint(&d->records, serial);
	encode_varint(&d->records, pid);
	encode_varint(&d->records, tid);
	b.cnt_at = d->records.len;
	encode_two_bytes(&d->records, 0);
	b.records_at = d->records.len;
	return b;
}

static void end_batch(struct drainer *d, const struct batch *b)
{
	size_t end = d->records.len;

	if (!b->cnt) {
		d->records.len = b->from;
		return;
	}
	d->records.len = b->cnt_at;
	encode_two_bytes(&d->records, b->cnt);
	d->records.len = end;
	d->record_cnt += b->cnt;
	contents_thread(&d->contents, b->serial);
	d->budget.records += (double)b->cnt;
	earlier(&d->record_since, b->since);
	later(&d->record_until, b->until);
	d->stats.bytes_raw += end - b->records_at;
	d->arena.control->held.serial = b->serial;
	d->arena.control->held.pid = b->pid;
	d->arena.control->held.tid = b->tid;
	tell_held(d);
}

/* A thread's name must remain known as long as it has records, even if the part of the trace with the name is gone. */
static void note_known(struct drainer *d, const struct arena_chunk *chunk, enum trace_event kind,
		       uint64_t ticks, const uint64_t *words)
{
	struct ring_known known = { .serial = chunk->serial, .ticks = ticks, .pid = chunk->pid,
				    .tid = chunk->tid, .kind = kind };

	if (!(ring_drops(&d->ring) || d->turn) || d->is_head || (kind != EVENT_START && kind != EVENT_STOP &&
	    kind != EVENT_CREATE && kind != EVENT_PARENT))
		return;
	memcpy(known.words, words, event_words(kind) * sizeof(words[0]));
	ring_note(d, &known);
}

void drain_event(struct drainer *d, uint64_t serial, uint32_t pid, uint32_t tid, enum trace_event kind,
		 uint64_t ticks, const uint64_t *words)
{
	struct batch b = begin_batch(d, serial, pid, tid);

	put_event(d, &b, kind, ticks, words);
	end_batch(d, &b);
	flush_if_large(d);
}

/* Most chunks that are not full were begun a moment ago, or belong to threads that have ended. */
static const uint64_t *skip_holes(const uint64_t *word, const uint64_t *end)
{
	while (end - word >= 2 && !(__atomic_load_n(&word[0], __ATOMIC_RELAXED) | __atomic_load_n(&word[1], __ATOMIC_RELAXED)))
		word += 2;
	return word;
}

/* Threads that live on still record what is under way, but not all of that is drained. */
static bool is_too_late(const struct drainer *d, uint64_t kind, uint64_t ticks)
{
	return kind == EVENT_END && d->over_ticks && ticks > d->over_ticks;
}

/* Whether the chunk has the invocation of fid that began at start. */
static bool drain_chunk(struct drainer *d, const struct arena_chunk *chunk, uint64_t start,
			uint64_t fid)
{
	const uint64_t *word = (const uint64_t *)(chunk + 1);
	const uint64_t *end = (const uint64_t *)((const char *)chunk + VPROF_CHUNK_BYTES), *tried = NULL;
	struct encoded_calls calls = { .sought_start = start, .sought_fid = fid };
	struct batch b = begin_batch(d, chunk->serial, chunk->pid, chunk->tid);

	while (end - word >= 2) {
		uint64_t first, second, kind;
		ptrdiff_t len = 2;

		word += 2 * put_calls(d, &b, &calls, word, (size_t)(end - word) / 2);
		word = skip_holes(word, end);
		if (end - word < 2)
			break;
		first = __atomic_load_n(&word[0], __ATOMIC_ACQUIRE);
		second = __atomic_load_n(&word[1], __ATOMIC_RELAXED);	/* reads it once: it may change */
		if (first && second & 0xff && word != tried) {
			tried = word;		/* calls after a hole; tried once, so that a process that
						 * toggles the word cannot keep us here */
			continue;
		}
		kind = second & 0xff ? 0 : second >> 8;
		if (kind && kind < EVENT_CNT)
			len += (event_words((unsigned int)kind) + 1) / 2 * 2;
		if (len > end - word)
			break;
		if (first && kind && kind < EVENT_CNT && !is_too_late(d, kind, first)) {
			put_event(d, &b, (unsigned int)kind, first, word + 2);
			budget_event(&d->budget, (enum trace_event)kind, word + 2);
			note_known(d, chunk, (enum trace_event)kind, first, word + 2);
			if (kind == EVENT_ORDER)
				objects_note(d, chunk, word + 2);
		}
		word += len;
	}
	end_batch(d, &b);
	return calls.found;
}

/*
 * Moves the line from this processor's caches to the shared one, so that the next writer need not fetch it
 * from here.  Processors without the instruction ignore it; it is written as bytes, since assemblers need an
 * option to know it.
 */
static void demote(const char *at, size_t len)
{
#ifdef __x86_64__
	for (const char *end = at + len; at < end; at += CACHE_LINE_BYTES)
		__asm__ __volatile__(".byte 0x0f, 0x1c, 0x07" : : "D"(at) : "memory");	/* cldemote (%rdi) */
#else
	(void)at;
	(void)len;
#endif
}

/* A free chunk is all zero, so that a hole in it reads as one.  If there are few, the clearing is not delayed. */
static void recycle(struct drainer *d, uint32_t number)
{
	char *chunk = (char *)arena_chunk(&d->arena, number);

	memset(chunk, 0, VPROF_CHUNK_BYTES);
	experiments_recycled(d, number);
	if (d->emptied_cnt >= DEMOTED_FROM)
		demote(chunk, VPROF_CHUNK_BYTES);
	arena_give_chunk(&d->arena, number);
}

/* The list begins with the chunk that was filled last. */
uint32_t drain_full(struct drainer *d)
{
	uint32_t number = arena_take_full(&d->arena);
	VEC(uint32_t) list = { NULL, 0, 0 };

	for (; number && number <= d->arena.chunk_cnt && list.cnt < d->arena.chunk_cnt; number = (uint32_t)d->arena.links[number])
		VEC_ADD(&list, number);
	for (d->emptied_cnt = 0; d->emptied_cnt < list.cnt; d->emptied_cnt++) {
		number = list.items[list.cnt - 1 - d->emptied_cnt];
		experiments_chunk(d, number, true);
		drain_chunk(d, arena_chunk(&d->arena, number), 0, 0);
		recycle(d, number);
		flush_if_large(d);
	}
	VEC_RELEASE(&list);
	return d->emptied_cnt;
}

struct turn {				/* of a chunk, when it was looked at: threads may go on */
	uint64_t number;
	uint32_t chunk;
};
typedef VEC(struct turn) turns;

static int by_number(const void *pa, const void *pb)
{
	const struct turn *a = pa, *b = pb;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->chunk > b->chunk) - (a->chunk < b->chunk);
}

/* The chunks that are in one of these states (a bit each), each thread's in its order; slot 0: of any. */
static void list_chunks(const struct drainer *d, unsigned int states, uint32_t slot, turns *ret)
{
	ret->cnt = 0;
	for (uint32_t i = 1; i <= d->arena.chunk_cnt; i++) {
		struct arena_chunk *chunk = arena_chunk(&d->arena, i);
		uint32_t state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);

		if (state <= CHUNK_FULL && states >> state & 1 &&
		    (!slot || (chunk->slot == slot && chunk->serial == d->arena.slots[slot].serial)))
			VEC_ADD(ret, (struct turn){ chunk->number, i });
	}
	if (ret->cnt > 1)
		qsort(ret->items, ret->cnt, sizeof(*ret->items), by_number);
}

struct open_call {
	uint64_t start, fid;
};

/* The open calls of a stack, the outermost first.  Its thread may run on: a call may be closed while we look,
 * and another opened in its place; then the call is in a chunk, or too late. */
static size_t look_at_stack(const struct vprof_frame *stack, struct open_call ret[VPROF_STACK_FRAMES])
{
	size_t cnt = 0;

	for (const struct vprof_frame *f = stack + 1; f < stack + VPROF_STACK_FRAMES; f++) {
		uint64_t start = __atomic_load_n(&f->start, __ATOMIC_ACQUIRE);
		uint64_t fid = (uint32_t)__atomic_load_n(&f->function, __ATOMIC_ACQUIRE) >> 8;

		if (!start || start != __atomic_load_n(&f->start, __ATOMIC_ACQUIRE))
			break;
		ret[cnt++] = (struct open_call){ start, fid };
	}
	return cnt;
}

static void put_open_calls(struct drainer *d, struct batch *b, const struct arena_slot *slot, const struct open_call *calls,
			   size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		put_event(d, b, EVENT_OPEN_FRAME, calls[i].start, &calls[i].fid);
	if (slot->lost_cnt)
		put_event(d, b, EVENT_LOSS, vprof_ticks(), (const uint64_t[]){ slot->lost_since, slot->lost_cnt });
}

/* The chunks and open calls of a thread that will not log any more; keep: it might.  A call that is closed
 * while the chunks are emptied is still written as open; the reader recognises the duplicate. */
static void drain_slot(struct drainer *d, uint32_t number, bool keep)
{
	struct arena_slot *slot = &d->arena.slots[number];
	struct vprof_frame *stack = arena_stack(&d->arena, number);
	struct open_call calls[VPROF_STACK_FRAMES];
	size_t cnt = look_at_stack(stack, calls);
	struct open_call last = cnt ? calls[cnt - 1] : (struct open_call){ 0, 0 };
	struct batch b;
	bool closed = false;
	turns list = { NULL, 0, 0 };

	list_chunks(d, 1u << CHUNK_OWNED, number, &list);
	for (size_t i = 0; i < list.cnt; i++) {
		uint32_t chunk = list.items[i].chunk;

		experiments_chunk(d, chunk, true);
		if (drain_chunk(d, arena_chunk(&d->arena, chunk), last.start, last.fid))
			closed = true;		/* killed between its record and its pop */
		d->drained[chunk] = 1;
		if (!keep)
			recycle(d, chunk);
		flush_if_large(d);
	}
	VEC_RELEASE(&list);
	b = begin_batch(d, slot->serial, slot->pid, slot->tid);
	put_open_calls(d, &b, slot, calls, cnt - closed);
	end_batch(d, &b);
	flush_if_large(d);
	if (!keep) {
		memset(stack, 0, VPROF_STACK_BYTES);
		arena_give_slot(&d->arena, number);
	}
}

static void drain_open_frames(struct drainer *d, uint32_t number)
{
	const struct arena_slot *slot = &d->arena.slots[number];
	struct open_call calls[VPROF_STACK_FRAMES];
	size_t cnt = look_at_stack(arena_stack(&d->arena, number), calls);
	struct batch b = begin_batch(d, slot->serial, slot->pid, slot->tid);

	put_open_calls(d, &b, slot, calls, cnt);
	end_batch(d, &b);
}

void drain_live(struct drainer *d)
{
	turns list = { NULL, 0, 0 };

	list_chunks(d, 1u << CHUNK_OWNED | 1u << CHUNK_FULL, 0, &list);
	for (size_t i = 0; i < list.cnt; i++) {
		drain_chunk(d, arena_chunk(&d->arena, list.items[i].chunk), 0, 0);
		flush_if_large(d);
	}
	VEC_RELEASE(&list);
	for (uint32_t i = 1; i <= ARENA_SLOTS; i++)
		if (__atomic_load_n(&d->arena.slots[i].used, __ATOMIC_ACQUIRE))
			drain_open_frames(d, i);
	flush_if_large(d);
}

/* exec keeps the pid: an older image of a pid has ended as well. */
static bool is_replaced(const struct drainer *d, const struct arena_slot *slot)
{
	for (uint32_t i = 1; i <= ARENA_SLOTS; i++) {
		const struct arena_slot *other = &d->arena.slots[i];

		if (other->used && other->pid == slot->pid && other->image > slot->image)
			return true;
	}
	return false;
}

void drain_dead(struct drainer *d)
{
	struct stat st;
	uint64_t our_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
	uint64_t image = 0;		/* slot of no image: they are counted from 1 */
	bool ended = false;

	for (uint32_t i = 1; i <= ARENA_SLOTS; i++) {
		struct arena_slot *slot = &d->arena.slots[i];

		if (!__atomic_load_n(&slot->used, __ATOMIC_ACQUIRE) ||
		    slot->pid_namespace != our_namespace)
			continue;
		if (slot->image != image) {
			image = slot->image;
			ended = proc_has_ended((pid_t)slot->pid) || is_replaced(d, slot);
		}
		if (ended)
			drain_slot(d, i, false);
	}
}

/* Those that nobody has drained by now. */
static void drain_filled(struct drainer *d)
{
	turns list = { NULL, 0, 0 };

	list_chunks(d, 1u << CHUNK_FULL, 0, &list);
	for (size_t i = 0; i < list.cnt; i++) {
		uint32_t chunk = list.items[i].chunk;

		if (!d->drained[chunk])
			drain_chunk(d, arena_chunk(&d->arena, chunk), 0, 0);
		d->drained[chunk] = 1;
		flush_if_large(d);
	}
	VEC_RELEASE(&list);
}

/*
 * A chunk that another drainer had taken from the list but not drained is full, and in no list.  A chunk that is
 * filled while we look was owned before: drained[] says whether it was drained then.
 */
void drain_left(struct drainer *d)
{
	d->over_ticks = clock_ticks();
	memset(d->drained, 0, d->arena.chunk_cnt + 1);
	drain_filled(d);
	for (uint32_t i = 1; i <= ARENA_SLOTS; i++)
		if (__atomic_load_n(&d->arena.slots[i].used, __ATOMIC_ACQUIRE))
			drain_slot(d, i, true);
	drain_filled(d);
}

void drain_rest(struct drainer *d)
{
	drain_dead(d);
	drain_left(d);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.c - the lot, and where it is kept for the threads and processes that take part.
 *
 * A thread that resumes an interval knows only its name and key; the next interval may have the same ones and
 * another lot.  So BEGIN leaves the lot in the arena, in one word: a hash of (process, name, key) whose
 * lowest bit says "skip".  Eight words are a bucket, a line of the cache:
 *
 *	BEGIN request/7		root-only	bucket	51e2...7 0 0 0 0 0 0 0
 *	BEGIN request/8		in full			51e2...7 90a4...2 0 0 0 0 0 0
 *	RESUME request/7	on another thread: ...7, odd: its functions stay quiet
 *	END request/7				0 90a4...2 0 0 0 0 0 0
 *	BEGIN request/7		a new lot
 *
 * In a full bucket a new word replaces an old one.  A thread that does not find the word records: that may
 * cost something, but an interval marked as in full is always complete.
 *
 * The exception is an interval that only its thread can begin, since its key is the thread.  PostgreSQL
 * resumes it for each message, also for those outside of a transaction, or that begin one.  There the lot is
 * drawn at the RESUME, and the interval gets it if it begins now: either all functions entered since then are
 * recorded, or none.
 *
 *	RESUME request/thread 5	no word: a lot, root-only; functions stay quiet
 *	BEGIN request/thread 5	root-only, as drawn
 *
 * As in the reader, a key counts within its process and those forked from it, nearest first.
 */
#include "runtime/process.h"
#include "runtime/sampling.h"
#include "runtime/thread.h"

enum { BUCKET_WORDS = 8, RARE_LEVEL = 3 /* one in eight, and fewer */ };

#define SKIP 1ULL
#define TAKEN 2ULL			/* so that no word in use is 0 */

bool sampling_is_on(void)
{
	const struct arena_control *c = process.arena->control;

	return c->sample_full < c->sample_of;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

enum { TRACE_LOT_BITS = 56 };		/* of a trace id, those that W3C's Trace Context says are random */

/* Each thread has a random stream of its own: threads share nothing, and the same seed gives the same stream.
 * The rate is read once, so that the lot and the logged rate agree even if the drainer changes it. */
static uint64_t draw(const struct thread_ids *ids)
{
	const struct arena_control *c = process.arena->control;
	struct thread *t = &thread_self;
	uint64_t x = mix(c->sample_seed + mix(t->serial) + ++t->lot_cnt * 0x9e3779b97f4a7c15ULL);
	uint32_t level = __atomic_load_n(&c->sample_level, __ATOMIC_RELAXED);
	uint64_t of = level ? (uint64_t)SAMPLE_OF << (level - 1) : c->sample_of;
	uint64_t full = level ? SAMPLE_FULL : c->sample_full;
	uint64_t share = ((x >> 32) * of) >> 32;

	if (c->sample_by_trace && ids && (ids->trace[0] | ids->trace[1]))
		share = (uint64_t)((unsigned __int128)(ids->trace[1] & ((1ULL << TRACE_LOT_BITS) - 1)) * of >> TRACE_LOT_BITS);
	return (share < full ? 0 : BEGIN_ROOT_ONLY) | (level ? begin_rate(level - 1) : 0);
}

static uint64_t word_of(uint32_t pid, uint64_t label, uint64_t key)
{
	uint32_t alias = process.arena->labels[label].interval;

	return (mix(mix(key) + ((uint64_t)pid << 32 | (alias ? alias : label))) & ~SKIP) | TAKEN;
}

static uint64_t *bucket_of(uint64_t word)
{
	return &process.arena->lots[(word >> 8) % (ARENA_LOTS / BUCKET_WORDS) * BUCKET_WORDS];
}

static uint64_t *find_in_bucket(uint64_t word)
{
	uint64_t *bucket = bucket_of(word);

	for (unsigned int i = 0; i < BUCKET_WORDS; i++)
		if ((__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) & ~SKIP) == word)
			return &bucket[i];
	return NULL;
}

static uint64_t *find(uint64_t label, uint64_t key)
{
	uint64_t *found = find_in_bucket(word_of(process.pid, label, key));

	for (unsigned int i = 0; !found && i < process.ancestor_cnt; i++)
		found = find_in_bucket(word_of(process.ancestors[i], label, key));
	return found;
}

static uint64_t *take_free(uint64_t word, uint64_t value)
{
	uint64_t *bucket = bucket_of(word);

	for (unsigned int i = 0; i < BUCKET_WORDS; i++) {
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(&bucket[i], &none, value, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return &bucket[i];
	}
	return NULL;
}

/* The drainer adapts the rate to the latency (drainer/budget.c). */
static void note_latency(uint64_t began, uint64_t now)
{
	struct arena_slot *slot = thread_self.slot;

	if (!slot || now < began)
		return;
	slot->ended_cnt++;
	slot->ended_ticks += now - began;
}

bool sampling_is_rare(void)
{
	const struct arena_control *c = process.arena->control;
	uint32_t level = __atomic_load_n(&c->sample_level, __ATOMIC_RELAXED);

	return level ? level > RARE_LEVEL : c->sample_full < c->sample_of && c->sample_full <= c->sample_of / 8;
}

uint64_t sampling_lot(const struct thread_ids *ids)
{
	return sampling_is_on() ? draw(ids) : 0;
}

void sampling_begin(uint64_t label, uint64_t key, bool skip, uint64_t now)
{
	uint64_t word, value, *at;

	if (!sampling_is_on())
		return;
	word = word_of(process.pid, label, key);
	value = word | (skip ? SKIP : 0);
	at = find_in_bucket(word);
	if (!at)
		at = take_free(word, value);
	if (!at) {
		__atomic_store_n(&process.arena->control->lots_lack, 1, __ATOMIC_RELAXED);
		at = &bucket_of(word)[word >> 4 & (BUCKET_WORDS - 1)];
	}
	__atomic_store_n(at, value, __ATOMIC_RELAXED);
	__atomic_store_n(at + ARENA_LOTS, now, __ATOMIC_RELAXED);
}

bool sampling_is_open(uint64_t label, uint64_t key)
{
	return find_in_bucket(word_of(process.pid, label, key));
}

enum sampling_found sampling_find(uint64_t label, uint64_t key)
{
	uint64_t *at = sampling_is_on() ? find(label, key) : NULL;

	if (at)
		return __atomic_load_n(at, __ATOMIC_RELAXED) & SKIP ? SAMPLING_SKIPPED : SAMPLING_IN_FULL;
	if (!sampling_is_on() || __atomic_load_n(&process.arena->control->lots_lack, __ATOMIC_RELAXED))
		return SAMPLING_IN_FULL;
	return SAMPLING_NOT_BEGUN;
}

void sampling_end(uint64_t label, uint64_t key, uint64_t now)
{
	uint64_t *at = sampling_is_on() ? find(label, key) : NULL;

	if (!at)
		return;
	note_latency(__atomic_load_n(at + ARENA_LOTS, __ATOMIC_RELAXED), now);
	__atomic_store_n(at, 0, __ATOMIC_RELAXED);
}

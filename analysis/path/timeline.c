/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeline.c - per-thread indexes over a sorted trace.
 *
 * A sorted trace has each thread's tuples side by side, so a thread is a few ranges of indexes and every question
 * about a moment is a binary search.  Each invocation is linked once to the one around it:
 *
 *	invocations, sorted	f [0,90]   g [10,40]   h [20,30]   g [50,60]
 *	parents			-          f           g           f
 *
 * The stack at 35: the last to begin by then is h; it has ended, its parent g has not, so the stack is f, g.
 *
 * The trace readers refuse spans that overlap or cross.  Any that are left are cut and counted, because the walks
 * below rely on order.
 */
#include "analysis/path/timeline.h"

#include <string.h>
#include "analysis/path/sid_index.h"
#include "base/map.h"
#include "base/search.h"
#include "base/banned.h"

#define OTHERS_STEPS 16			/* after this many steps it is worth making the index */

static void find_threads(struct timeline *tl);
static void keep_segments(struct timeline *tl);
static void nest_invocations(struct timeline *tl);

struct timeline *timeline_new(const struct trace *t)
{
	struct timeline *tl = xcalloc(1, sizeof(*tl));

	tl->trace = t;
	tl->thread_of_tid = map_new();
	find_threads(tl);
	keep_segments(tl);
	nest_invocations(tl);
	tl->hints = xcalloc(tl->threads.cnt + 1, sizeof(*tl->hints));
	tl->recent = xcalloc(RECENT_THREADS, sizeof(*tl->recent));
	tl->used_in_walk = xcalloc(t->creations.cnt + 1, sizeof(*tl->used_in_walk));
	tl->walk_no = xcalloc(1, sizeof(*tl->walk_no));
	tl->sid_index = sid_index_new();
	return tl;
}

void timeline_free(struct timeline *tl)
{
	if (!tl)
		return;
	VEC_RELEASE(&tl->threads);
	map_free(tl->thread_of_tid);
	free(tl->segments);
	free(tl->parents);
	free(tl->ends_ns);
	free(tl->following_ns);
	free(tl->used_in_walk);
	free(tl->walk_no);
	free(tl->hints);
	free(tl->recent);
	sid_index_free(tl->sid_index);
	free(tl);
}

static struct thread_line *line_of(struct timeline *tl, uint64_t tid)
{
	uint64_t *number = map_slot(tl->thread_of_tid, tid);

	if (*number == 0) {		/* kept plus one: a new slot is 0 */
		VEC_EXTEND(&tl->threads)->tid = tid;
		*number = tl->threads.cnt;
	}
	return &tl->threads.items[*number - 1];
}

static void find_threads(struct timeline *tl)
{
	const struct trace *t = tl->trace;

#define SPLIT(array, tid_field, range_field)						\
	for (size_t first = 0, cnt; first < t->array.cnt; first += cnt) {		\
		uint64_t tid = t->array.items[first].tid_field;				\
											\
		cnt = partition_point(i, t->array.cnt - first,				\
				      t->array.items[first + i].tid_field <= tid);	\
		line_of(tl, tid)->range_field = (struct index_range){ first, cnt };		\
	}
	SPLIT(segments, tid, segments);
	SPLIT(invocations, tid, invocations);
	SPLIT(wakeups, tid, wakeups);
	SPLIT(creations, tid2, creations);
#undef SPLIT
	for (size_t i = 0; i < t->threads.cnt; i++) {	/* a thread may be only a waker, without other records */
		struct thread_line *l;

		if (t->threads.items[i].kind == KIND_THREAD)
			continue;
		l = line_of(tl, t->threads.items[i].tid);
		l->kind = t->threads.items[i].kind;
		l->function = t->threads.items[i].function;
	}
}

/* Copies the segments that have a length; the ranges then index the copy. */
static void keep_segments(struct timeline *tl)
{
	const struct trace *t = tl->trace;
	size_t kept = 0;

	tl->segments = xmalloc((t->segments.cnt + 1) * sizeof(*tl->segments));
	for (size_t n = 0; n < tl->threads.cnt; n++) {
		struct index_range *r = &tl->threads.items[n].segments;
		struct index_range from = *r;
		int64_t end_ns = INT64_MIN;

		r->first = kept;
		for (size_t i = 0; i < from.cnt; i++) {
			struct segment s = t->segments.items[from.first + i];

			if (s.start_ns >= s.end_ns)
				continue;
			if (s.start_ns < end_ns) {
				s.start_ns = end_ns;
				tl->clamped++;
				if (s.start_ns >= s.end_ns)
					continue;
			}
			end_ns = s.end_ns;
			tl->segments[kept++] = s;
		}
		r->cnt = kept - r->first;
	}
	tl->following_ns = xmalloc((kept + 1) * sizeof(*tl->following_ns));
	for (size_t i = 0; i < kept; i++)
		tl->following_ns[i] = -1;
}

static void nest_thread(struct timeline *tl, const struct index_range *r)
{
	const struct invocation *calls = tl->trace->invocations.items;
	uint32_t *parents = tl->parents, around = INVOCATION_NONE;
	int64_t *ends_ns = tl->ends_ns;

	for (size_t i = r->first; i < r->first + r->cnt; i++) {
		int64_t start_ns = calls[i].start_ns, end_ns = calls[i].end_ns;

		end_ns = end_ns > start_ns ? end_ns : start_ns;
		while (around != INVOCATION_NONE && ends_ns[around] <= start_ns)
			around = parents[around];
		if (around != INVOCATION_NONE && end_ns > ends_ns[around]) {
			end_ns = ends_ns[around];
			tl->clamped++;
		}
		parents[i] = around;
		ends_ns[i] = end_ns;
		around = (uint32_t)i;
	}
}

static void nest_invocations(struct timeline *tl)
{
	size_t cnt = tl->trace->invocations.cnt + 1;

	tl->parents = xmalloc(cnt * sizeof(*tl->parents));
	tl->ends_ns = xmalloc(cnt * sizeof(*tl->ends_ns));
	for (size_t n = 0; n < tl->threads.cnt; n++)
		nest_thread(tl, &tl->threads.items[n].invocations);
}

uint32_t timeline_find_thread(const struct timeline *tl, uint64_t tid)
{
	uint64_t number;

	if (!map_get(tl->thread_of_tid, tid, &number))
		return THREAD_NONE;
	tl->recent[tid & (RECENT_THREADS - 1)] = (struct recent_thread){ tid, (uint32_t)number };
	return (uint32_t)(number - 1);
}

bool timeline_is_outside(const struct timeline *tl, uint64_t tid)
{
	enum thread_kind kind = timeline_kind(tl, tid);

	return kind == KIND_TIMER || kind == KIND_PEER;
}

/*
 * The number of indexes in r, sorted by some time, whose time is below the limit.  Searches from *hint on, the last
 * answer, in doubling steps: intervals are processed in order of time, so the next answer is near, and in the cache.
 */
#define COUNT_BELOW(r, hint, i, is_below)						\
	({										\
		size_t low_ = 0, high_ = (r).cnt, step_ = 1;				\
		size_t at_ = *(hint) < high_ ? *(hint) : high_;				\
											\
		if (at_ < high_ && ({ size_t i = (r).first + at_; is_below; })) {	\
			low_ = at_ + 1;							\
			while (low_ + step_ < high_ &&					\
			       ({ size_t i = (r).first + low_ + step_; is_below; })) {	\
				low_ += step_ + 1;					\
				step_ *= 2;						\
			}								\
			if (low_ + step_ < high_)					\
				high_ = low_ + step_;					\
		} else {								\
			high_ = at_;							\
			while (step_ <= high_ &&					\
			       !({ size_t i = (r).first + high_ - step_; is_below; })) { \
				high_ -= step_;						\
				step_ *= 2;						\
			}								\
			if (step_ <= high_)						\
				low_ = high_ - step_ + 1;				\
		}									\
		while (low_ < high_) {							\
			size_t mid_ = low_ + (high_ - low_) / 2;			\
											\
			if (({ size_t i = (r).first + mid_; is_below; }))		\
				low_ = mid_ + 1;					\
			else								\
				high_ = mid_;						\
		}									\
		*(hint) = low_;								\
		low_;									\
	})

size_t timeline_segment_before(const struct timeline *tl, uint32_t thread, int64_t at_ns)
{
	const struct index_range *r;
	size_t cnt;

	if (thread == THREAD_NONE)
		return SEGMENT_NONE;
	r = &tl->threads.items[thread].segments;
	cnt = COUNT_BELOW(*r, &tl->hints[thread].segment, i, tl->segments[i].start_ns < at_ns);
	return cnt ? r->first + cnt - 1 : SEGMENT_NONE;
}

size_t timeline_others_first(const struct timeline *tl, uint32_t thread, size_t segment,
			     uint64_t sid, int64_t floor_ns)
{
	const struct segment *s = tl->segments;
	size_t first = tl->threads.items[thread].segments.first;

	for (size_t steps = 0; segment > first && s[segment].start_ns > floor_ns &&
	     s[segment - 1].end_ns == s[segment].start_ns && s[segment - 1].sid != sid && s[segment - 1].sid != SID_SHARED; steps++) {
		if (steps == OTHERS_STEPS && !tl->trace->look.is_one)
			return sid_index_others_first(tl, thread, segment, sid);
		segment--;
	}
	return segment;
}

const struct wakeup *timeline_wakeup(const struct timeline *tl, uint32_t thread, int64_t after_ns,
				     int64_t until_ns)
{
	const struct wakeup *items = tl->trace->wakeups.items;
	const struct index_range *r;
	size_t cnt;

	if (thread == THREAD_NONE)
		return NULL;
	r = &tl->threads.items[thread].wakeups;
	cnt = COUNT_BELOW(*r, &tl->hints[thread].wakeup, i, items[i].time_ns <= until_ns);
	while (cnt && items[r->first + cnt - 1].waker_tid == items[r->first].tid && items[r->first + cnt - 1].time_ns > after_ns)
		cnt--;
	if (cnt == 0 || items[r->first + cnt - 1].time_ns <= after_ns)
		return NULL;
	return &items[r->first + cnt - 1];
}

bool timeline_explains(const struct timeline *tl, const struct wakeup *k)
{
	uint32_t thread = timeline_thread(tl, k->waker_tid);
	size_t segment = timeline_segment_before(tl, thread, k->time_ns);

	return segment != SEGMENT_NONE && tl->threads.items[thread].kind == KIND_THREAD &&
	       tl->segments[segment].end_ns >= k->time_ns;
}

size_t timeline_creations_until(const struct timeline *tl, uint32_t thread, int64_t until_ns)
{
	const struct creation *items = tl->trace->creations.items;

	if (thread == THREAD_NONE)
		return 0;
	return COUNT_BELOW(tl->threads.items[thread].creations, &tl->hints[thread].creation, i,
			   items[i].time2_ns <= until_ns);
}

/* How many invocations of the thread begin before that moment. */
static size_t invocations_before(const struct timeline *tl, uint32_t thread, int64_t at_ns)
{
	const struct invocation *items = tl->trace->invocations.items;

	return COUNT_BELOW(tl->threads.items[thread].invocations, &tl->hints[thread].invocation, i,
			   items[i].start_ns < at_ns);
}

struct index_range timeline_started(const struct timeline *tl, uint64_t tid, int64_t start_ns,
			      int64_t end_ns)
{
	const struct invocation *items = tl->trace->invocations.items;
	uint32_t thread = timeline_thread(tl, tid);
	struct index_range r = { 0, 0 };
	size_t before, near = 0;

	if (thread == THREAD_NONE)
		return r;
	r = tl->threads.items[thread].invocations;
	before = invocations_before(tl, thread, start_ns);
	r.first += before;
	r.cnt -= before;
	r.cnt = COUNT_BELOW(r, &near, i, items[i].start_ns < end_ns);
	return r;
}

uint32_t timeline_last_begun(const struct timeline *tl, uint64_t tid, int64_t before_ns, size_t *hint)
{
	const struct invocation *items = tl->trace->invocations.items;
	uint32_t thread = timeline_thread(tl, tid);
	struct index_range r = { 0, 0 };
	size_t cnt;

	if (thread != THREAD_NONE)
		r = tl->threads.items[thread].invocations;
	cnt = COUNT_BELOW(r, hint, i, items[i].start_ns < before_ns);
	return cnt ? (uint32_t)(r.first + cnt - 1) : INVOCATION_NONE;
}

/* The innermost of inv and those around it that is still open after at_ns. */
static uint32_t open_after(const struct timeline *tl, uint32_t inv, int64_t at_ns)
{
	while (inv != INVOCATION_NONE && tl->ends_ns[inv] <= at_ns)
		inv = tl->parents[inv];
	return inv;
}

void stack_walk_init(struct stack_walk *w, const struct timeline *tl, uint64_t tid,
		     int64_t start_ns, int64_t end_ns)
{
	uint32_t thread = timeline_thread(tl, tid);
	struct index_range r;

	*w = (struct stack_walk) {
		.to_ns = start_ns, .end_ns = end_ns, .tl = tl, .innermost = INVOCATION_NONE,
	};
	if (thread == THREAD_NONE)
		return;
	r = tl->threads.items[thread].invocations;
	w->next = r.first + invocations_before(tl, thread, start_ns);
	w->stop = r.first + r.cnt;
	if (w->next > r.first)
		w->innermost = open_after(tl, (uint32_t)(w->next - 1), start_ns);
}

bool stack_walk_next(struct stack_walk *w)
{
	const struct timeline *tl = w->tl;
	const struct invocation *items = tl->trace->invocations.items;

	if (w->to_ns >= w->end_ns)
		return false;
	w->from_ns = w->to_ns;
	w->innermost = open_after(tl, w->innermost, w->from_ns);
	while (w->next < w->stop && items[w->next].start_ns <= w->from_ns) {
		if (tl->ends_ns[w->next] > w->from_ns)
			w->innermost = (uint32_t)w->next;
		w->next++;
	}
	w->to_ns = w->end_ns;
	if (w->innermost != INVOCATION_NONE && tl->ends_ns[w->innermost] < w->to_ns)
		w->to_ns = tl->ends_ns[w->innermost];
	if (w->next < w->stop && items[w->next].start_ns < w->to_ns)
		w->to_ns = items[w->next].start_ns;
	return true;
}

void pieces_reverse(pieces *out, size_t first)
{
	for (size_t i = first, j = out->cnt; i + 1 < j; i++) {
		struct piece p = out->items[i];

		out->items[i] = out->items[--j];
		out->items[j] = p;
	}
}

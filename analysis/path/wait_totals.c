/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_totals.c - each thread's past as a rope, in which waits are what their wakers did meanwhile.
 *
 *	A runs [0,20], waits [20,50], runs [50,70]; B, who wakes it at 50, runs [0,50]
 *	past of A	A [0,20]  B [20,50]  A [50,70]
 *
 * A third thread that waits for A during [10,60] is explained by that part of A's past: two cuts, however many pieces
 * it has.  A convoy's threads share nearly all of their pasts.  The past before a moment does not depend on how far
 * back one looks, so the floors of critical_path.c's windows are mere cuts.
 *
 * A past is built forward in time, as far as it is needed.  Its prerequisites, the part that explains a wait (kept by
 * its wake-up) or the past of a waker, lie earlier; they are built first, on a stack of needs.  Wake-ups that follow
 * each other within one nanosecond are followed in order; where they come back to a wait already being explained,
 * that keeps its own class, as in unfold.c.  So does a wait that was ended by a device, or by a thread without
 * records.
 */
#include "analysis/path/wait_totals.h"

#include "analysis/path/rope.h"
#include "analysis/path/sums.h"
#include "base/banned.h"

#define LEAF_CALLS 64			/* a longer stretch is cut, so that parts of it are cheap */

struct line {				/* a thread's past, from 0 ns on */
	const struct rope *rope;
	int64_t until_ns;		/* how far it is built */
	size_t next;			/* index of the segment to be added, within the thread's */
	VEC(const struct rope *) fresh;	/* not in the rope yet */
};

struct need {				/* the past of a thread until then, or a wake-up's wait */
	bool is_wait;
	size_t wakeup;
	uint32_t thread;
	int64_t until_ns;
};

struct link {				/* of a chain of wake-ups at one moment */
	size_t segment;			/* a wait */
	uint32_t thread;		/* whose */
	int64_t floor_ns;		/* the highest start up to here */
};

struct past {
	const struct timeline *tl;	/* may be gone when the past is freed */
	size_t thread_cnt;
	struct arena *arena;
	struct sums *sums;
	struct line *lines, *plain;	/* by thread; plain: waits are not explained */
	const struct rope **waits;	/* by wake-up: what explains its wait, or NULL */
	bool *is_done;			/* by wake-up */
	VEC(struct need) needs;
	VEC(struct link) chain;
};

static void resolve(struct past *p, const struct need *need);

struct past *past_new(const struct timeline *tl, past_key key, void *arg)
{
	struct past *p = xcalloc(1, sizeof(*p));

	p->tl = tl;
	p->thread_cnt = tl->threads.cnt;
	p->arena = arena_new();
	p->sums = sums_new(tl, p->arena, key, arg);
	p->lines = xcalloc(tl->threads.cnt + 1, sizeof(*p->lines));
	p->plain = xcalloc(tl->threads.cnt + 1, sizeof(*p->plain));
	p->waits = xcalloc(tl->trace->wakeups.cnt + 1, sizeof(*p->waits));
	p->is_done = xcalloc(tl->trace->wakeups.cnt + 1, sizeof(*p->is_done));
	return p;
}

void past_free(struct past *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->thread_cnt; i++) {
		VEC_RELEASE(&p->lines[i].fresh);
		VEC_RELEASE(&p->plain[i].fresh);
	}
	free(p->lines);
	free(p->plain);
	free(p->waits);
	free(p->is_done);
	VEC_RELEASE(&p->needs);
	VEC_RELEASE(&p->chain);
	sums_free(p->sums);
	arena_free(p->arena);
	free(p);
}

/* ---- a thread's past ------------------------------------------------------------- */

static void add_part(struct line *l, const struct rope *r)
{
	if (r)
		VEC_ADD(&l->fresh, r);
}

/* [l->until_ns, end), charged to the thread itself, in leaves of a few calls. */
static void add_blocked(struct past *p, struct line *l, uint32_t thread, enum trace_state state, enum thread_kind device,
			int64_t end_ns)
{
	struct index_range calls = timeline_started(p->tl, p->tl->threads.items[thread].tid, l->until_ns,
					      end_ns);

	for (size_t i = LEAF_CALLS; i < calls.cnt; i += LEAF_CALLS) {
		int64_t at_ns = p->tl->trace->invocations.items[calls.first + i].start_ns;

		add_part(l, rope_leaf(p->arena, thread, state, device, l->until_ns, at_ns));
		l->until_ns = at_ns;
	}
	add_part(l, rope_leaf(p->arena, thread, state, device, l->until_ns, end_ns));
	l->until_ns = end_ns;
}

static void add_own(struct past *p, struct line *l, uint32_t thread, enum trace_state state, int64_t end_ns)
{
	add_blocked(p, l, thread, state, KIND_THREAD, end_ns);
}

static int64_t later(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

static size_t wakeup_index(const struct past *p, const struct wakeup *k)
{
	return (size_t)(k - p->tl->trace->wakeups.items);
}

/* Adds a whole wait.  false: *need has to be built first. */
static bool add_wait(struct past *p, struct line *l, uint32_t thread, const struct segment *s,
		     struct need *need)
{
	const struct wakeup *k = timeline_wakeup(p->tl, thread, s->start_ns, s->end_ns);
	size_t index;

	if (!k) {
		add_own(p, l, thread, s->state, s->end_ns);
		return true;
	}
	index = wakeup_index(p, k);
	if (!timeline_explains(p->tl, k)) {
		add_blocked(p, l, thread, s->state, timeline_kind(p->tl, k->waker_tid), later(l->until_ns, k->time_ns));
	} else if (p->is_done[index]) {
		add_part(l, p->waits[index]);
	} else {
		*need = (struct need) { .is_wait = true, .wakeup = index };
		return false;
	}
	l->until_ns = later(l->until_ns, k->time_ns);
	add_own(p, l, thread, STATE_WAKEUP, s->end_ns);
	return true;
}

/* Adds all that begins before until, except for a wait that goes on longer. */
static bool extend(struct past *p, struct line *lines, uint32_t thread, int64_t until_ns,
		   struct need *need)
{
	const struct index_range *r = &p->tl->threads.items[thread].segments;
	struct line *l = &lines[thread];
	enum trace_state hole = lines != p->plain && timeline_is_outside(p->tl, p->tl->threads.items[thread].tid) ? STATE_RUNNING
											: STATE_OTHER;

	for (; l->until_ns < until_ns; l->next++) {
		const struct segment *s = &p->tl->segments[r->first + l->next];

		if (l->next == r->cnt) {
			add_own(p, l, thread, hole, INT64_MAX);
			break;
		}
		if (s->end_ns <= l->until_ns)
			continue;
		if (s->start_ns > l->until_ns)
			add_own(p, l, thread, hole, s->start_ns);
		if (s->start_ns >= until_ns)
			break;
		if (lines == p->plain || !state_has_waker(s->state))
			add_own(p, l, thread, s->state, s->end_ns);
		else if (s->end_ns > until_ns)
			break;
		else if (!add_wait(p, l, thread, s, need))
			return false;
	}
	return true;
}

static const struct rope *line_rope(struct past *p, struct line *l)
{
	l->rope = rope_join(p->arena, l->rope, rope_of(p->arena, l->fresh.items, l->fresh.cnt));
	l->fresh.cnt = 0;
	return l->rope;
}

/* ---- what explains a wait -------------------------------------------------------- */

/* The part of the thread's past in [start, until), if it is built; else false. */
static bool take_line(struct past *p, uint32_t thread, int64_t start_ns, int64_t until_ns,
		      const struct rope **ret, struct need *need)
{
	struct line *l;

	*ret = NULL;
	if (start_ns >= until_ns)
		return true;
	if (thread == THREAD_NONE) {
		*ret = rope_leaf(p->arena, thread, STATE_OTHER, KIND_THREAD, start_ns, until_ns);
		return true;
	}
	l = &p->lines[thread];
	if (l->until_ns < until_ns) {
		*need = (struct need) { .thread = thread, .until_ns = until_ns };
		return false;
	}
	*ret = rope_cut(p->arena, line_rope(p, l), start_ns, until_ns);
	return true;
}

/* [floor, at) of a thread that was blocked at that moment and longer. */
static bool take_blocked(struct past *p, uint32_t thread, const struct segment *s, int64_t floor_ns,
			 int64_t at_ns, const struct rope **ret, struct need *need)
{
	const struct wakeup *k = timeline_wakeup(p->tl, thread, s->start_ns, at_ns);
	int64_t from_ns = later(s->start_ns, floor_ns);
	const struct rope *before, *wait;

	if (!take_line(p, thread, floor_ns, s->start_ns, &before, need))
		return false;
	if (!k) {
		*ret = rope_join(p->arena, before,
				 rope_leaf(p->arena, thread, s->state, KIND_THREAD, from_ns, at_ns));
		return true;
	}
	if (!timeline_explains(p->tl, k)) {
		wait = rope_leaf(p->arena, thread, s->state, timeline_kind(p->tl, k->waker_tid), from_ns, k->time_ns);
	} else if (p->is_done[wakeup_index(p, k)]) {
		wait = rope_cut(p->arena, p->waits[wakeup_index(p, k)], from_ns, k->time_ns);
	} else {
		*need = (struct need) { .is_wait = true, .wakeup = wakeup_index(p, k) };
		return false;
	}
	*ret = rope_join(p->arena, rope_join(p->arena, before, wait),
			 rope_leaf(p->arena, thread, STATE_WAKEUP, KIND_THREAD, later(k->time_ns, from_ns), at_ns));
	return true;
}

static void add_link(struct past *p, uint32_t thread, size_t segment, int64_t at_ns)
{
	int64_t floor_ns = later(p->tl->segments[segment].start_ns, 0);

	if (p->chain.cnt > 0)
		floor_ns = later(floor_ns, p->chain.items[p->chain.cnt - 1].floor_ns);
	p->tl->following_ns[segment] = at_ns;
	VEC_ADD(&p->chain, (struct link) { segment, thread, floor_ns });
}

/*
 * Follows the wake-ups at that moment, from k on; *ret becomes what the last one's thread did before, down to the
 * chain's floor.
 */
static bool follow_chain(struct past *p, const struct wakeup *k, const struct rope **ret,
			 struct need *need)
{
	const struct timeline *tl = p->tl;
	int64_t at_ns = k->time_ns;
	uint32_t thread = timeline_thread(tl, k->tid);

	for (size_t segment = timeline_segment_before(tl, thread, at_ns);; ) {
		const struct segment *s;
		int64_t floor_ns;

		add_link(p, thread, segment, at_ns);
		floor_ns = p->chain.items[p->chain.cnt - 1].floor_ns;
		thread = timeline_thread(tl, k->waker_tid);
		segment = timeline_segment_before(tl, thread, at_ns);
		s = segment == SEGMENT_NONE ? NULL : &tl->segments[segment];
		if (!s || s->end_ns < at_ns || !state_has_waker(s->state))
			return take_line(p, thread, floor_ns, at_ns, ret, need);
		k = timeline_wakeup(tl, thread, s->start_ns, at_ns);
		if (k && k->time_ns == at_ns && tl->following_ns[segment] == at_ns) {
			*ret = rope_leaf(p->arena, thread, s->state, KIND_THREAD, floor_ns, at_ns);
			return true;
		}
		if (!k || k->time_ns < at_ns || !timeline_explains(tl, k))
			return s->end_ns > at_ns
				? take_blocked(p, thread, s, floor_ns, at_ns, ret, need)
				: take_line(p, thread, floor_ns, at_ns, ret, need);
	}
}

/* From the innermost wait of the chain outward: before its start its thread's own past counts. */
static bool unwind_chain(struct past *p, const struct rope **ret, struct need *need)
{
	for (size_t i = p->chain.cnt; i-- > 1; ) {
		const struct link *l = &p->chain.items[i];
		const struct rope *before;

		if (!take_line(p, l->thread, p->chain.items[i - 1].floor_ns, l->floor_ns, &before,
			       need))
			return false;
		*ret = rope_join(p->arena, before, *ret);
	}
	return true;
}

static bool explain_wakeup(struct past *p, size_t index, struct need *need)
{
	const struct rope *r = NULL;
	bool done;

	p->chain.cnt = 0;
	done = follow_chain(p, &p->tl->trace->wakeups.items[index], &r, need) &&
	       unwind_chain(p, &r, need);
	for (size_t i = 0; i < p->chain.cnt; i++)
		p->tl->following_ns[p->chain.items[i].segment] = -1;
	if (done) {
		p->waits[index] = r;
		p->is_done[index] = true;
	}
	return done;
}

/* ---- needs ----------------------------------------------------------------------- */

static void resolve(struct past *p, const struct need *need)
{
	struct need first = *need;

	VEC_ADD(&p->needs, first);
	while (p->needs.cnt > 0) {
		struct need n = p->needs.items[p->needs.cnt - 1];
		bool done = n.is_wait ? p->is_done[n.wakeup] || explain_wakeup(p, n.wakeup, &first)
				      : extend(p, p->lines, n.thread, n.until_ns, &first);

		if (done)
			p->needs.cnt--;
		else
			VEC_ADD(&p->needs, first);
	}
}

void past_sum(struct past *p, const struct piece *folded, int64_t start_ns, int64_t end_ns,
	      past_sums *ret)
{
	const struct rope *r;

	if (folded->fold == FOLD_WAIT) {
		struct need need = { .is_wait = true, .wakeup = folded->wakeup };

		resolve(p, &need);
		r = p->waits[folded->wakeup];
	} else {
		uint32_t thread = timeline_thread(p->tl, folded->tid);
		struct need unused;

		/* All of it at once: it depends on no other thread's past, and a rope that grows wait by wait would
		 * leave the sums of its old spines behind. */
		extend(p, p->plain, thread, INT64_MAX, &unused);
		r = line_rope(p, &p->plain[thread]);
	}
	sums_of(p->sums, r, start_ns, end_ns, ret);
}

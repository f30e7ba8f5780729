/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * variance_tree.c - turns pieces of critical paths into places and rows.
 *
 * A piece is cut where the stack of its owner changes (the interval's own thread at that moment), and each cut goes
 * to one terminal place:
 *
 *	running at depth 0		the body of the innermost function (of the interval: none)
 *	blocked, woken late, explained	under the innermost function, a wait of that class; there,
 *					a blame: the innermost function of the thread that is
 *					charged, with its own class if it was blocked itself
 *	running of a request		its samples move a part of it to their functions (place_samples.c)
 *	queue				a wait of the interval itself, as no function waits; there,
 *					where its thread worked for others or had yet to pick it up, a
 *					blame: the innermost function it was in meanwhile
 *
 * Example: A runs f [0,100]; in it A waits for a lock [20,50], B runs g [0,45] and wakes A at 50.  Places: interval >
 * f > body 70, f > wait:lock > blame g 25, f > wait:lock > blame ? 5.
 *
 * A function that calls itself is one place (f > f > g is f > g), so that no time counts twice. The place of an
 * invocation depends only on what is around it, so it is found once and kept.
 */
#include "analysis/tree/variance_tree.h"

#include <string.h>
#include "base/map.h"
#include "base/banned.h"

#define KINDS_FEW 16			/* with more kinds of intervals, each uses few calls of a window */

static void place_folded(struct vtree *v, const struct piece *p);
static void place_by_waiter(struct vtree *v, const struct piece *p);
static void place_by_waker(struct vtree *v, const struct piece *p);
static void end_row(struct vtree *v);

/* ---- places ------------------------------------------------------------------ */

struct vtree *vtree_new(enum charge charge)
{
	const struct place interval = {
		.kind = NODE_INTERVAL, .function = FUNCTION_NONE, .call_site = CALL_SITE_NONE,
	};
	struct vtree *v = xcalloc(1, sizeof(*v));

	v->charge = charge;
	v->function_labels = map_new();
	v->other_labels = map_new();
	v->place_of_label = map_new();
	vtree_add_place(v, NODE_NONE, &interval);
	return v;
}

void vtree_enter(struct vtree *v, const struct timeline *tl)
{
	size_t cnt = tl->trace->invocations.cnt + 1;

	vtree_leave(v);
	v->tl = tl;
	if (tl->trace->interval_names.cnt > KINDS_FEW)
		v->sparse_bytes = cnt * sizeof(*v->calls);
	v->calls = v->sparse_bytes ? sparse_zeros(v->sparse_bytes) : xcalloc(cnt, sizeof(*v->calls));
	v->recent = xcalloc(RECENT_PLACES, sizeof(*v->recent));		/* 32 KB: too much for each of 5,000 kinds at
									 * once */
	v->recent_others = xcalloc(RECENT_PLACES, sizeof(*v->recent_others));
	v->row_of_window = 0;
}

void vtree_leave(struct vtree *v)
{
	if (v->sparse_bytes)
		sparse_free(v->calls, v->sparse_bytes);
	else
		free(v->calls);
	v->sparse_bytes = 0;
	free(v->recent);
	free(v->recent_others);
	v->calls = NULL;
	v->recent = v->recent_others = NULL;
	past_free(v->past);
	v->past = NULL;
}

void vtree_free(struct vtree *v)
{
	if (!v)
		return;
	VEC_RELEASE(&v->places);
	VEC_RELEASE(&v->on_path);
	VEC_RELEASE(&v->row);
	map_free(v->function_labels);
	map_free(v->other_labels);
	map_free(v->place_of_label);
	vtree_leave(v);
	VEC_RELEASE(&v->ns);
	VEC_RELEASE(&v->samples);
	VEC_RELEASE(&v->sample_cnt);
	VEC_RELEASE(&v->touched);
	VEC_RELEASE(&v->unplaced);
	VEC_RELEASE(&v->open);
	VEC_RELEASE(&v->unfolded);
	VEC_RELEASE(&v->sums);
	free(v);
}

static uint32_t wait_in(struct vtree *v, uint32_t place, enum trace_state wait)
{
	return vtree_other_child(v, place, NODE_WAIT, v->places.items[place].function, wait, KIND_THREAD);
}

static uint32_t find_function_in(struct vtree *v, uint32_t place, const struct invocation *i)
{
	struct place like = {
		.kind = NODE_FUNCTION, .function = i->function, .call_site = i->call_site,
	};

	if (v->places.items[place].kind == NODE_FUNCTION && v->places.items[place].function == i->function)
		return place;
	return vtree_child(v, place, &like);
}

/* The place of a call below that place. */
static inline uint32_t function_in(struct vtree *v, uint32_t place, const struct invocation *i)
{
	uint64_t key = (uint64_t)place << 32 | i->function;
	struct recent_place *recent = recent_place(v->recent, key, i->call_site);

	if (!recent_place_found(recent, key, i->call_site))
		*recent = (struct recent_place){ key, i->call_site, find_function_in(v, place, i) };
	return recent->found;
}

static inline uint32_t new_place_of(struct vtree *v, uint32_t around, uint32_t inv)
{
	return function_in(v, around == INVOCATION_NONE ? 0 : v->calls[around].place,
			   &v->tl->trace->invocations.items[inv]);
}

/* Found from the outermost invocation that has no place yet down to inv, then kept. */
static uint32_t place_of(struct vtree *v, uint32_t inv)
{
	const uint32_t *parents = v->tl->parents;

	if (inv == INVOCATION_NONE)
		return 0;
	v->unplaced.cnt = 0;
	for (uint32_t i = inv; i != INVOCATION_NONE && v->calls[i].place == 0;
	     i = parents[i])
		VEC_ADD(&v->unplaced, i);
	while (v->unplaced.cnt > 0) {
		uint32_t i = v->unplaced.items[--v->unplaced.cnt];

		v->calls[i].place = new_place_of(v, parents[i], i);
	}
	return v->calls[inv].place;
}

/* ---- rows -------------------------------------------------------------------- */

size_t vtree_unfold_limit = 64;

/* Sums do not distinguish a request that was not read from one whose thread is busy. */
#define LOOK_UNFOLD_LIMIT ((size_t)1 << 20)

static void place(struct vtree *v, const struct piece *p)
{
	if (v->charge == CHARGE_WAITER)
		place_by_waiter(v, p);
	else
		place_by_waker(v, p);
}

void vtree_add_row(struct vtree *v, const pieces *path, uint32_t weight)
{
	v->row.cnt = 0;
	v->weight = weight;
	v->row_cnt++;
	v->row_of_window++;
	for (size_t i = 0; i < path->cnt; i++) {
		const struct piece *p = &path->items[i];

		v->unfolded.cnt = 0;
		if (p->fold == FOLD_NONE)
			place(v, p);
		else if (unfold(v->tl, p, v->tl->trace->look.is_one ? LOOK_UNFOLD_LIMIT : vtree_unfold_limit, &v->unfolded))
			for (size_t j = 0; j < v->unfolded.cnt; j++)
				place(v, &v->unfolded.items[j]);
		else
			place_folded(v, p);
	}
	end_row(v);
}

void vtree_divide(struct vtree *v, uint32_t unit)
{
	for (size_t i = 0; i < v->places.cnt; i++) {
		v->places.items[i].calls /= unit;
		v->places.items[i].presence /= unit;
	}
}

static inline void mark_present(struct vtree *v, uint32_t place)
{
	struct place *places = v->places.items;
	uint64_t row = v->row_cnt;
	uint32_t weight = v->weight;

	for (; place != NODE_NONE && places[place].last_row != row; place = places[place].parent) {
		places[place].last_row = row;
		places[place].presence += weight;
	}
}

static inline void charge(struct vtree *v, uint32_t place, int64_t ns)
{
	if (v->ns.items[place] == 0)
		VEC_ADD(&v->touched, place);
	v->ns.items[place] += ns;
}

/* An invocation counts once in an interval, however many pieces it has. */
static inline void count_call_at(struct vtree *v, uint32_t inv, uint32_t place)
{
	v->calls[inv].row = v->row_of_window;
	v->places.items[place].calls += v->weight;
	if (v->called)
		VEC_ADD(v->called, place);
	mark_present(v, place);
}

static void count_call(struct vtree *v, uint32_t inv)
{
	count_call_at(v, inv, place_of(v, inv));
}

static void count_calls(struct vtree *v, uint32_t innermost)
{
	for (uint32_t i = innermost;
	     i != INVOCATION_NONE && v->calls[i].row != v->row_of_window; i = v->tl->parents[i])
		count_call(v, i);
}

/* Counts calls that were too short for the clock and are in no stretch of the stack. */
static void count_instant_calls(struct vtree *v, uint64_t tid, int64_t start_ns, int64_t end_ns)
{
	struct index_range r = timeline_started(v->tl, tid, start_ns, end_ns);

	for (size_t i = r.first; i < r.first + r.cnt; i++)
		if (v->tl->ends_ns[i] == v->tl->trace->invocations.items[i].start_ns &&
		    v->calls[i].row != v->row_of_window)
			count_call(v, (uint32_t)i);
}

/* [start, end) of a wait: what the charged thread was doing, one cut a function. */
static void place_blame(struct vtree *v, uint32_t wait, const struct piece *p, int64_t start_ns,
			int64_t end_ns)
{
	struct stack_walk w;

	if (p->depth == 0) {
		charge(v, blame_nobody(v, wait), end_ns - start_ns);
		return;
	}
	for (stack_walk_init(&w, v->tl, p->tid, start_ns, end_ns); stack_walk_next(&w); ) {
		uint32_t place = blame_at(v, wait, p->tid, w.innermost, p->state, p->device);

		charge(v, place, w.to_ns - w.from_ns);
		if (p->state == STATE_RUNNING && w.innermost == INVOCATION_NONE)
			vtree_take_samples(v, p->tid, w.from_ns, w.to_ns, wait, place);
	}
}

static void place_queue(struct vtree *v, const struct piece *p)
{
	uint32_t wait = wait_in(v, 0, p->wait), whole = queue_blame(v, wait, p);
	struct stack_walk w;

	if (whole != NODE_NONE) {
		charge(v, whole, p->end_ns - p->start_ns);
		return;
	}
	for (stack_walk_init(&w, v->tl, p->tid, p->start_ns, p->end_ns); stack_walk_next(&w); ) {
		uint32_t place = queue_blame_at(v, wait, p->tid, w.innermost, p->meanwhile);

		charge(v, place, w.to_ns - w.from_ns);
		if (p->meanwhile == STATE_RUNNING && w.innermost == INVOCATION_NONE)
			vtree_take_samples(v, p->tid, w.from_ns, w.to_ns, wait, place);
	}
}

/* The stack of the interval's thread: the interval itself, which ends last, then calls from the outermost in.
 * Returns the innermost. */
static struct open_call *open_calls(struct vtree *v, uint32_t innermost)
{
	size_t depth = 1;

	for (uint32_t i = innermost; i != INVOCATION_NONE; i = v->tl->parents[i])
		depth++;
	v->open.cnt = 0;
	VEC_ROOM(&v->open, depth);
	v->open.cnt = depth;
	for (uint32_t i = innermost; i != INVOCATION_NONE; i = v->tl->parents[i]) {
		uint32_t place = v->calls[i].place;

		v->open.items[--depth] = (struct open_call){ v->tl->ends_ns[i] - 1, place, v->places.items[place].body };
	}
	v->open.items[0] = (struct open_call){ INT64_MAX, 0, v->places.items[0].body };
	return &v->open.items[v->open.cnt - 1];
}

/* From *now, which becomes until_ns, the thread ran in the body of that call, the innermost. */
static inline void charge_body(struct vtree *v, struct open_call *c, int64_t *now, int64_t until_ns)
{
	int64_t ns = until_ns - *now;

	*now = until_ns;
	if (ns <= 0)
		return;
	if (c->body == NODE_NONE)
		c->body = vtree_body(v, c->place);
	charge(v, c->body, ns);
}

/* Removes calls that end by until_ns; returns the innermost that is left. */
static inline struct open_call *leave_calls(struct vtree *v, struct open_call *inside, int64_t *now, int64_t until_ns)
{
	for (; inside->last_ns < until_ns; inside--)
		charge_body(v, inside, now, inside->last_ns + 1);
	charge_body(v, inside, now, until_ns);
	return inside;
}

/* Adds a call inside `inside`; the array may move. */
static inline struct open_call *enter_call(struct vtree *v, struct open_call *inside, int64_t end_ns, uint32_t place)
{
	v->open.cnt = (size_t)(inside - v->open.items) + 1;
	VEC_ADD(&v->open, (struct open_call){ end_ns - 1, place, v->places.items[place].body });
	return &v->open.items[v->open.cnt - 1];
}

/*
 * Places running time of the interval's own thread, the most common kind: from call to call, without computing the
 * stack at each moment.  f [0,90] with g [10,40] in it: 10 for f until g begins; as the next call, or the end, is
 * looked at, 30 for g.
 */
static void place_running(struct vtree *v, const struct piece *p)
{
	const struct invocation *calls = v->tl->trace->invocations.items;
	const int64_t *ends_ns = v->tl->ends_ns;
	struct open_call *inside;
	struct stack_walk w;
	int64_t now = p->start_ns;

	stack_walk_init(&w, v->tl, p->owner_tid, p->start_ns, p->end_ns);
	count_calls(v, w.innermost);
	inside = open_calls(v, w.innermost);
	for (uint32_t i = (uint32_t)w.next; i < w.stop && calls[i].start_ns < p->end_ns; i++) {
		uint32_t place;

		inside = leave_calls(v, inside, &now, calls[i].start_ns);
		place = function_in(v, inside->place, &calls[i]);
		v->calls[i].place = place;
		count_call_at(v, i, place);
		inside = enter_call(v, inside, ends_ns[i], place);
	}
	leave_calls(v, inside, &now, p->end_ns);
	if (v->takes_samples)		/* no function around it has a probe */
		vtree_take_samples(v, p->owner_tid, p->start_ns, p->end_ns, NODE_NONE, vtree_body(v, 0));
}

static void place_by_waiter(struct vtree *v, const struct piece *p)
{
	struct stack_walk w;

	if (state_is_queue(p->wait)) {
		if (p->depth)
			place_blame(v, wait_in(v, 0, p->wait), p, p->start_ns, p->end_ns);
		else
			place_queue(v, p);
		return;
	}
	if (p->wait == STATE_RUNNING) {
		place_running(v, p);
		return;
	}
	for (stack_walk_init(&w, v->tl, p->owner_tid, p->start_ns, p->end_ns);
	     stack_walk_next(&w); ) {
		uint32_t place = place_of(v, w.innermost);

		count_calls(v, w.innermost);
		place_blame(v, wait_in(v, place, p->wait), p, w.from_ns, w.to_ns);
	}
	count_instant_calls(v, p->owner_tid, p->start_ns, p->end_ns);
}

static uint32_t terminal_by_waker(struct vtree *v, uint32_t innermost, enum trace_state state)
{
	if (state == STATE_RUNNING)
		return vtree_body(v, place_of(v, innermost));
	return blame_nobody(v, wait_in(v, 0, state));
}

static void place_by_waker(struct vtree *v, const struct piece *p)
{
	struct stack_walk w;

	if (p->state != STATE_RUNNING || state_is_queue(p->wait)) {
		charge(v, terminal_by_waker(v, INVOCATION_NONE, state_is_queue(p->wait) ? p->wait : p->state), p->end_ns - p->start_ns);
		return;
	}
	for (stack_walk_init(&w, v->tl, p->tid, p->start_ns, p->end_ns); stack_walk_next(&w); )
		charge(v, terminal_by_waker(v, w.innermost, p->state), w.to_ns - w.from_ns);
}

/* ---- rows of long pieces: sums by terminal place ---------------------------------- */

/* By the waiter: function, state and device.  By the waker: the terminal place itself. */
static uint64_t key_of(void *arg, uint64_t tid, uint32_t innermost, enum trace_state state, enum thread_kind device)
{
	struct vtree *v = arg;

	if (v->charge == CHARGE_WAKER)
		return terminal_by_waker(v, innermost, state);
	return blame_key(v, tid, innermost, state, device);
}

static void place_sums(struct vtree *v, uint32_t wait, const struct piece *p, int64_t start_ns,
		       int64_t end_ns)
{
	past_sum(v->past, p, start_ns, end_ns, &v->sums);
	for (size_t i = 0; i < v->sums.cnt; i++) {
		uint64_t key = v->sums.items[i].key;

		if (v->charge == CHARGE_WAKER)
			charge(v, (uint32_t)key, v->sums.items[i].ns);
		else
			charge(v, blame_of_key(v, wait, key, p->fold == FOLD_OTHERS ? p : NULL), v->sums.items[i].ns);
	}
}

static void place_folded(struct vtree *v, const struct piece *p)
{
	struct stack_walk w;

	if (!v->past)
		v->past = past_new(v->tl, key_of, v);
	if (v->charge == CHARGE_WAKER) {
		if (state_is_queue(p->wait))
			place_by_waker(v, p);
		else
			place_sums(v, 0, p, p->start_ns, p->end_ns);
		return;
	}
	if (state_is_queue(p->wait)) {
		place_sums(v, wait_in(v, 0, p->wait), p, p->start_ns, p->end_ns);
		return;
	}
	for (stack_walk_init(&w, v->tl, p->tid, p->start_ns, p->end_ns); stack_walk_next(&w); ) {
		uint32_t wait = wait_in(v, place_of(v, w.innermost), p->wait);

		count_calls(v, w.innermost);
		place_sums(v, wait, p, w.from_ns, w.to_ns);
	}
	count_instant_calls(v, p->tid, p->start_ns, p->end_ns);
}

static void end_row(struct vtree *v)
{
	struct cell *cells;

	vtree_charge_samples(v);
	VEC_ROOM(&v->row, v->touched.cnt);
	cells = v->row.items;
	mark_present(v, 0);
	for (size_t i = 0; i < v->touched.cnt; i++) {
		uint32_t place = v->touched.items[i];

		cells[i] = (struct cell){ place, v->ns.items[place] };
		mark_present(v, place);
		v->ns.items[place] = 0;
	}
	v->row.cnt = v->touched.cnt;
	v->touched.cnt = 0;
}

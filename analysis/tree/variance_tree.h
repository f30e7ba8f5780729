/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * variance_tree.h - the places where time goes, and how much of it went there per interval.
 *
 * Private to analysis/.  A tree of places (activation paths on the intervals' own threads, with bodies, waits and
 * their blames) and, for each interval, a sparse row of the time spent in its terminal places (bodies and blames).  A
 * place's whole time is the sum over its subtree, so rows close at every node by construction.
 *
 * Every function place has a body and every wait has a blame without a name, even if these are the only child;
 * tree_findings.c decides what is shown.
 */
#ifndef ANALYSIS_TREE_VARIANCE_TREE_H
#define ANALYSIS_TREE_VARIANCE_TREE_H

#include "analysis/findings/findings.h"
#include "analysis/path/timeline.h"
#include "analysis/path/wait_totals.h"
#include "analysis/tree/rows.h"

/* A blame without functions, but with a kind: not KIND_THREAD. */
#define FUNCTION_OF_DEVICE(kind) (FUNCTION_NONE - (uint32_t)(kind))
#define DEVICE_OF_FUNCTION(function) (FUNCTION_NONE - (function) < KIND_CNT ? FUNCTION_NONE - (function) : KIND_THREAD)

struct place {				/* 64 bytes, one cache line: calls visit places all the time */
	enum node_kind kind : 8;
	enum trace_state wait : 8;	/* as in struct node */
	enum thread_kind device : 8;	/* as in struct node */
	bool is_wait : 1;
	bool outermost : 1;		/* function: no place of the same function is above */
	bool is_sampled : 1;		/* terminal: its time is that of samples (place_samples.c) */
	bool calls_by_place : 1;	/* some child has a call_site */
	uint32_t parent;		/* NODE_NONE for place 0, the interval */
	uint32_t first_child, next_sibling;	/* NODE_NONE at the end; latest child first */
	uint32_t ordinal;		/* among its siblings, from 0 in order of discovery */
	uint32_t child_cnt;
	uint32_t body;			/* its body, or NODE_NONE */
	uint32_t function;		/* index into trace.functions, FUNCTION_OF_DEVICE(), or FUNCTION_NONE */
	uint32_t call_site;		/* index into trace.call_sites, or CALL_SITE_NONE */
	uint32_t depth;			/* places above it */
	uint64_t calls;			/* invocations, over all intervals */
	uint64_t presence;		/* intervals in which it took time or was called */
	uint64_t last_row;		/* the last of these, counted from 1 */
};

struct open_call {			/* an open call while the running time of a thread is placed */
	int64_t last_ns;		/* the last moment before its end */
	uint32_t place, body;		/* body: NODE_NONE if there is none yet */
};

typedef VEC(uint32_t) place_list;

struct placed_call {
	uint32_t place;			/* 0, the interval's: not looked up yet */
	uint32_t row;			/* number of the window's last row that counted it; 0: none */
};

struct sample_charge {
	uint32_t from, to;
};

struct vtree {
	const struct timeline *tl;	/* the window of the rows being made */
	enum charge charge;
	VEC(struct place) places;
	cells row;			/* the last one */
	uint64_t row_cnt;
	uint32_t weight;		/* of the row being made */

	/* Interning of places and scratch of the row being made; see variance_tree.c. */
	struct map *function_labels, *other_labels, *place_of_label;
	struct recent_place *recent, *recent_others;	/* functions; waits and blames */
	uint32_t label_cnt;
	uint32_t path_end;		/* the place down to which on_path counts */
	VEC(uint32_t) on_path;		/* by function: places on the way there */
	struct placed_call *calls;	/* per invocation of the window */
	size_t sparse_bytes;		/* of calls, if each kind of intervals has few of them; else 0 */
	uint32_t row_of_window;		/* counted from 1 */
	VEC(int64_t) ns;		/* per place */
	VEC(uint32_t) touched, unplaced;
	VEC(struct open_call) open;
	pieces unfolded;
	place_list *called;		/* gets the place of each call of a row; NULL: nobody asks */
	struct put_aside *put_aside;	/* as waiters */
	struct waiter_sums *waiters;	/* receives the rows as well; NULL: none; not owned */
	size_t sample_at;		/* where the last piece's samples began */
	bool takes_samples;		/* set by the caller; the same as without where the trace has none */
	VEC(struct sample_charge) samples;	/* of the row being made */
	int64_t sample_cost_ns;		/* of the last row: it took that much less than its interval */
	double effective_samples;	/* of all rows together (analysis/pass/sampled.h); with the next: */
	uint64_t all_samples;
	VEC(uint64_t) sample_cnt;	/* per place, once sampled_settle() has run: on how many its time rests; else empty */
	struct past *past;		/* NULL until a piece is too long to unfold */
	past_sums sums;
};

/* "disk"; NULL: none. */
/* Blames may stand below blames (place_blames.c): the wait that they are all of, or the place itself if it is none. */
static inline uint32_t place_blamed_wait(const struct vtree *v, uint32_t place)
{
	while (v->places.items[place].kind == NODE_BLAME)
		place = v->places.items[place].parent;
	return place;
}

static inline const char *place_device(const struct place *p)
{
	return p->device == KIND_THREAD ? NULL : thread_kind_name(p->device);
}

/* CHARGE_WAITER: as findings.h describes the tree.  CHARGE_WAKER: Algorithm 2 to the letter; a running piece at any
 * depth belongs to the functions of its own thread. */
struct vtree *vtree_new(enum charge charge);
void vtree_free(struct vtree *v);
DEFINE_CLEANUP(struct vtree *, vtree_free);

/* Folded pieces longer than this are summed by wait_totals.h.  Tests set it to 0; rows are the same. */
extern size_t vtree_unfold_limit;

/* A place below parent, which is there, like that one; there must be none yet. */
uint32_t vtree_add_place(struct vtree *v, uint32_t parent, const struct place *like);

/* No place at parent or above it is of that function. */
bool vtree_is_outermost(struct vtree *v, uint32_t parent, uint32_t function);

/* The next rows are of intervals of this timeline.  Functions and call sites have the same numbers in all. */
void vtree_enter(struct vtree *v, const struct timeline *tl);

/* No more rows for now: frees memory that is as large as a window. */
void vtree_leave(struct vtree *v);

/* Makes one interval's row, v->row, of one that stands for weight of them.  path: folded or not. */
void vtree_add_row(struct vtree *v, const pieces *path, uint32_t weight);

/* All weights had this common divisor: counts are taken relative to it. */
void vtree_divide(struct vtree *v, uint32_t unit);

/*
 * No more rows.  Numbers the places anew, by their identity: parents first, siblings by kind and name.  Until then
 * numbers depend on the order of the rows.  Returns the new numbers, [old]; the caller frees them.
 */
uint32_t *vtree_renumber(struct vtree *v, const struct trace *t);

/*
 * place_samples.c: samples of p's thread in (start, end], in which it ran, move their periods from that place to those of their
 * functions; wait: the wait which that explains, NODE_NONE: none.
 */
void vtree_move_samples(struct vtree *v, uint64_t tid, int64_t start_ns, int64_t end_ns, uint32_t wait, uint32_t from);

static inline void vtree_take_samples(struct vtree *v, uint64_t tid, int64_t start_ns, int64_t end_ns, uint32_t wait, uint32_t from)
{
	if (v->takes_samples && v->tl->trace->look.sample_ns)
		vtree_move_samples(v, tid, start_ns, end_ns, wait, from);
}

void vtree_charge_samples(struct vtree *v);	/* the row is complete but for these */

/* The place above, an interval or a wait, from which the samples below such a place were taken. */
uint32_t vtree_sampled_root(const struct vtree *v, uint32_t place);
/* The place of its running time outside all places below: a function's, a blamed one's, the interval's, that of others during a wait.
 * No more rows come. */
uint32_t vtree_own_place(struct vtree *v, uint32_t place);

/* ---- private to this room ---- */

/* places.c */

#define RECENT_PLACES 1024

struct recent_place {			/* found: a child equal to that of a look-up below a place; 0: nothing yet */
	uint64_t key;			/* the place and the function */
	uint32_t which;			/* the call site; of waits and blames, their kind */
	uint32_t found;
};

/* Most look-ups repeat a recent one. */
static inline struct recent_place *recent_place(struct recent_place *list, uint64_t key, uint32_t which)
{
	return &list[(key + which) * 0x9e3779b97f4a7c15ULL >> 32 & (RECENT_PLACES - 1)];
}

static inline bool recent_place_found(const struct recent_place *r, uint64_t key, uint32_t which)
{
	return r->key == key && r->which == which && r->found;
}

/* The place like that one below parent; made if there is none. */
uint32_t vtree_child(struct vtree *v, uint32_t parent, const struct place *like);
/* The place of a wait of that class, or of the blame of a thread that was in that state.  Made if there is none. */
uint32_t vtree_find_other_child(struct vtree *v, uint32_t parent, enum node_kind kind, uint32_t function, enum trace_state state,
			       enum thread_kind device);

/* The same; looks among the recent ones first. */
static inline uint32_t vtree_other_child(struct vtree *v, uint32_t parent, enum node_kind kind, uint32_t function, enum trace_state state,
					 enum thread_kind device)
{
	uint64_t key = (uint64_t)parent << 32 | function;
	uint32_t which = (uint32_t)device << 24 | (uint32_t)kind << 16 | state;
	struct recent_place *recent = recent_place(v->recent_others, key, which);

	if (!recent_place_found(recent, key, which))
		*recent = (struct recent_place){ key, which, vtree_find_other_child(v, parent, kind, function, state, device) };
	return recent->found;
}

/* The same for a call of that function; a function that calls itself is one place. */
uint32_t vtree_function_child(struct vtree *v, uint32_t parent, uint32_t function);
uint32_t vtree_add_body(struct vtree *v, uint32_t place);

/* The body of that place; made if there is none. */
static inline uint32_t vtree_body(struct vtree *v, uint32_t place)
{
	uint32_t id = v->places.items[place].body;

	return id == NODE_NONE ? vtree_add_body(v, place) : id;
}

/* place_blames.c: the place to which a wait's time is charged, by the blamed thread's state.  Calls for each stretch of each wait are
 * inline; calls that only functions from stacks need (struct look) are not. */

/* The blamed function of a thread outside all calls: FUNCTION_NONE, or its kind if it is no thread. */
static inline uint32_t blamed_kind(const struct vtree *v, uint64_t tid)
{
	uint32_t thread = timeline_thread(v->tl, tid);
	const struct thread_line *l;

	if (thread == THREAD_NONE)
		return FUNCTION_NONE;
	l = &v->tl->threads.items[thread];
	return l->kind == KIND_PEER ? l->function : FUNCTION_OF_DEVICE(l->kind);	/* of a thread: FUNCTION_NONE */
}

/* Below a wait or another blame; state: in which the blamed thread was blocked, or STATE_RUNNING. */
static inline uint32_t blame_of(struct vtree *v, uint32_t wait, uint32_t function, enum trace_state state, enum thread_kind device)
{
	return vtree_other_child(v, wait, NODE_BLAME, function, state, device);
}

static inline uint32_t blame_in(struct vtree *v, uint32_t wait, uint32_t function, enum trace_state state)
{
	return blame_of(v, wait, function, state, KIND_THREAD);
}

static inline uint32_t blame_nobody(struct vtree *v, uint32_t wait)
{
	return blame_in(v, wait, FUNCTION_NONE, STATE_RUNNING);
}

/* INVOCATION_NONE: in no call, then it depends on what the thread is. */
static inline uint32_t blamed_function(const struct vtree *v, uint64_t tid, uint32_t innermost)
{
	return innermost == INVOCATION_NONE ? blamed_kind(v, tid) : v->tl->trace->invocations.items[innermost].function;
}

/* With functions from stacks the blame is a path. */
uint32_t blame_path_at(struct vtree *v, uint32_t wait, uint32_t innermost, enum trace_state state, enum thread_kind device);

/* The place to charge for a thread in that call, running, or blocked in state.  tid: of the thread. */
static inline uint32_t blame_at(struct vtree *v, uint32_t wait, uint64_t tid, uint32_t innermost, enum trace_state state,
				enum thread_kind device)
{
	if (innermost != INVOCATION_NONE && v->tl->trace->look.is_one)
		return blame_path_at(v, wait, innermost, state, device);
	return blame_of(v, wait, blamed_function(v, tid, innermost), state, device);
}

uint32_t queue_blame_waiting(struct vtree *v, uint32_t wait, const struct piece *queue);

/* The blame for a whole piece of a thread that works for others, or idles; NODE_NONE: it depends on the call, see the next. */
static inline uint32_t queue_blame(struct vtree *v, uint32_t wait, const struct piece *queue)
{
	if (queue->meanwhile == STATE_QUEUE)
		return blame_nobody(v, wait);
	return state_has_waker(queue->meanwhile) ? queue_blame_waiting(v, wait, queue) : NODE_NONE;
}

/* It works for others, or idles, in some function, and may be blocked in it. */
static inline uint32_t queue_blame_at(struct vtree *v, uint32_t wait, uint64_t tid, uint32_t innermost, enum trace_state state)
{
	bool is_without_cpu = trace_has_arrivals(v->tl->trace) && state_is_runqueue(state);	/* see blame_of_key() */

	if (innermost == INVOCATION_NONE && blamed_kind(v, tid) == FUNCTION_NONE)
		return is_without_cpu ? blame_in(v, wait, FUNCTION_NONE, state) : blame_nobody(v, wait);
	return blame_at(v, wait, tid, innermost, state, KIND_THREAD);
}

/*
 * All that blame_at() is given, as a key of sums; what has the same key has the same place below any wait.  In the low half what
 * blame_of_key() has to know of the call: its number where blames are paths.
 */
static inline uint64_t blame_key(const struct vtree *v, uint64_t tid, uint32_t innermost, enum trace_state state, enum thread_kind device)
{
	bool is_path = innermost != INVOCATION_NONE && v->tl->trace->look.is_one;

	return (uint64_t)device << 48 | (uint64_t)state << 32 | (is_path ? innermost : blamed_function(v, tid, innermost));
}

/* queue: NULL if it is none. */
uint32_t blame_of_key(struct vtree *v, uint32_t wait, uint64_t key, const struct piece *queue);

#endif

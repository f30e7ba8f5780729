/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_state.h - what the two policies of refine.h share.  Private to analysis/.
 */
#ifndef ANALYSIS_REFINE_REFINE_STATE_H
#define ANALYSIS_REFINE_REFINE_STATE_H

#include "analysis/refine/refine.h"
#include "base/map.h"

typedef VEC(uint32_t) indexes;

static inline void indexes_release(indexes *list)
{
	VEC_RELEASE(list);
}

struct refine_run {			/* a run's data about the cost of probes */
	uint64_t cnt;			/* 0: there was none */
	double probes;			/* an interval */
	double mean_ns, variance_ns2;
};

struct refine_state {
	const struct refine_project *p;
	VEC(struct refine_call) edges;	/* the project's, and those observed */
	uint32_t *first, *callees;	/* callees[first[f]] .. callees[first[f + 1]] */
	double *weights;		/* of callees */
	uint32_t *vias;			/* of callees, as in struct refine_call */
	struct map *by_key;		/* key -> function + 1 */
	struct map *by_place;		/* hash of name and line -> function + 1 */
	uint32_t *same_place;		/* another function + 1 of that hash; 0: none */
	uint32_t *visited, visit;	/* visited[f] == visit: seen in this search */
	struct map *plans;		/* hashes of the plans there have been */

	unsigned char *tried;		/* runs that recorded it, at most 255 */
	double *calls; /* an interval, when it was last recorded; negative: never */
	double *most;			/* of Var(T), at most, when it was last recorded; negative: never */
	double *share_cost;		/* cost of its probes, as a share of Var(T), when last recorded */
	/* In the latest run, as shares of its Var(T): */
	double *total;			/* the function with all it calls, largest place */
	double *own;			/* its body, its waits, and the time that others were in the queue for it */
	double *blamed;			/* the time that others waited for it */
	double *own_doubt, *blamed_doubt;	/* half of their 95 % confidence intervals */
	double own_nobody, own_nobody_doubt;	/* time of no recorded function: on an interval's path */
	double blamed_nobody, blamed_nobody_doubt;	/* time waited for a thread's unrecorded functions */
	double queue_nobody, queue_nobody_doubt;	/* in the queue */
	uint32_t *parent;		/* the function around its place with the largest share, or FUNCTION_NONE */
	double mean_ns;			/* of the latency outside the queue, without the probes' cost */
	double share_of_probes;		/* of Var(T) */
	struct refine_run before;	/* the latest run */
	uint32_t next_gate;		/* struct refinement's gate, of the plan that is being made */
};

/* ---- refine_project.c ---- */

/* Fills in what is known of the project. */
void refine_index(struct refine_state *s, const struct refine_project *p);
/* Adds calls that the run showed and the call graph does not have. */
void refine_learn_calls(struct refine_state *s, const struct findings *f);

/* wait is the queue. */
bool refine_is_queue(const struct node *wait);

/* The function of a node or factor, or FUNCTION_NONE. */
uint32_t refine_find(const struct refine_state *s, const char *name, const char *file,
		     uint32_t line);

/* Whether an edge is a call: of callee handed over to, only if the function that hands over may be called. */
bool refine_is_call(const struct refine_state *s, uint32_t edge);

/* Callees of f that can take a probe; for one that cannot, its callees.  *ret_unprobed (may be NULL): the
 * first that cannot, or NULL. */
void refine_children(struct refine_state *s, uint32_t f, indexes *ret,
		     const struct refine_function **ret_unprobed);

/* The upper end of the confidence interval of own (outside: of blamed). */
double refine_upper(const struct refine_state *s, uint32_t f, bool outside);

/* A run showed that f is not called in intervals, or is negligible: with all that it calls less than half the
 * threshold.  Then the functions below it are negligible, too. */
bool refine_settled(const struct refinement *r, uint32_t f);

/* The run did not record child, and it is not settled.  outside: as part of a waker, outside intervals, where nothing
 * is known about it. */
bool refine_hidden(const struct refinement *r, uint32_t child, bool outside);
/* Whether f, which the user did not decline, calls such a function. */
bool refine_has_hidden(const struct refinement *r, uint32_t f, bool outside);

/* budget: whether f's own part, or what is blamed on it (outside), is to be broken down. */
bool refine_in_scope(const struct refinement *r, uint32_t f, bool outside);

/* refine_verdicts.c */

/* The functions of a factor: itself or both of a pair, and those waited for. */
struct refine_subject {
	uint32_t function;
	bool outside;			/* a waker, on a thread of its own */
};
typedef VEC(struct refine_subject) refine_subjects;
void refine_subjects_of(const struct refinement *r, const struct findings *f,
			const struct factor *x, refine_subjects *ret);

/* refine_unknown.c: where time of no recorded function may be.  Callers of where intervals begin and continue, the
 * nearest that call an unrecorded function; and functions where threads start. */
void refine_callers(const struct refinement *r, indexes *ret);
/* Unrecorded functions that a thread returns to when it puts an interval into the queue: the nearest. */
void refine_around(const struct refinement *r, const struct findings *f, indexes *ret);
bool refine_is_start(const struct refinement *r, uint32_t f);	/* and it was not recorded always */

/* refine_left.c: functions that wait without a probe, for more than the threshold, and can be recorded: each once.
 * Only those inside `inside`, or (NULL) all. */
void refine_waiters(const struct refinement *r, const struct findings *f, const struct factor *inside, indexes *ret);
void refine_find_left(struct refinement *r, const struct findings *f);	/* r->left */

/* refine_verdicts.c: r->verdicts.  next: the plan of the next run, or NULL. */
void refine_judge(struct refinement *r, const struct findings *f, const enum refine_level *next);
/* factor_intervals_needed() with r's threshold. */
uint64_t refine_needed(const struct refinement *r, const struct findings *f, const struct factor *x);

/* Takes in the findings of the run with r->levels. */
void refine_learn(struct refinement *r, const struct findings *f);

/* From calls and the latency, computes cost, probe_ns and mean_ns. */
void refine_learn_cost(struct refinement *r, const struct findings *f);

/* The policies: fill next (all REFINE_OUT) and say whether to go on. */
enum refine_stop refine_by_paper(struct refinement *r, const struct findings *f,
				 enum refine_level *next);
enum refine_stop refine_by_budget(struct refinement *r, const struct findings *f,
				  enum refine_level *next);
void refine_census(struct refinement *r);

#endif

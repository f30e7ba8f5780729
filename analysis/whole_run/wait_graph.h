/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_graph.h - which threads and devices wait for which, and the knots in that graph (wPerf, OSDI '18).
 *
 * A vertex is a thread, several similar ones, or a device.  An edge's weight is the time its first vertex was blocked
 * until the second one woke it, plus indirect waits: while A waits for B and B waits for C, A's time counts for B ->
 * C as well, because a shorter B -> C helps both.  So weights may sum to more than the run.
 */
#ifndef ANALYSIS_WHOLE_RUN_WAIT_GRAPH_H
#define ANALYSIS_WHOLE_RUN_WAIT_GRAPH_H

#include "trace/model.h"

#define WAIT_THRESHOLD_DEFAULT 0.2
#define WAIT_PREFILTER_DEFAULT 0.01

#define VERTEX_KINDS(X)		\
	X(THREAD,  "thread")	\
	X(GROUP,   "group")	\
	X(DISK,    "disk")	\
	X(NIC,     "nic")	\
	X(TIMER,   "timer")	\
	X(PEER,    "peer")	\
	X(UNKNOWN, "unknown")

enum vertex_kind {
#define X(id, name) VERTEX_##id,
	VERTEX_KINDS(X)
#undef X
	VERTEX_KIND_CNT
};

const char *vertex_kind_name(enum vertex_kind kind);

#define VERTEX_ID_NONE UINT64_MAX	/* of the one vertex `unknown` */

struct wait_vertex {
	uint64_t id;			/* TID; of several threads the smallest */
	const char *name;		/* NULL: none */
	enum vertex_kind kind;
	VEC(uint64_t) members;		/* TIDs, ascending; array in the arena */
	uint32_t alike;			/* number of threads that count as one here */
	bool foreground;		/* works for an interval */
	int64_t running_ns, runnable_ns, waiting_ns;	/* of all members */
};

/* The call paths at both ends of an edge. */
struct wait_stack {
	const char **waiter, **waker;	/* frames, outermost first */
	size_t waiter_cnt, waker_cnt;
	enum trace_state state;		/* class of the wait */
	uint64_t waits;
	int64_t weight_ns, direct_ns;	/* of all members */
};

struct wait_edge {
	uint32_t from, to;		/* indexes of vertices; `from` waits for `to` */
	int64_t weight_ns;		/* after re-distribution, for one thread of `from`; with a comparison for all */
	int64_t direct_ns;		/* before re-distribution */
	int64_t typical_ns;		/* weight in typical intervals; only with a comparison */
	uint64_t waits;
	bool prefiltered;
	VEC(struct wait_stack) stacks;	/* the heaviest, at most WAIT_STACKS_MAX; in the arena */
};

#define WAIT_STACKS_MAX 5

struct wait_knot {
	VEC(uint32_t) vertices, edges;	/* for a sink: the edges into it; in the arena */
	bool sink, background;
};

/* A class of intervals, examined separately. */
struct wait_class {
	uint64_t cnt;
	int64_t sum_ns;			/* of their latencies */
};

struct wait_graph {
	struct arena *arena;
	int64_t run_ns;			/* thresholds are fractions of it; with a comparison slow.sum_ns */
	int64_t prefilter_ns, threshold_ns;
	VEC(struct wait_vertex) vertices;	/* by id; the unknown one last */
	VEC(struct wait_edge) edges;		/* heaviest first */
	VEC(struct wait_knot) knots;		/* heaviest first, then sinks, then background knots */
	VEC(uint32_t) trimmed;			/* edges, in order of removal */
	bool compares;			/* slow intervals against typical ones */
	const char *interval;		/* their name */
	struct wait_class slow, typical;
};

struct wait_graph_options {
	double threshold, prefilter;	/* fractions of the run's length */
	bool group;			/* merge similar threads into one vertex */
	bool slow;			/* slow intervals only, compared with typical ones, which are at or below the
					 * median */
	double quantile;		/* slow is at or above this quantile */
	const char *interval;		/* slow: NULL is the name with the most completed ones */
};

/* Sorts t, which must outlive the result.  -ENOENT: no interval of that name; -ENODATA: none
 * completed.  Without `slow` it cannot fail. */
int wait_graph_new(struct trace *t, const struct wait_graph_options *o, struct wait_graph **ret);
void wait_graph_free(struct wait_graph *g);	/* NULL is fine */
DEFINE_CLEANUP(struct wait_graph *, wait_graph_free);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oracle.h - the definitions of the analysis, computed the slow way.
 *
 * It shares nothing with analysis/: time is looked at nanosecond by nanosecond, sets are
 * searched from end to end, sums are whole numbers, reachability is flooded.  Traces are small
 * (times below RANDOM_TIME_MAX).
 */
#ifndef TESTS_ORACLE_ORACLE_H
#define TESTS_ORACLE_ORACLE_H

#include "analysis/findings/findings.h"
#include "tests/oracle/random_trace.h"

#define ORACLE_ROWS_MAX 16
#define ORACLE_STACK_MAX 64

struct tick {				/* one nanosecond of an interval */
	uint64_t tid, owner_tid;
	enum trace_state state, wait;
	uint32_t depth;
	enum thread_kind device;	/* that ended this wait of a waker */
	enum trace_state meanwhile;	/* in the queue: what the thread did for others or until it picked
					 * the interval up, or queue */
	uint64_t taken_up_tid;		/* of such a one: the peer or timer that made the thread take it up again; 0: none, or a thread
					 * of the run: then ticks of that wait are what that one did */
};

/* Fills ticks[ns] for each ns in [start, end). */
void oracle_path(const struct trace *t, const struct interval *iv, struct tick *ticks);

/* Indexes of the invocations open on tid in [ns, ns + 1), outermost first. */
size_t oracle_stack(const struct trace *t, uint64_t tid, int64_t ns,
		    uint32_t stack[ORACLE_STACK_MAX]);

struct oracle_node {
	char *label;			/* "req > f0 > f1@a.c:1 > wait:lock > by f2" */
	int parent;			/* -1: the interval */
	enum node_kind kind;
	uint32_t function;		/* FUNCTION_NONE: none; of a blame, FUNCTION_NONE less the device's kind */
	enum trace_state wait;
	bool is_wait;
	bool shown;
	uint64_t calls;
	bool present[ORACLE_ROWS_MAX];
	int64_t ns[ORACLE_ROWS_MAX];
};

struct oracle {
	const struct trace *t;
	uint32_t name;			/* of the interval */
	size_t row_cnt;
	const struct interval *rows[ORACLE_ROWS_MAX];
	struct tick ticks[ORACLE_ROWS_MAX][RANDOM_TIME_MAX];
	VEC(struct oracle_node) nodes;	/* nodes[0] the interval; the order is the order found */
	uint32_t *heights;		/* per function */
	bool *open;
	uint32_t root_height, root_function;
};

/* t must be sorted. */
struct oracle *oracle_new(const struct trace *t, uint32_t name);
void oracle_free(struct oracle *o);

/* NULL: it is none. */
static inline const char *oracle_function(const struct oracle *o, uint32_t function)
{
	return function < o->t->functions.cnt ? o->t->functions.items[function].name : NULL;
}

/* Pairs of parts: all of them, none too much, what is left of each part, and where they are in the tree. */
bool oracle_same_pairs(const struct oracle *o, const struct findings *f);

/* n^2 Cov of two columns; exact. */
__int128 oracle_covariance(const int64_t *x, const int64_t *y, size_t n);

#endif

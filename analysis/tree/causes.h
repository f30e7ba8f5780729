/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causes.h - a function's variance by cause: running, and each class of wait.
 *
 * A function's time in an interval, over all its places and with what it calls, is the sum of its times by cause.  So
 * its variance is the sum of theirs and twice their covariances, exactly:
 *
 *	f takes 10 running + 0 io, 10 + 40, 20 + 80: sums 10, 50, 100
 *	Var(f) = Var(running) 22.2 + Var(io) 1066.7 + 2 Cov(running, io) 266.7 = 1355.6
 */
#ifndef ANALYSIS_TREE_CAUSES_H
#define ANALYSIS_TREE_CAUSES_H

#include "trace/model.h"

struct cause {
	enum trace_state state;		/* STATE_RUNNING, or the class of a wait */
	double mean_ns, variance_ns2;
	double share;			/* Cov(cause, T) / Var(T): adds up to the function's */
};

struct cause_pair {
	enum trace_state a, b;
	double covariance_ns2;		/* once; Var(f) has it twice */
};

struct caused {				/* a function, or the interval (function NULL: the first) */
	const char *function, *file;	/* live as long as the trace */
	double mean_ns, variance_ns2, share;
	VEC(struct cause) causes;	/* those that took time; largest share first */
	VEC(struct cause_pair) pairs;	/* of causes; largest covariance, whatever its sign, first */
};

typedef VEC(struct caused) caused_list;

/* The interval, then functions, largest share first.  -ENOENT: t has no interval of that name (NULL: as in
 * analyze()).  Sorts t.  caused_release() frees the list. */
int variance_by_cause(struct trace *t, const char *interval, caused_list *ret);
void caused_release(caused_list *list);

#endif

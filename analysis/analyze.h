/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analyze.h - trace to findings: the order of the passes.
 *
 * segments -> critical_path -> execution_table -> variance_tree -> factors.  The invariants
 * of its results are checked on every run; what breaks one is counted and reported as a
 * warning, never hidden.
 */
#ifndef ANALYSIS_ANALYZE_H
#define ANALYSIS_ANALYZE_H

#include "analysis/findings/findings.h"

struct analyze_options {
	const char *interval;		/* name; NULL: the one with the most completed intervals */
	double overhead;		/* budget of the probes, a part of the mean latency; 0: default */
	double quantile;		/* where the tail begins; 0: TAIL_QUANTILE_DEFAULT */
	const int64_t *edges;		/* latencies, ascending: findings.bins begin at them; NULL: no bins */
	size_t edge_cnt;
	bool no_names;			/* leave out interval_names: earlier findings of the run have them */
};

/* Sorts t.  -ENOENT: t has no interval of that name.  Findings with interval.cnt == 0 are
 * a result, not an error.  Any other error: the temporary file of the rows, see TMPDIR. */
int analyze(struct trace *t, const struct analyze_options *o, struct findings **ret);

/*
 * The same for a trace that comes in windows, of all its kinds of intervals at once:
 *
 *	struct analyzer *a = analyzer_new();
 *	while (... a window)
 *		analyzer_add(a, &window);
 *	analyzer_finish(a, names, &options, &findings);		any number of times
 *
 * Findings are the same, bit for bit, however the trace was cut; but for before.by, which rests on the intervals of which one window shows
 * all that went before.
 */
struct analysis_window {
	/* Sorted.  Its intervals are those that ended in the window, in the last one also those that never did. For
	 * all threads it has everything that these can depend on: all that was under way at the earliest start of one
	 * of them, and all that began until the window's end; and the noted work of its intervals.  Each segment is
	 * in the window in which it ended. */
	const struct trace *t;
	/* Everything that ended by before_ns was in an earlier window, too.  INT64_MIN and INT64_MAX: the window is
	 * the whole trace; else the sums of squares of all latencies are known to fit (squares_fit()). */
	int64_t before_ns, until_ns;
};

struct analyzer;

struct analyzer *analyzer_new(void);
void analyzer_free(struct analyzer *a);
DEFINE_CLEANUP(struct analyzer *, analyzer_free);

void analyzer_add(struct analyzer *a, const struct analysis_window *w);

/* names: functions, calls, losses and all names, numbered as in the windows; its tuples are not used. */
int analyzer_finish(struct analyzer *a, const struct trace *names, const struct analyze_options *o,
		    struct findings **ret);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summed_tree.h - adds up the windows of one kind of interval, to the form of an analyzer's row sums.
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_SUMMED_SUMMED_TREE_H
#define ANALYSIS_SUMMED_SUMMED_TREE_H

#include "analysis/pass/summary.h"
#include "analysis/summed/summed.h"
#include "analysis/tree/call_graph.h"
#include "analysis/tree/place_sums.h"

struct bucket_sum {
	uint32_t bucket;		/* BUCKET_BITS_FINE */
	uint64_t n, recorded;
	__int128 t;
};

struct summed_total {
	uint64_t n, recorded;		/* n: in units */
	uint32_t unit;
	int64_t min_ns, max_ns;
	struct counted_intervals counted;
	struct summed_counts counts;
	struct summed_root_only root_only;
	VEC(struct bucket_sum) buckets;	/* in order; n and t in units */
};

struct summed_tree {
	const struct summed *s;
	struct trace *names;		/* functions, call sites and calls */
	struct vtree *v;
	struct moments *m;
	struct call_graph *graph;
	struct place_sums sums;
	struct summed_total total;
	/* private */
	uint32_t *place_of;		/* per place of s; NODE_NONE: of another interval */
	VEC(const struct summed_window *) windows;
};

/* name NULL: a tree without intervals.  Returns NULL if the sums of all windows together would not be exact. */
struct summed_tree *summed_tree_new(const struct summed *s, const char *name);
void summed_tree_free(struct summed_tree *t);	/* NULL is fine */
DEFINE_CLEANUP(struct summed_tree *, summed_tree_free);

/* summed_tail.c: fills f->interval and f->tail, then the sums over slow and fast intervals, then the blocks. */
struct tail_rows summarize_buckets(const struct analysis *a, struct summed_tree *t, double quantile);

#endif

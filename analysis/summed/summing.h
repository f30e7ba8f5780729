/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summing.h - sums up the intervals of one name, window by window.
 *
 * Private to analysis/.  Rows come in any order; each goes into the window in which its interval ended.
 */
#ifndef ANALYSIS_SUMMED_SUMMING_H
#define ANALYSIS_SUMMED_SUMMING_H

#include "analysis/summed/summed.h"
#include "analysis/tree/row_tree.h"

struct summing_window {			/* sums by the tree's numbers of places */
	int64_t number;			/* end_ns / window_ns; 0 without windows */
	struct summed_window sums;	/* pairs, owns, cells and shares in order of discovery */
	struct map *pairs, *cells, *shares, *buckets;	/* key -> index + 1 */
};

struct summing_own {
	enum own_kind kind;
	enum trace_state wait;
	uint32_t function;		/* like a place's */
};

struct summing {
	int64_t window_ns;		/* 0: one window */
	VEC(struct summing_window) windows;	/* in order of discovery */
	struct map *by_number;		/* index + 1 */
	VEC(struct summing_own) owns;
	bool too_many;			/* more than SUMMED_WINDOWS_MAX */
	/* private */
	struct map *own_of_key;
	place_list called, touched;	/* touched: owns of the row */
	VEC(uint32_t) own_of_place, own_of_runqueue, own_of_runqueue_waits;	/* NODE_NONE: none */
	VEC(uint64_t) seen;		/* per place: the last row in which it was present */
	VEC(int64_t) own_ns;
	VEC(uint32_t) last_child, before;	/* per place of the row: as struct row_links */
	VEC(uint32_t) last_body, body_before;	/* bodies of one function: per own the last in the row, and its predecessor; 0: none */
	struct row_tree tree;
	uint64_t row_cnt;
};

struct summing *summing_new(int64_t window_ns);
void summing_free(struct summing *s);	/* NULL is fine */

/* row: v's last row; not used for root-only intervals.  v->called is s->called. */
void summing_add(struct summing *s, const struct vtree *v, const struct interval *iv, const cells *row);

#endif

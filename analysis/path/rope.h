/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rope.h - a stretch of time as a balanced tree of pieces, whose parts can be shared.
 *
 * Private to analysis/.  Ropes never change: joining two, or cutting one, makes a few new nodes
 * and shares all others, so that a thousand waits for the same work cost little more than one.
 * NULL is the empty rope.  All live in an arena.
 */
#ifndef ANALYSIS_PATH_ROPE_H
#define ANALYSIS_PATH_ROPE_H

#include "analysis/path/timeline.h"
#include "base/arena.h"

struct rope {
	int64_t start_ns, end_ns;
	const struct rope *left, *right;	/* left NULL: a leaf */
	void *memo;			/* for the user of the rope; initially NULL */
	uint32_t leaf_cnt;
	uint32_t thread;		/* of a leaf: the thread that is charged, maybe THREAD_NONE */
	uint8_t state;			/* of a leaf: an enum trace_state */
	uint8_t device;			/* of a leaf: an enum thread_kind, as in struct piece */
	uint8_t height;			/* 0: a leaf */
};

/* NULL if it has no length. */
const struct rope *rope_leaf(struct arena *a, uint32_t thread, enum trace_state state, enum thread_kind device,
			     int64_t start_ns, int64_t end_ns);

/* left ends before right begins, or at that moment.  O(difference of their heights). */
const struct rope *rope_join(struct arena *a, const struct rope *left, const struct rope *right);

/* The part of r in [start, end).  O(height). */
const struct rope *rope_cut(struct arena *a, const struct rope *r, int64_t start_ns,
			    int64_t end_ns);

/* Joins items in order of time. */
const struct rope *rope_of(struct arena *a, const struct rope *const *items, size_t cnt);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sums.h - time by key over a part of a rope.
 *
 * Private to analysis/, and to wait_totals.c in it.  Large subtrees remember their sums, so a part costs
 * the nodes at its two ends and the keys that occur in it.
 */
#ifndef ANALYSIS_PATH_SUMS_H
#define ANALYSIS_PATH_SUMS_H

#include "analysis/path/rope.h"
#include "analysis/path/wait_totals.h"

/* Remembered sums live in arena, as the ropes do. */
struct sums *sums_new(const struct timeline *tl, struct arena *arena, past_key key, void *arg);
void sums_free(struct sums *s);

/* Empties ret first. */
void sums_of(struct sums *s, const struct rope *r, int64_t start_ns, int64_t end_ns,
	     past_sums *ret);

#endif

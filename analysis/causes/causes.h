/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causes.h - the variance by cause, summed over the whole tree.
 *
 * Each nanosecond of a critical path has a last known doer, and counts for that one alone: the function that ran, the function that
 * held the lock or was in the way in a queue, the function that waited for a disk or a connection, a device, the run queue.
 * What has no known doer is one cause, too, without a name.  So the shares sum to 1.
 *
 *	handle > lock wait > by flush (sleep)	.30
 *	store > lock wait > by flush (sleep)	.25	flush .62, by its sleep, mostly through the lock waits of handle
 *	flush (body)				.07
 *	store > lock wait > by unknown		.08	unknown .08
 *	handle (body)				.30	handle .30
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_CAUSES_CAUSES_H
#define ANALYSIS_CAUSES_CAUSES_H

#include "analysis/factors/factors.h"

/* f->causes, largest share first, of f->nodes, with confidence intervals from the blocks of the tree's. */
void find_causes(const struct analysis *a, const struct shown_tree *shown, const struct factor_columns *factors);

#endif

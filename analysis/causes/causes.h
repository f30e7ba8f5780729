/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causes.h - the variance by cause, summed over the whole tree.
 *
 * Each nanosecond of a critical path has a last known cause and counts for that cause only: the function that ran, the function
 * that held the lock or occupied the queue, the function that waited for a disk or a connection, a device, or the run queue.
 * Time without a known cause forms one more cause, which has no name.  So the shares sum to 1.
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

/* Fills f->causes, largest share first, with confidence intervals from the tree's blocks. */
void find_causes(const struct analysis *a, const struct shown_tree *shown, const struct factor_columns *factors);

#endif

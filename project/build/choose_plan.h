/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * choose_plan.h - which functions to probe when the user did not say: the interval's root and its
 * callees down to a depth, and whoever may be waited for.
 */
#ifndef PROJECT_BUILD_CHOOSE_PLAN_H
#define PROJECT_BUILD_CHOOSE_PLAN_H

#include "instrumenter/plan/plan.h"
#include "instrumenter/scan/scan.h"
#include "project/config/config.h"
#include "store/store.h"

/*
 * Roots are the functions named by the intervals' start, end and resume places, and those whose
 * source carries VPROF_ marks.  Level: inside intervals.  Functions that directly call a releasing
 * primitive are always recorded, so that a waker has a name; so are roots in
 * whose middle an interval begins (FILE:LINE, marks): they are entered before it; and functions that are
 * called around an interval's beginning (beside.h): requests may wait for them.  *ret_root_cnt says how many roots there were.
 */
void choose_plan(const struct project *p, const struct config *c, const units *scanned,
		 unsigned depth, struct plan *ret, size_t *ret_root_cnt);

/* The roots alone, per function: ret_roots; those in whose middle an interval begins: ret_inside.  Returns their number. */
size_t choose_roots(const struct project *p, const struct config *c, const units *scanned,
		    bool *ret_roots, bool *ret_inside);

/* text: "all", the path of a file of names (one a line, # comments), or NAME,NAME...; a NAME may be
 * FILE:FUNCTION.  A name that no function has is EXIT_USAGE with the nearest. */
int plan_from_text(const struct project *p, const char *text, struct plan *ret, struct diag *reterr);

/* EXIT_USAGE if the plan records more functions than a recording has numbers for. */
int plan_fits(const struct plan *p, const units *scanned, struct diag *reterr);

/* That number.  Tests make it small. */
extern size_t plan_functions_max;

#endif

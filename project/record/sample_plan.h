/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample_plan.h - the plan of a sampled run: what is recorded in root-only intervals as well.
 *
 * `vprof build --functions` has its functions recorded always.  In a run in which only some intervals are recorded in
 * full, root-only intervals would then omit nothing; so "always" is kept for functions that need it, as in the plan
 * without --functions: those that may wake another thread, and those entered before an interval begins in their
 * middle.
 */
#ifndef PROJECT_RECORD_SAMPLE_PLAN_H
#define PROJECT_RECORD_SAMPLE_PLAN_H

#include "instrumenter/plan/plan.h"
#include "project/config/config.h"
#include "store/store.h"

/* Lowers the levels of plan from "always" to "interval" where they need not be. */
int sample_plan(struct store *s, const struct config *c, struct plan *plan, struct diag *reterr);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * early_functions.h - functions of other files that ifunc resolvers may call.
 *
 *	a.c	static fn *pick(void) { return cpu_has(AVX) ? fast : slow; }	add() is ifunc("pick")
 *	b.c	int cpu_has(int what) { return features() & what; }
 *
 * The launcher sees that pick() is a resolver, and what it calls in a.c; b.c may be compiled before.  So the plan
 * says that cpu_has() and features() are early, as soon as the records of all units are there.
 */
#ifndef PROJECT_BUILD_EARLY_FUNCTIONS_H
#define PROJECT_BUILD_EARLY_FUNCTIONS_H

#include "instrumenter/plan/plan.h"
#include "instrumenter/scan/scan.h"
#include "store/store.h"

/* Adds them to the plan. */
int plan_early_functions(struct store *s, const units *scanned, struct plan *plan, struct diag *reterr);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * leave_out.h - functions whose calls do not count: [callgraph] leave-out of vprof.conf.
 *
 * Error reporting calls everything (it formats, allocates, logs, cleans up) and everything calls it. In PostgreSQL
 * 1,154 functions are one circle because of it, and LWLockAcquire stands 12 high instead of 6.  So calls of such a
 * function are no edges for heights, and searches do not go below it. A function that is declared noreturn is always
 * left out: its caller does not return either, so it cannot be where an invocation spent its time.
 */
#ifndef PROJECT_RUNS_LEAVE_OUT_H
#define PROJECT_RUNS_LEAVE_OUT_H

#include "base/str.h"
#include "project/config/config.h"
#include "store/store.h"

/* Sets left_out of p's functions. */
void leave_out(struct project *p, const struct config *c);

/* Appends "leave-out = PATTERN" for each that matches no function, separated by ", ". */
void leave_out_unused(const struct project *p, const struct config *c, struct str *ret);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_trace.h - traces of one thread: each interval is handle, which calls f0, f1, ... one after another.
 *
 * Their findings are known: f0, f1, ... take the times given, handle none of its own.
 */
#ifndef TESTS_UNIT_PLAIN_TRACE_H
#define TESTS_UNIT_PLAIN_TRACE_H

#include "analysis/analyze.h"

/* times_ns: [interval * function_cnt + function]; 0: not called. SIDs are 1, 2, ... */
struct trace *plain_trace(const int64_t *times_ns, size_t interval_cnt, size_t function_cnt);

/* The findings of all its intervals, with all defaults. */
struct findings *plain_findings(struct trace *t);

/* The factor of that function ("f0") itself; fails the program if there is none. */
const struct factor *plain_factor(const struct findings *f, const char *function);

/* Random numbers of our own, so that the draws stay what they are. */
struct numbers {
	uint64_t state;
};
double numbers_uniform(struct numbers *n);	/* in [0, 1) */
double numbers_normal(struct numbers *n);

#endif

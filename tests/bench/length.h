/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * length.h - how fast a recorded trace is analysed, and how much memory it takes as it gets longer.
 */
#ifndef TESTS_BENCH_LENGTH_H
#define TESTS_BENCH_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

struct length_row {
	uint64_t invocation_cnt;
	double seconds;			/* processor time of all threads */
	double peak_mb;
	uint64_t interval_cnt;
	double path_seconds, path_peak_mb;	/* of the critical path of one interval alone, in the middle */
};

/* Writes a trace of about that many invocations, analyses it in a process of its own; false: that failed. */
bool length_measure(uint64_t invocation_cnt, struct length_row *ret);

#endif

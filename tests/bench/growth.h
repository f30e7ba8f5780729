/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * growth.h - what the analysis costs as a program, not its load, gets larger: time and memory at two sizes.
 */
#ifndef TESTS_BENCH_GROWTH_H
#define TESTS_BENCH_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include "trace/model.h"

struct growth {
	const char *name, *what;
	void (*make)(struct trace *t, size_t n);	/* calls of functions 0..; t has one name of intervals */
	size_t less, more;
};

struct growth_row {
	double tuples[2], seconds[2], peak_mb[2];	/* at less and more; the fastest of the rounds */
};

extern const struct growth growths[];
extern const size_t growth_cnt;

/* Each measurement in a process of its own; false: an analysis failed. */
bool growth_measure(const struct growth *g, int rounds, struct growth_row *ret);

#endif

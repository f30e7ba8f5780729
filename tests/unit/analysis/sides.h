/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sides.h - findings of runs that consist of a few functions below one, straight from the definitions, and sides of such runs.
 */
#ifndef TESTS_UNIT_ANALYSIS_SIDES_H
#define TESTS_UNIT_ANALYSIS_SIDES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/compare/compare.h"
#include "tests/unit/plain_trace.h"

static inline int side_compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* times: [interval * functions + function], as of plain_trace(). */
static inline struct findings *run_of(const double *times_ns, size_t cnt, size_t functions)
{
	struct findings *f = findings_new();
	int64_t *sorted = xcalloc(cnt, sizeof(*sorted)), at = 0;
	double mean = 0, variance = 0;

	for (size_t i = 0; i < cnt; i++) {
		double t = 0;

		for (size_t k = 0; k < functions; k++)
			t += times_ns[i * functions + k];
		sorted[i] = (int64_t)llround(t);
		VEC_ADD(&f->intervals, (struct interval_row){ .sid = i + 1, .start_ns = at, .end_ns = at + sorted[i] });
		at += sorted[i] + 1;
		mean += t / (double)cnt;
	}
	VEC_ADD(&f->nodes, (struct node){ .parent = NODE_NONE, .kind = NODE_INTERVAL, .share = 1 });
	for (size_t i = 0; i < cnt; i++) {
		double t = 0;

		for (size_t k = 0; k < functions; k++)
			t += times_ns[i * functions + k];
		variance += (t - mean) * (t - mean) / (double)cnt;
	}
	for (size_t k = 0; k < functions; k++) {
		const char *name = arena_printf(f->arena, "f%zu", k);
		double own = 0, cov = 0;

		for (size_t i = 0; i < cnt; i++)
			own += times_ns[i * functions + k] / (double)cnt;
		for (size_t i = 0; i < cnt; i++) {
			double t = 0;

			for (size_t j = 0; j < functions; j++)
				t += times_ns[i * functions + j];
			cov += (times_ns[i * functions + k] - own) * (t - mean) / (double)cnt;
		}
		cov = variance > 0 ? cov / variance : 0;
		VEC_ADD(&f->nodes, (struct node){ .id = (uint32_t)k + 1, .kind = NODE_FUNCTION, .function = name, .file = "a.c",
						  .line = 10, .mean_ns = own, .share = cov });
		VEC_ADD(&f->parts, (struct part){ .function = name, .file = "a.c", .mean_ns = own, .share = cov });
	}
	qsort(sorted, cnt, sizeof(*sorted), side_compare_ns);
	f->interval = (struct interval_summary){
		.name = "r", .cnt = cnt, .mean_ns = mean, .variance_ns2 = variance, .stddev_ns = sqrt(variance),
		.p50_ns = sorted[(cnt + 1) / 2 - 1], .p90_ns = sorted[(size_t)ceil(.9 * (double)cnt - 1e-9) - 1],
		.p99_ns = sorted[(size_t)ceil(.99 * (double)cnt - 1e-9) - 1], .min_ns = sorted[0], .max_ns = sorted[cnt - 1],
	};
	free(sorted);
	return f;
}

enum { SIDE_RUNS_MAX = 32 };

/* A side of runs that it owns. */
struct own_side {
	struct compared_run runs[SIDE_RUNS_MAX];
	size_t cnt;
};

static inline void side_add(struct own_side *s, int64_t started_ns, struct findings *f)
{
	s->runs[s->cnt++] = (struct compared_run){ started_ns, f, NULL };
}

static inline struct compared_side side_as(const struct own_side *s)
{
	return (struct compared_side){ s->runs, s->cnt };
}

static inline void side_release(struct own_side *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		findings_free((struct findings *)s->runs[i].findings);
	s->cnt = 0;
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * growth.c - programs of n functions, n calls inside each other, n names of intervals.
 *
 * A child makes the trace and analyses it; it reports how long the analysis took, wait4() how much memory all of it.
 */
#include "tests/bench/growth.h"

#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "analysis/analyze.h"
#include "base/banned.h"

#define INTERVALS 20
#define GROUP 50			/* functions below one */

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static uint32_t function(struct trace *t, const char *prefix, size_t i)
{
	VEC_ADD(&t->functions, (struct function){ .name = arena_printf(t->arena, "%s%zu", prefix, i), .probed = true });
	return (uint32_t)(t->functions.cnt - 1);
}

static void call(struct trace *t, uint64_t sid, uint32_t function, int64_t start_ns, int64_t end_ns)
{
	struct invocation inv = { .tid = 1, .sid = sid, .function = function, .call_site = CALL_SITE_NONE, .start_ns = start_ns,
				  .end_ns = end_ns, .order = (uint32_t)t->invocations.cnt };

	VEC_ADD(&t->invocations, inv);
}

static void interval(struct trace *t, uint32_t name, int64_t start_ns, int64_t end_ns)
{
	uint64_t sid = t->intervals.cnt;

	VEC_ADD(&t->segments, (struct segment){ 1, sid, start_ns, end_ns, STATE_RUNNING, 0 });
	VEC_ADD(&t->intervals, (struct interval){ .sid = sid, .name = name, .status = INTERVAL_COMPLETED, .start_tid = 1,
						  .end_tid = 1, .start_ns = start_ns, .end_ns = end_ns });
}

/* Different in each interval, and the same in each run. */
static int64_t duration_ns(size_t i, size_t k)
{
	return 100 + (int64_t)((i * 7919 + k * 104729 + i * k * 31) % 801);
}

/* Each interval calls all n functions, one after the other, from its root. */
static void make_wide(struct trace *t, size_t n)
{
	uint32_t root = function(t, "root", 0), first = (uint32_t)t->functions.cnt;
	int64_t at_ns = 0;

	for (size_t k = 0; k < n; k++)
		function(t, "f", k);
	for (size_t i = 0; i < 2 * INTERVALS; i++, at_ns += 1000) {
		int64_t start_ns = at_ns;

		for (size_t k = 0; k < n; k++) {
			call(t, i, first + (uint32_t)k, at_ns, at_ns + duration_ns(i, k));
			at_ns += duration_ns(i, k);
		}
		call(t, i, root, start_ns, at_ns);
		interval(t, 0, start_ns, at_ns);
	}
}

/* The same in groups: no function calls many. */
static void make_groups(struct trace *t, size_t n)
{
	uint32_t first = (uint32_t)t->functions.cnt;
	int64_t at_ns = 0;

	for (size_t k = 0; k < n; k++)
		function(t, k % GROUP ? "f" : "group", k);
	for (size_t i = 0; i < INTERVALS; i++, at_ns += 1000) {
		int64_t start_ns = at_ns, group_ns = at_ns;

		for (size_t k = 0; k < n; k++) {
			if (k % GROUP == 0)
				group_ns = at_ns;
			else
				call(t, i, first + (uint32_t)k, at_ns, at_ns + duration_ns(i, k));
			at_ns += duration_ns(i, k);
			if (k % GROUP == GROUP - 1)
				call(t, i, first + (uint32_t)(k - k % GROUP), group_ns, at_ns);
		}
		interval(t, 0, start_ns, at_ns);
	}
}

/* Two intervals of n calls, each inside the one before. */
static void make_depth(struct trace *t, size_t n)
{
	int64_t cnt = (int64_t)n, at_ns = 0;

	for (size_t k = 0; k < 7; k++)
		function(t, "f", k);
	for (size_t i = 0; i < 2; i++, at_ns += 3 * cnt) {
		for (int64_t k = 0; k < cnt; k++)
			call(t, i, (uint32_t)(k % 7), at_ns + k, at_ns + 2 * cnt + 1 - k);
		interval(t, 0, at_ns, at_ns + 2 * cnt + 2 + (int64_t)i);
	}
}

/* n names, each with as many intervals. */
static void make_kinds(struct trace *t, size_t n)
{
	uint32_t f = function(t, "f", 0);
	int64_t at_ns = 0;

	for (size_t k = 1; k < n; k++)
		trace_add_string(t, &t->interval_names, arena_printf(t->arena, "req%zu", k));
	for (size_t i = 0; i < n * INTERVALS; i++, at_ns += 2000) {
		call(t, i, f, at_ns, at_ns + duration_ns(i, i / n));
		interval(t, (uint32_t)(i % n), at_ns, at_ns + 1000);
	}
}

const struct growth growths[] = {
	{ "wide", "n functions called by one", make_wide, 2000, 8000 },
	{ "groups", "n functions, 50 called by each caller", make_groups, 20000, 200000 },
	{ "depth", "n calls inside each other", make_depth, 10000, 100000 },
	{ "kinds", "n names of intervals", make_kinds, 500, 5000 },
};
const size_t growth_cnt = sizeof(growths) / sizeof(growths[0]);

struct told {				/* by the child */
	double seconds;
	size_t tuple_cnt;
};

/* Through struct analyzer, which has rows for every name. */
static bool analyse(const struct growth *g, size_t n, struct told *ret)
{
	struct trace *t = trace_new();
	struct analyzer *a = analyzer_new();
	struct analyze_options o = { .interval = "req" };
	struct findings *f = NULL;
	double start_s;

	trace_add_string(t, &t->interval_names, "req");
	g->make(t, n);
	ret->tuple_cnt = t->intervals.cnt + t->segments.cnt + t->invocations.cnt;
	start_s = now_s();
	trace_sort(t);
	analyzer_add(a, &(struct analysis_window){ t, INT64_MIN, INT64_MAX });
	if (analyzer_finish(a, t, &o, &f) < 0 || f->interval.cnt < 2)
		return false;
	ret->seconds = now_s() - start_s;
	return true;
}

static bool in_child(const struct growth *g, size_t n, struct told *ret, double *ret_peak_mb)
{
	struct rusage usage;
	int ends[2], status;
	pid_t child;
	bool ok;

	if (pipe(ends) < 0)
		return false;
	child = fork();
	if (child == 0)
		_exit(!analyse(g, n, ret) || write(ends[1], ret, sizeof(*ret)) != sizeof(*ret));
	close(ends[1]);
	ok = child > 0 && read(ends[0], ret, sizeof(*ret)) == sizeof(*ret) && wait4(child, &status, 0, &usage) == child &&
	     status == 0;
	close(ends[0]);
	*ret_peak_mb = ok ? (double)usage.ru_maxrss / 1024 : 0;
	return ok;
}

bool growth_measure(const struct growth *g, int rounds, struct growth_row *ret)
{
	*ret = (struct growth_row){ .seconds = { INFINITY, INFINITY }, .peak_mb = { INFINITY, INFINITY } };
	for (int i = 0; i < 2 * rounds; i++) {
		int at = i % 2;
		struct told told;
		double peak_mb;

		if (!in_child(g, at ? g->more : g->less, &told, &peak_mb))
			return false;
		ret->tuples[at] = (double)told.tuple_cnt;
		ret->seconds[at] = fmin(ret->seconds[at], told.seconds);
		ret->peak_mb[at] = fmin(ret->peak_mb[at], peak_mb);
	}
	return true;
}

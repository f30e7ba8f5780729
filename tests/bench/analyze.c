/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analyze.c - make bench-analyze: does the time of the analysis grow with the length of the trace, and the memory?
 *
 *	analyze [TUPLES [SHAPE]]		default 1000000, all shapes
 *	analyze length [INVOCATIONS]		default 10000000: recorded traces alone
 *	analyze growth [NAME]			programs of two sizes alone (growth.h)
 *
 * Recorded traces (big_trace.h) of a tenth of the length and the length, five times: invocations a second and core in the
 * fastest round (noise only adds), and how much more memory the longer one takes at most.
 * Then each shape of program (shapes.h) at n and 2n tuples, in turns, five rounds; a row is the ratio
 * of the fastest, which is 2 for a linear analysis and 4 for a quadratic one.
 * Programs of two sizes (growth.h): time and memory grow at most 1.5 times as much as the tuples do.
 * Processor time.  Prints a table, writes results/analyze.json, exits 1 where a ratio is 2.3 or more, or a target
 * is missed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "analysis/analyze.h"
#include "tests/bench/growth.h"
#include "tests/bench/length.h"
#include "tests/bench/shapes.h"
#include "base/banned.h"

#define ROUNDS 5
#define RATIO_MAX 2.3
#define RATE_MIN 10e6			/* invocations a second and core */
#define PROGRAM_ROUNDS 3
#define PROGRAM_MAX 1.5			/* of the ratio of costs to that of tuples; larger tables miss the cache more often */
#define PATH_MAX_SHARE .03		/* of the analysis: the path of one interval; measured .007 */
#define PATH_GROWTH_MAX 3		/* of its time, at ten times the length: the index is that much longer; measured 1.7 */
#define GROWTH_MAX 1.2			/* of memory, at ten times the length */
#define PATH_MEMORY_MAX 1.5		/* ... of one interval's path, which is 4.6 MB: the index is in it */

struct row {
	double seconds, ratio, ns_per_tuple;
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static size_t tuple_cnt(const struct trace *t)
{
	return t->intervals.cnt + t->segments.cnt + t->invocations.cnt + t->wakeups.cnt +
	       t->creations.cnt;
}

/* Seconds of one analysis, or a negative number if it found nothing. */
static double measure(const struct shape *s, size_t n, size_t *ret_tuples)
{
	_cleanup_(trace_freep) struct trace *t = shape_new(s, n);
	_cleanup_(findings_freep) struct findings *f = NULL;
	struct analyze_options options = { .interval = "req" };
	double start_s = now_s();

	*ret_tuples = tuple_cnt(t);
	if (analyze(t, &options, &f) < 0 || f->interval.cnt != t->intervals.cnt)
		return -1;
	return now_s() - start_s;
}

static bool measure_shape(const struct shape *s, size_t n, struct row *ret)
{
	double once_s = INFINITY, twice_s = INFINITY;
	size_t once_tuples = 0, twice_tuples = 0;

	for (int i = 0; i < ROUNDS; i++) {
		once_s = fmin(once_s, measure(s, n, &once_tuples));
		twice_s = fmin(twice_s, measure(s, 2 * n, &twice_tuples));
		if (once_s < 0 || twice_s < 0)
			return false;
	}
	ret->seconds = once_s;
	ret->ratio = twice_s / once_s;
	ret->ns_per_tuple = 1e9 * once_s / (double)once_tuples;
	return true;
}

static void write_row(FILE *json, const struct shape *s, const struct row *row, bool first)
{
	bool ok = row->ratio < RATIO_MAX;

	printf("%-10s %-52s %7.2f s %7.0f ns/tuple  x %.2f  %s\n", s->name, s->what, row->seconds,
	       row->ns_per_tuple, row->ratio, ok ? "ok" : "MISSED");
	fflush(stdout);
	fprintf(json, "%s\n  {\"name\":\"%s: time(2n)/time(n)\",\"value\":%.3f,\"unit\":\"ratio\","
		"\"target\":%.1f,\"ok\":%s},\n  {\"name\":\"%s: time a tuple\",\"value\":%.1f,\"unit\":"
		"\"ns\",\"target\":null,\"ok\":true}", first ? "" : ",", s->name, row->ratio,
		RATIO_MAX, ok ? "true" : "false", s->name, row->ns_per_tuple);
}

static bool tell(FILE *json, bool first, const char *name, double value, const char *unit, double target, bool ok)
{
	printf("%-63s %12.4g %s (target %.4g)  %s\n", name, value, unit, target, ok ? "ok" : "MISSED");
	fflush(stdout);
	fprintf(json, "%s\n  {\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",\"target\":%.6g,\"ok\":%s}",
		first ? "" : ",", name, value, unit, target, ok ? "true" : "false");
	return ok;
}

/* false: a target was missed, or nothing could be measured. */
static bool measure_length(FILE *json, uint64_t n, bool first)
{
	double rate = 0, growth = 0, path = INFINITY, path_growth = 0, short_path_s = INFINITY, path_s = INFINITY;
	bool ok;

	for (int round = 0; round < ROUNDS; round++) {
		struct length_row shorter, longer;

		if (!length_measure(n / 10, &shorter) || !length_measure(n, &longer)) {
			fprintf(stderr, "a recorded trace of %llu invocations could not be analysed\n", (unsigned long long)n);
			return false;
		}
		rate = fmax(rate, (double)longer.invocation_cnt / longer.seconds);
		growth = fmax(growth, longer.peak_mb / shorter.peak_mb);
		path = fmin(path, longer.path_seconds / longer.seconds);
		short_path_s = fmin(short_path_s, shorter.path_seconds);
		path_s = fmin(path_s, longer.path_seconds);
		path_growth = fmax(path_growth, longer.path_peak_mb / shorter.path_peak_mb);
		printf("recorded: %llu invocations in %.2f s and %.1f MB, %llu in %.2f s and %.1f MB; one path %.1f ms, %.1f MB and %.1f ms, %.1f MB\n",
		       (unsigned long long)shorter.invocation_cnt, shorter.seconds, shorter.peak_mb,
		       (unsigned long long)longer.invocation_cnt, longer.seconds, longer.peak_mb, 1e3 * shorter.path_seconds,
		       shorter.path_peak_mb, 1e3 * longer.path_seconds, longer.path_peak_mb);
	}
	ok = tell(json, first, "recorded: invocations a second and core, fastest round", rate, "1/s", RATE_MIN, rate >= RATE_MIN);
	ok &= tell(json, false, "recorded: peak memory at ten times the length", growth, "ratio", GROWTH_MAX, growth <= GROWTH_MAX);
	ok &= tell(json, false, "recorded: time of one interval's critical path, of the analysis's", path, "ratio", PATH_MAX_SHARE,
		   path <= PATH_MAX_SHARE);
	ok &= tell(json, false, "recorded: ... its time at ten times the length", path_s / short_path_s, "ratio", PATH_GROWTH_MAX,
		   path_s / short_path_s <= PATH_GROWTH_MAX);
	return tell(json, false, "recorded: ... its peak memory at ten times the length", path_growth, "ratio", PATH_MEMORY_MAX,
		    path_growth <= PATH_MEMORY_MAX) && ok;
}

/* false: a target was missed, or nothing could be measured. */
static bool measure_growth(FILE *json, bool first, const char *only)
{
	bool ok = true;

	for (size_t i = 0; i < growth_cnt; i++) {
		const struct growth *g = &growths[i];
		struct growth_row row;
		double tuples, seconds, memory;
		char name[128];

		if (only && strcmp(only, g->name) != 0)
			continue;
		if (!growth_measure(g, PROGRAM_ROUNDS, &row)) {
			fprintf(stderr, "%s: could not be analysed\n", g->name);
			return false;
		}
		tuples = row.tuples[1] / row.tuples[0];
		seconds = row.seconds[1] / row.seconds[0] / tuples;
		memory = row.peak_mb[1] / row.peak_mb[0] / tuples;
		printf("%s: %s: %zu in %.2f s and %.0f MB, %zu in %.2f s and %.0f MB\n", g->name, g->what, g->less, row.seconds[0],
		       row.peak_mb[0], g->more, row.seconds[1], row.peak_mb[1]);
		snprintf(name, sizeof(name), "%s: %s: time a tuple, large / small", g->name, g->what);
		ok &= tell(json, first, name, seconds, "ratio", PROGRAM_MAX, seconds <= PROGRAM_MAX);
		snprintf(name, sizeof(name), "%s: %s: memory a tuple, large / small", g->name, g->what);
		ok &= tell(json, false, name, memory, "ratio", PROGRAM_MAX, memory <= PROGRAM_MAX);
		first = false;
	}
	return ok;
}

int main(int argc, char **argv)
{
	bool only_length = argc > 1 && strcmp(argv[1], "length") == 0;
	bool only_growth = argc > 1 && strcmp(argv[1], "growth") == 0;
	size_t n = argc > 1 && !only_length && !only_growth ? strtoul(argv[1], NULL, 10) : 1000000;
	uint64_t length = only_length && argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000;
	FILE *json = fopen("results/analyze.json", "w");
	bool missed = false, first = true;
	struct rusage usage;

	if (!json) {
		perror("results/analyze.json");
		return 99;
	}
	fprintf(json, "{\"schema\":\"vprof.bench/1\",\"host\":{\"cores\":%ld},\"rows\":[",
		sysconf(_SC_NPROCESSORS_ONLN));
	/* First these two: a child's peak begins with what its parent had in memory when it was forked. */
	if (!only_growth && (argc < 3 || only_length)) {
		missed = !measure_length(json, length, first);
		first = false;
	}
	if (only_growth || argc < 2) {
		missed |= !measure_growth(json, first, only_growth && argc > 2 ? argv[2] : NULL);
		first = false;
	}
	for (size_t i = 0; i < shape_cnt && !only_length && !only_growth; i++) {
		struct row row;

		if (argc > 2 && strcmp(argv[2], shapes[i].name) != 0)
			continue;
		if (!measure_shape(&shapes[i], n, &row)) {
			fprintf(stderr, "%s: the analysis dropped intervals\n", shapes[i].name);
			return 99;
		}
		write_row(json, &shapes[i], &row, first);
		first = false;
		missed = missed || row.ratio >= RATIO_MAX;
	}
	fputs("]}\n", json);
	fclose(json);
	getrusage(RUSAGE_SELF, &usage);
	printf("largest memory: %ld MB\n", usage.ru_maxrss / 1024);
	return missed;
}

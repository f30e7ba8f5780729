/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analyze.c - make bench-analyze: does the time of the analysis grow with the length of the trace?
 *
 *	analyze [TUPLES [SHAPE]]		default 1000000, all shapes
 *
 * Each shape of program (shapes.h) at n and 2n tuples, in turns, five rounds; a row is the ratio
 * of the fastest (noise only adds), which is 2 for a linear analysis and 4 for a quadratic one.
 * Processor time.  Prints a table, writes results/analyze.json, exits 1 where a ratio is 2.3 or more.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "analysis/analyze.h"
#include "tests/bench/shapes.h"
#include "base/banned.h"

#define ROUNDS 5
#define RATIO_MAX 2.3

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

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	FILE *json = fopen("results/analyze.json", "w");
	bool missed = false, first = true;
	struct rusage usage;

	if (!json) {
		perror("results/analyze.json");
		return 99;
	}
	fprintf(json, "{\"schema\":\"vprof.bench/1\",\"host\":{\"cores\":%ld},\"rows\":[",
		sysconf(_SC_NPROCESSORS_ONLN));
	for (size_t i = 0; i < shape_cnt; i++) {
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_trace.c - traces of one thread whose findings are known.
 *
 * Example: times 3, 4 | 5, 0 of two functions: interval 1 is [0, 7], f0 [0, 3], f1 [3, 7]; interval 2
 * is [17, 22], f0 alone.
 */
#include "tests/unit/plain_trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"

#define PAUSE_NS 10			/* between intervals */

static int64_t add_interval(struct trace *t, uint64_t sid, int64_t at, const int64_t *times_ns, size_t cnt)
{
	int64_t start_ns = at;
	uint32_t order = (uint32_t)t->invocations.cnt;
	struct invocation *handle;

	VEC_ADD(&t->invocations, (struct invocation){ 0, sid, 0, CALL_SITE_NONE, at, at, order });
	for (uint32_t i = 0; i < cnt; i++) {
		if (times_ns[i] == 0)
			continue;
		VEC_ADD(&t->invocations, (struct invocation){ 0, sid, i + 1, CALL_SITE_NONE, at,
							      at + times_ns[i], ++order });
		at += times_ns[i];
	}
	handle = &t->invocations.items[t->invocations.cnt - 1];
	while (handle->function != 0 || handle->sid != sid)
		handle--;
	handle->end_ns = at;
	VEC_ADD(&t->intervals, (struct interval){ .sid = sid, .status = INTERVAL_COMPLETED,
						  .start_ns = start_ns, .end_ns = at });
	VEC_ADD(&t->segments, (struct segment){ 0, sid, start_ns, at, STATE_RUNNING, 0 });
	return at + PAUSE_NS;
}

struct trace *plain_trace(const int64_t *times_ns, size_t interval_cnt, size_t function_cnt)
{
	struct trace *t = trace_new();
	int64_t at = 0;

	trace_add_string(t, &t->interval_names, "r");
	VEC_ADD(&t->functions, (struct function){ .name = "handle", .probed = true });
	for (uint32_t i = 0; i < function_cnt; i++) {
		VEC_ADD(&t->functions, (struct function){ .name = arena_printf(t->arena, "f%u", i),
							  .probed = true });
		VEC_ADD(&t->calls, (struct call){ 0, i + 1, CALL_SITE_NONE, false });
	}
	for (size_t i = 0; i < interval_cnt; i++)
		at = add_interval(t, i + 1, at, times_ns + i * function_cnt, function_cnt);
	return t;
}

struct findings *plain_findings(struct trace *t)
{
	struct analyze_options o = { .interval = NULL };
	struct findings *f = NULL;

	if (analyze(t, &o, &f) < 0)
		abort();
	return f;
}

const struct factor *plain_factor(const struct findings *f, const char *function)
{
	for (size_t i = 0; i < f->factors.cnt; i++)
		if (f->factors.items[i].kind == FACTOR_FUNCTION &&
		    strcmp(f->factors.items[i].function, function) == 0)
			return &f->factors.items[i];
	fprintf(stderr, "no factor %s\n", function);
	abort();
}

double numbers_uniform(struct numbers *n)
{
	n->state = n->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(n->state >> 11) / (double)(1ULL << 53);
}

/* Box and Muller's; the other of the two is thrown away. */
double numbers_normal(struct numbers *n)
{
	double radius = sqrt(-2 * log(1 - numbers_uniform(n)));

	return radius * cos(2 * 3.14159265358979323846 * numbers_uniform(n));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summed.c - creates and frees sums; numbers the buckets of latencies.
 *
 * Buckets with 3 bits: 0, 1, ... 7 hold one latency each, then there are eight per octave:
 *
 *	8 9 10 ... 15	16-17 18-19 ... 30-31	32-35 ...
 */
#include "analysis/summed/summed.h"

#include "base/banned.h"

struct summed *summed_new(void)
{
	struct summed *s = xcalloc(1, sizeof(*s));

	s->arena = arena_new();
	return s;
}

void summed_window_release(struct summed_window *w)
{
	VEC_RELEASE(&w->sums);
	VEC_RELEASE(&w->pairs);
	VEC_RELEASE(&w->owns);
	VEC_RELEASE(&w->buckets);
	VEC_RELEASE(&w->cells);
	VEC_RELEASE(&w->shares);
}

void summed_free(struct summed *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->windows.cnt; i++)
		summed_window_release(&s->windows.items[i]);
	VEC_RELEASE(&s->windows);
	VEC_RELEASE(&s->sources);
	VEC_RELEASE(&s->places);
	VEC_RELEASE(&s->calls);
	VEC_RELEASE(&s->functions);
	VEC_RELEASE(&s->call_sites);
	VEC_RELEASE(&s->interval_names);
	arena_free(s->arena);
	free(s);
}

uint32_t summed_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

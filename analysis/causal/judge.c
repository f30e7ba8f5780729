/* SPDX-License-Identifier: GPL-3.0-or-later */
/* judge.c - corrects p values for several targets; chooses the floor and the default metric. */
#include <math.h>

#include "analysis/causal/estimate.h"
#include "base/banned.h"

#define FLOOR_MIN 0.005

static bool has_p(const struct experiment *x, enum gain_metric m)
{
	return x->metrics[m].known && x->metrics[m].has_ci95;
}

/*
 * Holm: the smallest of n values of p is multiplied by n, the second by n - 1, ...; none becomes smaller than the one before.
 * adjusted marks the experiments that are done.  Example: .01 .04 .03 of three become .03 .06 .06.
 */
static void adjust(struct experiments *e, double speedup, enum gain_metric m, bool *adjusted)
{
	size_t left = 0;
	double before = 0;

	for (size_t i = 0; i < e->list.cnt; i++) {
		adjusted[i] = e->list.items[i].speedup != speedup || !has_p(&e->list.items[i], m);
		left += !adjusted[i];
	}
	for (; left; left--) {
		size_t least = SIZE_MAX;
		double p;

		for (size_t i = 0; i < e->list.cnt; i++)
			if (!adjusted[i] && (least == SIZE_MAX || e->list.items[i].metrics[m].p_value <
								   e->list.items[least].metrics[m].p_value))
				least = i;
		p = fmin(1, fmax(before, (double)left * e->list.items[least].metrics[m].p_value));
		e->list.items[least].metrics[m].p_value = before = p;
		adjusted[least] = true;
	}
}

void estimate_adjust(struct experiments *e)
{
	_cleanup_(freep) bool *adjusted = xcalloc(e->list.cnt + 1, sizeof(*adjusted));

	for (size_t i = 0; i < e->list.cnt; i++) {
		bool seen = false;

		for (size_t k = 0; k < i; k++)
			seen |= e->list.items[k].speedup == e->list.items[i].speedup;
		for (unsigned m = 0; !seen && m < GAIN_CNT; m++)
			adjust(e, e->list.items[i].speedup, m, adjusted);
	}
}

double estimate_floor(const struct experiment *rehearsal, double median_ns, double slack_ns)
{
	double floor = FLOOR_MIN;

	if (median_ns > 0)
		floor = fmax(floor, 2 * slack_ns / median_ns);
	if (rehearsal && rehearsal->metrics[GAIN_P50].has_ci95) {
		const struct gain *g = &rehearsal->metrics[GAIN_P50];

		floor = fmax(floor, fmax(g->ci95[0], -g->ci95[1]));
	}
	return floor;
}

enum gain_metric estimate_default_metric(uint64_t rounds)
{
	return rounds < ROUNDS_FOR_MEAN ? GAIN_P50 : GAIN_MEAN;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intervals_needed.c - decides whether a factor counts, or how much more data is needed.
 *
 * A factor above the threshold d counts if the lower end of its confidence interval is above d/2; one at or below d
 * does not count if the upper end is at most 2 d.  Between these it is undecided. The interval narrows with the root
 * of the number of intervals.  Example, d = 5 %, 400 intervals: 12 % -+ 19: the lower end must come up to 2.5 %, 9.5
 * below 12, so half the width, four times the intervals: 1,200 more.
 */
#include "analysis/findings/findings.h"

#include <math.h>
#include "base/banned.h"

uint64_t intervals_rounded(double cnt)
{
	double unit = 1;

	if (!(cnt < 1e15))
		return (uint64_t)1e15;
	while (cnt / unit > 100)
		unit *= 10;
	return (uint64_t)(ceil(cnt / unit - 1e-9) * unit);
}

static uint64_t needed(const struct findings *f, double share, const double ci95[2], double threshold)
{
	double n = (double)f->interval.cnt, half = findings_ci95_half(share, ci95);
	double allowed = share > threshold ? share - threshold / 2 : 2 * threshold - share;

	if (half < allowed || (half == allowed && share <= threshold))
		return 0;
	return intervals_rounded(fmax(1, n * (half / allowed) * (half / allowed) - n));
}

uint64_t factor_intervals_needed(const struct findings *f, const struct factor *x,
				 const struct select_options *o)
{
	if (f->interval.cnt < FINDINGS_INTERVALS_MIN)
		return FINDINGS_INTERVALS_MIN - f->interval.cnt;
	if (!x->has_ci95 || (o->paper && x->share <= o->threshold))
		return 0;
	return needed(f, x->share, x->ci95, o->threshold);
}

/* A cause that is called so has at least half of the reported share: 52 % -+ 47 is not known well enough for that. */
uint64_t cause_intervals_needed(const struct findings *f, const struct summed_cause *c, double threshold)
{
	uint64_t counts, half;

	if (f->interval.cnt < FINDINGS_INTERVALS_MIN)
		return FINDINGS_INTERVALS_MIN - f->interval.cnt;
	if (!c->has_ci95)
		return 0;
	counts = needed(f, c->share, c->ci95, threshold);
	half = c->share > threshold ? needed(f, c->share, c->ci95, nextafter(c->share, 0)) : 0;
	return counts > half ? counts : half;
}

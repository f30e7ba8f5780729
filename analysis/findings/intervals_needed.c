/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intervals_needed.c - does a factor count, or is more data needed to tell?
 *
 * A factor above the threshold d counts if the lower end of its confidence interval is above d/2; one at
 * or below d does not count if the upper end is at most 2 d.  Between these nothing can be said yet.
 * The interval narrows with the root of the number of intervals.  Example, d = 5 %, 400 intervals: 12 %
 * -+ 19: the lower end must come up to 2.5 %, 9.5 below 12, so half the width, four times the
 * intervals: 1,200 more.
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

uint64_t factor_intervals_needed(const struct findings *f, const struct factor *x,
				 const struct select_options *o)
{
	double n = (double)f->interval.cnt, half, allowed;

	if (f->interval.cnt < FINDINGS_INTERVALS_MIN)
		return FINDINGS_INTERVALS_MIN - f->interval.cnt;
	if (!x->has_ci95 || (o->paper && x->share <= o->threshold))
		return 0;
	half = findings_ci95_half(x->share, x->ci95);
	allowed = x->share > o->threshold ? x->share - o->threshold / 2 :
					    2 * o->threshold - x->share;
	if (half < allowed || (half == allowed && x->share <= o->threshold))
		return 0;
	return intervals_rounded(fmax(1, n * (half / allowed) * (half / allowed) - n));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mixture_function.c - if latencies have two populations, finds the function that distinguishes them.
 *
 * Intervals in which a function took time and those in which it did not are two groups; with p the fraction of the
 * first and d the distance of their means
 *
 *	p (1 - p) d^2 / Var(T)
 *
 * is the part of the variance between them.  The function with the largest such part distinguishes the kinds, if the
 * part is half or more; of a chain of callers, which are in the same intervals, the innermost one.
 *
 * Example: T = 1, 1, 1, 9; load_page() is in the last one only: p .25, d 8, Var(T) 12: .1875 * 64 / 12 = 1.
 */
#include "analysis/warnings/mixture_function.h"

#include "base/banned.h"

#define BETWEEN_MIN 0.5
#define SAME 1e-9

static double between(const struct analysis *a, const struct presence *with)
{
	struct presence without = { a->m->n - with->cnt, a->m->places.items[0].x - with->t };
	double p = (double)with->cnt / (double)a->m->n, distance;

	if (with->cnt == 0 || without.cnt == 0)
		return 0;
	distance = moments_mean(with->cnt, with->t) - moments_mean(without.cnt, without.t);
	return analysis_share(a, p * (1 - p) * distance * distance);
}

const struct factor *find_factor_of_kinds(const struct analysis *a, const struct factor_columns *factors, double *ret_between)
{
	const struct factor *best = NULL;

	*ret_between = BETWEEN_MIN;
	for (size_t i = 0; i < factors->times->column_cnt; i++) {
		const struct factor *x = &a->f->factors.items[i];
		double here = between(a, &factors->presences[i]);

		if (x->kind != FACTOR_FUNCTION || here < *ret_between - SAME ||
		    (best && here < *ret_between + SAME && x->height >= best->height))
			continue;
		best = x;
		*ret_between = here;
	}
	return best;
}

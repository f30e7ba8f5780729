/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * contrast.c - see contrast.h.
 *
 * Example: base 1, 2, 3; head 4, 4, 7: diff 3, se^2 = 1/3 + 3/3, df = (4/3)^2 / ((1/3)^2/2 + 1^2/2) = 3.2.
 * Paired: differences 3, 2, 4: diff 3, se^2 = 1/3, df 2.
 */
#include "analysis/compare/contrast.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "base/banned.h"

#define RUNS_NEEDED_MAX 1000

double mean_of(const double *values, size_t cnt)
{
	double sum = 0;

	for (size_t i = 0; i < cnt; i++)
		sum += values[i];
	return sum / (double)cnt;
}

/* Variance of the mean: s^2 / n. */
static double variance_of_mean(const double *values, size_t cnt)
{
	double mean = mean_of(values, cnt), sum = 0;

	for (size_t i = 0; i < cnt; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum / (double)(cnt - 1) / (double)cnt;
}

static struct contrast paired_contrast(const double *base, const double *head, size_t cnt)
{
	double diff = mean_of(head, cnt) - mean_of(base, cnt), sum = 0;

	for (size_t i = 0; i < cnt; i++)
		sum += (head[i] - base[i] - diff) * (head[i] - base[i] - diff);
	return (struct contrast){ diff, sqrt(sum / (double)(cnt - 1) / (double)cnt), (double)cnt - 1 };
}

struct contrast contrast_of(const double *base, size_t base_cnt, const double *head, size_t head_cnt, bool paired)
{
	double b, h, below;

	if (paired)
		return paired_contrast(base, head, base_cnt);
	b = variance_of_mean(base, base_cnt);
	h = variance_of_mean(head, head_cnt);
	below = b * b / (double)(base_cnt - 1) + h * h / (double)(head_cnt - 1);
	return (struct contrast){
		mean_of(head, head_cnt) - mean_of(base, base_cnt), sqrt(b + h),
		below > 0 ? (b + h) * (b + h) / below : (double)(base_cnt + head_cnt - 2),
	};
}

void contrast_ci95(const struct contrast *c, double ret[2])
{
	double half = c->se > 0 ? gsl_cdf_tdist_Pinv(0.975, c->df) * c->se : 0;

	ret[0] = c->diff - half;
	ret[1] = c->diff + half;
}

double contrast_p(const struct contrast *c, double limit, bool below)
{
	double away = below ? limit - c->diff : c->diff - limit;

	if (!(c->se > 0))
		return away > 0 ? 0 : 1;
	return gsl_cdf_tdist_Q(away / c->se, c->df);
}

size_t contrast_runs_needed(const struct contrast *c, double limit, double run_cnt, bool paired)
{
	double away = fabs(c->diff - limit);

	if (!isfinite(away))
		return 0;
	for (size_t n = (size_t)run_cnt + 1; n <= RUNS_NEEDED_MAX; n++) {
		double df = paired ? (double)n - 1 : 2 * (double)n - 2;

		if (gsl_cdf_tdist_Pinv(0.975, df) * c->se * sqrt(run_cnt / (double)n) <= away)
			return n;
	}
	return 0;
}

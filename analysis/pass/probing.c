/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probing.c - measures the cost of recording functions: intervals in full against root-only ones.
 *
 * A lot decided for each when it began, so they differ only in the probes, whatever the load did.  Example, latencies
 * in us:
 *
 *	in full		30 of them, mean 110, variance 103		se^2 = 103 / 30
 *	root-only	30 of them, mean 100, variance 26		se^2 = 65 / 30, see below
 *	cost		110 / 100 - 1 = +10 %, 95 % CI +5.1 % to +14.9 %
 *
 * The standard error of a difference of means under such a lot is at most the one that takes all intervals as
 * independent (Neyman 1923), also where neighbours resemble each other: no blocks of time are needed.  One estimate
 * is deliberately wide: the smaller group may by chance contain nothing of the latency's tail, so each group's
 * variance counts as at least that of both together (65 here).
 *
 * If the lot's rate changed (record --sample auto), each interval counts with 1 / the probability of its lot (Horvitz
 * and Thompson 1952): at 1 of 4, 4 in full and 4/3 root-only.  Otherwise a rate that falls when the load rises would
 * make the root-only group slower.
 *
 * A ratio is reported only if it means something: its confidence interval is at most half as wide as the latency, and
 * the smaller group has enough intervals.  If a hundredth of the intervals has all the time, the group that got more
 * of these seems slower, and its confidence interval is too narrow (kurtosis 100: at least 100 are needed).
 *
 * The cost that an interval in full causes for others, for example by holding a lock longer, is in both means and is
 * not measured.
 */
#include "analysis/pass/probing.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"

/* For a lot whose rate changes, at weight 1 (trace/format.h). */
#define SAMPLED_IN_FULL (15.0 / 16)

#define MEAN_WIDTH_MAX 0.5		/* width of the confidence interval, relative to the latency */
#define VARIANCE_FACTOR_MAX 4		/* between its two ends */
#define KURTOSIS_INTERVALS 1		/* intervals needed for each unit of kurtosis */

struct group {
	uint64_t n;			/* effective size: the number of equally weighted intervals with as much
					 * information */
	double mean, variance, kurtosis;	/* variance: divisor n - 1; kurtosis: n m4 / m2^2 */
	double m2, m4;			/* sums of powers of the distance to the mean */
};

static double mean_of(const int64_t *latencies_ns, const double *weights, size_t cnt)
{
	__int128 sum = 0;
	double weighted = 0, all = 0;

	for (size_t i = 0; i < cnt; i++) {
		sum += latencies_ns[i];
		weighted += weights ? weights[i] * (double)latencies_ns[i] : 0;
		all += weights ? weights[i] : 0;
	}
	return weights ? weighted / all : moments_mean(cnt, sum);
}

/* weights: NULL if all are equal.  They are scaled so that they sum to n = (sum w)^2 / sum w^2 (Kish). */
static struct group group_of(const int64_t *latencies_ns, const double *weights, size_t cnt)
{
	struct group g = { .n = cnt };
	double n = (double)cnt, all = 0, squares = 0;

	if (cnt < 2)
		return g;
	for (size_t i = 0; weights && i < cnt; i++) {
		all += weights[i];
		squares += weights[i] * weights[i];
	}
	if (weights)
		n = fmax(2, all * all / squares);
	g.n = (uint64_t)n;
	g.mean = mean_of(latencies_ns, weights, cnt);
	for (size_t i = 0; i < cnt; i++) {
		double d = (double)latencies_ns[i] - g.mean, w = weights ? weights[i] * n / all : 1;

		g.m2 += w * d * d;
		g.m4 += w * d * d * d * d;
	}
	g.variance = g.m2 / (n - 1);
	g.kurtosis = g.m2 > 0 ? fmax(n * g.m4 / (g.m2 * g.m2), 1) : 1;
	return g;
}

/* Both together, each around its own mean. */
static struct group pool(const struct group *a, const struct group *b)
{
	struct group g = { .n = a->n + b->n, .m2 = a->m2 + b->m2, .m4 = a->m4 + b->m4 };

	g.variance = g.m2 / (double)(g.n - 2);
	g.kurtosis = g.m2 > 0 ? fmax((double)g.n * g.m4 / (g.m2 * g.m2), 1) : 1;
	return g;
}

/* Quantile of Student's t for the difference of two means (Welch-Satterthwaite); a, b: their se^2. */
static double t_quantile(double a, uint64_t a_cnt, double b, uint64_t b_cnt)
{
	double sum = a + b, spread = a * a / (double)(a_cnt - 1) + b * b / (double)(b_cnt - 1);

	return spread > 0 ? gsl_cdf_tdist_Pinv(0.975, sum * sum / spread) : 0;
}

/* The ratio of the means, minus 1; its error to the first order. */
static void compare_means(struct probing *p, const struct group *full, const struct group *root)
{
	double least = pool(full, root).variance, ratio = full->mean / root->mean;
	double a = fmax(full->variance, least) / (double)full->n;
	double b = fmax(root->variance, least) / (double)root->n;
	double se = sqrt(a + ratio * ratio * b) / root->mean;
	double half = t_quantile(a, full->n, ratio * ratio * b, root->n) * se;

	p->mean = ratio - 1;
	p->mean_low = p->mean - half;
	p->mean_high = p->mean + half;
}

/* The ratio of the variances, minus 1; its error from that of their logarithms. */
static void compare_variances(struct probing *p, const struct group *full, const struct group *root)
{
	double least = pool(full, root).kurtosis, ratio = full->variance / root->variance;
	double a = (fmax(full->kurtosis, least) - 1) / (double)full->n;
	double b = (fmax(root->kurtosis, least) - 1) / (double)root->n;
	double half = t_quantile(a, full->n, b, root->n) * sqrt(a + b);

	p->variance = ratio - 1;
	p->variance_low = ratio * exp(-half) - 1;
	p->variance_high = ratio * exp(half) - 1;
}

struct weighted {
	int64_t ns;
	double weight;
};

static int by_ns(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Nearest rank, as quantile_ns(). */
static int64_t quantile_of(const struct weighted *sorted, size_t cnt, double q)
{
	double all = 0, sum = 0;
	size_t at = 0;

	for (size_t i = 0; i < cnt; i++)
		all += sorted[i].weight;
	while (at + 1 < cnt && (sum += sorted[at].weight) < q * all - 1e-6)
		at++;
	return sorted[at].ns;
}

static void describe_root_only(struct probing *p, const int64_t *root_only_ns, const double *weights, size_t cnt,
			       const struct group *g)
{
	_cleanup_(freep) struct weighted *sorted = xcalloc(cnt + 1, sizeof(*sorted));

	for (size_t i = 0; i < cnt; i++)
		sorted[i] = (struct weighted){ root_only_ns[i], weights ? weights[i] : 1 };
	qsort(sorted, cnt, sizeof(*sorted), by_ns);
	p->root_only_cnt = cnt;
	p->root_only_mean_ns = cnt == 1 ? (double)sorted[0].ns : g->mean;
	p->root_only_variance_ns2 = g->variance * (double)(g->n - 1) / (double)g->n;
	p->root_only_p50_ns = quantile_of(sorted, cnt, 0.5);
	p->root_only_p99_ns = quantile_of(sorted, cnt, 0.99);
	p->root_only_max_ns = sorted[cnt - 1].ns;
}

/* 1 / the probability of each interval's lot; NULL: it never changed. */
static double *inverse_chances(const uint32_t *weights, size_t cnt, bool in_full)
{
	double *ret = xcalloc(cnt + 1, sizeof(*ret));

	for (size_t i = 0; i < cnt; i++) {
		double chance = (double)SAMPLED_IN_FULL / weights[i];

		ret[i] = 1 / (in_full ? chance : 1 - chance);
	}
	return ret;
}

static bool all_same(const struct latencies *full, const struct latencies *root)
{
	uint32_t first = full->recorded_cnt ? full->weights[0] : root->recorded_cnt ? root->weights[0] : 1;

	for (size_t i = 0; i < full->recorded_cnt; i++)
		if (full->weights[i] != first)
			return false;
	for (size_t i = 0; i < root->recorded_cnt; i++)
		if (root->weights[i] != first)
			return false;
	return true;
}

static bool tails_are_light(const struct group *full, const struct group *root)
{
	uint64_t fewer = full->n < root->n ? full->n : root->n;

	return (double)fewer >= KURTOSIS_INTERVALS * pool(full, root).kurtosis;
}

/* Keeps the comparisons that mean something. */
static void compare(struct probing *p, const struct group *full, const struct group *root)
{
	if (full->n < PROBING_GROUP_MIN || root->n < PROBING_GROUP_MIN || !(root->mean > 0) ||
	    !tails_are_light(full, root))
		return;
	compare_means(p, full, root);
	p->measured = p->mean_high - p->mean_low <= MEAN_WIDTH_MAX;
	if (!p->measured || !(full->variance > 0) || !(root->variance > 0))
		return;
	compare_variances(p, full, root);
	p->has_variance = 1 + p->variance_high <= VARIANCE_FACTOR_MAX * (1 + p->variance_low);
}

void measure_probing(const struct analysis *a, const struct latencies *root_only)
{
	struct probing *p = &a->f->probing;
	size_t full_cnt = a->full->recorded_cnt, root_cnt = root_only->recorded_cnt;
	bool same = all_same(a->full, root_only);
	_cleanup_(freep) double *full_weights = same ? NULL : inverse_chances(a->full->weights, full_cnt, true);
	_cleanup_(freep) double *root_weights = same ? NULL : inverse_chances(root_only->weights, root_cnt, false);
	struct group full = group_of(a->full->of_recorded, full_weights, full_cnt);
	struct group root = group_of(root_only->of_recorded, root_weights, root_cnt);

	if (root_cnt == 0)
		return;
	describe_root_only(p, root_only->of_recorded, root_weights, root_cnt, &root);
	compare(p, &full, &root);
}

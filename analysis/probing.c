/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probing.c - what recording functions costs, measured: intervals in full against root-only ones.
 *
 * Which is which was decided by lot when each began, so they differ in nothing but the probes, whatever
 * the load did meanwhile.  Example, latencies in us:
 *
 *	in full		30 of them, mean 110, variance 103		se^2 = 103 / 30
 *	root-only	30 of them, mean 100, variance 26		se^2 = 65 / 30, see below
 *	cost		110 / 100 - 1 = +10 %, 95 % CI +5.1 % to +14.9 %
 *
 * The standard error of a difference of means under such a lot is at most the one that takes all
 * intervals as independent (Neyman 1923), also where neighbours resemble each other: no blocks of time
 * are needed.  One thing is on the wide side on purpose: latency has a tail, and the smaller group may have
 * got nothing of it, by chance; so each group's variance counts as at least that of both together (65
 * here).  What is not seen is the cost that an interval in full lays on others that run meanwhile,
 * for example by holding a lock longer: that is in both means.
 */
#include "analysis/passes.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>
#include "base/banned.h"

struct group {
	uint64_t n;
	double mean, variance, kurtosis;	/* variance: divisor n - 1; kurtosis: n m4 / m2^2 */
	double m2, m4;			/* sums of powers of the distance to the mean */
};

static struct group group_of(const int64_t *latencies_ns, size_t cnt)
{
	struct group g = { .n = cnt };
	__int128 sum = 0;
	double n = (double)cnt;

	if (g.n < 2)
		return g;
	for (size_t i = 0; i < cnt; i++)
		sum += latencies_ns[i];
	g.mean = moments_mean(g.n, sum);
	for (size_t i = 0; i < cnt; i++) {
		double d = (double)latencies_ns[i] - g.mean;

		g.m2 += d * d;
		g.m4 += d * d * d * d;
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

static void describe_root_only(struct probing *p, const int64_t *root_only_ns, size_t cnt, const struct group *g)
{
	_cleanup_(freep) int64_t *latencies_ns = xcalloc(cnt + 1, sizeof(*latencies_ns));

	memcpy(latencies_ns, root_only_ns, cnt * sizeof(*latencies_ns));
	sort_ns(latencies_ns, cnt);
	p->root_only_cnt = cnt;
	p->root_only_mean_ns = cnt == 1 ? (double)latencies_ns[0] : g->mean;
	p->root_only_variance_ns2 = g->variance * (double)(g->n - 1) / (double)g->n;
	p->root_only_p50_ns = quantile_ns(latencies_ns, cnt, 0.5);
	p->root_only_p99_ns = quantile_ns(latencies_ns, cnt, 0.99);
	p->root_only_max_ns = latencies_ns[cnt - 1];
}

void measure_probing(struct analysis *a)
{
	struct probing *p = &a->f->probing;
	struct group full = group_of(a->latencies_ns, a->m->n);
	struct group root = group_of(a->root_only_ns, rows_cnt(a->root_only));

	if (root.n == 0)
		return;
	describe_root_only(p, a->root_only_ns, root.n, &root);
	p->measured = full.n >= PROBING_GROUP_MIN && root.n >= PROBING_GROUP_MIN && root.mean > 0;
	p->has_variance = p->measured && full.variance > 0 && root.variance > 0;
	if (p->measured)
		compare_means(p, &full, &root);
	if (p->has_variance)
		compare_variances(p, &full, &root);
}

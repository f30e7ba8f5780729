/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stats.c - make exam-stats: are the numbers as certain as they say?
 *
 *	stats [ROUNDS [GROUP]]		default 400, all of: coverage ranks tail work common pairs series
 *
 * Simulated runs with known answers go through the whole analysis.  An interval calls functions one after
 * another; the time of each is scale * exp(s z), z AR(1) with lag-1 correlation rho, so shares are those of the
 * variances: s .5 has kurtosis 9, s 1 has 114.  Prints a table, writes results/stats.json, exits 1 where a
 * target is missed.  Draws come from fixed seeds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/stats/latency_checks.h"
#include "tests/unit/plain_trace.h"
#include "base/banned.h"

enum { FUNCTIONS_MAX = 6 };

struct world {
	size_t cnt, functions;
	double s, rho;
	double shares[FUNCTIONS_MAX];	/* of the variance, largest first */
};

static FILE *json;
static bool missed, first_row = true;

/* target: at least (sign 1) or at most (-1) that; 0: there is none. */
static void report(const char *name, double value, const char *unit, int sign, double target)
{
	bool ok = sign == 0 || (sign > 0 ? value >= target : value <= target);
	char text[32] = "null";

	if (sign)
		snprintf(text, sizeof(text), "%g", target);
	printf("%-76s %8.3f %-6s %s%-6s %s\n", name, value, unit, sign > 0 ? ">= " : sign < 0 ? "<= " : "   ",
	       sign ? text : "", ok ? sign ? "ok" : "" : "MISSED");
	fflush(stdout);
	fprintf(json, "%s\n  {\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",\"target\":%s,\"ok\":%s}",
		first_row ? "" : ",", name, value, unit, text, ok ? "true" : "false");
	first_row = false;
	missed |= !ok;
}

/* Times of one run: [interval * functions + function]; the caller frees them. */
static int64_t *draw(const struct world *w, struct numbers *n)
{
	int64_t *times_ns = xcalloc(w->cnt * w->functions, sizeof(*times_ns));

	for (size_t k = 0; k < w->functions; k++) {
		double z = numbers_normal(n), scale_ns = 1e6 * sqrt(w->shares[k]);

		for (size_t i = 0; i < w->cnt; i++) {
			z = w->rho * z + sqrt(1 - w->rho * w->rho) * numbers_normal(n);
			times_ns[i * w->functions + k] = (int64_t)(scale_ns * exp(w->s * z));
		}
	}
	return times_ns;
}

static struct findings *analyse(const struct world *w, const int64_t *times_ns)
{
	_cleanup_(trace_freep) struct trace *t = plain_trace(times_ns, w->cnt, w->functions);

	return plain_findings(t);
}

static const struct factor *factor_at(const struct findings *f, size_t k)
{
	char name[32];

	snprintf(name, sizeof(name), "f%zu", k);
	return plain_factor(f, name);
}

/* ---- confidence intervals ---- */

static void exam_coverage(const struct world *w, unsigned rounds, const char *name, int sign, double target)
{
	struct numbers n = { 101 };
	size_t covered = 0;

	for (unsigned round = 0; round < rounds; round++) {
		_cleanup_(freep) int64_t *times_ns = draw(w, &n);
		_cleanup_(findings_freep) struct findings *f = analyse(w, times_ns);

		for (size_t k = 0; k < w->functions; k++) {
			const struct factor *x = factor_at(f, k);

			covered += x->ci95[0] <= w->shares[k] && w->shares[k] <= x->ci95[1];
		}
	}
	report(name, (double)covered / (double)(rounds * w->functions), "of 1", sign, target);
}

/* ---- ranks ---- */

static void exam_ranks(const struct world *w, unsigned rounds, const char *name)
{
	struct numbers n = { 102 };
	size_t wrong = 0, resolved = 0, plain = 0;
	char text[192];

	for (unsigned round = 0; round < rounds; round++) {
		_cleanup_(freep) int64_t *times_ns = draw(w, &n);
		_cleanup_(findings_freep) struct findings *f = analyse(w, times_ns);
		_cleanup_(freep) uint32_t *order = NULL;
		struct select_options o = { 0, FACTORS_THRESHOLD_DEFAULT, false, false };
		size_t cnt = factors_select(f, &o, &order);
		bool bad = false, any_bad = false, all = true;

		for (size_t rank = 0; rank < cnt && rank < 3; rank++) {
			const struct factor *x = &f->factors.items[order[rank]];
			bool right = x == factor_at(f, rank);

			any_bad |= !right;
			bad |= x->resolved && !right;
			all &= x->resolved;
		}
		wrong += bad;
		plain += any_bad;
		resolved += all;
	}
	snprintf(text, sizeof(text), "%s: resolved and wrong", name);
	report(text, (double)wrong / rounds, "of 1", -1, 0.05);
	snprintf(text, sizeof(text), "%s: first three wrong, resolved or not", name);
	report(text, (double)plain / rounds, "of 1", 0, 0);
	snprintf(text, sizeof(text), "%s: first three resolved", name);
	report(text, (double)resolved / rounds, "of 1", 0, 0);
}

/* ---- the tail ---- */

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* From the definition: sorted latencies, means of all and of those from the quantile on. */
static double tail_share(const struct world *w, const int64_t *times_ns, size_t function, double q)
{
	_cleanup_(freep) int64_t *sorted = xcalloc(w->cnt, sizeof(*sorted));
	_cleanup_(freep) int64_t *latencies_ns = xcalloc(w->cnt, sizeof(*latencies_ns));
	long double x = 0, t = 0, slow_x = 0, slow_t = 0, slow = 0;
	int64_t from_ns;

	for (size_t i = 0; i < w->cnt; i++)
		for (size_t k = 0; k < w->functions; k++)
			latencies_ns[i] += times_ns[i * w->functions + k];
	memcpy(sorted, latencies_ns, w->cnt * sizeof(*sorted));
	qsort(sorted, w->cnt, sizeof(*sorted), compare_ns);
	from_ns = sorted[(size_t)ceil(q * (double)w->cnt - 1e-6) - 1];
	for (size_t i = 0; i < w->cnt; i++) {
		long double ns = times_ns[i * w->functions + function];

		x += ns / w->cnt;
		t += (long double)latencies_ns[i] / w->cnt;
		if (latencies_ns[i] < from_ns)
			continue;
		slow++;
		slow_x += ns;
		slow_t += latencies_ns[i];
	}
	return (double)((slow_x / slow - x) / (slow_t / slow - t));
}

static void exam_tail(void)
{
	static const double quantiles[] = { 0.95, 0.99, 0.999 };
	const struct world w = { 200000, 4, 1, 0, { .4, .25, .2, .15 } };
	struct numbers n = { 103 };
	_cleanup_(freep) int64_t *times_ns = draw(&w, &n);
	double worst = 0;

	for (size_t q = 0; q < ARRAY_SIZE(quantiles); q++) {
		_cleanup_(trace_freep) struct trace *t = plain_trace(times_ns, w.cnt, w.functions);
		_cleanup_(findings_freep) struct findings *f = NULL;
		struct analyze_options o = { .quantile = quantiles[q] };

		if (analyze(t, &o, &f) < 0)
			abort();
		for (size_t k = 0; k < w.functions; k++)
			worst = fmax(worst, 100 * fabs(factor_at(f, k)->tail_share -
						       tail_share(&w, times_ns, k, quantiles[q])));
	}
	report("tail shares at p95, p99, p99.9 of 200,000 intervals: largest error", worst, "points", -1, 0.1);
}

/* The tail shares of the world itself, from enough independent intervals for an error of a tenth of a point. */
static void true_tail_shares(const struct world *w, double q, double *ret)
{
	struct world many = *w;
	struct numbers n = { 106 };
	_cleanup_(freep) int64_t *times_ns = NULL;

	many.cnt = 2000000;
	many.rho = 0;
	times_ns = draw(&many, &n);
	for (size_t k = 0; k < w->functions; k++)
		ret[k] = tail_share(&many, times_ns, k, q);
}

static void exam_tail_coverage(const struct world *w, unsigned rounds, const char *name)
{
	struct numbers n = { 107 };
	double truth[FUNCTIONS_MAX];
	size_t covered = 0;

	true_tail_shares(w, TAIL_QUANTILE_DEFAULT, truth);
	for (unsigned round = 0; round < rounds; round++) {
		_cleanup_(freep) int64_t *times_ns = draw(w, &n);
		_cleanup_(findings_freep) struct findings *f = analyse(w, times_ns);

		for (size_t i = 0; i < f->parts.cnt; i++) {
			const struct part *p = &f->parts.items[i];
			size_t k = strtoul(p->function + 1, NULL, 10);

			if (p->function[0] == 'f')
				covered += p->tail_ci95[0] <= truth[k] && truth[k] <= p->tail_ci95[1];
		}
	}
	report(name, (double)covered / (double)(rounds * w->functions), "of 1", 0, 0);
}

/* ---- inherent work ---- */

/* Rows are lognormal; f0 takes 130 ns a row; of the rest f1 has a tenth, f2 nine. */
static void exam_work(unsigned rounds)
{
	enum { N = 20000 };
	struct numbers n = { 104 };
	double worst = 0;
	size_t covered = 0;

	for (unsigned round = 0; round < rounds; round++) {
		_cleanup_(freep) int64_t *times_ns = xcalloc(3 * N, sizeof(*times_ns));
		_cleanup_(freep) int64_t *rows = xcalloc(N, sizeof(*rows));
		_cleanup_(trace_freep) struct trace *t = NULL;
		_cleanup_(findings_freep) struct findings *f = NULL;

		for (size_t i = 0; i < N; i++) {
			rows[i] = (int64_t)(100 * exp(numbers_normal(&n)));
			times_ns[3 * i] = 130 * rows[i];
			times_ns[3 * i + 1] = (int64_t)(50000 + 3000 * numbers_normal(&n));
			times_ns[3 * i + 2] = (int64_t)(90000 + 9000 * numbers_normal(&n));
		}
		t = plain_trace(times_ns, N, 3);
		trace_add_string(t, &t->work_names, "rows");
		for (size_t i = 0; i < N; i++)
			VEC_ADD(&t->works, (struct work){ i + 1, 0, rows[i] });
		f = plain_findings(t);
		worst = fmax(worst, 100 * fabs(factor_at(f, 1)->work_share - .1));
		worst = fmax(worst, 100 * fabs(factor_at(f, 2)->work_share - .9));
		for (size_t k = 1; k <= 2; k++) {
			const struct factor *x = factor_at(f, k);
			double truth = k == 1 ? .1 : .9;

			covered += x->has_work_ci95 && x->work_ci95[0] <= truth && truth <= x->work_ci95[1];
		}
	}
	report("a planted 10/90 split of what skewed work leaves, 20,000 intervals: largest error", worst,
	       "points", -1, 2);
	report("ci95 of the shares of what work leaves covers", (double)covered / (2 * rounds), "of 1", 1, .92);
}

/* ---- common causes ---- */

/* The successors of cnt standard normals: each resembles its predecessor by rho (0: the first ones). */
static void next_normals(struct numbers *n, double rho, size_t cnt, double *z)
{
	for (size_t k = 0; k < cnt; k++)
		z[k] = rho * z[k] + sqrt(1 - rho * rho) * numbers_normal(n);
}

/* f0, f1, f2 each 10 z + 5 of their own, f3 15 of its own (us): the first component has (9 * 100 + 3 * 25) / 1,200 of the
 * variance.  All of them follow their predecessor by rho. */
static void exam_common(unsigned rounds)
{
	enum { N = 20000, CNT = 4 };
	const double rho = .9, truth = 975. / 1200;
	struct numbers n = { 108 };
	size_t covered = 0, found = 0;

	for (unsigned round = 0; round < rounds; round++) {
		_cleanup_(freep) int64_t *times_ns = xcalloc(CNT * N, sizeof(*times_ns));
		_cleanup_(trace_freep) struct trace *t = NULL;
		_cleanup_(findings_freep) struct findings *f = NULL;
		double z[CNT + 1] = { 0 };

		next_normals(&n, 0, CNT + 1, z);
		for (size_t i = 0; i < N; i++) {
			next_normals(&n, rho, CNT + 1, z);
			for (size_t k = 0; k < CNT; k++)
				times_ns[CNT * i + k] = 200000 + (int64_t)(k < 3 ? 10000 * z[CNT] + 5000 * z[k] :
									       15000 * z[k]);
		}
		t = plain_trace(times_ns, N, CNT);
		f = plain_findings(t);
		if (f->common_causes.cnt != 1)
			continue;
		found++;
		covered += f->common_causes.items[0].ci95[0] <= truth && truth <= f->common_causes.items[0].ci95[1];
	}
	report("a common cause of three functions, 20,000 intervals, rho 0.9: found", (double)found / rounds, "of 1", 1,
	       .95);
	report("ci95 of what a common cause explains covers", (double)covered / rounds, "of 1", 1, .92);
}

/* ---- pairs of parts ---- */

/* f1 offsets some of what a common z does to f0, f2 is by itself: -120 of 16 + 25 + 25 + 144. */
static void exam_pairs(unsigned rounds)
{
	enum { N = 20000, CNT = 3 };
	const double rho = .9, truth = -120. / 210;
	struct numbers n = { 109 };
	size_t covered = 0;

	for (unsigned round = 0; round < rounds; round++) {
		_cleanup_(freep) int64_t *times_ns = xcalloc(CNT * N, sizeof(*times_ns));
		_cleanup_(trace_freep) struct trace *t = NULL;
		_cleanup_(findings_freep) struct findings *f = NULL;
		double z[CNT + 1] = { 0 };

		next_normals(&n, 0, CNT + 1, z);
		for (size_t i = 0; i < N; i++) {
			next_normals(&n, rho, CNT + 1, z);
			times_ns[CNT * i] = 200000 + (int64_t)(10000 * z[CNT] + 5000 * z[0]);
			times_ns[CNT * i + 1] = 200000 + (int64_t)(-6000 * z[CNT] + 5000 * z[1]);
			times_ns[CNT * i + 2] = 200000 + (int64_t)(12000 * z[2]);
		}
		t = plain_trace(times_ns, N, CNT);
		f = plain_findings(t);
		for (size_t i = 0; i < f->part_pairs.cnt; i++) {
			const struct part_pair *p = &f->part_pairs.items[i];

			covered += strcmp(p->labels[0], "f0") == 0 && strcmp(p->labels[1], "f1") == 0 &&
				   p->ci95[0] <= truth && truth <= p->ci95[1];
		}
	}
	report("ci95 of a pair of parts covers: 20,000 intervals, rho 0.9", (double)covered / rounds, "of 1", 1, .92);
}

/* ---- drift and populations ---- */

static void exam_series(unsigned rounds)
{
	enum { N = 4000 };
	struct numbers n = { 105 };
	unsigned false_drift = 0, drift = 0, false_two = 0, two = 0;

	for (unsigned round = 0; round < rounds; round++) {
		int64_t latencies_ns[N];
		double z = numbers_normal(&n);
		struct drift d;

		for (size_t i = 0; i < N; i++) {
			z = .9 * z + sqrt(1 - .81) * numbers_normal(&n);
			latencies_ns[i] = (int64_t)(1e6 * exp(.3 * z));
		}
		d = drift_of(latencies_ns, N);
		false_drift += d.drifts;
		false_two += mixture_of(latencies_ns, NULL, N, d.moves).cnt > 1;
		for (size_t i = 0; i < N; i++)
			latencies_ns[i] = (int64_t)(1e6 * exp(.3 * numbers_normal(&n)));
		for (size_t i = 0; i < N; i += 5)
			latencies_ns[i] *= 3;
		two += mixture_of(latencies_ns, NULL, N, drift_of(latencies_ns, N).moves).cnt == 2;
		for (size_t i = 0; i < N; i++)
			latencies_ns[i] = (int64_t)((1e6 + 150 * (double)i) * exp(.3 * numbers_normal(&n)));
		drift += drift_of(latencies_ns, N).drifts;
	}
	report("drift: warned of at rho 0.9 where there is none", (double)false_drift / rounds, "of 1", -1, .05);
	report("drift: warned of where latency grows by 60 %", (double)drift / rounds, "of 1", 1, .95);
	report("two populations: warned of at rho 0.9 where there is one", (double)false_two / rounds, "of 1",
	       -1, .05);
	report("two populations: warned of where a fifth takes 3 times as long", (double)two / rounds, "of 1",
	       1, .95);
}

static const struct world light = { 20000, 4, .5, .9, { .4, .25, .2, .15 } };
static const struct world heavy = { 20000, 4, 1, .9, { .4, .25, .2, .15 } };
static const struct world independent = { 2000, 4, .5, 0, { .4, .25, .2, .15 } };
static const struct world tie = { 5000, 6, 1, .9, { .3, .2, .145, .135, .12, .1 } };
static const struct world clear = { 5000, 5, .5, 0, { .4, .27, .17, .09, .07 } };
static const struct world close_by = { 2000, 6, .5, 0, { .3, .2, .15, .12, .12, .11 } };

static void exam(unsigned rounds, const char *group)
{
	if (!group || strcmp(group, "coverage") == 0) {
		exam_coverage(&independent, rounds, "ci95 covers: 2,000 independent intervals, s 0.5", 1, .92);
		exam_coverage(&light, rounds, "ci95 covers: 20,000 intervals, rho 0.9, s 0.5", 1, .92);
		exam_coverage(&heavy, rounds, "ci95 covers: 20,000 intervals, rho 0.9, s 1", 1, .92);
	}
	if (!group || strcmp(group, "ranks") == 0) {
		exam_ranks(&clear, rounds, "ranks 17/9 %, 5,000 intervals, rho 0, s 0.5");
		exam_ranks(&close_by, rounds, "ranks 15/12 %, 2,000 intervals, rho 0, s 0.5");
		exam_ranks(&tie, rounds, "ranks 14.5/13.5 %, 5,000 intervals, rho 0.9, s 1");
	}
	if (!group || strcmp(group, "tail") == 0) {
		exam_tail();
		exam_tail_coverage(&light, rounds, "ci95 of the tail's share at p99 covers: 20,000 intervals, rho 0.9, s 0.5");
		exam_tail_coverage(&heavy, rounds, "ci95 of the tail's share at p99 covers: 20,000 intervals, rho 0.9, s 1");
	}
	if (!group || strcmp(group, "work") == 0)
		exam_work(rounds / 4 + 1);
	if (!group || strcmp(group, "common") == 0)
		exam_common(rounds / 2 + 1);
	if (!group || strcmp(group, "pairs") == 0)
		exam_pairs(rounds / 2 + 1);
	if (!group || strcmp(group, "series") == 0)
		exam_series(rounds / 2 + 1);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 400;

	json = fopen("results/stats.json", "w");
	if (!json) {
		perror("results/stats.json");
		return 99;
	}
	fprintf(json, "{\"schema\":\"vprof.bench/1\",\"host\":{\"cores\":%ld},\"rows\":[",
		sysconf(_SC_NPROCESSORS_ONLN));
	exam(rounds, argc > 2 ? argv[2] : NULL);
	fprintf(json, "]}\n");
	fclose(json);
	return missed;
}

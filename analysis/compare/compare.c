/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.c - see compare.h. */
#include "analysis/compare/compare.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/changes.h"
#include "analysis/compare/contrast.h"
#include "analysis/compare/metrics.h"
#include "base/alloc.h"
#include "base/banned.h"

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_UNKNOWN] = "unknown", [VERDICT_SAME] = "same", [VERDICT_BETTER] = "better", [VERDICT_WORSE] = "worse",
	};

	return names[v];
}

const char *match_name(enum match m)
{
	static const char *const names[] = {
		[MATCH_SAME] = "same", [MATCH_MOVED] = "moved", [MATCH_RENAMED] = "renamed", [MATCH_SPLIT] = "split",
		[MATCH_NEW] = "new", [MATCH_GONE] = "gone",
	};

	return names[m];
}

/* ---- the runs in order of time ---- */

static int by_start(const void *a, const void *b)
{
	const struct compared_run *x = a, *y = b;

	return x->started_ns < y->started_ns ? -1 : x->started_ns > y->started_ns;
}

static int by_host(const void *a, const void *b)
{
	const struct compared_run *x = a, *y = b;

	return strcmp(x->host, y->host);
}

static void take_side(struct comparison *c, enum side s, const struct compared_side *from)
{
	c->run_cnt[s] = from->cnt;
	c->runs[s] = ARENA_NEW(c->arena, struct compared_run, from->cnt);
	for (size_t r = 0; r < from->cnt; r++) {
		c->runs[s][r] = from->runs[r];
		c->interval_cnt[s] += from->runs[r].findings->interval.cnt;
	}
	qsort(c->runs[s], from->cnt, sizeof(*c->runs[s]), c->by_host ? by_host : by_start);
}

/* Whether each pair of runs ended before the next one began: ABBA, ABAB. */
static bool took_turns(const struct comparison *c)
{
	const struct compared_run *b = c->runs[SIDE_BASE], *h = c->runs[SIDE_HEAD];

	if (c->run_cnt[SIDE_BASE] != c->run_cnt[SIDE_HEAD])
		return false;
	for (size_t i = 0; i + 1 < c->run_cnt[SIDE_BASE]; i++)
		if (b[i].started_ns >= h[i + 1].started_ns || h[i].started_ns >= b[i + 1].started_ns)
			return false;
	return true;
}

/* Before and after, on the same machines. */
static bool are_same_hosts(const struct comparison *c)
{
	if (c->run_cnt[SIDE_BASE] != c->run_cnt[SIDE_HEAD])
		return false;
	for (size_t i = 0; i < c->run_cnt[SIDE_BASE]; i++)
		if (strcmp(c->runs[SIDE_BASE][i].host, c->runs[SIDE_HEAD][i].host) != 0)
			return false;
	return true;
}

static bool is_apart(const struct comparison *c)
{
	const struct compared_run *b = c->runs[SIDE_BASE], *h = c->runs[SIDE_HEAD];
	size_t b_cnt = c->run_cnt[SIDE_BASE], h_cnt = c->run_cnt[SIDE_HEAD];

	return b_cnt + h_cnt > 2 && (b[b_cnt - 1].started_ns < h[0].started_ns || h[h_cnt - 1].started_ns < b[0].started_ns);
}

/* ---- metrics ---- */

static double log_or(double value, bool is_log)
{
	return is_log ? log(value) : value;
}

static enum verdict verdict_of(const double ci95[2], double nothing, const double same[2])
{
	if (ci95[0] > nothing)
		return VERDICT_WORSE;
	if (ci95[1] < nothing)
		return VERDICT_BETTER;
	return ci95[0] >= same[0] && ci95[1] <= same[1] ? VERDICT_SAME : VERDICT_UNKNOWN;
}

static void judge_runs(const struct comparison *c, double *const values[SIDE_CNT], bool is_log, struct compared_metric *m)
{
	static const double same[2] = { 1 / (1 + COMPARE_SAME), 1 + COMPARE_SAME }, same_zero[2] = { 0, 0 };
	double *moved[SIDE_CNT], ci[2];
	struct contrast d;

	for (unsigned s = 0; s < SIDE_CNT; s++) {
		moved[s] = xcalloc(c->run_cnt[s], sizeof(double));
		for (size_t r = 0; r < c->run_cnt[s]; r++)
			moved[s][r] = log_or(values[s][r], is_log);
	}
	d = contrast_of(moved[SIDE_BASE], c->run_cnt[SIDE_BASE], moved[SIDE_HEAD], c->run_cnt[SIDE_HEAD], c->paired);
	contrast_ci95(&d, ci);
	free(moved[SIDE_BASE]);
	free(moved[SIDE_HEAD]);
	if (!is_log) {			/* differences; there is no ratio to 0 */
		m->verdict = verdict_of(ci, 0, same_zero);
		return;
	}
	for (unsigned i = 0; i < 2; i++)
		m->ci95[i] = exp(ci[i]);
	m->has_ci95 = true;
	m->verdict = verdict_of(m->ci95, 1, same);
}

/* With too few runs: intervals from the errors within the runs, and no verdict. */
static void judge_within(const struct comparison *c, const double *const errors[SIDE_CNT], struct compared_metric *m)
{
	double se2 = 0, half;

	for (unsigned s = 0; s < SIDE_CNT; s++) {
		double n = (double)c->run_cnt[s];

		for (size_t r = 0; r < c->run_cnt[s]; r++)
			se2 += errors[s][r] * errors[s][r] / n / n;
	}
	if (!isfinite(se2) || !isfinite(m->ratio))
		return;
	half = gsl_cdf_tdist_Pinv(0.975, SECTIONS - 1) * sqrt(se2);
	m->ci95[0] = m->ratio * exp(-half);
	m->ci95[1] = m->ratio * exp(half);
	m->has_ci95 = true;
}

static bool all_known(double *const values[SIDE_CNT], const struct comparison *c)
{
	for (unsigned s = 0; s < SIDE_CNT; s++)
		for (size_t r = 0; r < c->run_cnt[s]; r++)
			if (!isfinite(values[s][r]))
				return false;
	return true;
}

static void compare_metric(struct comparison *c, enum metric metric, struct run_metrics *const of[SIDE_CNT])
{
	struct compared_metric *m = &c->metrics[metric];
	double *values[SIDE_CNT], *errors[SIDE_CNT];
	bool is_log;

	*m = (struct compared_metric){ .of = { NAN, NAN }, .ratio = NAN };
	for (unsigned s = 0; s < SIDE_CNT; s++) {
		values[s] = ARENA_NEW(c->arena, double, c->run_cnt[s]);
		errors[s] = ARENA_NEW(c->arena, double, c->run_cnt[s]);
		for (size_t r = 0; r < c->run_cnt[s]; r++) {
			values[s][r] = of[s][r].value[metric];
			errors[s][r] = of[s][r].log_se[metric];
		}
		m->values[s] = values[s];
	}
	if (!all_known(values, c))
		return;
	is_log = have_logs(values[SIDE_BASE], c->run_cnt[SIDE_BASE], values[SIDE_HEAD], c->run_cnt[SIDE_HEAD]);
	for (unsigned s = 0; s < SIDE_CNT; s++)
		m->of[s] = side_figure(values[s], c->run_cnt[s], is_log);
	if (is_log || m->of[SIDE_BASE] > 0)
		m->ratio = m->of[SIDE_HEAD] / m->of[SIDE_BASE];
	if (c->enough)
		judge_runs(c, values, is_log, m);
	else
		judge_within(c, (const double *const *)errors, m);
}

static void compare_variances(struct comparison *c)
{
	double *variances[SIDE_CNT];

	for (unsigned s = 0; s < SIDE_CNT; s++) {
		variances[s] = ARENA_NEW(c->arena, double, c->run_cnt[s]);
		for (size_t r = 0; r < c->run_cnt[s]; r++)
			variances[s][r] = c->runs[s][r].findings->interval.variance_ns2;
	}
	changes_of(c, variances);
}

static struct comparison *compare_units(const struct compared_side *base, const struct compared_side *head, bool hosts)
{
	struct comparison *c = xcalloc(1, sizeof(*c));
	struct run_metrics *of[SIDE_CNT];

	c->arena = arena_new();
	c->by_host = hosts;
	c->least = hosts ? COMPARE_HOSTS_MIN : COMPARE_RUNS_MIN;
	take_side(c, SIDE_BASE, base);
	take_side(c, SIDE_HEAD, head);
	c->interval = c->runs[SIDE_BASE][0].findings->interval.name;
	c->enough = base->cnt >= c->least && head->cnt >= c->least;
	c->paired = c->enough && (hosts ? are_same_hosts(c) : took_turns(c));
	c->apart = !hosts && is_apart(c);
	for (unsigned s = 0; s < SIDE_CNT; s++) {
		of[s] = ARENA_NEW(c->arena, struct run_metrics, c->run_cnt[s]);
		for (size_t r = 0; r < c->run_cnt[s]; r++)
			run_metrics_of(c->runs[s][r].findings, &of[s][r]);
	}
	for (unsigned m = 0; m < METRIC_CNT; m++)
		compare_metric(c, (enum metric)m, of);
	compare_variances(c);
	return c;
}

struct comparison *compare(const struct compared_side *base, const struct compared_side *head)
{
	return compare_units(base, head, false);
}

struct comparison *compare_hosts(const struct compared_side *base, const struct compared_side *head)
{
	return compare_units(base, head, true);
}

void comparison_free(struct comparison *c)
{
	if (!c)
		return;
	VEC_RELEASE(&c->changes);
	arena_free(c->arena);
	free(c);
}

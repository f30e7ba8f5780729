/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * work.c - how much of the variance the amount of work explains, and which factors explain the rest.
 *
 * A request for 1,000 rows takes longer than one for 10, which is predictable.  With W the work that VPROF_WORK noted
 * in an interval,
 *
 *	explained	1 - E Var(T|W) / Var(T)
 *	left to X	E Cov(X,T|W) / E Var(T|W)	adds up as shares do
 *
 * W is cut into up to 32 bins of equal numbers of intervals, and in each T is taken as a straight line of W: means of
 * bins alone would leave what varies inside them.  With r(m) the distance of interval m to the line of its bin, the
 * second is sum X r / sum r^2, for r goes with neither 1 nor W in any bin.
 *
 * Example, one bin, W = 1, 2, 3, T = 12, 18, 30: mean 20, slope 9, r = 1, -2, 1: of the squares 168 6 are left; two
 * parameters more than a mean: explained 1 - (6 / 1) / (168 / 2) = 93 %.  X = 2, 0, 4 of T has (2 - 0 + 4) / 6 = all
 * of the rest.
 *
 * Several kinds of work become one: T is fitted by w, w^2 and log(1 + w) of each, and W is the fitted value.
 */
#include "analysis/factors/work.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/factors/work_confidence.h"
#include "base/str.h"
#include "base/banned.h"

#define BIN_ROWS_MIN 64
#define TERMS 3				/* w, w^2, log(1 + w) */
#define SINGULAR 1e-9			/* relative to the largest singular value: below it a term is redundant */

struct worker {
	const struct analysis *a;
	size_t n;
	uint32_t *name_of_column;	/* index into work_names */
	size_t column_cnt;
	double *values;			/* [column * n + row] */
	double *key;			/* per row: one number for all work */
	int64_t typical_ns;		/* latencies are taken relative to this, to keep digits */
	double *rest;			/* per row: r */
	unsigned char *bin_of_row;
	size_t bin_cnt;			/* that are used */
	uint64_t reported;		/* intervals that noted any */
};

static double latency_of(const struct worker *w, size_t row)
{
	return (double)(w->a->full->of_row[row] - w->typical_ns);
}

/* ---- the work of each interval ---- */

static int by_name(const void *a, const void *b, void *arg)
{
	const struct trace *t = arg;

	return strcmp(t->work_names.items[*(const uint32_t *)a], t->work_names.items[*(const uint32_t *)b]);
}

/* A column for each name that is used, in order of the names. */
static void name_columns(struct worker *w, const bool *used, uint32_t *ret_column_of_name)
{
	const struct trace *t = w->a->t;

	w->name_of_column = xcalloc(t->work_names.cnt + 1, sizeof(*w->name_of_column));
	for (uint32_t i = 0; i < t->work_names.cnt; i++)
		if (used[i])
			w->name_of_column[w->column_cnt++] = i;
	if (w->column_cnt > 1)
		qsort_r(w->name_of_column, w->column_cnt, sizeof(*w->name_of_column), by_name, (void *)t);
	for (uint32_t c = 0; c < w->column_cnt; c++)
		ret_column_of_name[w->name_of_column[c]] = c;
}

static bool *used_names(struct worker *w)
{
	bool *used = xcalloc(w->a->t->work_names.cnt + 1, sizeof(*used));
	struct rows_walk rows;
	size_t last = SIZE_MAX;

	for (rows_begin(&rows, w->a->rows); rows_next(&rows); ) {
		w->reported += rows.works.cnt > 0 && rows.recorded != last;
		last = rows.recorded;
		for (size_t i = 0; i < rows.works.cnt; i++)
			used[rows.works.items[i].name] = true;
	}
	rows_end(&rows);
	return used;
}

static void add_works(struct worker *w)
{
	_cleanup_(freep) bool *used = used_names(w);
	_cleanup_(freep) uint32_t *column_of_name = xcalloc(w->a->t->work_names.cnt + 1, sizeof(*column_of_name));
	struct rows_walk rows;

	name_columns(w, used, column_of_name);
	w->values = xcalloc(w->column_cnt * w->n + 1, sizeof(*w->values));
	if (w->column_cnt == 0)
		return;
	for (rows_begin(&rows, w->a->rows); rows_next(&rows); )
		for (size_t i = 0; i < rows.works.cnt; i++)
			w->values[column_of_name[rows.works.items[i].name] * w->n + rows.row] +=
				(double)rows.works.items[i].value;
	rows_end(&rows);
}

/* ---- several kinds as one: least squares ---- */

/* Term of a value, roughly of the size of 1 where scale is the column's largest. */
static double term_of(double value, double scale, size_t term)
{
	double x = scale > 0 ? value / scale : 0;

	return term == 0 ? x : term == 1 ? x * x : log1p(fabs(value)) / (1 + log1p(scale));
}

static double scale_of(const struct worker *w, size_t column)
{
	double most = 0;

	for (size_t row = 0; row < w->n; row++)
		most = fmax(most, fabs(w->values[column * w->n + row]));
	return most;
}

/* All terms of a row, each minus its mean. */
static void row_terms(const struct worker *w, size_t row, const double *scales, const double *means,
		      double *ret)
{
	for (size_t i = 0; i < w->column_cnt * TERMS; i++)
		ret[i] = term_of(w->values[i / TERMS * w->n + row], scales[i / TERMS], i % TERMS) - means[i];
}

/* Coefficients of the normal equations; redundant terms get none. */
static void solve(gsl_matrix *products, const gsl_vector *with_t, double *ret)
{
	size_t cnt = with_t->size;
	gsl_matrix *v = gsl_matrix_alloc(cnt, cnt);
	gsl_vector *s = gsl_vector_alloc(cnt), *scratch = gsl_vector_alloc(cnt), *x = gsl_vector_alloc(cnt);

	gsl_linalg_SV_decomp(products, v, s, scratch);
	for (size_t i = 0; i < cnt; i++)
		if (gsl_vector_get(s, i) < SINGULAR * gsl_vector_get(s, 0))
			gsl_vector_set(s, i, 0);
	gsl_linalg_SV_solve(products, v, s, with_t, x);
	for (size_t i = 0; i < cnt; i++)
		ret[i] = gsl_vector_get(x, i);
	gsl_matrix_free(v);
	gsl_vector_free(s);
	gsl_vector_free(scratch);
	gsl_vector_free(x);
}

static void fit(struct worker *w)
{
	size_t cnt = w->column_cnt * TERMS;
	_cleanup_(freep) double *scales = xcalloc(w->column_cnt, sizeof(*scales));
	_cleanup_(freep) double *means = xcalloc(cnt, sizeof(*means)), *terms = xcalloc(cnt, sizeof(*terms));
	_cleanup_(freep) double *coefficients = xcalloc(cnt, sizeof(*coefficients));
	gsl_matrix *products = gsl_matrix_calloc(cnt, cnt);
	gsl_vector *with_t = gsl_vector_calloc(cnt);

	for (size_t c = 0; c < w->column_cnt; c++)
		scales[c] = scale_of(w, c);
	for (size_t row = 0; row < w->n; row++)
		for (size_t i = 0; i < cnt; i++)
			means[i] += term_of(w->values[i / TERMS * w->n + row], scales[i / TERMS], i % TERMS) /
				    (double)w->n;
	for (size_t row = 0; row < w->n; row++) {
		double t = latency_of(w, row);

		row_terms(w, row, scales, means, terms);
		for (size_t i = 0; i < cnt; i++) {
			*gsl_vector_ptr(with_t, i) += terms[i] * t;
			for (size_t k = 0; k < cnt; k++)
				*gsl_matrix_ptr(products, i, k) += terms[i] * terms[k];
		}
	}
	solve(products, with_t, coefficients);
	for (size_t row = 0; row < w->n; row++) {
		row_terms(w, row, scales, means, terms);
		for (size_t i = 0; i < cnt; i++)
			w->key[row] += coefficients[i] * terms[i];
	}
	gsl_matrix_free(products);
	gsl_vector_free(with_t);
}

/* ---- bins ---- */

static int by_key(const void *a, const void *b, void *arg)
{
	const double *key = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (key[x] != key[y])
		return key[x] < key[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Fills in r for rows[0 .. cnt - 1]; returns the parameters that it took. */
static size_t fit_bin(struct worker *w, const size_t *rows, size_t cnt)
{
	double mean_w = 0, mean_t = 0, ww = 0, wt = 0, slope;

	for (size_t i = 0; i < cnt; i++) {
		mean_w += w->key[rows[i]] / (double)cnt;
		mean_t += latency_of(w, rows[i]) / (double)cnt;
	}
	for (size_t i = 0; i < cnt; i++) {
		double x = w->key[rows[i]] - mean_w;

		ww += x * x;
		wt += x * (latency_of(w, rows[i]) - mean_t);
	}
	/* Equal values of W differ by rounding at most. */
	slope = ww > 1e-18 * (double)cnt * (mean_w * mean_w + 1) ? wt / ww : 0;
	for (size_t i = 0; i < cnt; i++)
		w->rest[rows[i]] = latency_of(w, rows[i]) - mean_t - slope * (w->key[rows[i]] - mean_w);
	return slope != 0 ? 2 : 1;
}

/* Intervals of equal work stay in one bin.  Returns the parameters of all lines. */
static size_t fit_bins(struct worker *w)
{
	_cleanup_(freep) size_t *rows = xcalloc(w->n + 1, sizeof(*rows));
	size_t bins = w->n / BIN_ROWS_MIN, parameters = 0, first = 0;

	bins = bins < 1 ? 1 : bins > WORK_BINS_MAX ? WORK_BINS_MAX : bins;
	for (size_t i = 0; i < w->n; i++)
		rows[i] = i;
	qsort_r(rows, w->n, sizeof(*rows), by_key, w->key);
	for (size_t bin = 1; bin <= bins && first < w->n; bin++) {
		size_t end = w->n * bin / bins;

		if (end <= first)
			continue;
		while (end < w->n && w->key[rows[end]] == w->key[rows[end - 1]])
			end++;
		for (size_t i = first; i < end; i++)
			w->bin_of_row[rows[i]] = (unsigned char)w->bin_cnt;
		w->bin_cnt++;
		parameters += fit_bin(w, rows + first, end - first);
		first = end;
	}
	return parameters;
}

/* ---- what is left ---- */

static void set_findings(struct worker *w, const struct times *times, size_t parameters)
{
	const struct analysis *a = w->a;
	struct inherent_work *work = &a->f->work;
	_cleanup_(freep) double *sums = xcalloc(times->column_cnt + 1, sizeof(*sums));
	_cleanup_(str_release) struct str names = STR_INIT;
	double squares = 0, n = (double)w->n, left;

	for (size_t row = 0; row < w->n; row++)
		squares += w->rest[row] * w->rest[row];
	left = squares / (n - (double)parameters) / (n * a->variance_ns2 / (n - 1));
	for (size_t c = 0; c < w->column_cnt; c++)
		str_addf(&names, "%s%s", c ? ", " : "", a->t->work_names.items[w->name_of_column[c]]);
	work->names = arena_strdup(a->f->arena, str_cstr(&names));
	work->interval_cnt = w->reported;
	work->explained = fmax(0, 1 - left);
	times_weighted(times, w->rest, sums);
	for (size_t i = 0; i < times->column_cnt; i++) {
		struct factor *x = &a->f->factors.items[i];

		x->has_work_share = true;
		x->work_share = squares > 1e-12 * n * a->variance_ns2 ? sums[i] / squares : 0;
	}
}

void explain_by_work(const struct analysis *a, const struct times *times)
{
	struct worker w = { .a = a, .n = a->m->n, .typical_ns = (int64_t)a->f->interval.mean_ns };

	if (a->t->work_names.cnt == 0 || a->full->recorded_cnt < FINDINGS_INTERVALS_MIN || !(a->variance_ns2 > 0))
		return;
	add_works(&w);
	if (w.column_cnt > 0) {
		w.key = xcalloc(w.n, sizeof(*w.key));
		w.rest = xcalloc(w.n, sizeof(*w.rest));
		if (w.column_cnt > 1)
			fit(&w);
		else
			memcpy(w.key, w.values, w.n * sizeof(*w.key));
		w.bin_of_row = xcalloc(w.n, sizeof(*w.bin_of_row));
		set_findings(&w, times, fit_bins(&w));
		find_work_confidence(a, times, &(struct work_lines){ w.n, w.bin_cnt, w.key, w.rest, w.bin_of_row });
	}
	free(w.name_of_column);
	free(w.values);
	free(w.key);
	free(w.bin_of_row);
	free(w.rest);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_rational.c - the definitions in exact rational arithmetic, against what the analysis says.
 *
 *	test_rational [FIRST CNT]		seeds; default 1 2000
 *
 * It shares nothing with analysis/: all sums are GMP integers, all results fractions, and only the last
 * comparison is in floating point.  Times are small, or huge and hardly varying (2^40 ns and a few), so that
 * doubles would lose every digit on the way.  Intervals of handle call f0, f1, ...; some have work.
 */
#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/plain_trace.h"
#include "base/banned.h"

enum { ROWS_MAX = 400, FUNCTIONS_MAX = 5, BIN_ROWS = 64 };

struct world {
	size_t n, functions;
	int64_t times_ns[ROWS_MAX][FUNCTIONS_MAX];	/* 0: not called */
	int64_t latencies_ns[ROWS_MAX];
	int64_t work[ROWS_MAX];
	bool has_work;
	double quantile;
};

static unsigned wrong;
static unsigned seed;

static void compare(const char *what, size_t at, double found, const mpq_t expected)
{
	double value = mpq_get_d(expected);

	if (fabs(found - value) <= 1e-11 * fmax(1, fabs(value)))
		return;
	fprintf(stderr, "seed %u: %s of f%zu is %.17g, not %.17g\n", seed, what, at, found, value);
	wrong++;
}

/* ---- worlds ---- */

static uint64_t next(struct numbers *n, uint64_t limit)
{
	return (uint64_t)(numbers_uniform(n) * (double)limit);
}

static void draw_world(struct world *w, struct numbers *n)
{
	int64_t base_ns = next(n, 3) == 0 ? (int64_t)1 << 40 : 0, spread_ns = 1 + (int64_t)next(n, 2000);
	bool rare = next(n, 2), follow = next(n, 2);

	memset(w, 0, sizeof(*w));
	w->n = 2 + next(n, ROWS_MAX - 1);
	w->functions = 1 + next(n, FUNCTIONS_MAX);
	w->has_work = next(n, 2);
	w->quantile = .3 + .69 * numbers_uniform(n);
	for (size_t i = 0; i < w->n; i++) {
		w->work[i] = (int64_t)next(n, 3) ? (int64_t)next(n, 40) : 7;
		for (size_t k = 0; k < w->functions; k++) {
			if (!rare || k != 1 || next(n, 10) == 0)
				w->times_ns[i][k] = base_ns + 1 + (int64_t)next(n, (uint64_t)spread_ns) +
						    (w->has_work && k == 0 ? 90 * w->work[i] : 0);
			if (follow && k == 2 && w->times_ns[i][0] > 0)
				w->times_ns[i][k] += w->times_ns[i][0] / 2;
			w->latencies_ns[i] += w->times_ns[i][k];
		}
	}
}

static struct findings *analyse(const struct world *w)
{
	_cleanup_(freep) int64_t *times_ns = xcalloc(w->n * w->functions, sizeof(*times_ns));
	_cleanup_(trace_freep) struct trace *t = NULL;
	struct analyze_options o = { .quantile = w->quantile };
	struct findings *f = NULL;

	for (size_t i = 0; i < w->n; i++)
		memcpy(times_ns + i * w->functions, w->times_ns[i], w->functions * sizeof(*times_ns));
	t = plain_trace(times_ns, w->n, w->functions);
	if (w->has_work) {
		trace_add_string(t, &t->work_names, "rows");
		for (size_t i = 0; i < w->n; i++)
			VEC_ADD(&t->works, (struct work){ i + 1, 0, w->work[i] });
	}
	if (analyze(t, &o, &f) < 0)
		abort();
	return f;
}

/* ---- fractions ---- */

/* ret = a / b, integers; b > 0. */
static void quotient(mpq_t ret, const mpz_t a, const mpz_t b)
{
	mpq_set_num(ret, a);
	mpq_set_den(ret, b);
	mpq_canonicalize(ret);
}

static void add_product(mpz_t sum, int64_t a, int64_t b)
{
	mpz_t x, y;

	mpz_init_set_si(x, a);
	mpz_init_set_si(y, b);
	mpz_addmul(sum, x, y);
	mpz_clears(x, y, NULL);
}

/* n^2 Cov of two columns of the rows listed: n sum xy - sum x sum y. */
static void covariance(mpz_t ret, const int64_t *x, const int64_t *y, const size_t *rows, size_t n)
{
	mpz_t xy, sum_x, sum_y;

	mpz_inits(xy, sum_x, sum_y, NULL);
	for (size_t i = 0; i < n; i++) {
		add_product(xy, x[rows[i]], y[rows[i]]);
		add_product(sum_x, x[rows[i]], 1);
		add_product(sum_y, y[rows[i]], 1);
	}
	mpz_mul_ui(ret, xy, n);
	mpz_submul(ret, sum_x, sum_y);
	mpz_clears(xy, sum_x, sum_y, NULL);
}

static void mean_of(mpq_t ret, const int64_t *x, const size_t *rows, size_t n)
{
	mpz_t sum, cnt;

	mpz_inits(sum, cnt, NULL);
	for (size_t i = 0; i < n; i++)
		add_product(sum, x[rows[i]], 1);
	mpz_set_ui(cnt, n);
	quotient(ret, sum, cnt);
	mpz_clears(sum, cnt, NULL);
}

/* ---- what is compared ---- */

struct columns {
	const struct world *w;
	int64_t x[FUNCTIONS_MAX][ROWS_MAX];
	size_t all[ROWS_MAX], slow[ROWS_MAX], fast[ROWS_MAX], slow_cnt, fast_cnt;
	mpz_t variance;			/* n^2 Var(T) */
};

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The smallest latency that at least q n are at or below. */
static int64_t quantile_of(const struct world *w, double q)
{
	int64_t sorted[ROWS_MAX];

	memcpy(sorted, w->latencies_ns, w->n * sizeof(*sorted));
	qsort(sorted, w->n, sizeof(*sorted), compare_ns);
	for (size_t i = 0; i < w->n; i++)
		if ((double)(i + 1) >= q * (double)w->n - 1e-6)
			return sorted[i];
	return sorted[w->n - 1];
}

static void columns_of(const struct world *w, struct columns *c)
{
	int64_t slow_ns = quantile_of(w, w->quantile), fast_ns = quantile_of(w, .5);

	memset(c, 0, sizeof(*c));
	c->w = w;
	for (size_t i = 0; i < w->n; i++) {
		c->all[i] = i;
		for (size_t k = 0; k < w->functions; k++)
			c->x[k][i] = w->times_ns[i][k];
		if (w->latencies_ns[i] >= slow_ns)
			c->slow[c->slow_cnt++] = i;
		if (w->latencies_ns[i] <= fast_ns)
			c->fast[c->fast_cnt++] = i;
	}
	mpz_init(c->variance);
	covariance(c->variance, w->latencies_ns, w->latencies_ns, c->all, w->n);
}

static void check_shares(const struct columns *c, const struct factor *x, size_t k)
{
	const struct world *w = c->w;
	mpz_t cov, var, twice;
	mpq_t e, v, g;
	size_t present = 0;

	mpz_inits(cov, var, twice, NULL);
	mpq_inits(e, v, g, NULL);
	covariance(cov, c->x[k], w->latencies_ns, c->all, w->n);
	covariance(var, c->x[k], c->x[k], c->all, w->n);
	mpz_mul_ui(twice, cov, 2);
	mpz_sub(twice, twice, var);
	if (mpz_sgn(c->variance) > 0) {
		quotient(e, cov, c->variance);
		quotient(v, var, c->variance);
		quotient(g, twice, c->variance);
	}
	compare("share", k, x->share, e);
	compare("own part", k, x->variance_share, v);
	compare("contribution", k, x->paper_contribution, v);
	compare("gain", k, factor_gain(x), g);
	mean_of(e, c->x[k], c->all, w->n);
	compare("mean", k, x->mean_ns, e);
	for (size_t i = 0; i < w->n; i++)
		present += c->x[k][i] > 0;
	mpq_set_ui(v, present, w->n);
	mpq_canonicalize(v);
	compare("presence", k, x->presence, v);
	mpz_clears(cov, var, twice, NULL);
	mpq_clears(e, v, g, NULL);
}

static void check_pairs(const struct columns *c, const struct findings *f)
{
	mpz_t cov;
	mpq_t g;

	mpz_init(cov);
	mpq_init(g);
	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *x = &f->factors.items[i];
		size_t a, b;

		if (x->kind != FACTOR_PAIR || x->functions[0][0] != 'f' || x->functions[1][0] != 'f')
			continue;
		a = strtoul(x->functions[0] + 1, NULL, 10);
		b = strtoul(x->functions[1] + 1, NULL, 10);
		covariance(cov, c->x[a], c->x[b], c->all, c->w->n);
		mpz_mul_ui(cov, cov, 2);
		quotient(g, cov, c->variance);
		compare("pair", a * 10 + b, x->share, g);
	}
	mpz_clear(cov);
	mpq_clear(g);
}

static size_t function_of(const struct part *p)
{
	return strtoul(p->function + 1, NULL, 10);
}

static bool is_named(const struct findings *f, size_t a, size_t b)
{
	for (size_t i = 0; i < f->part_pairs.cnt; i++) {
		size_t x = function_of(&f->parts.items[f->part_pairs.items[i].a]);
		size_t y = function_of(&f->parts.items[f->part_pairs.items[i].b]);

		if ((x == a && y == b) || (x == b && y == a))
			return true;
	}
	return false;
}

/* All that are a hundredth of Var(T), and of each part what no pair names. */
static void check_part_pairs(const struct columns *c, const struct findings *f)
{
	mpz_t cov, other;
	mpq_t g;

	mpz_inits(cov, other, NULL);
	mpq_init(g);
	for (size_t i = 0; i < f->part_pairs.cnt; i++) {
		const struct part_pair *p = &f->part_pairs.items[i];
		size_t a = function_of(&f->parts.items[p->a]), b = function_of(&f->parts.items[p->b]);

		covariance(cov, c->x[a], c->x[b], c->all, c->w->n);
		mpz_mul_ui(cov, cov, 2);
		quotient(g, cov, c->variance);
		compare("pair of parts", a * 10 + b, p->share, g);
	}
	for (size_t i = 0; i < f->parts.cnt && mpz_sgn(c->variance) > 0; i++) {
		size_t a = function_of(&f->parts.items[i]);

		mpz_set_ui(other, 0);
		for (size_t b = 0; b < c->w->functions; b++) {
			if (b == a || is_named(f, a, b))
				continue;
			covariance(cov, c->x[a], c->x[b], c->all, c->w->n);
			mpz_mul_ui(cov, cov, 2);
			mpz_add(other, other, cov);
			mpz_mul_ui(cov, cov, 100);
			if (mpz_cmpabs(cov, c->variance) > 0) {
				fprintf(stderr, "seed %u: no pair of f%zu and f%zu\n", seed, a, b);
				wrong++;
			}
		}
		quotient(g, other, c->variance);
		compare("other pairs", a, f->parts.items[i].other_pairs, g);
		covariance(cov, c->x[a], c->x[a], c->all, c->w->n);
		quotient(g, cov, c->variance);
		compare("part's own", a, f->parts.items[i].variance_share, g);
	}
	mpz_clears(cov, other, NULL);
	mpq_clear(g);
}

/* (E[X|slow] - E[X]) / (E[T|slow] - E[T]) */
static void check_tail(const struct columns *c, const struct findings *f, const struct factor *x, size_t k)
{
	mpq_t slow, all, slow_t, all_t, share;
	bool enough;

	mpq_inits(slow, all, slow_t, all_t, share, NULL);
	mean_of(slow, c->x[k], c->slow, c->slow_cnt);
	mean_of(all, c->x[k], c->all, c->w->n);
	mean_of(slow_t, c->w->latencies_ns, c->slow, c->slow_cnt);
	mean_of(all_t, c->w->latencies_ns, c->all, c->w->n);
	enough = c->slow_cnt >= TAIL_INTERVALS_MIN && mpq_cmp(slow_t, all_t) > 0;
	if (x->has_tail != enough || f->tail.cnt != c->slow_cnt || f->tail.fast_cnt != c->fast_cnt) {
		fprintf(stderr, "seed %u: the tail has %zu and %zu intervals\n", seed, c->slow_cnt, c->fast_cnt);
		wrong++;
	} else if (enough) {
		mpq_sub(slow, slow, all);
		mpq_sub(slow_t, slow_t, all_t);
		mpq_div(share, slow, slow_t);
		/* Means are kept as doubles: of 2^40 ns 13 bits are behind the point. */
		if (fabs(x->tail_share - mpq_get_d(share)) > 1e-11 + 0x1p-10 / mpq_get_d(slow_t)) {
			fprintf(stderr, "seed %u: tail share of f%zu is %.17g, not %.17g\n", seed, k,
				x->tail_share, mpq_get_d(share));
			wrong++;
		}
	}
	mpq_clears(slow, all, slow_t, all_t, share, NULL);
}

/* Checks the parts of slow and of fast intervals; handle has no time of its own. */
static void check_parts(const struct columns *c, const struct findings *f)
{
	mpq_t mean;

	mpq_init(mean);
	for (size_t i = 0; i < f->parts.cnt; i++) {
		const struct part *p = &f->parts.items[i];
		size_t k = p->function[0] == 'f' ? strtoul(p->function + 1, NULL, 10) : FUNCTIONS_MAX;

		if (k == FUNCTIONS_MAX)
			continue;
		mean_of(mean, c->x[k], c->slow, c->slow_cnt);
		compare("slow mean", k, p->slow_mean_ns, mean);
		mean_of(mean, c->x[k], c->fast, c->fast_cnt);
		compare("fast mean", k, p->fast_mean_ns, mean);
	}
	mpq_clear(mean);
}

/* ---- inherent work: lines in bins ---- */

static const struct world *sorted_world;

static int by_work(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (sorted_world->work[x] != sorted_world->work[y])
		return sorted_world->work[x] < sorted_world->work[y] ? -1 : 1;
	return (x > y) - (x < y);
}

/* Adds n_b Cov_b(X,Y) minus what the line of W explains of it. */
static void add_rest(mpq_t sum, const struct columns *c, const int64_t *x, const size_t *rows, size_t n)
{
	mpz_t xt, xw, tw, ww, top, cnt;
	mpq_t part;

	mpz_inits(xt, xw, tw, ww, top, cnt, NULL);
	mpq_init(part);
	mpz_set_ui(cnt, n);
	covariance(xt, x, c->w->latencies_ns, rows, n);
	covariance(xw, x, c->w->work, rows, n);
	covariance(tw, c->w->latencies_ns, c->w->work, rows, n);
	covariance(ww, c->w->work, c->w->work, rows, n);
	if (mpz_sgn(ww) > 0) {		/* (xt - xw tw / ww) / n */
		mpz_mul(top, xt, ww);
		mpz_submul(top, xw, tw);
		mpz_mul(cnt, cnt, ww);
	} else {
		mpz_set(top, xt);
	}
	quotient(part, top, cnt);
	mpq_add(sum, sum, part);
	mpz_clears(xt, xw, tw, ww, top, cnt, NULL);
	mpq_clear(part);
}

static void check_work(const struct columns *c, const struct findings *f)
{
	const struct world *w = c->w;
	size_t rows[ROWS_MAX], bins = w->n / BIN_ROWS ? w->n / BIN_ROWS : 1;
	mpq_t of_t, of_x[FUNCTIONS_MAX];

	sorted_world = w;
	memcpy(rows, c->all, sizeof(rows));
	qsort(rows, w->n, sizeof(*rows), by_work);
	mpq_init(of_t);
	for (size_t k = 0; k < w->functions; k++)
		mpq_init(of_x[k]);
	for (size_t bin = 1, first = 0, end; bin <= bins && first < w->n; bin++) {
		end = w->n * bin / bins;
		if (end <= first)
			continue;
		while (end < w->n && w->work[rows[end]] == w->work[rows[end - 1]])
			end++;
		add_rest(of_t, c, w->latencies_ns, rows + first, end - first);
		for (size_t k = 0; k < w->functions; k++)
			add_rest(of_x[k], c, c->x[k], rows + first, end - first);
		first = end;
	}
	for (size_t k = 0; k < w->functions && mpq_sgn(of_t) > 0; k++) {
		const struct factor *x;
		char name[32];

		snprintf(name, sizeof(name), "f%zu", k);
		x = plain_factor(f, name);
		mpq_div(of_x[k], of_x[k], of_t);
		/* Distances to a line are doubles of numbers up to 2^42: digits are lost where little is left. */
		if (fabs(x->work_share - mpq_get_d(of_x[k])) >
		    1e-9 + 0x1p-8 / sqrt(mpq_get_d(of_t) / (double)w->n)) {
			fprintf(stderr, "seed %u: work leaves %.17g to f%zu, not %.17g\n", seed, x->work_share,
				k, mpq_get_d(of_x[k]));
			wrong++;
		}
	}
	mpq_clear(of_t);
	for (size_t k = 0; k < w->functions; k++)
		mpq_clear(of_x[k]);
}

/* ---- cases ---- */

static bool is_called(const struct columns *c, size_t k)
{
	for (size_t i = 0; i < c->w->n; i++)
		if (c->x[k][i] > 0)
			return true;
	return false;
}

static void check(const struct world *w, const struct findings *f)
{
	static struct columns c;
	mpz_t square;
	mpq_t variance;

	columns_of(w, &c);
	mpz_init_set_ui(square, w->n * w->n);
	mpq_init(variance);
	quotient(variance, c.variance, square);
	compare("variance", 0, f->interval.variance_ns2, variance);
	for (size_t k = 0; k < w->functions; k++) {
		char name[32];

		snprintf(name, sizeof(name), "f%zu", k);
		if (!is_called(&c, k))
			continue;
		check_shares(&c, plain_factor(f, name), k);
		check_tail(&c, f, plain_factor(f, name), k);
	}
	check_pairs(&c, f);
	check_part_pairs(&c, f);
	check_parts(&c, f);
	if (f->work.names && w->functions > 1 && is_called(&c, 1))
		check_work(&c, f);
	mpz_clear(square);
	mpq_clear(variance);
	mpz_clear(c.variance);
}

/* A mistake in any number must be seen. */
static void check_notices(void)
{
	unsigned found = 0;

	for (int plant = 0; plant < 6; plant++) {
		struct numbers n = { 77 };
		static struct world w;
		_cleanup_(findings_freep) struct findings *f = NULL;
		struct factor *x;
		unsigned before = wrong;

		draw_world(&w, &n);
		w.n = 300;
		f = analyse(&w);
		x = (struct factor *)plain_factor(f, "f0");
		if (plant == 0)
			x->share += 1e-8;
		if (plant == 1)
			x->variance_share *= 1 + 1e-8;
		if (plant == 2)
			x->presence -= 1.0 / 300;
		if (plant == 3)
			f->parts.items[0].slow_mean_ns *= 1 + 1e-8;
		if (plant == 4)
			f->interval.variance_ns2 *= 1 + 1e-8;
		if (plant == 5)
			f->parts.items[0].other_pairs += 1e-8;
		check(&w, f);
		found += wrong > before;
		wrong = before;
	}
	if (found < 6) {
		fprintf(stderr, "only %u of 6 planted mistakes were seen\n", found);
		wrong++;
	}
}

int main(int argc, char **argv)
{
	unsigned first = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	unsigned cnt = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 2000;

	for (seed = first; seed < first + cnt; seed++) {
		struct numbers n = { seed * 0x9e3779b97f4a7c15ULL };
		static struct world w;
		_cleanup_(findings_freep) struct findings *f = NULL;

		draw_world(&w, &n);
		f = analyse(&w);
		check(&w, f);
	}
	seed = 0;
	if (freopen("/dev/null", "w", stderr))
		check_notices();
	printf("%u cases from seed %u, %u differences\n", cnt, first, wrong);
	return wrong ? 1 : 0;
}

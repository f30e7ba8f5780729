/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * work_confidence.c - confidence intervals of the shares of what inherent work leaves.
 *
 * With r what the line of its bin leaves of an interval's T, and y what such a line leaves of a factor's time X, the
 * share is e = sum y r / sum r^2; an interval moves it by
 *
 *	f = n (y r - e r^2) / (1 - h) / sum r^2		h = 1 / m + (W - mean W)^2 / sum (W - mean W)^2
 *
 * and sums of f over blocks of time are taken as in confidence.c.  h is the interval's leverage on the line of its
 * bin, m rows long: the few intervals with most work determine the line, which would differ without them.  y is not
 * computed row by row: a factor that took no time in an interval has y there as well.  Its line in bin g has the mean
 * m and the slope s, so over a block
 *
 *	sum y r = sum X r  -  sum over g of m(g) sum r  -  s(g) sum r (W - mean W)	sums: of the block's rows in g
 *
 * (r / (1 - h) for r).  Example: one bin, no slope, X = 1, 3, r = -1, 1, blocks of one row: m = 2; sum X r = -1, 3,
 * less 2 r: 1 and 1.
 */
#include "analysis/factors/work_confidence.h"

#include <math.h>
#include "analysis/stats/confidence.h"
#include "base/banned.h"

#define LEVERAGE_MOST 0.9
#define NO_SLOPE 1e-18			/* equal values of W differ by rounding at most */

struct bin {
	double n, mean, squares;	/* of W; squares 0: its line has no slope */
};

struct line_sums {
	const struct work_lines *l;
	const unsigned char *block_of_row;
	struct bin bins[WORK_BINS_MAX];
	size_t block_cnt, column_cnt;
	struct block_kind kind;
	double *pull;			/* per row: r / (1 - h) */
	double *rest, *rest_w;		/* [block * bins + bin]: of pull, of pull (W - mean) */
	double *squares;		/* per block: of r pull */
	double *x_rest;			/* [column * blocks + block] */
	double *x, *x_w;		/* [column * bins + bin] */
};

static double leverage_of(const struct bin *b, double w)
{
	return 1 / b->n + (b->squares > 0 ? (w - b->mean) * (w - b->mean) / b->squares : 0);
}

static void sum_bins(struct line_sums *s)
{
	const struct work_lines *l = s->l;

	for (size_t i = 0; i < l->n; i++)
		s->bins[l->bin_of_row[i]].n++;
	for (size_t i = 0; i < l->n; i++) {
		struct bin *b = &s->bins[l->bin_of_row[i]];

		b->mean += l->key[i] / b->n;
	}
	for (size_t i = 0; i < l->n; i++) {
		struct bin *b = &s->bins[l->bin_of_row[i]];

		b->squares += (l->key[i] - b->mean) * (l->key[i] - b->mean);
	}
	for (size_t g = 0; g < l->bin_cnt; g++)
		if (s->bins[g].squares <= NO_SLOPE * s->bins[g].n * (s->bins[g].mean * s->bins[g].mean + 1))
			s->bins[g].squares = 0;
	for (size_t i = 0; i < l->n; i++) {
		size_t block = s->block_of_row[i], g = l->bin_of_row[i];

		s->pull[i] = l->rest[i] / (1 - fmin(leverage_of(&s->bins[g], l->key[i]), LEVERAGE_MOST));
		s->rest[block * WORK_BINS_MAX + g] += s->pull[i];
		s->rest_w[block * WORK_BINS_MAX + g] += s->pull[i] * (l->key[i] - s->bins[g].mean);
		s->squares[block] += l->rest[i] * s->pull[i];
	}
}

static void sum_columns(struct line_sums *s, const struct times *times)
{
	const struct work_lines *l = s->l;
	struct times_walk w;

	for (times_begin(&w, times); times_next(&w); ) {
		size_t block = s->block_of_row[w.row], g = l->bin_of_row[w.row];
		double from_mean = l->key[w.row] - s->bins[g].mean;

		for (size_t c = 0; c < w.times.cells.cnt; c++) {
			size_t column = w.times.cells.items[c].column;
			double ns = (double)w.times.cells.items[c].ns;

			s->x_rest[column * s->block_cnt + block] += ns * s->pull[w.row];
			s->x[column * WORK_BINS_MAX + g] += ns;
			s->x_w[column * WORK_BINS_MAX + g] += ns * from_mean;
		}
	}
	times_end(&w);
}

static void set_factor(const struct line_sums *s, struct factor *x, size_t column, double squares)
{
	double blocks[CONFIDENCE_BLOCKS_MAX];
	struct confidence c;

	for (size_t b = 0; b < s->block_cnt; b++) {
		double sum = s->x_rest[column * s->block_cnt + b] - x->work_share * s->squares[b];

		for (size_t g = 0; g < s->l->bin_cnt; g++) {
			const struct bin *bin = &s->bins[g];
			size_t at = column * WORK_BINS_MAX + g, rows = b * WORK_BINS_MAX + g;

			sum -= bin->n > 0 ? s->x[at] / bin->n * s->rest[rows] : 0;
			sum -= bin->squares > 0 ? s->x_w[at] / bin->squares * s->rest_w[rows] : 0;
		}
		blocks[b] = sum / squares;
	}
	c = confidence_of(blocks, s->kind, 1);
	x->has_work_ci95 = true;
	findings_ci95(x->work_share, c.half_width, x->work_ci95);
}

void find_work_confidence(const struct analysis *a, const struct times *times, const struct work_lines *l)
{
	size_t cnt = times->column_cnt, blocks = analysis_blocks(a).cnt;
	struct line_sums s = { .l = l, .block_of_row = a->full->block_of_row, .block_cnt = blocks, .kind = analysis_blocks(a), .column_cnt = cnt };
	double squares = 0;

	s.pull = xcalloc(l->n + 1, sizeof(*s.pull));
	s.rest = xcalloc(2 * blocks * WORK_BINS_MAX + blocks + 1, sizeof(*s.rest));
	s.rest_w = s.rest + blocks * WORK_BINS_MAX;
	s.squares = s.rest_w + blocks * WORK_BINS_MAX;
	s.x = xcalloc(cnt * (2 * WORK_BINS_MAX + blocks) + 1, sizeof(*s.x));
	s.x_w = s.x + cnt * WORK_BINS_MAX;
	s.x_rest = s.x_w + cnt * WORK_BINS_MAX;
	sum_bins(&s);
	sum_columns(&s, times);
	for (size_t i = 0; i < l->n; i++)
		squares += l->rest[i] * l->rest[i];
	/* Not where the work explains everything but rounding. */
	for (size_t i = 0; i < cnt && squares > 1e-12 * (double)l->n * a->variance_ns2; i++)
		set_factor(&s, &a->f->factors.items[i], i, squares);
	free(s.pull);
	free(s.rest);
	free(s.x);
}

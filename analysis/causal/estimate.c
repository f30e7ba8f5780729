/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * estimate.c - the gains of a point against the baselines of the same rounds.
 *
 *	gain = 1 - metric(all intervals of the point's blocks) / metric(all intervals of the baselines of those rounds)
 *
 * The gain of the throughput (intervals per virtual second) is point / baseline - 1.
 *
 * Interval.  A bootstrap draws as many rounds as there are, with replacement; both blocks of a round stay together.  With few
 * rounds the 2.5th and 97.5th percentiles of the draws' gains are too close to the gain, so their distance is stretched by
 *
 *	t(.975, R - 1) / 1.96 * sqrt(R / (R - 1))	R = 6: 1.44, R = 30: 1.06
 *
 * and widened on both sides by the error of the method itself (for the variance, by twice that).
 *
 * p.  If the target has no effect, the two blocks of each round could be swapped.  Of all 2^R ways to swap, or of `draws` random
 * ones, p is the part whose gain is at least as far from 0.  Example, R = 3, all gains above 0: 2 of 8 ways are as far, p = .25.
 *
 * Rounds set aside.  A round is left out if the ratio of its two medians differs from the median ratio of all rounds by more than a
 * fifth and by more than six robust standard deviations (1.4826 MAD): something else disturbed one of its blocks.  The test uses a
 * block's median, not its mean, so that the rare slow intervals of a tail do not disqualify a round.
 */
#include "analysis/causal/estimate.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/order.h"

#define DRAWS_DEFAULT 1000
#define SEED 20241
#define NORMAL_975 1.96
#define ALL_WAYS_MAX 10			/* up to 2^10 ways to swap are all tried */
#define BEYOND_MIN 10			/* a quantile has an interval only if this many intervals lie beyond it on both sides */
#define ASIDE_ROUNDS_MIN 6
#define ASIDE_RATIO 0.2
#define ASIDE_SD 6

enum side { BASE, POINT, SIDE_CNT };

struct observation {
	int64_t ns;
	uint32_t round;			/* index into comparison.rounds */
	enum side side;
};

struct side_sums {
	double cnt, sum, squares, seconds;	/* of ns - comparison.origin */
};

struct round_sums {
	uint32_t number;
	struct side_sums sides[SIDE_CNT];
	int64_t median_ns[SIDE_CNT];
};

struct comparison {
	VEC(struct observation) all;		/* by ns */
	VEC(struct round_sums) rounds;
	double origin;				/* near the mean, so that squares keep their digits */
};

struct values {
	double of[SIDE_CNT][GAIN_CNT];
};

void block_samples_add(block_samples *list, uint32_t round, uint32_t point, const int64_t *latency_ns, size_t cnt,
		       int64_t real_ns, int64_t delay_ns)
{
	struct block_sample b = { round, point, NULL, cnt, real_ns, delay_ns };

	if (cnt) {
		b.latency_ns = xcalloc(cnt, sizeof(*latency_ns));
		memcpy(b.latency_ns, latency_ns, cnt * sizeof(*latency_ns));
	}
	VEC_ADD(list, b);
}

void block_samples_release(block_samples *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		free(list->items[i].latency_ns);
	VEC_RELEASE(list);
}

/* ---- the two sides ---- */

static void comparison_release(struct comparison *c)
{
	VEC_RELEASE(&c->all);
	VEC_RELEASE(&c->rounds);
}

static bool is_of(const struct block_sample *b, uint32_t round, uint32_t point)
{
	return b->round == round && b->point == point && b->cnt;
}

static bool has_block(const block_samples *blocks, uint32_t round, uint32_t point)
{
	for (size_t i = 0; i < blocks->cnt; i++)
		if (is_of(&blocks->items[i], round, point))
			return true;
	return false;
}

static double origin_of(const block_samples *blocks)
{
	for (size_t i = 0; i < blocks->cnt; i++)
		if (blocks->items[i].cnt)
			return (double)blocks->items[i].latency_ns[0];
	return 0;
}

static int by_ns(const void *a, const void *b)
{
	return compare_int64(&((const struct observation *)a)->ns, &((const struct observation *)b)->ns);
}

static void add_block(struct comparison *c, const struct block_sample *b, uint32_t round, enum side side)
{
	struct side_sums *s = &c->rounds.items[round].sides[side];

	for (size_t i = 0; i < b->cnt; i++) {
		double x = (double)b->latency_ns[i] - c->origin;

		VEC_ADD(&c->all, (struct observation){ b->latency_ns[i], round, side });
		s->cnt++;
		s->sum += x;
		s->squares += x * x;
	}
	s->seconds += ((double)b->real_ns - (double)b->delay_ns) / 1e9;
}

static int64_t median_of(const block_samples *blocks, uint32_t round, uint32_t point)
{
	VEC(int64_t) all = { NULL, 0, 0 };
	int64_t median;

	for (size_t i = 0; i < blocks->cnt; i++)
		for (size_t k = 0; is_of(&blocks->items[i], round, point) && k < blocks->items[i].cnt; k++)
			VEC_ADD(&all, blocks->items[i].latency_ns[k]);
	qsort(all.items, all.cnt, sizeof(*all.items), compare_int64);
	median = all.items[(all.cnt - 1) / 2];
	VEC_RELEASE(&all);
	return median;
}

/* Finds the rounds with an interval on both sides.  Blocks are in order of time, so the rounds are, too. */
static void find_rounds(struct comparison *c, const block_samples *blocks, uint32_t point)
{
	for (size_t i = 0; i < blocks->cnt; i++) {
		const struct block_sample *b = &blocks->items[i];
		struct round_sums *r;

		if (b->point != point || !b->cnt || !has_block(blocks, b->round, POINT_BASELINE) ||
		    (c->rounds.cnt && c->rounds.items[c->rounds.cnt - 1].number == b->round))
			continue;
		r = VEC_EXTEND(&c->rounds);
		r->number = b->round;
		r->median_ns[BASE] = median_of(blocks, b->round, POINT_BASELINE);
		r->median_ns[POINT] = median_of(blocks, b->round, point);
	}
}

static double median_in_place(double *x, size_t cnt)
{
	qsort(x, cnt, sizeof(*x), compare_double);
	return gsl_stats_median_from_sorted_data(x, 1, cnt);
}

/* Drops the disturbed rounds from c->rounds; returns their number. */
static uint64_t set_aside(struct comparison *c)
{
	size_t cnt = c->rounds.cnt, kept = 0;
	_cleanup_(freep) double *ratio = NULL, *sorted = NULL;
	double middle, spread;

	if (cnt < ASIDE_ROUNDS_MIN)
		return 0;
	ratio = xcalloc(cnt, sizeof(*ratio));
	sorted = xcalloc(cnt, sizeof(*sorted));
	for (size_t i = 0; i < cnt; i++) {
		const int64_t *m = c->rounds.items[i].median_ns;

		ratio[i] = sorted[i] = log((double)(m[POINT] > 1 ? m[POINT] : 1) / (double)(m[BASE] > 1 ? m[BASE] : 1));
	}
	middle = median_in_place(sorted, cnt);
	for (size_t i = 0; i < cnt; i++)
		sorted[i] = fabs(ratio[i] - middle);
	spread = 1.4826 * median_in_place(sorted, cnt);
	for (size_t i = 0; i < cnt; i++) {
		double off = fabs(ratio[i] - middle);

		if (off > ASIDE_RATIO && off > ASIDE_SD * spread)
			continue;
		c->rounds.items[kept++] = c->rounds.items[i];
	}
	c->rounds.cnt = kept;
	return cnt - kept;
}

static void compare_blocks(struct comparison *c, const block_samples *blocks, uint32_t point, uint64_t *ret_aside)
{
	c->origin = origin_of(blocks);
	find_rounds(c, blocks, point);
	*ret_aside = set_aside(c);
	for (size_t r = 0; r < c->rounds.cnt; r++)
		for (size_t i = 0; i < blocks->cnt; i++) {
			const struct block_sample *b = &blocks->items[i];

			if (is_of(b, c->rounds.items[r].number, POINT_BASELINE))
				add_block(c, b, (uint32_t)r, BASE);
			else if (is_of(b, c->rounds.items[r].number, point))
				add_block(c, b, (uint32_t)r, POINT);
		}
	if (c->all.cnt)
		qsort(c->all.items, c->all.cnt, sizeof(*c->all.items), by_ns);
}

/* ---- metrics of weighted rounds ---- */

/* How often each round counts, and whether its blocks are swapped. */
struct draw {
	uint32_t *times;
	bool *swapped;
};

static void find_quantiles(const struct comparison *c, const struct draw *d, const double *cnt, struct values *ret)
{
	static const enum gain_metric order[] = { GAIN_P50, GAIN_P90, GAIN_P99, GAIN_P999 };
	double passed[SIDE_CNT] = { 0, 0 };
	size_t next[SIDE_CNT] = { 0, 0 };

	for (size_t i = 0; i < c->all.cnt; i++) {
		const struct observation *o = &c->all.items[i];
		enum side side = o->side ^ (unsigned)d->swapped[o->round];

		passed[side] += d->times[o->round];
		while (next[side] < ARRAY_SIZE(order) && d->times[o->round] &&
		       passed[side] > (double)nearest_rank((size_t)cnt[side], gain_metric_quantile(order[next[side]])))
			ret->of[side][order[next[side]++]] = (double)o->ns;
	}
}

static void find_values(const struct comparison *c, const struct draw *d, struct values *ret)
{
	struct side_sums sums[SIDE_CNT] = { { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
	double cnt[SIDE_CNT];

	memset(ret, 0, sizeof(*ret));
	for (size_t r = 0; r < c->rounds.cnt; r++)
		for (unsigned s = 0; s < SIDE_CNT; s++) {
			const struct side_sums *from = &c->rounds.items[r].sides[s];
			struct side_sums *to = &sums[s ^ (unsigned)d->swapped[r]];
			double w = d->times[r];

			to->cnt += w * from->cnt;
			to->sum += w * from->sum;
			to->squares += w * from->squares;
			to->seconds += w * from->seconds;
		}
	for (unsigned s = 0; s < SIDE_CNT; s++) {
		double mean = sums[s].sum / sums[s].cnt, variance = sums[s].squares / sums[s].cnt - mean * mean;

		cnt[s] = sums[s].cnt;
		ret->of[s][GAIN_MEAN] = mean + c->origin;
		ret->of[s][GAIN_VARIANCE] = variance > 0 ? variance : 0;
		ret->of[s][GAIN_THROUGHPUT] = sums[s].seconds > 0 ? sums[s].cnt / sums[s].seconds : 0;
	}
	find_quantiles(c, d, cnt, ret);
}

static double gain_of(const struct values *v, enum gain_metric m)
{
	double base = v->of[BASE][m], point = v->of[POINT][m];

	if (!(base > 0))
		return 0;
	return m == GAIN_THROUGHPUT ? point / base - 1 : 1 - point / base;
}

/* ---- confidence intervals and p values ---- */

struct draws {
	double *of[GAIN_CNT];
	unsigned cnt;
};

static void draws_release(struct draws *d)
{
	for (unsigned m = 0; m < GAIN_CNT; m++)
		free(d->of[m]);
}

static struct draws draws_new(unsigned cnt)
{
	struct draws d = { .cnt = cnt };

	for (unsigned m = 0; m < GAIN_CNT; m++)
		d.of[m] = xcalloc(cnt, sizeof(double));
	return d;
}

static void keep_draw(const struct comparison *c, const struct draw *d, struct draws *to, unsigned i)
{
	struct values v;

	find_values(c, d, &v);
	for (unsigned m = 0; m < GAIN_CNT; m++)
		to->of[m][i] = gain_of(&v, m);
}

static double stretch(double rounds)
{
	return gsl_cdf_tdist_Pinv(0.975, rounds - 1) / NORMAL_975 * sqrt(rounds / (rounds - 1));
}

static void set_intervals(const struct comparison *c, struct draw *d, const struct estimate_options *o, gsl_rng *random,
			  struct experiment *x)
{
	size_t rounds = c->rounds.cnt;
	_cleanup_(draws_release) struct draws all = draws_new(o->draws ? o->draws : DRAWS_DEFAULT);
	unsigned low = all.cnt / 40, high = all.cnt - 1 - low;
	double k = stretch((double)rounds);

	for (unsigned i = 0; i < all.cnt; i++) {
		memset(d->times, 0, rounds * sizeof(*d->times));
		for (size_t r = 0; r < rounds; r++)
			d->times[gsl_rng_uniform_int(random, rounds)]++;
		keep_draw(c, d, &all, i);
	}
	for (unsigned m = 0; m < GAIN_CNT; m++) {
		struct gain *g = &x->metrics[m];
		double floor = m == GAIN_VARIANCE ? 2 * o->floor : o->floor;

		qsort(all.of[m], all.cnt, sizeof(double), compare_double);
		g->ci95[0] = g->gain - k * fmax(g->gain - all.of[m][low], 0) - floor;
		g->ci95[1] = g->gain + k * fmax(all.of[m][high] - g->gain, 0) + floor;
	}
}

/* Gets the same value for a gain and for the gain after swapping both sides. */
static double distance_from_none(double gain, enum gain_metric m)
{
	double x = m == GAIN_THROUGHPUT ? gain : -gain;

	return fabs(log1p(fmax(x, -1 + 1e-9)));
}

static void set_p_values(const struct comparison *c, struct draw *d, const struct estimate_options *o, gsl_rng *random,
			 struct experiment *x)
{
	size_t rounds = c->rounds.cnt;
	bool all_ways = rounds <= ALL_WAYS_MAX;
	_cleanup_(draws_release) struct draws all = draws_new(all_ways ? 1u << rounds : o->draws ? o->draws : DRAWS_DEFAULT);

	for (size_t r = 0; r < rounds; r++)
		d->times[r] = 1;
	for (unsigned i = 0; i < all.cnt; i++) {
		for (size_t r = 0; r < rounds; r++)
			d->swapped[r] = all_ways ? i >> r & 1 : gsl_rng_uniform_int(random, 2);
		keep_draw(c, d, &all, i);
	}
	for (unsigned m = 0; m < GAIN_CNT; m++) {
		struct gain *g = &x->metrics[m];
		double as_far = all_ways ? 0 : 1;	/* among random ways, the one that was observed counts as one */

		for (unsigned i = 0; i < all.cnt; i++)
			as_far += distance_from_none(all.of[m][i], m) >= distance_from_none(g->gain, m) - 1e-12;
		g->p_value = as_far / (all.cnt + !all_ways);
	}
	memset(d->swapped, 0, rounds * sizeof(*d->swapped));
}

/* A quantile with few intervals beyond it has no confidence interval. */
static bool has_interval(const struct experiment *x, enum gain_metric m, double base_cnt)
{
	double q = gain_metric_quantile(m), fewest = fmin(base_cnt, (double)x->interval_cnt);

	return x->rounds >= ROUNDS_MIN && (q <= 0.5 || fewest * (1 - q) >= BEYOND_MIN);
}

static void judge(const struct comparison *c, const struct estimate_options *o, struct experiment *x)
{
	size_t rounds = c->rounds.cnt;
	_cleanup_(freep) uint32_t *times = xcalloc(rounds, sizeof(*times));
	_cleanup_(freep) bool *swapped = xcalloc(rounds, sizeof(*swapped));
	struct draw d = { times, swapped };
	double base_cnt = 0;
	struct values v;
	gsl_rng *random;

	for (size_t r = 0; r < rounds; r++) {
		times[r] = 1;
		base_cnt += c->rounds.items[r].sides[BASE].cnt;
		x->interval_cnt += (uint64_t)c->rounds.items[r].sides[POINT].cnt;
	}
	find_values(c, &d, &v);
	for (unsigned m = 0; m < GAIN_CNT; m++)
		x->metrics[m] = (struct gain){
			.value = v.of[POINT][m], .gain = gain_of(&v, m), .known = true, .has_ci95 = has_interval(x, m, base_cnt),
			.predicted = x->metrics[m].predicted, .has_predicted = x->metrics[m].has_predicted,
		};
	if (rounds < ROUNDS_MIN)
		return;
	random = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(random, SEED);
	set_intervals(c, &d, o, random, x);
	set_p_values(c, &d, o, random, x);
	gsl_rng_free(random);
}

void estimate_gains(const block_samples *blocks, uint32_t point, const struct estimate_options *o, struct experiment *ret)
{
	_cleanup_(comparison_release) struct comparison c = { .origin = 0 };

	compare_blocks(&c, blocks, point, &ret->set_aside);
	ret->rounds = c.rounds.cnt;
	ret->interval_cnt = 0;
	ret->delay_ns = 0;
	for (size_t i = 0; i < blocks->cnt; i++)
		if (blocks->items[i].point == point)
			ret->delay_ns += (double)blocks->items[i].delay_ns;
	if (c.rounds.cnt)
		judge(&c, o, ret);
}

void estimate_baseline(const block_samples *blocks, struct experiments *e)
{
	_cleanup_(comparison_release) struct comparison c = { .origin = origin_of(blocks) };
	uint32_t times[1] = { 1 };
	bool swapped[1] = { false };
	struct values v;

	VEC_EXTEND(&c.rounds);
	for (size_t i = 0; i < blocks->cnt; i++)
		if (blocks->items[i].point == POINT_BASELINE)
			add_block(&c, &blocks->items[i], 0, BASE);
	e->baseline_cnt = c.all.cnt;
	if (!c.all.cnt)
		return;
	qsort(c.all.items, c.all.cnt, sizeof(*c.all.items), by_ns);
	c.rounds.items[0].sides[POINT].cnt = 1;
	find_values(&c, &(struct draw){ times, swapped }, &v);
	memcpy(e->baseline, v.of[BASE], sizeof(e->baseline));
}

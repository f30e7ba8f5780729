/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_parts.c - parts of the latency in slow intervals: against the definition, and that they add up.
 *
 * An interval is handle, which calls f, waits for a lock in it, and calls g; f also runs in g.  The parts are
 * handle's own time, f's (both places), f's lock wait and g's.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/analyze.h"
#include "analysis/stats/confidence.h"
#include "base/banned.h"

enum { HANDLE, F, G, PARTS = 4, INTERVALS = 12800, BLOCKS = 64 };
#define T_63 1.9983405			/* Student's t, 63 degrees, .975 */

struct sample {
	int64_t handle_ns, f_ns, lock_ns, g_ns, f_in_g_ns;
};

static const char *const names[] = { "handle", "f", "g" };

static void call(struct trace *t, uint64_t sid, uint32_t function, int64_t start_ns, int64_t end_ns,
		 uint32_t order)
{
	VEC_ADD(&t->invocations, (struct invocation){ 0, sid, function, CALL_SITE_NONE, start_ns, end_ns,
						      order });
}

static int64_t add_interval(struct trace *t, uint64_t sid, int64_t at, const struct sample *s)
{
	int64_t wait = at + s->f_ns, f_end = wait + s->lock_ns, g_end = f_end + s->g_ns + s->f_in_g_ns;
	int64_t end = g_end + s->handle_ns;

	VEC_ADD(&t->intervals, (struct interval){ .sid = sid, .status = INTERVAL_COMPLETED, .start_ns = at,
						  .end_ns = end });
	VEC_ADD(&t->segments, (struct segment){ 0, sid, at, wait, STATE_RUNNING, 0 });
	VEC_ADD(&t->segments, (struct segment){ 0, sid, wait, f_end, STATE_LOCK, 0 });
	VEC_ADD(&t->segments, (struct segment){ 0, sid, f_end, end, STATE_RUNNING, 0 });
	call(t, sid, HANDLE, at, end, 0);
	call(t, sid, F, at, f_end, 1);
	call(t, sid, G, f_end, g_end, 2);
	call(t, sid, F, f_end, f_end + s->f_in_g_ns, 3);
	return end + 10;
}

static struct findings *analyse_by(const struct sample *samples, size_t cnt, const struct analyze_options *o)
{
	_cleanup_(trace_freep) struct trace *t = trace_new();
	struct findings *f = NULL;
	int64_t at = 0;

	trace_add_string(t, &t->interval_names, "r");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		VEC_ADD(&t->functions, (struct function){ .name = names[i], .probed = true });
	for (size_t i = 0; i < cnt; i++)
		at = add_interval(t, i, at, &samples[i]);
	assert_int_equal(analyze(t, o, &f), 0);
	return f;
}

static struct findings *analyse(const struct sample *samples, size_t cnt, double quantile)
{
	return analyse_by(samples, cnt, &(struct analyze_options){ .quantile = quantile });
}

/* Heavy enough a tail that it is not the variance's. */
static void draw(struct sample *samples, size_t cnt)
{
	uint64_t number = 7;

	for (size_t i = 0; i < cnt; i++) {
		number = number * 6364136223846793005ULL + 1442695040888963407ULL;
		samples[i] = (struct sample){
			.handle_ns = 100, .f_ns = 1000 + (int64_t)(number >> 54), .g_ns = (int64_t)(number >> 40) % 700,
			.lock_ns = (number >> 33) % 60 == 0 ? 3000 + (int64_t)(number >> 45) % 900 : 0,
			.f_in_g_ns = (int64_t)(number >> 20) % 300,
		};
	}
}

static int64_t latency_of(const struct sample *s)
{
	return s->handle_ns + s->f_ns + s->lock_ns + s->g_ns + s->f_in_g_ns;
}

static int64_t time_of(const struct sample *s, const struct part *p)
{
	if (p->is_wait)
		return s->lock_ns;
	return strcmp(p->function, "f") == 0 ? s->f_ns + s->f_in_g_ns :
	       strcmp(p->function, "g") == 0 ? s->g_ns : s->handle_ns;
}

static bool near(double x, long double y)
{
	return fabsl(x - y) <= 1e-9L * fmaxl(1, fabsl(y));
}

struct means {
	long double t, slow_t, x, slow_x, fast_x, slow, fast;
};

static struct means means_of(const struct sample *samples, const struct part *p, const struct tail *tail)
{
	struct means m = { 0 };

	for (size_t i = 0; i < INTERVALS; i++) {
		int64_t t = latency_of(&samples[i]), x = time_of(&samples[i], p);
		bool slow = t >= tail->from_ns, fast = t <= tail->fast_to_ns;

		m.t += t;
		m.x += x;
		m.slow_t += slow ? t : 0;
		m.slow_x += slow ? x : 0;
		m.fast_x += fast ? x : 0;
		m.slow += slow;
		m.fast += fast;
	}
	m.t /= INTERVALS;
	m.x /= INTERVALS;
	m.slow_t /= m.slow;
	m.slow_x /= m.slow;
	m.fast_x /= m.fast;
	return m;
}

/* Each interval's own influence, summed by block; blocks that are alike stay apart here. */
static long double slow_half_width(const struct sample *samples, const struct part *p,
				   const struct tail *tail, const struct means *m)
{
	long double share = (m->slow_x - m->x) / (m->slow_t - m->t), blocks[BLOCKS] = { 0 }, squares = 0;

	for (size_t i = 0; i < INTERVALS; i++) {
		long double t = latency_of(&samples[i]), x = time_of(&samples[i], p);
		long double g = -(x - m->x - share * (t - m->t)) / INTERVALS;

		if (t >= tail->from_ns)
			g += (x - m->slow_x - share * (t - m->slow_t)) / m->slow;
		blocks[i * BLOCKS / INTERVALS] += g / (m->slow_t - m->t);
	}
	for (size_t b = 0; b < BLOCKS; b++)
		squares += blocks[b] * blocks[b];
	return T_63 * sqrtl(squares * BLOCKS / (BLOCKS - 1));
}

static void test_definition(void **state)
{
	static struct sample samples[INTERVALS];
	_cleanup_(findings_freep) struct findings *f = NULL;
	unsigned equal = 0;

	(void)state;
	draw(samples, INTERVALS);
	f = analyse(samples, INTERVALS, 0);
	assert_int_equal(f->parts.cnt, PARTS);
	assert_true(f->tail.quantile == .99 && f->tail.cnt >= 128 && f->tail.fast_cnt >= INTERVALS / 2);
	for (size_t i = 0; i < PARTS; i++) {
		const struct part *p = &f->parts.items[i];
		struct means m = means_of(samples, p, &f->tail);

		assert_true(near(p->mean_ns, m.x) && near(p->slow_mean_ns, m.slow_x));
		assert_true(near(p->fast_mean_ns, m.fast_x));
		assert_true(p->has_tail && near(p->tail_share, (m.slow_x - m.x) / (m.slow_t - m.t)));
		equal += fabsl(p->tail_ci95[1] - p->tail_share - slow_half_width(samples, p, &f->tail, &m)) < 1e-9L;
	}
	assert_true(equal >= PARTS - 1);
	assert_true(f->parts.items[0].is_wait);		/* the tail is the lock's */
	assert_true(f->parts.items[0].fast_presence < .01 && f->parts.items[0].slow_presence > .5);
}

static void test_closure(void **state)
{
	static struct sample samples[INTERVALS];
	static const double quantiles[] = { .5, .9, .99 };

	(void)state;
	draw(samples, INTERVALS);
	for (size_t q = 0; q < ARRAY_SIZE(quantiles); q++) {
		_cleanup_(findings_freep) struct findings *f = analyse(samples, INTERVALS, quantiles[q]);
		double share = 0, tail = 0, slow_ns = 0, fast_ns = 0;

		for (size_t i = 0; i < f->parts.cnt; i++) {
			share += f->parts.items[i].share;
			tail += f->parts.items[i].tail_share;
			slow_ns += f->parts.items[i].slow_mean_ns;
			fast_ns += f->parts.items[i].fast_mean_ns;
		}
		assert_true(near(share, 1) && near(tail, 1) && near(slow_ns, f->tail.mean_ns));
		assert_true(near(fast_ns, f->tail.fast_mean_ns));
	}
}

/* 99 of them in the tail say nothing; fewer than 30 in all have no interval, but means. */
static void test_too_few(void **state)
{
	static struct sample samples[INTERVALS];
	_cleanup_(findings_freep) struct findings *f = NULL, *few = NULL;

	(void)state;
	draw(samples, INTERVALS);
	f = analyse(samples, 9000, 0);
	assert_int_equal(f->tail.cnt, 91);
	assert_false(f->parts.items[0].has_tail || f->parts.items[0].has_tail_ci95);
	few = analyse(samples, 4, .5);
	assert_true(few->parts.cnt > 0 && few->tail.cnt == 3 && few->tail.fast_cnt == 2);
}

/* handle 1, 2, 3, 4 ns by itself of latencies 11, 22, 33, 44: the edges are the first latency of their bin. */
static void test_bins_by_hand(void **state)
{
	static const struct sample samples[] = {
		{ .handle_ns = 1, .f_ns = 10 }, { .handle_ns = 2, .f_ns = 20 }, { .handle_ns = 3, .f_ns = 0, .lock_ns = 30 },
		{ .handle_ns = 4, .f_ns = 40 },
	};
	static const int64_t edges[] = { 0, 12, 33, 34, 100 };
	static const struct { double f_ns; uint64_t f_present; } want[] = { { 10, 1 }, { 20, 1 }, { 0, 0 }, { 40, 1 }, { 0, 0 } };
	static const uint64_t counts[] = { 1, 1, 1, 1, 0 };
	static const double sums[] = { 11, 22, 33, 44, 0 };
	_cleanup_(findings_freep) struct findings *f = analyse_by(samples, 4, &(struct analyze_options){
		.edges = edges, .edge_cnt = ARRAY_SIZE(edges) });
	const struct part *body = NULL;

	(void)state;
	for (size_t i = 0; i < f->parts.cnt; i++)
		if (!f->parts.items[i].is_wait && !strcmp(f->parts.items[i].function, "f"))
			body = &f->parts.items[i];
	assert_non_null(body);
	assert_int_equal(f->bins.cnt, 5);
	for (size_t b = 0; b < 5; b++) {
		assert_int_equal(f->bins.items[b].from_ns, edges[b]);
		assert_int_equal(f->bins.items[b].cnt, counts[b]);
		assert_true(f->bins.items[b].sum_ns == sums[b]);
		assert_true(body->bin_ns[b] == want[b].f_ns && body->bin_present[b] == want[b].f_present);
	}
}

/* Each part's sum in each bin, from the definition; without edges there are none. */
static void test_bins(void **state)
{
	static struct sample samples[INTERVALS];
	static const int64_t edges[] = { 1100, 1500, 1501, 2000, 2900, 5000 };
	_cleanup_(findings_freep) struct findings *plain = NULL, *f = NULL;

	(void)state;
	draw(samples, INTERVALS);
	plain = analyse(samples, INTERVALS, 0);
	assert_true(plain->bins.cnt == 0 && !plain->parts.items[0].bin_ns);
	f = analyse_by(samples, INTERVALS, &(struct analyze_options){ .edges = edges, .edge_cnt = ARRAY_SIZE(edges) });
	assert_int_equal(f->parts.cnt, plain->parts.cnt);
	for (size_t i = 0; i < f->parts.cnt; i++) {
		const struct part *p = &f->parts.items[i];
		double sums[ARRAY_SIZE(edges)] = { 0 };

		assert_true(p->share == plain->parts.items[i].share && p->slow_mean_ns == plain->parts.items[i].slow_mean_ns);
		for (size_t s = 0; s < INTERVALS; s++) {
			size_t bin = 0;

			while (bin + 1 < ARRAY_SIZE(edges) && latency_of(&samples[s]) >= edges[bin + 1])
				bin++;
			sums[bin] += (double)time_of(&samples[s], p);
		}
		for (size_t b = 0; b < ARRAY_SIZE(edges); b++)
			assert_true(p->bin_ns[b] == sums[b]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definition),
		cmocka_unit_test(test_closure),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_bins_by_hand),
		cmocka_unit_test(test_bins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

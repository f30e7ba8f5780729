/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_off_cpu_wake.c - how much of a wait without a stamp was time in the run queue (trace/read/off_cpu_wake.c): by hand, and for random
 * threads of which the truth is known.
 */
#include <math.h>
#include "tests/unit/trace/off_cpu/looks.h"
#include "tests/unit/draws.h"
#include "base/banned.h"

static void wait_of(uint32_t caller, uint64_t start_us, uint64_t end_us, uint64_t waker, uint64_t woken_us)
{
	put_rec(&(struct rec){ 1, EVENT_WAIT,
			       { start_us * 1000, end_us * 1000, wait_word(WAIT_IO, caller), 0, waker, woken_us * 1000 } });
}

/* The time from the wake-up to the end of that wait; us. */
static int64_t late_us(const struct trace *t, uint64_t start_us, uint64_t end_us)
{
	for (size_t i = 0; i < t->wakeups.cnt; i++) {
		int64_t us = t->wakeups.items[i].time_ns / 1000;

		if (us > (int64_t)start_us && us <= (int64_t)end_us)
			return (int64_t)end_us - us;
	}
	return 0;
}

/* The example of the file: 9 ms in the run queue, 1 of them in running time; of four waits the third was late. */
static struct trace *one_late(uint64_t waker)
{
	begin();
	own_look(0, 0);
	look(10, 10, 0, 1, false);
	call(1, 0, 2000);
	for (uint64_t us = 0; us < 2000; us += 10)	/* no gap but the one in which it stood in the queue */
		if (us < 500 || us >= 1500)
			call(2, us, us + 10);
	wait_of(7, 2000, 3200, waker, waker ? 3200 : 0);
	wait_of(7, 3300, 4300, waker, waker ? 4300 : 0);
	wait_of(7, 4400, 13400, waker, waker ? 13400 : 0);
	wait_of(7, 13500, 14600, waker, waker ? 14600 : 0);
	wait_of(7, 15000, 25000, waker, waker ? 25000 : 0);
	look(20000, 1700, 9000, 8, true);
	look(24000, 1700, 9000, 8, true);
	own_look(26000, 2700);
	return end(NULL);
}

static void test_one_late(void **state)
{
	(void)state;
	for (uint64_t waker = 0; waker <= WAKER_TIME_OUT; waker++) {
		_cleanup_(trace_freep) struct trace *t = one_late(waker);

		assert_int_equal(late_us(t, 4400, 13400), 8000);
		assert_int_equal(late_us(t, 2000, 3200), 0);
		assert_int_equal(told(t, NULL, STATE_IO), 1200 + 1000 + 9000 + 1100 + 10000);
		assert_in_range(told(t, NULL, STATE_RUNNABLE), 990, 1000);
		assert_int_equal(t->wakeups.cnt, waker ? 5 : 1);
		for (size_t i = 0; i < t->wakeups.cnt; i++)
			assert_int_equal(t->wakeups.items[i].waker_tid, waker ? TID_TIMER : TID_NOBODY);
	}
}

/* Thread 2 ended the long wait, or one inside it, and left a stamp 7 ms before the end: 1 ms is left for the others, longer by 600 and
 * 800 us. */
static void test_stamped(void **state)
{
	(void)state;
	for (int inside = 0; inside < 2; inside++) {
		_cleanup_(trace_freep) struct trace *t = NULL;

		begin();
		own_look(0, 0);
		look(10, 10, 0, 1, false);
		call_of(2, 2, 0, 30000);
		wait_of(7, 100, 1100, 0, 0);
		wait_of(7, 1200, 2800, 0, 0);
		if (inside)
			wait_of(7, 3000, 13000, 0, 0);
		wait_of(7, 3000 + (uint64_t)inside * 100, 13000, 2 << 1, 6000);
		wait_of(7, 13100, 14900, 0, 0);
		wait_of(7, 15000, 25000, 0, 0);
		look(20000, 600, 8000, 5, true);
		own_look(26000, 1600);
		t = end(NULL);
		assert_int_equal(late_us(t, 3000, 13000), 7000);
		assert_in_range(late_us(t, 1200, 2800), 427, 429);
		assert_in_range(late_us(t, 13100, 14900), 570, 572);
		assert_int_equal(late_us(t, 100, 1100), 0);
	}
}

/* A look found the thread asleep in the wait: it was not ready before. */
static void test_asleep_at_a_look(void **state)
{
	_cleanup_(trace_freep) struct trace *t = NULL;

	(void)state;
	begin();
	own_look(0, 0);
	wait_of(7, 100, 1100, 0, 0);
	wait_of(7, 1200, 2200, 0, 0);
	wait_of(7, 2300, 14300, 0, 0);
	wait_of(7, 14400, 15400, 0, 0);
	wait_of(7, 15500, 25000, 0, 0);
	look(10000, 300, 0, 3, true);
	look(20000, 500, 6000, 5, true);
	own_look(26000, 1500);
	t = end(NULL);
	assert_int_equal(late_us(t, 2300, 14300), 4300);
}

/* ---- random threads ---- */

enum { REQUESTS = 1200, STEPS = REQUESTS * 6 };

enum step_kind { STEP_RUN, STEP_SLEEP, STEP_QUEUE };

struct step {
	enum step_kind kind;
	uint64_t start_us, end_us;
};

struct ask {
	uint64_t start_us, end_us, late_us;
};

struct world {				/* how long things take; parts of the time, us */
	double late_part, late_most_us;		/* waits after which the thread is kept from the CPU */
	double slow_part, slow_most_us;		/* answers that are slow themselves */
	double think_us;			/* between requests, on average; 0: no such wait */
	uint64_t look_us;			/* between looks */
};

static struct step steps[STEPS];
static size_t step_cnt;
static struct ask asks[REQUESTS];

static void step(enum step_kind kind, double us)
{
	uint64_t start_us = step_cnt ? steps[step_cnt - 1].end_us : 0;

	if (us >= 1)
		steps[step_cnt++] = (struct step){ kind, start_us, start_us + (uint64_t)us };
}

static uint64_t now_us(void)
{
	return step_cnt ? steps[step_cnt - 1].end_us : 0;
}

/* A wait and what follows it; the truth in ret. */
static void simulate_wait(struct numbers *n, const struct world *w, uint32_t caller, double us, struct ask *ret)
{
	double late_us = uniform(n) < w->late_part ? 1000 + uniform(n) * (w->late_most_us - 1000) : uniform(n) * 10;

	ret->start_us = now_us();
	step(STEP_SLEEP, us);
	ret->late_us = (uint64_t)late_us;
	step(STEP_QUEUE, late_us);
	ret->end_us = now_us();
	wait_of(caller, ret->start_us, ret->end_us, 0, 0);
}

static void simulate(struct numbers *n, const struct world *w)
{
	struct ask idle;

	step_cnt = 0;
	for (size_t i = 0; i < REQUESTS; i++) {
		step(STEP_RUN, 50 + uniform(n) * 100);
		if (w->think_us > 0)
			simulate_wait(n, w, 8, -log(1 - uniform(n) * .999) * w->think_us, &idle);
		step(STEP_RUN, 50 + uniform(n) * 100);
		simulate_wait(n, w, 7, uniform(n) < w->slow_part ? 1500 + uniform(n) * (w->slow_most_us - 1500) : 500 + uniform(n) * 1000,
			      &asks[i]);
	}
	step(STEP_RUN, 100);
}

/* What the kernel's accounts say while it goes on: time in the run queue when it is over. */
static void look_at_all(uint64_t each_us)
{
	uint64_t run_us = 0, queue_us = 0, slices = 1, next_us = each_us;

	own_look(0, 0);
	for (size_t i = 0; i < step_cnt; i++) {
		const struct step *s = &steps[i];

		for (; next_us < s->end_us; next_us += each_us)
			if (next_us >= s->start_us)
				look(next_us, run_us + (s->kind == STEP_RUN ? next_us - s->start_us : 0), queue_us, slices,
				     s->kind == STEP_SLEEP);
		run_us += s->kind == STEP_RUN ? s->end_us - s->start_us : 0;
		queue_us += s->kind == STEP_QUEUE ? s->end_us - s->start_us : 0;
		slices += s->kind == STEP_RUN;
	}
	own_look(now_us(), run_us);
}

/* Which part of the answers' variance is time in the run queue: in truth, and as the trace has it. */
static void shares(const struct trace *t, double *ret_true, double *ret_told)
{
	double mean = 0, mean_late = 0, mean_told = 0, var = 0, cov_late = 0, cov_told = 0;

	for (size_t i = 0; i < REQUESTS; i++) {
		mean += (double)(asks[i].end_us - asks[i].start_us) / REQUESTS;
		mean_late += (double)asks[i].late_us / REQUESTS;
		mean_told += (double)late_us(t, asks[i].start_us, asks[i].end_us) / REQUESTS;
	}
	for (size_t i = 0; i < REQUESTS; i++) {
		double d = (double)(asks[i].end_us - asks[i].start_us) - mean;

		var += d * d;
		cov_late += d * ((double)asks[i].late_us - mean_late);
		cov_told += d * ((double)late_us(t, asks[i].start_us, asks[i].end_us) - mean_told);
	}
	*ret_true = cov_late / var;
	*ret_told = cov_told / var;
}

/* off_by_most: from the truth. */
static void check_world(const char *name, const struct world *w, double off_by_most)
{
	struct numbers n = { 7 };
	double is, says, worst = 0;

	for (int i = 0; i < 5; i++) {
		_cleanup_(trace_freep) struct trace *t = NULL;

		begin();
		simulate(&n, w);
		look_at_all(w->look_us);
		t = end(NULL);
		shares(t, &is, &says);
		print_message("%s: %.1f %% of the variance is the run queue's, %.1f %% told\n", name, 100 * is, 100 * says);
		worst = fmax(worst, fabs(is - says));
	}
	assert_true(worst <= off_by_most);
}

/* With looks 20 ms apart several waits lie between two of them. */
static void test_random(void **state)
{
	struct world late = { .late_part = .3, .late_most_us = 5000 }, slow = { .slow_part = .3, .slow_most_us = 6000 };
	struct world both = { .late_part = .2, .late_most_us = 5000, .slow_part = .2, .slow_most_us = 6000 };

	(void)state;
	for (uint64_t look_us = 5000; look_us <= 20000; look_us += 15000)
		for (int thinks = 0; thinks < 2; thinks++) {
			late.look_us = slow.look_us = both.look_us = look_us;
			late.think_us = slow.think_us = both.think_us = thinks ? 4000 : 0;
			check_world(thinks ? "late, thinks" : "late", &late, .08);
			check_world(thinks ? "slow, thinks" : "slow", &slow, .02);
			check_world(thinks ? "both, thinks" : "both", &both, .1);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_late), cmocka_unit_test(test_stamped), cmocka_unit_test(test_asleep_at_a_look),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

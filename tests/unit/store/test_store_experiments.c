/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_store_experiments.c - causal experiments come back as they were written, replace those before, and damage is refused. */
#include <errno.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "tests/unit/store/store_dir.h"

static struct experiments *sample(void)
{
	struct experiments *e = experiments_new();
	struct experiment x = {
		.target = "io@read\n<block>", .kind = ASKED_IO, .function = "read", .file = "a.c", .speedup = 0.5, .rounds = 12,
		.set_aside = 1, .interval_cnt = 480, .delay_ns = 1.5e9, .limit = "io@write",
	};

	x.metrics[GAIN_P50] = (struct gain){ 21, 0.25, { 0.125, 0.375 }, 0.03, true, true, 0.5, true };
	x.metrics[GAIN_P99] = (struct gain){ .value = 7, .gain = -0.5, .known = true };
	VEC_ADD(&e->list, x);
	VEC_ADD(&e->list, (struct experiment){ .target = "queue", .kind = ASKED_QUEUE, .speedup = 1 });
	e->list.items[1].metrics[GAIN_MEAN].predicted = 0.75;
	e->list.items[1].metrics[GAIN_MEAN].has_predicted = true;
	e->interval = "request";
	e->baseline_cnt = 500;
	e->baseline[GAIN_P50] = 28;
	e->metric = GAIN_P50;
	e->floor = 0.005;
	e->ended = ENDED_TIME;
	experiments_refuse(e, "wait:log", "a wait cannot be made faster", "lock:log");
	experiments_refuse(e, "runqueue", "no", NULL);
	VEC_ADD(&e->warnings, (struct warning){ "busy", "text" });
	return e;
}

static uint32_t make_run(struct store *s)
{
	struct run r = { .status = RUN_ANALYSED };

	assert_int_equal(run_create(s, &r, NULL), 0);
	return r.number;
}

static void test_round(void **state)
{
	_cleanup_(experiments_freep) struct experiments *e = sample(), *back = NULL;
	struct store *s = open_store(true);
	uint32_t run = make_run(s), latest = 0;
	struct diag d = DIAG_INIT;

	(void)state;
	assert_int_equal(experiments_latest(s, &latest, NULL), 0);
	assert_int_equal(latest, 0);
	assert_int_equal(experiments_read(s, run, &back, &d), -ENOENT);
	assert_int_equal(d.status, EXIT_NO_EVIDENCE);
	for (int i = 0; i < 2; i++)		/* the second replaces the first */
		assert_int_equal(experiments_write(s, run, e, NULL), 0);
	make_run(s);
	assert_int_equal(experiments_latest(s, &latest, NULL), 0);
	assert_int_equal(latest, run);
	assert_int_equal(experiments_read(s, run, &back, &d), 0);
	assert_string_equal(back->interval, "request");
	assert_int_equal(back->baseline_cnt, 500);
	assert_memory_equal(back->baseline, e->baseline, sizeof(e->baseline));
	assert_true(back->metric == GAIN_P50 && back->floor == 0.005 && back->ended == ENDED_TIME && !back->replayed);
	assert_int_equal(back->best, 0);
	assert_int_equal(back->list.cnt, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct experiment *a = &e->list.items[i], *b = &back->list.items[i];

		assert_string_equal(a->target, b->target);
		assert_true(a->kind == b->kind && a->speedup == b->speedup && a->rounds == b->rounds && a->set_aside == b->set_aside &&
			    a->interval_cnt == b->interval_cnt && a->delay_ns == b->delay_ns);
		for (unsigned m = 0; m < GAIN_CNT; m++) {
			const struct gain *g = &a->metrics[m], *h = &b->metrics[m];

			assert_true(g->value == h->value && g->gain == h->gain && g->ci95[0] == h->ci95[0] && g->ci95[1] == h->ci95[1] &&
				    g->p_value == h->p_value && g->known == h->known && g->has_ci95 == h->has_ci95 &&
				    g->predicted == h->predicted && g->has_predicted == h->has_predicted);
		}
	}
	assert_int_equal(back->refused.cnt, 2);
	assert_string_equal(back->refused.items[0].instead, "lock:log");
	assert_null(back->refused.items[1].instead);
	assert_string_equal(back->warnings.items[0].code, "busy");
	store_close(s);
}

static void test_damage(void **state)
{
	static const char *const damages[] = {
		"UPDATE causal SET metric = 'p51'", "UPDATE experiment SET speedup = 7", "UPDATE experiment SET speedup = 0",
		"UPDATE experiment SET kind = 'magic'", "UPDATE experiment SET position = 5 WHERE position = 1",
		"UPDATE experiment_metric SET experiment = 9", "UPDATE causal SET ended = 'never'",
		"UPDATE experiment_metric SET metric = 'p51' WHERE metric = 'p50'",
		"UPDATE experiment_metric SET value = 9e999 WHERE value IS NOT NULL",
		"UPDATE experiment_metric SET ci95_high = 9e999 WHERE ci95_high IS NOT NULL",
		"UPDATE experiment_metric SET predicted = -9e999 WHERE predicted IS NOT NULL",
		"UPDATE causal_baseline SET value = 9e999", "UPDATE causal SET floor = 9e999", "UPDATE experiment SET delay_ns = 9e999",
	};
	_cleanup_(experiments_freep) struct experiments *e = sample();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		struct experiments *back = NULL;
		struct store *s = open_store(true);
		struct diag d = DIAG_INIT;
		uint32_t run = make_run(s);

		assert_int_equal(experiments_write(s, run, e, NULL), 0);
		store_close(s);
		run_sql(damages[i]);
		s = open_store(true);
		if (experiments_read(s, run, &back, &d) != -EBADMSG)
			fail_msg("%s: not refused", damages[i]);
		assert_int_equal(d.status, EXIT_DATA);
		store_close(s);
		drop_dir(state);
		make_dir(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(test_damage, make_dir, drop_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_schedule.c - which points are asked next, from what is known; when it ends; which warnings the facts make.
 */
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "analysis/causal/experiment_warnings.h"
#include "analysis/causal/schedule.h"
#include "base/banned.h"
#include "base/str.h"

static const struct schedule_target targets[] = {
	{ .target = "a" }, { .target = "b" }, { .target = "c" }, { .target = "d" }, { .target = "e" },
};
static const double speedups[] = { 0.25, 0.5, 1 };

static const struct schedule plan = {
	.targets = targets, .target_cnt = 5, .speedups = speedups, .speedup_cnt = 3, .metric = GAIN_P50,
};

/* gain -+ half, after that many rounds */
static void add(struct experiments *e, const char *target, double speedup, unsigned rounds, double gain, double half)
{
	struct experiment x = { .target = target, .speedup = speedup, .rounds = rounds };

	x.metrics[GAIN_P50] = (struct gain){ .gain = gain, .ci95 = { gain - half, gain + half }, .known = true, .has_ci95 = true };
	VEC_ADD(&e->list, x);
}

/* "a50 b50 R": targets and per cent of the next round, R a rehearsal. */
static void next_is(const struct experiments *e, uint32_t rounds, const char *want)
{
	schedule_points points = { NULL, 0, 0 };
	_cleanup_(str_release) struct str text = STR_INIT;

	schedule_next(&plan, e, rounds, &points);
	for (size_t i = 0; i < points.cnt; i++) {
		const struct schedule_point *p = &points.items[i];
		if (p->speedup == REHEARSAL_SPEEDUP)
			str_add(&text, "R");
		else
			str_addf(&text, "%s%.0f ", targets[p->target].target, 100 * p->speedup);
		assert_int_equal(p->number, p->speedup == REHEARSAL_SPEEDUP ? 3 :
				 p->target * 4 + (p->speedup == 0.25 ? 0 : p->speedup == 0.5 ? 1 : 2));
	}
	assert_string_equal(str_cstr(&text), want);
	VEC_RELEASE(&points);
}

static void test_next(void **state)
{
	struct experiments *e = experiments_new();

	(void)state;
	e->metric = GAIN_P50;
	next_is(e, 0, "a50 b50 c50 d50 e50 R");
	for (size_t i = 0; i < 5; i++)
		add(e, targets[i].target, 0.5, 5, 0.3, 0.001);
	next_is(e, 5, "a50 b50 c50 d50 e50 R");		/* narrow, but five rounds are luck */

	e->list.cnt = 0;
	add(e, "a", 0.5, 6, 0.3, 0.1);			/* wide */
	add(e, "b", 0.5, 6, 0.01, 0.005);		/* below 2 points */
	add(e, "c", 0.5, 6, 0.2, 0.02);			/* known */
	add(e, "d", 0.5, 6, 0.1, 0.03);			/* wide, and fourth */
	add(e, "e", 0.5, 6, 0.25, 0.01);
	next_is(e, 6, "a50 a25 a100 c25 c100 d50 e25 e100 R");
	add(e, "a", 0.25, 6, 0.1, 0.01);
	add(e, "a", 1, 6, 0.1, 0.01);
	add(e, "c", 0.25, 6, 0.1, 0.01);
	add(e, "c", 1, 6, 0.1, 0.021);
	add(e, "e", 0.25, 6, 0.1, 0.01);
	add(e, "e", 1, 6, 0.1, 0.01);
	next_is(e, 12, "a50 c100 d50 R");
	e->list.items[0].metrics[GAIN_P50].ci95[0] = 0.29;
	e->list.items[0].metrics[GAIN_P50].ci95[1] = 0.31;
	e->list.items[3].metrics[GAIN_P50].ci95[0] = 0.09;
	e->list.items[3].metrics[GAIN_P50].ci95[1] = 0.11;
	e->list.items[8].metrics[GAIN_P50].ci95[1] = 0.12;
	e->list.items[8].metrics[GAIN_P50].ci95[0] = 0.08;
	next_is(e, 13, "");				/* every gain is known to 2 points */
	experiments_free(e);
}

/* Two targets of which one gains; 12 rounds of constant blocks. */
static void test_estimate(void **state)
{
	struct schedule two = plan;
	struct experiments *e = experiments_new();
	block_samples blocks = { NULL, 0, 0 };
	const int64_t base[] = { 1000000, 1000000 }, half[] = { 600000, 600000 }, less[] = { 990000, 990000 };

	(void)state;
	two.target_cnt = 2;
	for (uint32_t r = 1; r <= 12; r++) {
		block_samples_add(&blocks, r, POINT_BASELINE, base, 2, 1000, 0);
		block_samples_add(&blocks, r, schedule_number(&two, 0, 1), base, 2, 1000, 0);
		block_samples_add(&blocks, r, schedule_number(&two, 1, 1), half, 2, 1000, 0);
		block_samples_add(&blocks, r, schedule_rehearsal(&two, 0), less, 2, 1000, 0);
	}
	schedule_estimate(&two, &blocks, 50, e);
	assert_int_equal(e->list.cnt, 2);
	assert_int_equal(e->baseline_cnt, 24);
	assert_float_equal(e->floor, 0.01, 1e-9);	/* of the rehearsal */
	assert_int_equal(e->metric, GAIN_P50);
	assert_int_equal(e->best, 1);
	assert_string_equal(e->list.items[1].target, "b");
	assert_float_equal(e->list.items[1].metrics[GAIN_P50].ci95[0], 0.39, 1e-9);
	block_samples_release(&blocks);
	experiments_free(e);
}

static void codes_are(const struct experiment_facts *f, const char *want)
{
	struct experiments *e = experiments_new();
	_cleanup_(str_release) struct str text = STR_INIT;

	experiment_warnings(e, f);
	for (size_t i = 0; i < e->warnings.cnt; i++)
		str_addf(&text, "%s ", e->warnings.items[i].code);
	assert_string_equal(str_cstr(&text), want);
	experiments_free(e);
}

static void test_warnings(void **state)
{
	(void)state;
	codes_are(&(struct experiment_facts){ .others_cpus = -1, .runqueue_share = -1 }, "");
	codes_are(&(struct experiment_facts){ .others_cpus = 0.1, .cpu_cnt = 2, .runqueue_share = 0.1 }, "");
	codes_are(&(struct experiment_facts){ .others_cpus = 0.11, .cpu_cnt = 2, .runqueue_share = 0.11 }, "busy crowded ");
	codes_are(&(struct experiment_facts){ .slowest_round = 1.31 }, "busy ");
	codes_are(&(struct experiment_facts){ .outside_cnt = 1 }, "outside-clients ");
	codes_are(&(struct experiment_facts){ .unfair_share = 0.1 }, "");
	codes_are(&(struct experiment_facts){ .unfair_share = 0.11 }, "unfair-lock ");
	codes_are(&(struct experiment_facts){ .sleeps_until = true }, "deadline ");
	codes_are(&(struct experiment_facts){ .sleeps_until = true, .virtual_clock = true }, "");
}

static void test_targets(void **state)
{
	static const struct {
		const char *text;
		enum asked_kind kind;
		const char *name;
	} good[] = {
		{ "parse", ASKED_FUNCTION, "parse" }, { "body:f", ASKED_BODY, "f" }, { "pc:f", ASKED_PC, "f" },
		{ "io", ASKED_IO, NULL }, { "io@read_block", ASKED_IO, "read_block" }, { "lock:m", ASKED_LOCK, "m" },
		{ "disk:sda", ASKED_DEVICE, "sda" }, { "wait:m", ASKED_WAIT, "m" }, { "queue", ASKED_QUEUE, NULL },
		{ "runqueue", ASKED_RUNQUEUE, NULL }, { "iota", ASKED_FUNCTION, "iota" },
	};
	static const char *const bad[] = { "", "io@", "lock:", "body:", "wait:" };
	enum asked_kind kind;
	const char *name;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_true(experiment_target_parse(good[i].text, &kind, &name));
		assert_int_equal(kind, good[i].kind);
		assert_true(good[i].name ? name && strcmp(name, good[i].name) == 0 : !name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(experiment_target_parse(bad[i], &kind, &name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next), cmocka_unit_test(test_estimate), cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

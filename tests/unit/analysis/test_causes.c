/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_causes.c - variance by cause: an example by hand, and on random traces that it closes and agrees
 * with the execution table, which is summed another way.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analysis/analyze.h"
#include "analysis/tree/causes.h"
#include "analysis/tree/execution_table.h"
#include "tests/oracle/random_trace.h"
#include "tests/unit/cmocka_all.h"
#include "trace/tuples/tuples.h"

static const struct cause *cause_of(const struct caused *f, enum trace_state state)
{
	for (size_t i = 0; i < f->causes.cnt; i++)
		if (f->causes.items[i].state == state)
			return &f->causes.items[i];
	return NULL;
}

/* The example of causes.h: f takes 10 + 0, 10 + 40, 20 + 80; around it main runs 1 more each time, and in the
 * third interval there is a lock in it, too. */
static const char example[] =
	"vprof-tuples 1\n"
	"interval 1 r 7 0 7 11\nsegment 7 1 0 11 running\n"
	"invocation 7 1 f 0 10\n"
	"interval 2 r 7 100 7 151\nsegment 7 2 100 105 running\nsegment 7 2 105 145 io\n"
	"segment 7 2 145 151 running\ninvocation 7 2 f 100 150\n"
	"interval 3 r 7 200 7 307\nsegment 7 3 200 220 running\nsegment 7 3 220 300 io\n"
	"segment 7 3 300 301 running\nsegment 7 3 301 307 lock\ninvocation 7 3 f 200 300\n";

static void test_example(void **state)
{
	char path[] = "causes-XXXXXX";
	const char *paths = path;
	struct diag diag = DIAG_INIT;
	struct trace *t = NULL;
	caused_list list = { NULL, 0, 0 };
	const struct caused *f;
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, example, sizeof(example) - 1), sizeof(example) - 1);
	close(fd);
	assert_int_equal(tuples_read(&paths, 1, &t, &diag), 0);
	unlink(path);
	assert_int_equal(variance_by_cause(t, NULL, &list), 0);
	assert_int_equal(list.cnt, 2);

	/* T: 11, 51, 107: mean 56.333, variance 1550.222. */
	assert_null(list.items[0].function);
	assert_float_equal(list.items[0].mean_ns, 169 / 3.0, 1e-9);
	assert_float_equal(list.items[0].variance_ns2, 13952 / 9.0, 1e-9);
	assert_float_equal(list.items[0].share, 1, 1e-12);
	assert_int_equal(list.items[0].causes.cnt, 3);
	assert_float_equal(cause_of(&list.items[0], STATE_LOCK)->mean_ns, 2, 1e-12);

	f = &list.items[1];
	assert_string_equal(f->function, "f");
	assert_float_equal(f->mean_ns, 160 / 3.0, 1e-9);
	assert_float_equal(f->variance_ns2, 12200 / 9.0, 1e-9);
	assert_int_equal(f->causes.cnt, 2);
	assert_int_equal(f->causes.items[0].state, STATE_IO);
	assert_float_equal(cause_of(f, STATE_IO)->mean_ns, 40, 1e-12);
	assert_float_equal(cause_of(f, STATE_IO)->variance_ns2, 9600 / 9.0, 1e-9);
	assert_float_equal(cause_of(f, STATE_RUNNING)->variance_ns2, 200 / 9.0, 1e-9);
	assert_int_equal(f->pairs.cnt, 1);
	assert_float_equal(f->pairs.items[0].covariance_ns2, 1200 / 9.0, 1e-9);
	/* Cov(io, T) = (0 * 11 + 40 * 51 + 80 * 107) / 3 - 40 * 169 / 3 = 1280. */
	assert_float_equal(cause_of(f, STATE_IO)->share, 1280 / (13952 / 9.0), 1e-9);
	caused_release(&list);
	assert_int_equal(variance_by_cause(t, "nothing", &list), -2);
	trace_free(t);
}

static void check_closes(const struct caused *f)
{
	double variance = 0, share = 0, mean = 0;
	double scale = f->variance_ns2 > 1 ? f->variance_ns2 : 1;

	for (size_t i = 0; i < f->causes.cnt; i++) {
		variance += f->causes.items[i].variance_ns2;
		share += f->causes.items[i].share;
		mean += f->causes.items[i].mean_ns;
	}
	for (size_t i = 0; i < f->pairs.cnt; i++)
		variance += 2 * f->pairs.items[i].covariance_ns2;
	assert_true(fabs(variance - f->variance_ns2) < 1e-9 * scale);
	assert_true(fabs(share - f->share) < 1e-9);
	assert_true(fabs(mean - f->mean_ns) < 1e-6);
}

static double table_mean(const execution_rows *rows, const char *label, uint64_t n)
{
	double sum = 0;

	for (size_t i = 0; i < rows->cnt; i++)
		if (!strcmp(rows->items[i].label, label))
			sum += (double)rows->items[i].nanoseconds;
	return sum / (double)n;
}

static void check_table(struct trace *t, const caused_list *list, uint64_t n)
{
	execution_rows rows = { NULL, 0, 0 };
	char label[64];

	assert_int_equal(execution_table(t, NULL, CHARGE_WAITER, &rows), 0);
	for (size_t i = 1; i < list->cnt; i++)
		assert_true(fabs(list->items[i].mean_ns -
				 table_mean(&rows, list->items[i].function, n)) < 1e-6);
	for (size_t i = 0; i < list->items[0].causes.cnt; i++) {
		const struct cause *c = &list->items[0].causes.items[i];

		snprintf(label, sizeof(label), "wait:%s", trace_state_name(c->state));
		if (c->state != STATE_RUNNING)
			assert_true(fabs(c->mean_ns - table_mean(&rows, label, n)) < 1e-6);
	}
	VEC_RELEASE(&rows);
}

static void test_random(void **state)
{
	size_t causes = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= 400; seed++) {
		struct trace *t = random_trace(seed, seed % 2 ? RANDOM_ANY : RANDOM_PROGRAM);
		caused_list list = { NULL, 0, 0 };
		struct findings *f = NULL;

		assert_int_equal(analyze(t, &(struct analyze_options){ 0 }, &f), 0);
		assert_int_equal(variance_by_cause(t, NULL, &list), 0);
		if (f->interval.cnt && list.cnt) {
			assert_true(fabs(list.items[0].variance_ns2 - f->interval.variance_ns2) <=
				    1e-9 * (f->interval.variance_ns2 + 1));
			check_table(t, &list, f->interval.cnt);
		}
		for (size_t i = 0; i < list.cnt; i++) {
			check_closes(&list.items[i]);
			causes += list.items[i].causes.cnt;
		}
		caused_release(&list);
		findings_free(f);
		trace_free(t);
	}
	assert_true(causes > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_example), cmocka_unit_test(test_random) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

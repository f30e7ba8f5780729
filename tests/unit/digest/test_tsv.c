/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_tsv.c - rows of SQL hold all that a digest holds, in any order of lines; what is damaged, doubled or too large is refused.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "digest/tsv.h"
#include "digest/unite.h"
#include "tests/oracle/random_trace.h"
#include "tests/unit/digest/sums_of.h"

enum { ROUNDS = 60 };

static struct summed *in_order(const struct summed *s)
{
	_cleanup_(uniter_freep) struct uniter *u = uniter_new();
	struct diag diag = DIAG_INIT;
	struct summed *ret = NULL;

	uniter_add(u, s);
	if (uniter_end(u, &ret, &diag) < 0)
		fail_msg("%s", diag.text);
	return ret;
}

static void rows_of(const struct summed *s, struct str *ret)
{
	struct diag diag = DIAG_INIT;

	if (tsv_write(s, &(struct tsv_options){ .service = "shop" }, ret, &diag) < 0)
		fail_msg("%s", diag.text);
}

/* The same lines in another order. */
static void shuffle(const struct str *rows, struct random *r, struct str *ret)
{
	_cleanup_(freep) char *text = xstrdup(str_cstr(rows));
	VEC(char *) lines = { NULL, 0, 0 };
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		VEC_ADD(&lines, line);
	for (size_t i = lines.cnt; i-- > 1; ) {
		size_t k = random_below(r, (uint32_t)i + 1);
		char *kept = lines.items[i];

		lines.items[i] = lines.items[k];
		lines.items[k] = kept;
	}
	for (size_t i = 0; i < lines.cnt; i++)
		str_addf(ret, "%s\n", lines.items[i]);
	VEC_RELEASE(&lines);
}

static void assert_same(const struct summed *a, const struct summed *b)
{
	_cleanup_(str_release) struct str x = STR_INIT, y = STR_INIT;

	assert_int_equal(digest_write(a, &x, NULL), 0);
	assert_int_equal(digest_write(b, &y, NULL), 0);
	assert_int_equal(x.len, y.len);
	assert_memory_equal(x.data, y.data, x.len);
}

static void test_there_and_back(void **state)
{
	struct random r = { 21 };

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct trace *t = random_trace(round, round % 3 ? RANDOM_ANY : RANDOM_PROGRAM);
		_cleanup_(summed_freep) struct summed *s = sum_up(t, round % 2 ? 100 : 0, round), *sorted = in_order(s), *back = NULL;
		_cleanup_(str_release) struct str rows = STR_INIT, other = STR_INIT;
		struct diag diag = DIAG_INIT;

		rows_of(sorted, &rows);
		shuffle(&rows, &r, &other);
		if (s->windows.cnt == 0) {
			assert_int_equal(tsv_parse(str_cstr(&other), other.len, "it", &back, &diag), -ENODATA);
		} else {
			if (tsv_parse(str_cstr(&other), other.len, "it", &back, &diag) < 0)
				fail_msg("%s", diag.text);
			assert_same(sorted, back);
		}
		trace_free(t);
	}
}

/* By hand: T 10; f takes 4, its body the rest of the interval. */
static void test_by_hand(void **state)
{
	_cleanup_(trace_freep) struct trace *t =
		parsed("vprof-tuples 1\ninterval 1 r 7 0 7 10\nsegment 7 1 0 10 running\ninvocation 7 1 f 1 5\n");
	_cleanup_(summed_freep) struct summed *s = sum_up(t, 0, (int64_t)86400 * 1000000000), *sorted = in_order(s);
	_cleanup_(str_release) struct str rows = STR_INIT;

	(void)state;
	assert_int_equal(tsv_write(sorted, &(struct tsv_options){ .service = "a\tb", .table = "vprof_node" }, &rows, NULL), 0);
	/* day, service, build, kind, host, boot; x, xx, xt of the interval */
	assert_int_equal(strncmp(str_cstr(&rows), "1970-01-02\ta\\tb\t\tr\th1\tcd34\t1970-01-02 00:00:00\t", 46), 0);
	assert_non_null(strstr(str_cstr(&rows), "\t0\t1\t10\t100\t100\n"));
	assert_non_null(strstr(str_cstr(&rows), "\t1\t1\t4\t16\t40\n"));
	assert_non_null(strstr(str_cstr(&rows), "\t0\t1\t6\t36\t60\n"));
}

/* A name with anything in it but zero. */
static void test_names(void **state)
{
	static const char name[] = "a\tb\\n\n\r\\\033'\xff";
	_cleanup_(trace_freep) struct trace *t = random_trace(4, RANDOM_PROGRAM);
	_cleanup_(summed_freep) struct summed *s = sum_up(t, 0, 1), *sorted = NULL, *back = NULL;
	_cleanup_(str_release) struct str rows = STR_INIT;
	struct diag diag = DIAG_INIT;

	(void)state;
	s->interval_names.items[0] = name;
	sorted = in_order(s);
	rows_of(sorted, &rows);
	if (tsv_parse(str_cstr(&rows), rows.len, "it", &back, &diag) < 0)
		fail_msg("%s", diag.text);
	assert_same(sorted, back);
}

static void refused(const char *text, const char *why)
{
	struct diag diag = DIAG_INIT;
	struct summed *ret = NULL;

	assert_true(tsv_parse(text, strlen(text), "it", &ret, &diag) < 0);
	assert_int_equal(diag.status, EXIT_DATA);
	if (!strstr(diag.text, why))
		fail_msg("'%s' does not say '%s'", diag.text, why);
}

#define KEY "2026-01-01\t\t\tr\th\tb\t2026-01-01 00:00:00\t7\t0\t"
#define ROOT "vprof_name\t1\t0\tr\tinterval\trunning\t0\tthread\t0\t\t\n"
#define WINDOW(n, max, sum) "vprof_window\t" KEY "100\t\t\t\t0\t0\t0\t" n "\t1\t1\t10\t" max \
	"\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\n" \
	"vprof_node\t" KEY "1\t0\t1\t" sum "\nvprof_bucket\t" KEY "10\t" n "\t1\t10\n"

static void test_refused(void **state)
{
	struct diag diag = DIAG_INIT;
	struct summed *ret = NULL;
	static const char good[] = ROOT WINDOW("1", "10", "10\t100\t100");

	(void)state;
	if (tsv_parse(good, strlen(good), "it", &ret, &diag) < 0)
		fail_msg("%s", diag.text);
	summed_free(ret);
	refused("vprof_nodes\t1\n", "it:1: column 1 should be the name of a table");
	refused(ROOT "vprof_node\t" KEY "1\t0\n", "it:2: column 10 should be a kind, source and from_ns that have a row in vprof_window");
	refused(ROOT WINDOW("1", "10", "10\t100"), "it:3: column 16 should be a field");
	refused(ROOT WINDOW("1", "10", "10\t100\t100\t5"), "it:3: column 17 should be the end of the row");
	refused(ROOT WINDOW("1", "10", "10\t100\t-100"), "it:3: column 16 should be a sum");
	refused(ROOT WINDOW("1", "10", "10\t100\t1e2"), "it:3: column 16 should be a sum");
	refused(ROOT WINDOW("1", "10", "10\t100\t170141183460469231731687303715884105727"), "it:3: column 16 should be a sum");
	/* what wrapped around in SQL is larger, or smaller, than the intervals allow */
	refused(ROOT WINDOW("1", "10", "10\t101\t100"), "larger than the number of intervals");
	refused(ROOT WINDOW("1048576", "9223372036854775807", "10\t100\t100"), "too many, or too long");
	refused(ROOT WINDOW("1", "10", "10\t100\t100") WINDOW("1", "10", "10\t100\t100"), "would count twice");
	refused(ROOT WINDOW("1", "10", "10\t100\t100") "vprof_node\t" KEY "1\t0\t1\t10\t100\t100\n", "occur twice in one window");
	refused("vprof_name\t1\t2\tr\tbody\trunning\t0\tthread\t0\t\t\nvprof_name\t2\t1\tr\tbody\trunning\t0\tthread\t0\t\t\n",
		"parents form a circle");
	refused("vprof_name\t1\t2\tr\tbody\trunning\t0\tthread\t0\t\t\n", "parent has no row");
	refused(ROOT "vprof_name\t1\t0\tq\tinterval\trunning\t0\tthread\t0\t\t\n", "it:2: column 11 should be the same place as before");
	refused("vprof_function\t99\tf\t\t0\t0\t0\t0\t0\t0\nvprof_function\t99\tg\t\t0\t0\t0\t0\t0\t0\n", "the same function as before");
}

/* Each byte is another one: an error that says so, or sums that are whole. */
static void test_damage(void **state)
{
	_cleanup_(trace_freep) struct trace *t = random_trace(4, RANDOM_PROGRAM);
	_cleanup_(summed_freep) struct summed *s = sum_up(t, 0, 1), *sorted = in_order(s);
	_cleanup_(str_release) struct str rows = STR_INIT;
	static const char xors[] = { 0x01, 0x10 };
	size_t accepted = 0, tried = 0;

	(void)state;
	rows_of(sorted, &rows);
	for (size_t i = 0; i < rows.len; i += 3)
		for (size_t k = 0; k < sizeof(xors); k++) {
			struct diag diag = DIAG_INIT;
			struct summed *back = NULL;

			rows.data[i] ^= xors[k];
			tried++;
			if (tsv_parse(rows.data, rows.len, "it", &back, &diag) < 0) {
				assert_true(*diag.text);
			} else {
				accepted++;
				summed_free(back);
			}
			rows.data[i] ^= xors[k];
		}
	assert_true(accepted > tried / 20 && accepted < tried);
}

/* Sums that SQL would wrap around. */
static void test_too_large(void **state)
{
	_cleanup_(trace_freep) struct trace *t = random_trace(4, RANDOM_PROGRAM);
	_cleanup_(summed_freep) struct summed *s = sum_up(t, 0, 1);
	_cleanup_(str_release) struct str rows = STR_INIT;
	struct diag diag = DIAG_INIT;
	struct summed_window *w = &s->windows.items[0];

	(void)state;
	w->sums.items[0].calls = TSV_COUNT_MAX;
	assert_int_equal(tsv_write(s, &(struct tsv_options){ .service = "" }, &rows, &diag), -EOVERFLOW);
	assert_non_null(strstr(diag.text, "wrap around in SQL"));
	assert_int_equal(rows.len, 0);
	w->sums.items[0].calls = 1;
	w->max_ns = INT64_MAX;
	assert_int_equal(tsv_write(s, &(struct tsv_options){ .service = "" }, &rows, &diag), -EOVERFLOW);
	assert_int_equal(diag.status, EXIT_DATA);
	assert_int_equal(rows.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand), cmocka_unit_test(test_damage), cmocka_unit_test(test_names),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

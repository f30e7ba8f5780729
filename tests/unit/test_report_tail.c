/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_report_tail.c - JSON and CSV of the tail's views, and what factors say of pairs that make up for each
 * other.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "report/style.h"
#include "tests/unit/report_check.h"
#include "tests/unit/sample_findings.h"

static void test_tail_json(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	_cleanup_(freep) char *csv = NULL;
	struct view_input in = input_of(f);
	json_t *o = json_of("tail", &in);

	(void)state;
	want_string(o, "schema", "vprof.tail/1");
	want_number(o, "quantile", .99);
	want_number(o, "slow/from_ns", 2840000);
	want_number(o, "slow/count", 120);
	want_number(o, "fast/mean_ns", 400000);
	want_string(o, "parts/0/function", "log_append");
	want_string(o, "parts/0/kind", "wait");
	want_string(o, "parts/0/wait", "lock");
	want_number(o, "parts/0/tail_share", .73);
	want_number(o, "parts/0/tail_ci95/0", .66);
	want_number(o, "parts/0/extra_ns", 2050000);
	want_string(o, "parts/1/kind", "body");
	want_null(o, "parts/1/wait");
	want_null(o, "parts/1/tail_ci95");
	json_decref(o);
	/* handle_request first: more in slow intervals than on average, log_append less. */
	f->parts.items[0].slow_mean_ns = 1;
	f->parts.items[1].slow_mean_ns = 800000;
	f->parts.items[0].has_tail = false;
	o = json_of("tail", &in);
	want_string(o, "parts/0/function", "handle_request");
	want_null(o, "parts/1/tail_share");
	json_decref(o);
	o = json_of("slow-vs-fast", &in);
	want_string(o, "schema", "vprof.slow-vs-fast/1");
	want_string(o, "parts/0/function", "log_append");
	json_decref(o);
	csv = csv_of("slow-vs-fast", &in);
	assert_non_null(strstr(csv, "\nbody,handle_request,server.c,,0.27"));
}

/* The smaller one is in JSON only. */
static void test_hedges(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	_cleanup_(freep) char *text = NULL;
	struct view_input in = input_of(f);
	struct factor small = f->factors.items[f->factors.cnt - 1], large = small;
	json_t *o;

	(void)state;
	small.share = -.03;
	large.share = -.2;
	large.functions[1] = "body of parse";
	VEC_ADD(&f->factors, small);
	VEC_ADD(&f->factors, large);
	text = text_of("factors", &in, true, 100);
	assert_non_null(strstr(text, "hedge: log_append and body of parse make up for each other: -20 % of the"));
	assert_null(strstr(text, "hedge: log_append and hash"));
	o = json_of("factors", &in);
	want_string(o, "hedges/0/functions/1", "body of parse");
	want_number(o, "hedges/1/share", -.03);
	assert_int_equal(json_array_size(at(o, "hedges")), 2);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tail_json),
		cmocka_unit_test(test_hedges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

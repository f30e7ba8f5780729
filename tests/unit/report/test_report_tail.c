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
#include "tests/unit/report/report_check.h"
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
	assert_non_null(strstr(text, "hedge: log_append and body of parse offset each other: -20 % of the"));
	assert_null(strstr(text, "hedge: log_append and hash"));
	o = json_of("factors", &in);
	want_string(o, "hedges/0/functions/1", "body of parse");
	want_number(o, "hedges/1/share", -.03);
	assert_int_equal(json_array_size(at(o, "hedges")), 2);
	json_decref(o);
}

/* Functions across the tree that take long together; if they are all of two siblings that offset each other, they stand for them. */
static void test_pairs(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	_cleanup_(freep) char *text = NULL, *hedge = NULL;
	struct view_input in = input_of(f);
	struct factor *siblings = &f->factors.items[f->factors.cnt - 1];
	struct part_pair *p = &f->part_pairs.items[0];

	(void)state;
	text = text_of("factors", &in, true, 140);
	assert_null(strstr(text, "pair: "));		/* both are in one common cause */
	f->common_causes.cnt = 0;
	free(text);
	text = text_of("factors", &in, true, 140);
	assert_non_null(strstr(text, "pair: body of handle_request and wait:lock in log_append take long together: 12 % of the "
			       "variance (below log_append and hash_payload)\n"));
	siblings->share = -.13;
	p->share = -.12;
	p->has_ci95 = true;
	p->ci95[0] = -.2;
	p->ci95[1] = -.04;
	hedge = text_of("factors", &in, true, 140);
	assert_non_null(strstr(hedge, "hedge: body of handle_request and wait:lock in log_append offset each other: "
			       "-12 % of the variance (below log_append and hash_payload)\n"));
	assert_null(strstr(hedge, "hedge: log_append"));
	p->ci95[0] = -.25;
	p->ci95[1] = -.01;
	free(hedge);
	hedge = text_of("factors", &in, true, 140);
	assert_non_null(strstr(hedge, "hedge: body of handle_request"));
	p->ci95[1] = .01;				/* may be chance */
	free(hedge);
	hedge = text_of("factors", &in, true, 140);
	assert_null(strstr(hedge, "hedge: "));
	p->share = -.1;
	free(hedge);
	hedge = text_of("factors", &in, true, 140);
	assert_non_null(strstr(hedge, "hedge: log_append and hash_payload"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tail_json),
		cmocka_unit_test(test_hedges),
		cmocka_unit_test(test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

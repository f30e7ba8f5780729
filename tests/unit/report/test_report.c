/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_report.c - the views of a run's results, from findings made by hand (sample_findings.h).
 *
 * JSON is checked field by field against vprof-formats(5), CSV against RFC 4180.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "base/text/utf8.h"
#include "report/style.h"
#include "report/views.h"
#include "report/words/sentence.h"
#include "tests/unit/report/report_check.h"
#include "tests/unit/sample_findings.h"

/* ---- text ---- */

static void test_texts(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct view_input in = input_of(f);

	(void)state;
	want_text("intervals", text_of("intervals", &in, true, 80));
	want_text("histogram", text_of("histogram", &in, true, 80));
	f->interval.cnt = 4000;		/* enough for the sentence to be sure */
	want_text("factors.work", text_of("factors", &in, true, 100));
	f->work.names = NULL;
	want_text("summary", text_of("summary", &in, true, 80));
	want_text("causes", text_of("causes", &in, true, 80));
	want_text("factors", text_of("factors", &in, true, 80));
	want_text("factors.wide", text_of("factors", &in, true, 150));
	want_text("factors.narrow", text_of("factors", &in, true, 50));
	want_text("tail", text_of("tail", &in, true, 80));
	want_text("slow-vs-fast", text_of("slow-vs-fast", &in, true, 80));
	want_text("variance-tree", text_of("variance-tree", &in, true, 80));
	want_text("variance-tree.where", text_of("variance-tree", &in, true, 100));
	want_text("variance-tree.ascii", text_of("variance-tree", &in, false, 60));
	in.options.ranking.paper = true;
	want_text("factors.paper", text_of("factors", &in, true, 80));
	in.options.depth = 1;
	in.options.min_share = 0.5;
	in.options.ranking.paper = false;
	want_text("variance-tree.short", text_of("variance-tree", &in, true, 80));
}

/*
 * Chains take one line: exec's list is XLogFlush .311, PortalRun .235 and, not worth lines, exec's body
 * .004 and the bodies along the chain .001 + .002 + .002: 4 more, .009; together .555.  XLogFlush's is
 * .159, .150 and XLogWrite's body .002.  ProcessQuery .100 and heap_update .085 are a chain, with
 * .008 + .007 beside it; LockAcquireExtended .075 is not in it: less than four fifths of .100.
 */
static void test_deep_tree(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_deep();
	struct view_input in = input_of(f);

	(void)state;
	want_text("variance-tree.deep", text_of("variance-tree", &in, true, 80));
	want_text("variance-tree.deep.narrow", text_of("variance-tree", &in, true, 40));
	want_text("variance-tree.deep.ascii", text_of("variance-tree", &in, false, 100));
	in.options.no_collapse = true;
	want_text("variance-tree.deep.no-collapse", text_of("variance-tree", &in, true, 80));
}

/* Programs get every node, whatever the text leaves out. */
static void test_deep_tree_data(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_deep();
	struct view_input in = input_of(f);
	_cleanup_(freep) char *csv = csv_of("variance-tree", &in);
	json_t *o = json_of("variance-tree", &in);
	size_t lines = 0;

	(void)state;
	for (const char *at = csv; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 1 + 33);
	assert_int_equal(json_array_size(at(o, "nodes")), 33);
	json_decref(o);
}

/* Names of a circle of calls, nested deeper than the screen is wide, still stand there. */
static void test_endless_tree(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_deep();
	struct view_input in = input_of(f);
	_cleanup_(freep) char *text = NULL;
	size_t lines = 0;

	(void)state;
	f->nodes.cnt = 1;
	for (uint32_t i = 0; i < 60; i++)
		VEC_ADD(&f->nodes, (struct node){ .id = i + 1, .parent = i, .kind = NODE_FUNCTION,
						  .function = i % 2 ? "ping" : "pong", .share = 1 });
	in.options.no_collapse = true;
	text = text_of("variance-tree", &in, true, 40);
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (!starts_with(line, "100.0 %"))
			continue;
		lines++;
		assert_true(utf8_width(line) <= 40);
		assert_true(ends_with(line, lines == 1 ? "transaction" :
				      lines % 2 ? " ping" : " pong"));
	}
	assert_int_equal(lines, 61);
}

/* Whatever the findings hold, every format prints something and JSON stays JSON. */
/* A number that rounds to 0 has no sign. */
static void test_percents(void **state)
{
	char buf[TEXT_MAX];

	(void)state;
	assert_string_equal(text_percent_cell(buf, -0.0004), "0.0 %");
	assert_string_equal(text_percent_cell(buf, -0.0006), "-0.1 %");
	assert_string_equal(text_percent_cell(buf, 0.999), "99.9 %");
	assert_string_equal(text_percent_cell(buf, NAN), "?");
	assert_string_equal(text_percent(buf, -0.0004), "0 %");
	assert_string_equal(text_percent(buf, -0.004), "-0.4 %");
	assert_string_equal(text_percent(buf, 0.619), "62 %");
}

/* A share and its interval are rounded alike: a share of 0.996 between 0.991 and 0.999 is not 100 %. */
static void test_intervals_of_percents(void **state)
{
	static const struct { double share, ci95[2]; const char *share_text, *ci95_text; } cases[] = {
		{ 0.619, { 0.52, 0.73 }, "62 %", "52 to 73" },
		{ 0.996, { 0.991, 0.999 }, "99.6 %", "99.1 to 99.9" },
		{ 0.99931, { 0.99908, 0.9995 }, "99.93 %", "99.91 to 99.95" },
		{ 0.044, { 0.01, 0.09 }, "4.4 %", "1 to 9" },
		{ -0.00001, { -0.00002, 0.00001 }, "0.00 %", "0.00 to 0.00" },
		{ NAN, { NAN, NAN }, "?", "?" },
	};
	char buf[TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_string_equal(text_percent_with_ci95(buf, cases[i].share, cases[i].ci95), cases[i].share_text);
		assert_string_equal(text_ci95(buf, cases[i].ci95), cases[i].ci95_text);
	}
}

static void test_odd_findings(void **state)
{
	struct findings *(*const samples[])(void) = { sample_odd, findings_new };
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		_cleanup_(findings_freep) struct findings *f = samples[i]();
		struct view_input in = input_of(f);

		in.options.ranking.all = true;
		in.options.min_share = 0;
		for (size_t v = 0; v < report_view_cnt; v++) {
			const char *name = report_views[v]->name;

			if (report_views[v]->needs != NEEDS_FINDINGS)
				continue;
			free(text_of(name, &in, true, 0));
			free(text_of(name, &in, false, 40));
			json_decref(json_of(name, &in));
			if (report_views[v]->csv)
				free(csv_of(name, &in));
		}
	}
}

/* A name cannot drive the terminal, and cannot break JSON. */
static void test_hostile_names(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct view_input in = input_of(f);
	_cleanup_(freep) char *text = NULL;
	json_t *o;

	(void)state;
	f->nodes.items[1].function = "\x1b[31mred\xff\x01" "7\n";
	f->interval.name = "a\x1b]0;title\x07";
	text = text_of("variance-tree", &in, true, 200);
	assert_null(strchr(text, '\x1b'));
	assert_null(strchr(text, '\x07'));
	o = json_of("variance-tree", &in);
	want_string(o, "nodes/1/function",
		      "\xef\xbf\xbd[31mred\xef\xbf\xbd\xef\xbf\xbd" "7\n");
	json_decref(o);
}

/* ---- JSON ---- */

static void want_interval(json_t *o)
{
	want_string(o, "interval/name", "request");
	want_number(o, "interval/count", 4);
	want_number(o, "interval/dropped/open", 2);
	want_number(o, "interval/dropped/aborted", 1);
	want_number(o, "interval/dropped/bad_path", 0);
	want_number(o, "interval/dropped/nested", 7);
	want_number(o, "interval/dropped/unmatched_ends", 3);
	want_number(o, "interval/mean_ns", 1060000);
	want_number(o, "interval/variance_ns2", 4e12);
	want_number(o, "interval/stddev_ns", 2000000);
	want_number(o, "interval/p50_ns", 400000);
	want_number(o, "interval/p90_ns", 2840000);
	want_number(o, "interval/p99_ns", 2840000);
	want_number(o, "interval/max_ns", 2840000);
	want_number(o, "run", 3);
	want_string(o, "warnings/0/code", "few-intervals");
	want_string(o, "warnings/0/text", "only 4 intervals");
	assert_int_equal(json_array_size(at(o, "warnings")), 1);
}

static void want_confidence(json_t *o)
{
	want_number(o, "factors/0/ci95/0", .52);
	want_number(o, "factors/0/ci95/1", .73);
	assert_true(json_is_true(at(o, "factors/0/resolved")));
	assert_true(json_is_false(at(o, "factors/1/resolved")));
	want_null(o, "factors/2/ci95");
	want_null(o, "factors/2/resolved");
	want_number(o, "factors/0/shared_share", .61 - (.61 + .01));
	want_number(o, "factors/0/gain", 2 * .61 - (.61 + .01));
	want_number(o, "factors/0/presence", .5);
	want_number(o, "factors/0/rank_interval/0", 1);
	want_number(o, "factors/1/rank_interval/1", 3);
	want_null(o, "factors/2/rank_interval");
	want_number(o, "factors/0/intervals_needed", 0);
	want_number(o, "factors/1/intervals_needed", 900);
	want_number(o, "factors/0/paper_ci95/1", .74);
	want_null(o, "factors/1/paper_ci95");
	want_number(o, "factors/0/tail_share", .73);
	want_number(o, "factors/0/work_share", .305);
	want_number(o, "after_work/explained", .35);
	want_number(o, "after_work/intervals", 3990);
	want_string(o, "after_work/work", "bytes, rows");
	want_string(o, "after_work/factors/0/wait", "queue");
	want_number(o, "after_work/factors/0/rank", 1);
	want_string(o, "after_work/factors/1/wait", "lock");
	want_number(o, "common_causes/0/explained", .4);
	want_number(o, "common_causes/0/own", .1);
	want_string(o, "common_causes/0/members/0/function", "handle_request");
	want_string(o, "common_causes/0/members/1/wait", "lock");
	want_number(o, "common_causes/0/members/1/contribution", .3);
	assert_int_equal(json_array_size(at(o, "hedges")), 0);
	want_string(o, "pairs/0/functions/1", "wait:lock in log_append");
	want_string(o, "pairs/0/a/kind", "body");
	want_string(o, "pairs/0/b/wait", "lock");
	want_number(o, "pairs/0/share", .12);
	want_number(o, "pairs/0/ci95/1", .17);
	assert_true(json_is_true(at(o, "pairs/0/across")));
	want_string(o, "pairs/0/within/1", "hash_payload");
	want_number(o, "pairs_rest/own", .55 + .31);
	want_number(o, "pairs_rest/other_pairs", .02);
}

static void test_factors_json(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct view_input in = input_of(f);
	json_t *o;

	(void)state;
	o = json_of("factors", &in);
	want_string(o, "schema", "vprof.factors/1");
	want_interval(o);
	want_number(o, "k", 3);
	want_number(o, "threshold", 0.05);
	assert_int_equal(json_array_size(at(o, "factors")), 3);
	want_number(o, "factors/0/rank", 1);
	want_string(o, "factors/0/kind", "wait");
	want_string(o, "factors/0/function", "log_append");
	want_string(o, "factors/0/file", "server.c");
	want_null(o, "factors/0/functions");
	want_string(o, "factors/0/wait", "lock");
	want_number(o, "factors/0/share", .61);
	want_confidence(o);
	want_number(o, "factors/0/variance_share", .61 + .01);
	want_number(o, "factors/0/paper_contribution", .61 + .01);
	want_number(o, "factors/0/height", 0);
	want_number(o, "factors/0/specificity", 9);
	want_number(o, "factors/0/score", 9 * .61);
	want_number(o, "factors/0/tail_share_p99", .73);
	want_number(o, "factors/0/mean_ns", 303000);
	want_string(o, "factors/0/call_sites/1", "server.c:61");
	want_string(o, "factors/0/because_of/0/function", "flush_log");
	want_string(o, "factors/0/because_of/0/wait", "sleep");
	want_number(o, "factors/0/because_of/0/share", .60);
	want_null(o, "factors/0/because_of/1/function");
	want_null(o, "factors/0/because_of/1/wait");
	want_null(o, "factors/1/function");
	want_string(o, "factors/1/wait", "queue");
	want_null(o, "factors/1/tail_share_p99");
	want_string(o, "factors/2/function", "log_append");
	want_string(o, "factors/2/kind", "function");
	want_null(o, "factors/2/wait");
	json_decref(o);

	in.options.ranking.paper = in.options.ranking.all = true;
	o = json_of("factors", &in);
	for (size_t i = 0; i < json_array_size(at(o, "factors")); i++) {
		json_t *factor = json_array_get(at(o, "factors"), i);

		if (strcmp(json_string_value(at(factor, "kind")), "pair") != 0)
			continue;
		want_string(factor, "functions/0", "log_append");
		want_string(factor, "functions/1", "hash_payload");
		want_null(factor, "gain");
		want_null(factor, "shared_share");
		want_null(factor, "presence");
		want_number(factor, "score", 4 * (.002 + .01));
		json_decref(o);
		return;
	}
	fail_msg("no pair");
}

static void test_variance_tree_json(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct view_input in = input_of(f);
	json_t *o = json_of("variance-tree", &in);
	double sum = 0;

	(void)state;
	want_string(o, "schema", "vprof.variance-tree/1");
	want_interval(o);
	assert_int_equal(json_array_size(at(o, "nodes")), 10);
	want_string(o, "nodes/0/kind", "interval");
	want_null(o, "nodes/0/parent");
	want_number(o, "nodes/0/share", 1);
	want_number(o, "nodes/2/id", 2);
	want_number(o, "nodes/2/parent", 1);
	want_string(o, "nodes/2/kind", "function");
	want_string(o, "nodes/2/function", "log_append");
	want_string(o, "nodes/2/file", "server.c");
	want_number(o, "nodes/2/line", 28);
	want_string(o, "nodes/2/call_site", "server.c:61");
	want_null(o, "nodes/2/wait");
	want_number(o, "nodes/2/mean_ns", 308000);
	assert_int_equal(json_array_size(at(o, "nodes/2/ci95")), 2);
	want_number(o, "nodes/0/ci95/0", 1);
	want_number(o, "nodes/2/calls_per_interval", 1);
	want_number(o, "nodes/2/presence", 1);
	assert_true(json_is_false(at(o, "nodes/2/open")));
	assert_true(json_is_true(at(o, "nodes/7/open")));
	want_string(o, "nodes/3/wait", "lock");
	assert_null(at(o, "nodes/3/peer"));
	want_string(o, "nodes/4/kind", "blame");
	want_string(o, "nodes/9/kind", "body");
	want_number(o, "nodes/9/share", -.01);
	want_number(o, "covariances/1/parent", 0);
	want_number(o, "covariances/1/a", 1);
	want_number(o, "covariances/1/b", 8);
	want_number(o, "covariances/1/covariance_ns2", -4e10);
	want_number(o, "covariances/1/share", -.02);
	for (size_t i = 1; i < 10; i++)
		if (json_number_value(at(json_array_get(at(o, "nodes"), i), "parent")) == 0)
			sum += json_number_value(at(json_array_get(at(o, "nodes"), i), "share"));
	assert_true(fabs(sum - 1) < 1e-12);
	json_decref(o);
	f->nodes.items[3].wait = STATE_QUEUE;
	o = json_of("variance-tree", &in);
	want_null(o, "nodes/3/between");
	want_null(o, "nodes/3/peer");
	json_decref(o);
}

/* SIDs are unsigned 64-bit: no bit may be lost. */
static void test_intervals_json(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct view_input in = input_of(f);
	json_t *o = json_of("intervals", &in), *document;
	_cleanup_(freep) char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	want_string(o, "schema", "vprof.intervals/1");
	want_interval(o);
	want_number(o, "intervals/1/sid", 2);
	want_string(o, "intervals/1/name", "request");
	want_number(o, "intervals/1/start_ns", 1000000);
	want_number(o, "intervals/1/end_ns", 1400000);
	want_number(o, "intervals/1/latency_ns", 400000);
	want_number(o, "intervals/1/start_thread", 10);
	want_number(o, "intervals/1/end_thread", 11);
	json_decref(o);
	document = view_find("intervals")->json(&in);
	report_write_json(out, document);
	fclose(out);
	json_decref(document);
	assert_non_null(strstr(text, "\"sid\": 18446744073709551614,"));
}

static void test_histogram_json(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct view_input in = input_of(f);
	json_t *o = json_of("histogram", &in);

	/* 300, 400, 700, 2840 us: less than ten times, so steps of (2840-300)/12 -> 500 us. */
	(void)state;
	assert_int_equal(json_array_size(at(o, "buckets")), 6);
	want_number(o, "buckets/0/from_ns", 0);
	want_number(o, "buckets/0/to_ns", 500000);
	want_number(o, "buckets/0/count", 2);
	want_number(o, "buckets/1/count", 1);
	want_number(o, "buckets/2/count", 0);
	want_number(o, "buckets/5/to_ns", 3000000);
	want_number(o, "buckets/5/count", 1);
	json_decref(o);
	/* 300 us to 3 ms is ten times: 200-500 us, 0.5-1 ms, 1-2 ms, 2-5 ms. */
	f->intervals.items[3].end_ns = f->intervals.items[3].start_ns + 3000000;
	o = json_of("histogram", &in);
	assert_int_equal(json_array_size(at(o, "buckets")), 4);
	want_number(o, "buckets/0/from_ns", 200000);
	want_number(o, "buckets/0/count", 2);
	want_number(o, "buckets/1/count", 1);
	want_number(o, "buckets/2/count", 0);
	want_number(o, "buckets/3/to_ns", 5000000);
	want_number(o, "buckets/3/count", 1);
	json_decref(o);
}

/* ---- views of a trace ---- */

static void sample_pieces(struct explained *e)
{
	static const char *handle[] = { "handle_request", "log_append" };
	static const char *flush[] = { "flush_log" };

	VEC_ADD(&e->pieces, (struct path_piece){ 10, 3000000, 3010000, STATE_QUEUE, 0, NULL, 0, NULL, 0 });
	VEC_ADD(&e->pieces, (struct path_piece){ 11, 3010000, 3310000, STATE_RUNNING, 0, handle, 2, "server.c", 28 });
	VEC_ADD(&e->pieces, (struct path_piece){ 12, 3310000, 5840000, STATE_SLEEP, 1, flush, 1, "server.c", 41 });
}

static void test_critical_path(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	_cleanup_(trace_freep) struct trace *t = trace_new();
	struct explained e = { .row = &f->intervals.items[3], .rank = 1 };
	struct view_input in = input_of(f);
	_cleanup_(freep) char *text = NULL;
	json_t *o;
	double sum = 0;

	(void)state;
	VEC_ADD(&t->threads, (struct thread_name){ 12, 1, "flusher", KIND_THREAD, false, 0 });
	sample_pieces(&e);
	in.made = &(struct explained_paths){ .paths = { &e, 1, 1 }, .names = t };
	want_text("critical-path", text_of("critical-path", &in, true, 80));
	o = json_of("critical-path", &in);
	want_string(o, "schema", "vprof.critical-path/1");
	want_interval(o);
	want_number(o, "latency_ns", 2840000);
	assert_int_equal(json_array_size(at(o, "pieces")), 3);
	want_number(o, "pieces/1/thread", 11);
	want_string(o, "pieces/1/state", "running");
	want_number(o, "pieces/1/depth", 0);
	want_string(o, "pieces/1/frames/1", "log_append");
	want_string(o, "pieces/2/state", "sleep");
	want_number(o, "pieces/2/depth", 1);
	for (size_t i = 0; i < 3; i++)
		sum += json_number_value(at(json_array_get(at(o, "pieces"), i), "end_ns")) -
		       json_number_value(at(json_array_get(at(o, "pieces"), i), "start_ns"));
	assert_true(sum == 2840000);
	json_decref(o);
	for (int64_t i = 0; i < 50; i++)	/* 53 in all, these equally long: 40 are shown */
		VEC_ADD(&e.pieces, (struct path_piece){ 11, 5840000 + i * 20000, 5860000 + i * 20000, STATE_RUNNING, 0, NULL, 0, NULL, 0 });
	text = text_of("critical-path", &in, true, 80);
	assert_non_null(strstr(text, "13 shorter pieces, together 250"));
	VEC_RELEASE(&e.pieces);
}

static void test_execution_table(void **state)
{
	_cleanup_(findings_freep) struct findings *f = sample_server();
	struct charged_rows made = { .charge = CHARGE_WAITER };
	execution_rows *rows = &made.rows;
	struct view_input in = input_of(f);
	_cleanup_(freep) char *csv = NULL;
	json_t *o;

	/* log_append in all four: 1, 2, 3, 6 us: mean 3, sd sqrt(3.5); the wait in one: 4 us. */
	(void)state;
	VEC_ADD(rows, (struct execution_row){ 1, "log_append", 1000 });
	VEC_ADD(rows, (struct execution_row){ 2, "log_append", 2000 });
	VEC_ADD(rows, (struct execution_row){ 3, "log_append", 3000 });
	VEC_ADD(rows, (struct execution_row){ UINT64_MAX - 1, "log_append", 6000 });
	VEC_ADD(rows, (struct execution_row){ UINT64_MAX - 1, "wait:lock", 4000 });
	VEC_ADD(rows, (struct execution_row){ UINT64_MAX - 1, "operator\"\"_s(a, b)", 1 });
	in.made = &made;
	want_text("execution-table", text_of("execution-table", &in, true, 80));
	o = json_of("execution-table", &in);
	want_string(o, "schema", "vprof.execution-table/1");
	want_string(o, "rows/4/function", "wait:lock");
	want_number(o, "rows/0/interval", 1);
	want_number(o, "rows/4/nanoseconds", 4000);
	json_decref(o);
	csv = csv_of("execution-table", &in);
	assert_string_equal(csv, "interval,function,nanoseconds\n1,log_append,1000\n"
			    "2,log_append,2000\n3,log_append,3000\n"
			    "18446744073709551614,log_append,6000\n"
			    "18446744073709551614,wait:lock,4000\n"
			    "18446744073709551614,\"operator\"\"\"\"_s(a, b)\",1\n");
	VEC_RELEASE(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_deep_tree),
		cmocka_unit_test(test_deep_tree_data),
		cmocka_unit_test(test_endless_tree),
		cmocka_unit_test(test_percents),
		cmocka_unit_test(test_intervals_of_percents),
		cmocka_unit_test(test_odd_findings),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_factors_json),
		cmocka_unit_test(test_variance_tree_json),
		cmocka_unit_test(test_intervals_json),
		cmocka_unit_test(test_histogram_json),
		cmocka_unit_test(test_critical_path),
		cmocka_unit_test(test_execution_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

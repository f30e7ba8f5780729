/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_report_project.c - the views of the project and its runs, and the table of views.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "base/map.h"
#include "tests/unit/report/report_check.h"

/* main -> work -> leaf; work calls itself; main calls leaf, and also work, through a pointer.  alone was
 * seen in leaf. */
static struct project *sample_project(uint32_t heights[4])
{
	static const char *const names[] = { "alone", "main", "work", "leaf\"s" };
	struct project *p = xcalloc(1, sizeof(*p));

	p->arena = arena_new();
	for (uint32_t i = 0; i < 4; i++)
		VEC_ADD(&p->functions, (struct project_function){
			.key = i, .name = names[i], .file = i ? "/src/b.c" : "/src/a.c",
			.line = i * 10 + 1, .probed = i == 2, .skipped = i == 3 ? "naked" : NULL });
	VEC_ADD(&p->calls, (struct project_call){ 1, 2, "b.c:12", false, false, false });
	VEC_ADD(&p->calls, (struct project_call){ 1, 2, "b.c:13", true, false, false });
	VEC_ADD(&p->calls, (struct project_call){ 1, 3, "b.c:14", true, false, false });
	VEC_ADD(&p->calls, (struct project_call){ 2, 2, "b.c:22", false, false, false });
	VEC_ADD(&p->calls, (struct project_call){ 2, 3, "b.c:23", false, false, false });
	VEC_ADD(&p->calls, (struct project_call){ 3, 0, NULL, false, true, false });
	VEC_ADD(&p->units, (struct project_unit){ "/o/a.o", "/src/a.c", "parse error", NULL });
	VEC_ADD(&p->units, (struct project_unit){ "/o/b.o", "/src/b.c", NULL, "/src/b.h:7: expected ')'" });
	for (uint32_t i = 1; i < 4; i++)
		heights[i] = 4 - i;
	heights[0] = 0;
	return p;
}

static void test_call_graph(void **state)
{
	uint32_t heights[4];
	_cleanup_(project_freep) struct project *p = sample_project(heights);
	struct view_input in = { .options = VIEW_OPTIONS_INIT, .run = &sample_run, .project = p,
				 .heights = heights };
	_cleanup_(freep) char *dot = NULL;
	json_t *o;
	size_t len;
	FILE *out;

	(void)state;
	want_text("call-graph", text_of("call-graph", &in, true, 80));
	in.options.below = "main";
	want_text("call-graph.below", text_of("call-graph", &in, true, 80));
	o = json_of("call-graph", &in);
	want_string(o, "schema", "vprof.call-graph/1");
	assert_int_equal(json_array_size(at(o, "functions")), 4);
	want_string(o, "functions/1/name", "main");
	want_number(o, "functions/1/height", 3);
	assert_int_equal(json_array_size(at(o, "calls")), 6);
	assert_true(json_is_false(at(o, "calls/0/may")));
	assert_true(json_is_true(at(o, "calls/2/may")));
	assert_true(json_is_false(at(o, "calls/4/observed")));
	assert_true(json_is_true(at(o, "calls/5/observed")));
	want_null(o, "calls/5/call_site");
	json_decref(o);
	in.options.below = NULL;
	in.options.above = "leaf\"s";
	want_text("call-graph.above", text_of("call-graph", &in, true, 80));
	out = open_memstream(&dot, &len);
	view_find("call-graph")->dot(out, &in);
	fclose(out);
	assert_non_null(strstr(dot, "f3 [label=\"leaf\\\"s\\nheight 1\"];"));
	assert_non_null(strstr(dot, "f1 -> f3 [style=dashed];"));
	assert_null(strstr(dot, "alone"));
	free(TAKE_PTR(dot));
	in.options.above = NULL;
	out = open_memstream(&dot, &len);
	view_find("call-graph")->dot(out, &in);
	fclose(out);
	assert_non_null(strstr(dot, "f3 -> f0 [style=dotted];"));
}

static void test_coverage(void **state)
{
	uint32_t heights[4];
	_cleanup_(project_freep) struct project *p = sample_project(heights);
	struct view_input in = { .options = VIEW_OPTIONS_INIT, .run = &sample_run, .project = p,
				 .heights = heights };
	json_t *o;

	(void)state;
	want_text("coverage", text_of("coverage", &in, true, 80));
	o = json_of("coverage", &in);
	want_string(o, "schema", "vprof.coverage/1");
	want_number(o, "functions", 4);
	want_number(o, "probed", 1);
	want_string(o, "files/1/file", "/src/b.c");
	want_number(o, "files/1/skipped", 1);
	want_string(o, "skipped/0/reason", "naked");
	want_string(o, "untouched/0/reason", "parse error");
	assert_int_equal(json_array_size(at(o, "untouched")), 1);
	assert_int_equal(json_array_size(at(o, "misread")), 1);
	want_string(o, "misread/0/object", "/o/b.o");
	want_string(o, "misread/0/source", "/src/b.c");
	want_string(o, "misread/0/reason", "/src/b.h:7: expected ')'");
	json_decref(o);
}

static void test_runs(void **state)
{
	struct run items[] = {
		{ .number = 1, .command = (char *)"./bench.sh 'a b'", .source = (char *)"record",
		  .duration_ns = 5900000000, .status = RUN_ANALYSED, .interval_cnt = 4000,
		  .function_cnt = 14 },
		{ .number = 2, .name = (char *)"head", .status = RUN_FAILED, .exit_status = 139,
		  .lost_records = 12345 },
	};
	runs list = { items, 2, 2 }, none = { NULL, 0, 0 };
	struct view_input in = { .options = VIEW_OPTIONS_INIT, .runs = &list };
	json_t *o;

	(void)state;
	setenv("TZ", "UTC", 1);
	want_text("runs", text_of("runs", &in, true, 80));
	o = json_of("runs", &in);
	want_string(o, "schema", "vprof.runs/1");
	want_number(o, "runs/0/run", 1);
	want_null(o, "runs/0/name");
	want_string(o, "runs/0/status", "analysed");
	want_number(o, "runs/1/exit_status", 139);
	want_number(o, "runs/1/lost_records", 12345);
	json_decref(o);
	in.runs = &none;
	free(text_of("runs", &in, true, 80));
}

/* Every row of the table of views is found by its name, and has text and JSON. */
static void test_view_table(void **state)
{
	_cleanup_(names_freep) struct names *seen = names_new();

	(void)state;
	for (size_t i = 0; i < report_view_cnt; i++) {
		assert_ptr_equal(view_find(report_views[i]->name), report_views[i]);
		assert_int_equal(names_add(seen, report_views[i]->name), i);
		assert_non_null(report_views[i]->text);
		assert_non_null(report_views[i]->json);
	}
	assert_null(view_find("nothing"));
	assert_null(view_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_graph),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_view_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

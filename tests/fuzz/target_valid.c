/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target_valid.c - texts that are made to be accepted (generate.h), and all that is done with them afterwards.
 *
 * The reader, the analysis, and every view in every format; one in eight also goes through import, export, merge and
 * show as commands, with a store.  How many were accepted is counted: where it is less than half, the reader is tested and
 * not what is behind it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/analyze.h"
#include "analysis/blocked_samples.h"
#include "analysis/causes.h"
#include "analysis/criticality.h"
#include "analysis/execution_table.h"
#include "analysis/explain.h"
#include "analysis/wait_graph.h"
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "cmd/common.h"
#include "cmd/project.h"
#include "cmd/run_graph.h"
#include "report/report.h"
#include "tests/fuzz/commands.h"
#include "tests/fuzz/generate.h"
#include "tests/fuzz/targets.h"
#include "trace/kernel.h"
#include "trace/perf_script.h"
#include "trace/reader.h"
#include "trace/tuples.h"

struct fuzz_made fuzz_made;

struct looked_at {
	struct arena *arena;
	struct findings *findings;
	VEC(struct explained) paths;
	execution_rows rows;
	caused_list causes;
	struct project *project;
	uint32_t *heights;
	struct wait_graph *graph, *slow;	/* slow: NULL where no interval is */
	struct criticality *criticality;
	struct blocked_samples *samples;
};

static void print_view(const struct view *v, const struct view_input *in)
{
	FILE *out = fuzz_nowhere();
	struct style style;

	style_init(&style, out, false);
	if (v->text && (!in->findings || in->findings->interval.cnt || v->needs != NEEDS_FINDINGS))
		v->text(&style, in);
	if (v->json) {
		json_t *document = v->json(in);

		report_write_json(out, document);
		json_decref(document);
	}
	if (v->csv)
		v->csv(out, in);
	if (v->dot)
		v->dot(out, in);
	if (v->folded)
		v->folded(out, in);
}

static void print_views(struct trace *t, const struct looked_at *l, bool all)
{
	struct run run = { .number = 1, .command = (char *)(uintptr_t)"server", .status = RUN_ANALYSED };
	runs runs = { &run, 1, 1 };
	planned_functions none = { NULL, 0, 0 };
	struct view_input in = {
		.options = VIEW_OPTIONS_INIT, .run = &run, .findings = l->findings, .trace = t, .paths = l->paths.items,
		.path_cnt = l->paths.cnt, .rows = &l->rows, .charge = all ? CHARGE_WAKER : CHARGE_WAITER, .causes = &l->causes,
		.runs = &runs, .project = l->project, .planned = &none, .heights = l->heights, .wait_graph = l->graph,
		.criticality = l->criticality, .samples = l->samples,
	};

	in.options.ranking.all = in.options.no_collapse = in.options.ranking.paper = all;
	for (size_t i = 0; i < report_view_cnt; i++)
		print_view(&report_views[i], &in);
	print_view(&view_by_cause, &in);
	in.wait_graph = l->slow;
	if (l->slow)
		print_view(view_find("wait-graph"), &in);
}

static void explain_slowest(struct trace *t, struct looked_at *l)
{
	_cleanup_(freep) size_t *order = findings_by_latency(l->findings);

	for (size_t i = 0; i < l->findings->intervals.cnt && l->paths.cnt < 3; i++) {
		const struct interval_row *row = &l->findings->intervals.items[order[i]];
		struct explained e = { .row = row, .rank = i + 1 };

		if (explain_interval(t, row->sid, l->arena, &e.pieces) == 0)
			VEC_ADD(&l->paths, e);
	}
}

static void look_at(struct trace *t, uint64_t choice)
{
	static const double quantiles[] = { 0, 0.5, 0.999, 0.9 };
	static const int64_t periods_ns[] = { 1000000, INT64_MAX, INT64_MAX / 1000, 1000000000000 };
	struct wait_graph_options w = { .threshold = WAIT_THRESHOLD_DEFAULT, .prefilter = WAIT_PREFILTER_DEFAULT, .group = choice & 1,
		.quantile = 0.9 };
	struct looked_at l = { .arena = arena_new() };

	if (analyze(t, &(struct analyze_options){ .quantile = quantiles[choice >> 1 & 3] }, &l.findings)) {
		fprintf(stderr, "broken: the analysis failed\n");
		abort();
	}
	if (l.findings->interval.cnt) {
		explain_slowest(t, &l);
		execution_table(t, l.findings->interval.name, choice & 8 ? CHARGE_WAKER : CHARGE_WAITER, &l.rows);
		variance_by_cause(t, l.findings->interval.name, &l.causes);
	}
	wait_graph_new(t, &w, &l.graph);
	w.slow = true;
	wait_graph_new(t, &w, &l.slow);
	l.criticality = criticality_new(t, choice & 16 ? 1 : -1);
	l.samples = blocked_samples_new(t, periods_ns[choice >> 5 & 3]);
	l.project = run_graph(t);
	l.heights = graph_heights(l.project);
	print_views(t, &l, choice & 8);
	for (size_t i = 0; i < l.paths.cnt; i++)
		VEC_RELEASE(&l.paths.items[i].pieces);
	VEC_RELEASE(&l.paths);
	VEC_RELEASE(&l.rows);
	caused_release(&l.causes);
	free(l.heights);
	project_free(l.project);
	wait_graph_free(l.graph);
	wait_graph_free(l.slow);
	criticality_free(l.criticality);
	blocked_samples_free(l.samples);
	findings_free(l.findings);
	arena_free(l.arena);
}

/* The same by way of a store and its files. */
static void run_commands(const struct str *text, const char *from)
{
	static const char *const views[] = { "variance-tree", "wait-graph", "execution-table", "critical-path", "runs", "call-graph" };
	_cleanup_(freep) char *dir = xstrdup(fuzz_directory("valid")), *path = path_join(dir, "in"), *conf = path_join(dir, "vprof.conf");
	_cleanup_(freep) char *data = path_join(dir, "data");

	if (file_write(path, str_cstr(text), text->len, 0600) || file_write(conf, "", 0, 0600) || make_dirs(data, 0700))
		exit(99);
	setenv("VPROF_CONF", conf, 1);
	set_data_dir(data);
	if (FUZZ_RUN(&cmd_import, "--from", from, path) == EXIT_DATA) {
		fprintf(stderr, "broken: import refuses what the reader takes\n");
		abort();
	}
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		FUZZ_RUN(&cmd_show, views[i], "--format", i % 2 ? "json" : "csv");
	FUZZ_RUN(&cmd_show, "tail", "--quantile", "0.9");
	FUZZ_RUN(&cmd_export, "1");
	FUZZ_RUN(&cmd_merge, "1", "1");
	FUZZ_RUN(&cmd_show, "summary", "2");
	remove_tree(data);
}

static void take(struct trace *t, const struct str *text, const char *from, uint64_t choice)
{
	fuzz_made.accepted++;
	look_at(t, choice >> 4);
	if (choice % 8 == 0)
		run_commands(text, from);
	if (choice % 8 == 1)
		fuzz_model(t);
}

static void must_say_why(const struct diag *diag, const struct str *text)
{
	if (diag->status == EXIT_DATA && *diag->text)
		return;
	fprintf(stderr, "broken: an error without a message\n%s\n", str_cstr(text));
	abort();
}

void fuzz_valid_tuples(const uint8_t *data, size_t len)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	_cleanup_(trace_freep) struct trace *t = NULL;
	struct diag diag = DIAG_INIT;

	generate_tuples(data, len, &text);
	fuzz_made.all++;
	if (tuples_parse(str_cstr(&text), text.len, "made", &t, &diag) == 0)
		take(t, &text, "tuples", hash_bytes(0, data, len));
	else
		must_say_why(&diag, &text);
}

void fuzz_valid_perf(const uint8_t *data, size_t len)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	struct kernel_trace k = { 0 };
	struct perf_script_stats stats;
	struct diag diag = DIAG_INIT;

	generate_perf(data, len, &text);
	fuzz_made.all++;
	if (perf_script_parse(str_cstr(&text), text.len, "made", NULL, &k, &stats, &diag) == 0) {
		_cleanup_(trace_freep) struct trace *t = trace_new();

		kernel_merge(t, &k);
		trace_sort(t);
		take(t, &text, "perf", hash_bytes(0, data, len));
	} else {
		must_say_why(&diag, &text);
	}
	kernel_release(&k);
}

void fuzz_valid_trace(const uint8_t *data, size_t len)
{
	_cleanup_(freep) char *dir = xstrdup(fuzz_directory("valid")), *path = path_join(dir, "trace.vpt");
	_cleanup_(str_release) struct str none = STR_INIT;
	_cleanup_(trace_freep) struct trace *t = NULL;
	struct diag diag = DIAG_INIT;
	uint64_t choice = hash_bytes(0, data, len);

	if (!generate_trace(data, len, path))
		exit(99);
	fuzz_made.all++;
	if (trace_read(path, NULL, &t, &diag)) {
		must_say_why(&diag, &none);
		return;
	}
	fuzz_made.accepted++;
	look_at(t, choice >> 4);
	if (choice % 8 == 1)
		fuzz_model(t);
}

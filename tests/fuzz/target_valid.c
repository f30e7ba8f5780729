/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target_valid.c - texts that are made to be accepted (generate.h), and all that is done with them afterwards.
 *
 * The reader, the analysis, and every view in every format; one in eight also goes through import, export, merge and
 * show as commands, with a store.  The number of accepted texts is counted: if less than half are, only the reader is
 * tested.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/analyze.h"
#include "analysis/causal/choose.h"
#include "analysis/causal/predict.h"
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "project/config/locate.h"
#include "project/runs/project.h"
#include "project/runs/run_graph.h"
#include "report/report.h"
#include "tests/fuzz/commands.h"
#include "tests/fuzz/generate.h"
#include "tests/fuzz/targets.h"
#include "trace/kernel/kernel.h"
#include "trace/perf/perf_script.h"
#include "trace/read/reader.h"
#include "trace/tuples/tuples.h"

struct fuzz_made fuzz_made;

static void print_view(const struct view *v, const struct view_input *in)
{
	FILE *out = fuzz_nowhere();
	struct style style;

	style_init(&style, out, false);
	if (in->findings->interval.cnt || !(v->needs & NEEDS_FINDINGS))
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
	if (v->svg)
		v->svg(out, in);
}

/* Makes a view; one that this trace cannot give is not printed. */
static void make_view(const struct view *v, const struct view_input *given)
{
	struct view_input in = *given;
	struct diag diag = DIAG_INIT;
	void *made = NULL;
	int r = v->make ? v->make(&in, &made, &diag) : 0;

	in.made = made;
	if (r == 0)
		print_view(v, &in);
	if (made)
		v->release(made);
}

/* The variable of a view's own option. */
static void *variable_of(const char *view, const char *option)
{
	for (const struct option_desc *o = view_find(view)->options; o->help; o++)
		if (strcmp(o->long_name, option) == 0)
			return o->target;
	fprintf(stderr, "broken: %s has no --%s\n", view, option);
	abort();
}

/* As cmd/show.c does it, of a trace that is in memory. */
static int explain(void *arg, const struct interval_row *const *rows, size_t cnt, struct arena *a, path_pieces *ret,
		   const struct trace **ret_names, struct diag *reterr)
{
	struct trace *t = arg;
	_cleanup_(explainer_freep) struct explainer *x = explainer_new(t, a);

	(void)reterr;
	for (size_t i = 0; i < cnt; i++) {
		int r = explainer_interval(x, rows[i]->sid, &ret[i]);

		if (r < 0)
			return r;
	}
	*ret_names = t;
	return 0;
}

static void print_views(struct view_input *in, uint64_t choice)
{
	static const char *const periods_ns[] = { "1000000", "9223372036854775807", "9223372036854775", "1000000000000" };
	const char **charge = variable_of("execution-table", "charge"), **group = variable_of("wait-graph", "group");
	const char **period = variable_of("samples", "period");
	double *nmin = variable_of("criticality", "nmin");
	bool *slow = variable_of("wait-graph", "slow");

	*charge = choice & 8 ? "waker" : "waiter";
	*group = choice & 1 ? "auto" : "none";
	*nmin = choice & 16 ? 1 : NAN;
	*period = periods_ns[choice >> 5 & 3];
	for (size_t i = 0; i < report_view_cnt; i++)
		make_view(report_views[i], in);
	make_view(view_find("variance-tree")->by_cause, in);
	*slow = true;
	make_view(view_find("wait-graph"), in);
	*charge = "waiter";
	*group = "auto";
	*nmin = NAN;
	*period = NULL;
	*slow = false;
}

/* A replay's predictions for the trace's own factors. */
static struct experiments *predict(const struct trace *t, const struct findings *f)
{
	static const double speedups[] = { 0.5, 1 };
	struct experiments *e = experiments_new();
	_cleanup_(predictor_freep) struct predictor *p = predictor_new(t, NULL);
	strings targets = { NULL, 0, 0 };

	choose_targets(f, t->sync_ops.cnt ? CHOICE_REPLAY_OF_LOCKS : CHOICE_REPLAY, e, &targets);
	if (t->sync_ops.cnt) {
		VEC_ADD(&targets, "lock:m0");
		VEC_ADD(&targets, "wait:m1");
	}
	if (p)
		predictor_baseline(p, e);
	if (p)
		predictor_keep_distinct(p, &targets);
	for (size_t i = 0; p && i < targets.cnt; i++)
		predictor_ask(p, targets.items[i], speedups, 2, e);
	predictions_rank(e, 0);
	VEC_RELEASE(&targets);
	return e;
}

static void look_at(struct trace *t, uint64_t choice)
{
	static const double quantiles[] = { 0, 0.5, 0.999, 0.9 };
	struct run run = { .number = 1, .command = (char *)(uintptr_t)"server", .status = RUN_ANALYSED };
	runs runs = { &run, 1, 1 };
	iterations no_iterations = { NULL, 0, 0 };
	planned_functions none = { NULL, 0, 0 };
	_cleanup_(findings_freep) struct findings *f = NULL;
	_cleanup_(project_freep) struct project *project = NULL;
	_cleanup_(freep) uint32_t *heights = NULL;
	_cleanup_(experiments_freep) struct experiments *experiments = NULL;
	bool all = choice & 8;

	if (analyze(t, &(struct analyze_options){ .quantile = quantiles[choice >> 1 & 3] }, &f)) {
		fprintf(stderr, "broken: the analysis failed\n");
		abort();
	}
	project = run_graph(t);
	heights = graph_heights(project);
	experiments = predict(t, f);

	struct view_input in = {
		.options = VIEW_OPTIONS_INIT, .run = &run, .findings = f, .trace = t, .runs = &runs,
		.iterations = &no_iterations, .project = project, .planned = &none, .heights = heights, .experiments = experiments,
		.explain = explain, .explainer = t,
		.sid = choice & 128 && f->intervals.cnt ? &f->intervals.items[0].sid : NULL,
	};

	in.options.ranking.all = in.options.no_collapse = in.options.ranking.paper = all;
	in.options.slowest = 3;
	in.options.quantile = 0.9;
	print_views(&in, choice);
}

/* Viewers' files have times from 0 to 4e18 ns, and threads that JSON can number. */
static bool fits_viewers(const struct trace *t)
{
	int64_t low_ns = 0, high_ns = 0;
	uint64_t tid = 0;

#define SEE(ns) (low_ns = (ns) < low_ns ? (ns) : low_ns, high_ns = (ns) > high_ns ? (ns) : high_ns)
	for (size_t i = 0; i < t->intervals.cnt; i++) {
		SEE(t->intervals.items[i].start_ns);
		tid |= t->intervals.items[i].start_tid | t->intervals.items[i].end_tid;
		if (t->intervals.items[i].status == INTERVAL_COMPLETED)
			SEE(t->intervals.items[i].end_ns);
	}
	for (size_t i = 0; i < t->segments.cnt; i++) {
		SEE(t->segments.items[i].start_ns), SEE(t->segments.items[i].end_ns);
		tid |= t->segments.items[i].tid;
	}
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		SEE(t->invocations.items[i].start_ns), SEE(t->invocations.items[i].end_ns);
		tid |= t->invocations.items[i].tid;
	}
	for (size_t i = 0; i < t->threads.cnt; i++)
		tid |= t->threads.items[i].tid;
#undef SEE
	return low_ns >= 0 && high_ns < INT64_C(4000000000000000000) && tid <= INT64_MAX;
}

/* What is exported for a viewer can be imported. */
static void come_back(const char *format, const char *dir)
{
	_cleanup_(freep) char *path = path_join(dir, "viewed");

	unlink(path);
	if (FUZZ_RUN(&cmd_export, "1", "--format", format, "--intervals", "all", "-o", path) != EXIT_DONE)
		return;
	if (FUZZ_RUN(&cmd_import, "--from", format, path) != EXIT_DATA)
		return;
	fprintf(stderr, "broken: import refuses an export as %s\n", format);
	abort();
}

/* The same by way of a store and its files. */
static void run_commands(const struct str *text, const char *from, bool comes_back)
{
	static const char *const views[] = { "variance-tree", "wait-graph", "execution-table", "critical-path", "runs", "call-graph" };
	static const char *const formats[] = { "chrome-trace", "perfetto", "folded", "pprof", "otlp", "hgrm", "csv", "svg" };
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
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		FUZZ_RUN(&cmd_export, "1", "--format", formats[i]);
	FUZZ_RUN(&cmd_merge, "1", "1");
	FUZZ_RUN(&cmd_show, "summary", "2");
	if (comes_back) {
		come_back("chrome-trace", dir);
		come_back("perfetto", dir);
	}
	remove_tree(data);
}

static void take(struct trace *t, const struct str *text, const char *from, uint64_t choice)
{
	bool comes_back = fits_viewers(t);

	fuzz_made.accepted++;
	look_at(t, choice >> 4);
	if (choice % 8 == 0)
		run_commands(text, from, comes_back);
	if (choice % 8 == 1)
		fuzz_model(t);
}

static void must_say_why(const struct diag *diag, const struct str *text)
{
	if ((diag->status == EXIT_DATA || diag->status == EXIT_NO_EVIDENCE) && *diag->text)
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

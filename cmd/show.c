/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show.c - `vprof show VIEW [RUN]`: reads what a view needs, prints it in the wanted format.
 *
 * The views stand in report/views.h.  Most read only the store; those with NEEDS_TRACE read the run's trace again.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analyze.h"
#include "base/banned.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "cmd/pager.h"
#include "cmd/ranking.h"
#include "cmd/ask/show_source.h"
#include "project/config/locate.h"
#include "project/runs/leave_out.h"
#include "project/runs/digest_runs.h"
#include "project/runs/project.h"
#include "project/runs/recording.h"
#include "project/runs/run_paths.h"
#include "project/runs/run_graph.h"
#include "project/runs/shown_run.h"
#include "report/report.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_DOT, FORMAT_FOLDED, FORMAT_SVG, FORMAT_CNT };

static const char *const format_names[] = {
	[FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", [FORMAT_CSV] = "csv", [FORMAT_DOT] = "dot",
	[FORMAT_FOLDED] = "folded", [FORMAT_SVG] = "svg",
};

static const char *arg_format = "text";
static bool arg_ascii;
static unsigned arg_k = UINT_MAX;		/* not given */
static double arg_threshold = NAN;

/* The input of a view, and what the view made of it; release frees all of it. */
struct material {
	const struct view *view;
	struct store *store;
	struct run run;
	struct findings *findings;
	bool by_sid;
	uint64_t sid;
	struct trace *trace;
	struct run_paths *paths;
	runs runs;
	iterations iterations;
	struct project *project;
	planned_functions planned;
	uint32_t *heights;
	struct experiments *experiments;
	bool nothing_asked;		/* the run has no experiments: the document has none, and so says the status */
	void *made;
};

static void material_release(struct material *m)
{
	if (m->made)
		m->view->release(m->made);
	runs_release(&m->runs);
	iterations_release(&m->iterations);
	project_free(m->project);
	VEC_RELEASE(&m->planned);
	free(m->heights);
	trace_free(m->trace);
	run_paths_free(m->paths);
	findings_free(m->findings);
	experiments_free(m->experiments);
	run_release(&m->run);
	store_close(m->store);
}

/* ---- what a view needs ---- */

/* The run from whose intervals --origin chooses. */
static int find_run(struct material *m, const char *text, bool of_intervals, struct diag *reterr)
{
	int r = shown_run_find(m->store, text, of_intervals, &m->run, reterr);

	m->run.origin = view_given.origin;
	return r;
}

/* Views that show no single interval do without them. */
static bool shows_intervals(const struct view *v)
{
	return v->needs & (NEEDS_TRACE | NEEDS_PATHS | NEEDS_INTERVALS);
}

static int read_stored(const struct material *m, const char *interval, struct findings **ret, struct diag *reterr)
{
	return shows_intervals(m->view) ? findings_read(m->store, m->run.number, interval, ret, reterr) :
					  findings_read_sums(m->store, m->run.number, interval, ret, reterr);
}

static int read_findings(struct material *m, const char *run, const char *interval,
			 struct diag *reterr)
{
	_cleanup_(findings_freep) struct findings *kept = NULL;
	int r = find_run(m, run, true, reterr);

	if (r == 0 && view_given.origin)	/* the store has all of a run, the trace any part */
		return run_analyze_at(m->store, &m->run, interval, view_given.quantile, &m->findings, reterr);
	if (r == 0)
		r = read_stored(m, interval, &m->findings, reterr);
	if (r < 0 || view_given.quantile == m->findings->tail.quantile || !m->findings->interval.cnt)
		return r;
	kept = TAKE_PTR(m->findings);	/* the store has one quantile, the trace any */
	return run_analyze_at(m->store, &m->run, kept->interval.name, view_given.quantile, &m->findings, reterr);
}

/* "2486" -> the SID; false if text is no number. */
static bool parse_sid(const char *text, uint64_t *ret)
{
	char *end;

	if (!*text || text[strspn(text, "0123456789")])
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return errno == 0;
}

static bool has_sid(const struct findings *f, uint64_t sid)
{
	for (size_t i = 0; i < f->intervals.cnt; i++)
		if (f->intervals.items[i].sid == sid)
			return true;
	return false;
}

static int read_kind(struct material *m, const char *name, struct findings **ret)
{
	return view_given.origin ? run_analyze_at(m->store, &m->run, name, view_given.quantile, ret, NULL) :
				   read_stored(m, name, ret, NULL);
}

/* The interval may have another name than the one that findings_read chooses. */
static int find_sid(struct material *m, struct diag *reterr)
{
	_cleanup_(findings_freep) struct findings *first = TAKE_PTR(m->findings);

	if (has_sid(first, m->sid)) {
		m->findings = TAKE_PTR(first);
		return 0;
	}
	for (size_t i = 0; i < first->interval_names.cnt; i++) {
		_cleanup_(findings_freep) struct findings *f = NULL;

		if (read_kind(m, first->interval_names.items[i], &f) < 0 || !has_sid(f, m->sid))
			continue;
		m->findings = TAKE_PTR(f);
		return 0;
	}
	m->findings = TAKE_PTR(first);
	diag_set(reterr, EXIT_USAGE, -ENOENT, "run %u has no completed interval %" PRIu64,
		 m->run.number, m->sid);
	return diag_remedy(reterr, -ENOENT, "vprof show intervals %u lists them", m->run.number);
}

static int read_findings_for(struct material *m, const char *run, struct diag *reterr)
{
	const char *interval = view_given.interval;
	int r;

	m->by_sid = (m->view->needs & NEEDS_SID) && interval && parse_sid(interval, &m->sid);
	r = read_findings(m, run, m->by_sid ? NULL : interval, reterr);
	return r == 0 && m->by_sid ? find_sid(m, reterr) : r;
}

/* The functions of the build; or, with a graph, those of a run, if one was given or the latest was imported. */
static int read_project(struct material *m, const char *run, struct diag *reterr)
{
	bool of_build = (m->view->needs & NEEDS_CALL_GRAPH) && !run;	/* unless the latest run was imported */
	int r = of_build ? shown_run_latest(m->store, &m->run, reterr) : find_run(m, run, false, reterr);
	_cleanup_(config_release) struct config config = { 0 };
	bool imported = m->run.source && strcmp(m->run.source, "import") == 0;

	if (r == 0 && of_build && imported) {
		run_release(&m->run);
		r = find_run(m, run, false, reterr);
	}
	if (r < 0 && (run || r != -ENOENT))
		return r;
	if ((m->view->needs & NEEDS_CALL_GRAPH) && (run || imported)) {
		r = run_trace_read(m->store, &m->run, &m->trace, reterr);
		if (r == 0)
			m->project = run_graph(m->trace);
	} else {
		r = project_config(&config, reterr);
		if (r == 0)
			r = project_read(m->store, &m->project, reterr);
		if (r == 0) {
			leave_out(m->project, &config);
			project_shorten_paths(m->project);
		}
	}
	if (r == 0 && (m->view->needs & NEEDS_PROJECT) && m->run.number)
		r = planned_read(m->store, m->run.number, &m->planned, reterr);
	if (r == 0)
		m->heights = graph_heights(m->project);
	return r;
}

/* Views of results print warnings themselves. */
static void warn_of_losses(const struct material *m)
{
	if (m->trace->losses.records)
		warn_line("%" PRIu64 " records were lost in run %u: times are too short, and wake-ups "
			  "are missing", m->trace->losses.records, m->run.number);
	if (m->trace->losses.holes.cnt)
		warn_line("the trace of run %u is damaged: what its threads did for %.3g s of it is missing", m->run.number,
			  (double)m->trace->losses.holes.ns / 1e9);
	if (m->trace->losses.cut_off)
		warn_line("the recording of run %u was cut off: its last records are missing", m->run.number);
}

static int explain(void *arg, const struct interval_row *const *rows, size_t cnt, struct arena *a, path_pieces *ret,
		   const struct trace **ret_names, struct diag *reterr)
{
	struct material *m = arg;
	int r;

	progress_line("run %" PRIu32 ": reading where its trace has %zu interval%s", m->run.number, cnt, cnt == 1 ? "" : "s");
	r = run_paths_read(m->store, &m->run, rows, cnt, a, ret, &m->paths, reterr);
	progress_done();
	if (r == 0)
		*ret_names = run_paths_names(m->paths);
	return r;
}

static struct view_input input_of(const struct material *m)
{
	struct view_input in = {
		.options = view_given, .run = &m->run, .findings = m->findings, .sid = m->by_sid ? &m->sid : NULL,
		.trace = m->trace, .runs = &m->runs, .iterations = &m->iterations, .project = m->project,
		.planned = &m->planned, .heights = m->heights, .experiments = m->experiments,
		.made = m->made, .explain = explain, .explainer = (void *)m,
	};

	return in;
}

static int refuse_digest(const struct material *m, struct diag *reterr)
{
	_cleanup_(freep) char *what = xasprintf("show %s", m->view->name);

	return run_digest_refuse(&m->run, what, reterr);
}

/* Without a RUN: the latest that has experiments. */
static int read_experiments(struct material *m, const char *text, struct diag *reterr)
{
	_cleanup_(freep) char *number = NULL;
	uint32_t latest_run = 0;
	int r = text ? 0 : experiments_latest(m->store, &latest_run, reterr);

	number = latest_run ? xasprintf("%" PRIu32, latest_run) : NULL;
	if (r == 0)
		r = shown_run_find(m->store, number ? number : text, false, &m->run, reterr);
	if (r == 0)
		r = experiments_read(m->store, m->run.number, &m->experiments, reterr);
	if (r == -ENOENT && m->run.number && strcmp(arg_format, format_names[FORMAT_TEXT]) != 0) {
		m->nothing_asked = true;
		m->experiments = experiments_new();
		return 0;
	}
	return r;
}

/* All runs, or those that are named: a run, a group, or 4,5,6. */
static int read_runs(struct material *m, const char *named, struct diag *reterr)
{
	int r = recordings_settle(m->store, &m->runs, reterr);

	if (r < 0 || !named)
		return r;
	runs_release(&m->runs);
	return runs_find(m->store, named, &m->runs, reterr);
}

static int read_needed(struct material *m, const char *run, struct diag *reterr)
{
	unsigned needs = m->view->needs;
	int r = 0;

	if (needs & NEEDS_RUNS)
		r = read_runs(m, run, reterr);
	if (r == 0 && (needs & NEEDS_RUNS))
		r = iterations_read(m->store, &m->iterations, reterr);
	if (r == 0 && (needs & (NEEDS_PROJECT | NEEDS_CALL_GRAPH)))
		r = read_project(m, run, reterr);
	if (r == 0 && (needs & NEEDS_FINDINGS))
		r = read_findings_for(m, run, reterr);
	else if (r == 0 && (needs & NEEDS_TRACE))
		r = find_run(m, run, false, reterr);
	if (r == 0 && shows_intervals(m->view) && run_is_digest(m->store, &m->run))
		return refuse_digest(m, reterr);
	if (r == 0 && (needs & NEEDS_TRACE))
		r = run_trace_read(m->store, &m->run, &m->trace, reterr);
	if (r == 0 && (needs & NEEDS_TRACE) && !(needs & NEEDS_FINDINGS))
		warn_of_losses(m);
	if (r == 0 && (needs & NEEDS_EXPERIMENTS))
		r = read_experiments(m, run, reterr);
	return r;
}

static int read_material(struct material *m, const char *run, struct diag *reterr)
{
	int r = store_open(data_dir(), false, &m->store, reterr);

	if (r == 0 && (m->view->needs & (NEEDS_FINDINGS | NEEDS_TRACE)))
		r = ranking_take(arg_k, arg_threshold, reterr);
	if (r == 0 && m->view->check)
		r = m->view->check(reterr);
	if (r == 0)
		r = read_needed(m, run, reterr);
	if (r == 0 && m->view->make) {
		struct view_input in = input_of(m);

		r = m->view->make(&in, &m->made, reterr);
	}
	return r;
}

/* ---- output ---- */

static void print_view(const struct view *v, enum format format, const struct style *style, const struct view_input *in)
{
	json_t *document;

	switch (format) {
	case FORMAT_TEXT:
		v->text(style, in);
		break;
	case FORMAT_JSON:
		document = v->json(in);
		report_write_json(stdout, document);
		json_decref(document);
		break;
	case FORMAT_CSV:
		v->csv(stdout, in);
		break;
	case FORMAT_DOT:
		v->dot(stdout, in);
		break;
	case FORMAT_FOLDED:
		v->folded(stdout, in);
		break;
	case FORMAT_SVG:
		v->svg(stdout, in);
		break;
	case FORMAT_CNT:
		break;
	}
}

static int print_material(const struct material *m, enum format format)
{
	const struct view *v = m->view;
	struct view_input in = input_of(m);
	bool empty = m->findings && m->findings->interval.cnt == 0;
	struct style style;

	style_init(&style, stdout, arg_ascii);
	pager_start();
	if (m->findings && !empty && format == FORMAT_TEXT && strcmp(v->name, "warnings") != 0)
		announce_warnings(&m->run, m->findings);
	/* There is no data, but a program still gets its document. */
	if (!empty || format != FORMAT_TEXT)
		print_view(v, format, &style, &in);
	return empty ? announce_findings(m->store, &m->run, m->findings) : m->nothing_asked ? EXIT_NO_EVIDENCE : EXIT_DONE;
}

/* ---- usage ---- */

static int unknown_view(const char *name)
{
	_cleanup_(str_release) struct str list = STR_INIT;
	_cleanup_(freep) const char **names = xcalloc(report_view_cnt + 1, sizeof(*names));
	const char *nearest;

	for (size_t i = 0; i < report_view_cnt; i++) {
		names[i] = report_views[i]->name;
		str_addf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	names[report_view_cnt] = "source";	/* not listed: it has no run */
	nearest = name ? nearest_word(name, names, report_view_cnt + 1) : NULL;
	if (!name)
		return fail_now(EXIT_USAGE, str_cstr(&list), "show what?");
	if (nearest) {
		_cleanup_(freep) char *remedy = xasprintf("vprof show %s", nearest);

		return fail_now(EXIT_USAGE, remedy, "there is no view '%s'; did you mean '%s'?",
				name, nearest);
	}
	return fail_now(EXIT_USAGE, str_cstr(&list), "there is no view '%s'", name);
}

static bool has_format(const struct view *v, enum format format)
{
	return format == FORMAT_TEXT ? v->text != NULL : format == FORMAT_JSON ? v->json != NULL :
	       format == FORMAT_CSV ? v->csv != NULL : format == FORMAT_DOT ? v->dot != NULL :
	       format == FORMAT_FOLDED ? v->folded != NULL : v->svg != NULL;
}

static int choose_format(const struct view *v, enum format *ret)
{
	_cleanup_(str_release) struct str list = STR_INIT;

	for (unsigned f = 0; f < FORMAT_CNT; f++) {
		if (!has_format(v, f))
			continue;
		if (strcmp(arg_format, format_names[f]) == 0) {
			*ret = f;
			return 0;
		}
		str_addf(&list, "%s--format %s", list.len ? ", " : "", format_names[f]);
	}
	return fail_now(EXIT_USAGE, str_cstr(&list), "show %s cannot be printed as '%s'", v->name,
			arg_format);
}

/* Views of the project, of all runs, or of experiments have no part from a host. */
static int refuse_origin(const struct view *v)
{
	if (!view_given.origin || v->needs & (NEEDS_FINDINGS | NEEDS_TRACE | NEEDS_CALL_GRAPH))
		return EXIT_DONE;
	return fail_now(EXIT_USAGE, "vprof show factors --origin HOST", "--origin is for views of a run's intervals or threads, not for %s", v->name);
}

/* --by cause: the same view by another division. */
static int choose_causes(const struct view **v)
{
	const char *by = view_given.by;

	if (!by)
		return EXIT_DONE;
	if (strcmp(by, "cause") != 0)
		return fail_now(EXIT_USAGE, "vprof show variance-tree --by cause", "--by is cause, not '%s'", by);
	if (!(*v)->by_cause)
		return fail_now(EXIT_USAGE, "vprof show variance-tree --by cause",
				"--by is for variance-tree, not for %s", (*v)->name);
	*v = (*v)->by_cause;
	return EXIT_DONE;
}

/* Prints a file's text; needs no run. */
static int show_source_only(const struct args *words)
{
	if (words->cnt > 2)
		return fail_now(EXIT_USAGE, "vprof show source FUNCTION", "show source takes one function; '%s' is one too many", words->items[2]);
	if (strcmp(arg_format, "text") != 0 && strcmp(arg_format, "json") != 0)
		return fail_now(EXIT_USAGE, "--format text, --format json", "show source cannot be printed as '%s'", arg_format);
	pager_start();
	return show_source(words->cnt > 1 ? words->items[1] : NULL, strcmp(arg_format, "json") == 0);
}

static int show_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	_cleanup_(material_release) struct material m = { .view = NULL };
	struct diag diag = DIAG_INIT;
	const struct view *v;
	enum format format = FORMAT_TEXT;
	int status;

	if (options_parse(argc, argv, &cmd_show, &words, &status))
		return status;
	if (words.cnt && strcmp(words.items[0], "source") == 0)
		return show_source_only(&words);
	v = words.cnt ? view_find(words.items[0]) : NULL;
	if (!v)
		return unknown_view(words.cnt ? words.items[0] : NULL);
	if (!(view_given.quantile > 0 && view_given.quantile < 1))
		return fail_now(EXIT_USAGE, "vprof show tail --quantile 0.999",
				"--quantile is between 0 and 1, not %g", view_given.quantile);
	if (words.cnt > 2)
		return fail_now(EXIT_USAGE, NULL, "show takes one view and one run; '%s' is one too many",
				words.items[2]);
	status = choose_causes(&v);
	if (status)
		return status;
	status = choose_format(v, &format);
	if (status == EXIT_DONE)
		status = refuse_origin(v);
	if (status)
		return status;
	m.view = v;
	if (read_material(&m, words.cnt > 1 ? words.items[1] : NULL, &diag) < 0)
		return fail(&diag);
	return print_material(&m, format);
}

static const struct option_desc shared_options[] = {
	{ 0, "format", "FORMAT", OPT_STR, &arg_format,
	  "text (default), json, csv; call-graph, wait-graph: dot; samples: folded; causal, wait-graph: svg" },
	{ 0, "interval", "NAME", OPT_STR, &view_given.interval,
	  "name of the kind of interval; critical-path: or the SID of one interval" },
	{ 0, "origin", "HOST|RUN", OPT_STR, &view_given.origin,
	  "of a merged run: only the intervals from this host, or from this run" },
	{ 'k', "k", "N", OPT_UINT, &arg_k, "factors: show the N best (default: k of vprof.conf, or 3; 0: all)" },
	{ 0, "threshold", "D", OPT_DOUBLE, &arg_threshold,
	  "factors: hide shares of the variance up to D; wait-graph: trim edges of knots up to D of the run (default: threshold "
	  "of vprof.conf; without one 0.05 and 0.2)" },
	{ 0, "paper", NULL, OPT_FLAG, &view_given.ranking.paper,
	  "factors: rank by the paper's Algorithm 1, including pairs" },
	{ 0, "all", NULL, OPT_FLAG, &view_given.ranking.all,
	  "show everything: no threshold, no limit on lines" },
	{ 0, "quantile", "Q", OPT_DOUBLE, &view_given.quantile,
	  "tail, slow-vs-fast, factors, wait-graph --slow: intervals above this quantile are slow (default 0.99)" },
	OPT_END
};

static const struct option_desc last_options[] = {
	{ 0, "ascii", NULL, OPT_FLAG, &arg_ascii, "print ASCII characters only" },
	PAGER_OPTION,
	OPT_END
};

/* Every view accepts the options of all. */
static const struct option_desc *show_options(void)
{
	static option_table table;

	if (table.cnt)
		return table.items;
	option_table_add(&table, shared_options);
	for (size_t i = 0; i < report_view_cnt; i++)
		option_table_add(&table, report_views[i]->options);
	option_table_add(&table, last_options);
	return option_table_end(&table);
}

static void print_views(void)
{
	printf("\nviews:\n");
	for (size_t i = 0; i < report_view_cnt; i++)
		printf("  %-16s %s\n", report_views[i]->name, report_views[i]->summary);
	printf("  %-16s %s\n", "source", "a function of the last build, as it stands in its file: show source FUNCTION");
}

static const char *const show_examples[] = {
	"vprof show variance-tree", "vprof show factors --paper --format json",
	"vprof show critical-path --slowest 1", NULL
};

const struct cmd cmd_show = {
	.name = "show", .synopsis = "VIEW [RUN] [--format text|json|csv]",
	.summary = "print what a run found",
	.all_options = show_options, .print_words = print_views, .run = show_run, .examples = show_examples,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.c - `vprof report [RUN | BASE HEAD] [-o FILE.html] [--open]`: what a run found, or what differs between two sides, as one
 * HTML file, to be sent to others.
 *
 * The results, and those of causal experiments, are the store's.  The time of each part by latency, single critical paths and the wait graph
 * are read from the trace; without it the page has the rest.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "build-config.h"
#include "cmd/commands.h"
#include "cmd/diff/sides.h"
#include "cmd/messages.h"
#include "cmd/output_file.h"
#include "cmd/ranking.h"
#include "project/config/locate.h"
#include "project/runs/project.h"
#include "project/runs/shown_run.h"
#include "report/page/page.h"

static const char *arg_output;
static bool arg_open;

/* The page's data; material_release() in any case. */
struct material {
	struct store *store;
	struct run run;
	struct findings *findings, *binned;
	struct trace *trace;
	struct experiments *experiments;
};

static void material_release(struct material *m)
{
	experiments_free(m->experiments);
	trace_free(m->trace);
	findings_free(m->binned);
	findings_free(m->findings);
	run_release(&m->run);
	store_close(m->store);
}

static int read_findings(struct material *m, const char *run, struct diag *reterr)
{
	int r = store_open(data_dir(), false, &m->store, reterr);

	if (r == 0)
		r = shown_run_find(m->store, run, true, &m->run, reterr);
	if (r == 0)
		r = findings_read(m->store, m->run.number, view_given.interval, &m->findings, reterr);
	if (r == 0)
		r = ranking_take(UINT_MAX, NAN, reterr);
	if (r < 0)
		return r;
	r = experiments_read(m->store, m->run.number, &m->experiments, reterr);
	return r == -ENOENT ? 0 : r;		/* most runs have none */
}

/* Adds the trace's data.  A run whose trace is gone or damaged has a page, too. */
static void read_trace(struct material *m)
{
	_cleanup_(freep) int64_t *edges = NULL;
	size_t edge_cnt = page_edges(m->findings, &edges);
	struct diag diag = DIAG_INIT;
	int r;

	progress_line("run %" PRIu32 ": what each part took", m->run.number);
	r = run_analyze_bins(m->store, &m->run, m->findings->interval.name, edges, edge_cnt, &m->binned, &diag);
	if (r == 0) {
		progress_line("run %" PRIu32 ": single intervals, who waited for whom", m->run.number);
		r = run_trace_read(m->store, &m->run, &m->trace, &diag);
	}
	progress_done();
	if (r < 0)
		warn_line("%s; the page lacks what only the trace has", diag.text);
}

static int write_page(const struct material *m, const char *path)
{
	_cleanup_(output_release) struct output o = { .path = path };
	struct page_input in = {
		.view = { .options = view_given, .run = &m->run, .findings = m->findings, .trace = m->trace, .experiments = m->experiments },
		.binned = m->binned, .version = PACKAGE_VERSION,
	};
	struct diag diag = DIAG_INIT;

	if (output_open(&o, &diag) < 0)
		return fail(&diag);
	page_write(o.file, &in);
	if (output_finish(&o, &diag) < 0)
		return fail(&diag);
	if (path)
		note_line("%s: run %" PRIu32 ", %ld kB", path, m->run.number, (ftell(o.file) + 500) / 1000);
	return EXIT_DONE;
}

/* Without -o: standard output, but not into a terminal's face. */
static char *output_path(const char *what)
{
	if (arg_output)
		return strcmp(arg_output, "-") ? xstrdup(arg_output) : NULL;
	if (arg_open || isatty(STDOUT_FILENO))
		return xasprintf("vprof-report-%s.html", what);
	return NULL;
}

static int open_page(const char *path)
{
	const struct proc_options quiet = { .quiet = true };
	int status = proc_run((char *const[]){ (char *)"xdg-open", (char *)path, NULL }, &quiet);

	if (status == -ENOENT)
		return fail_now(EXIT_ENVIRONMENT, "apt-get install xdg-utils, or open the file in any browser",
				"xdg-open is missing; '%s' is written", path);
	if (status != 0)
		return fail_now(EXIT_ENVIRONMENT, "open the file in any browser", "xdg-open could not open '%s'; it is written", path);
	return EXIT_DONE;
}

/* BASE and HEAD: what vprof diff says, as a page. */
static int report_two(const char *base, const char *head)
{
	_cleanup_(sides_release) struct sides s = { .store = NULL };
	_cleanup_(output_release) struct output o = { .path = NULL };
	_cleanup_(freep) char *path = NULL;
	struct compared_side sides[SIDE_CNT];
	struct diag diag = DIAG_INIT;
	struct diff_input in;

	if (sides_read(&s, base, head, view_given.interval, false, sides, &diag) < 0)
		return fail(&diag);
	s.comparison = compare(&sides[SIDE_BASE], &sides[SIDE_HEAD]);
	in = (struct diff_input){
		.comparison = s.comparison, .runs = { &s.runs[SIDE_BASE], &s.runs[SIDE_HEAD] },
		.label = { s.label[SIDE_BASE], s.label[SIDE_HEAD] },
	};
	o.path = path = output_path("diff");
	if (output_open(&o, &diag) < 0)
		return fail(&diag);
	page_write_comparison(o.file, &in, (struct findings *const *[]){ s.findings[SIDE_BASE].items, s.findings[SIDE_HEAD].items },
			      PACKAGE_VERSION);
	if (output_finish(&o, &diag) < 0)
		return fail(&diag);
	if (path)
		note_line("%s: %s against %s", path, head, base);
	return arg_open ? open_page(path) : EXIT_DONE;
}

static int report_one(const char *run)
{
	_cleanup_(material_release) struct material m = { .store = NULL };
	_cleanup_(freep) char *path = NULL, *number = NULL;
	struct diag diag = DIAG_INIT;
	int status;

	if (read_findings(&m, run, &diag) < 0)
		return fail(&diag);
	if (!m.findings->interval.cnt)
		return announce_findings(m.store, &m.run, m.findings);
	read_trace(&m);
	number = xasprintf("%" PRIu32, m.run.number);
	path = output_path(number);
	status = write_page(&m, path);
	return status == EXIT_DONE && arg_open ? open_page(path) : status;
}

static int report_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	int status;

	if (options_parse(argc, argv, &cmd_report, &words, &status))
		return status;
	if (words.cnt > 2)
		return fail_now(EXIT_USAGE, "vprof report, vprof report RUN or vprof report BASE HEAD",
				"report takes one run, or two to compare; '%s' is one too many", words.items[2]);
	if (arg_open && arg_output && !strcmp(arg_output, "-"))
		return fail_now(EXIT_USAGE, "vprof report -o FILE.html --open", "--open needs a file; -o - is standard output");
	return words.cnt == 2 ? report_two(words.items[0], words.items[1]) : report_one(words.cnt ? words.items[0] : NULL);
}

static const struct option_desc report_options[] = {
	{ 'o', "output", "FILE", OPT_STR, &arg_output, "write to FILE (-: standard output, which is the default unless it is a terminal)" },
	{ 0, "interval", "NAME", OPT_STR, &view_given.interval, "name of the kind of interval" },
	{ 0, "open", NULL, OPT_FLAG, &arg_open, "open the file in the browser (xdg-open)" },
	OPT_END
};

static const char *const report_examples[] = { "vprof report -o report.html", "vprof report 3 --open", "vprof report before after -o change.html", NULL };
const struct cmd cmd_report = {
	.name = "report", .synopsis = "[RUN | BASE HEAD] [-o FILE.html] [--open]",
	.summary = "write what a run found as one HTML file",
	.options = report_options, .run = report_run, .examples = report_examples,
};

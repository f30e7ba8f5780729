/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export.c - `vprof export --format tuples [RUN]`: a run's trace in the paper's tuples, on stdout.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/output_file.h"
#include "cmd/project.h"
#include "trace/tuples.h"

static const char *arg_format = "tuples", *arg_output;

static int write_to(const char *path, const struct trace *t)
{
	_cleanup_(output_release) struct output o = { .path = path };
	struct diag diag = DIAG_INIT;
	int r = output_open(&o, &diag);

	if (r < 0)
		return fail(&diag);
	r = tuples_write(o.file, t);
	/* Of stdout finish_output() tells. */
	if (r < 0 && path)
		return fail_now(EXIT_ENVIRONMENT, NULL, "cannot write '%s': %s", path, strerror(-r));
	return output_finish(&o, &diag) < 0 ? fail(&diag) : EXIT_DONE;
}

static int export_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(trace_freep) struct trace *trace = NULL;
	_cleanup_(run_release) struct run run = { 0 };
	struct diag diag = DIAG_INIT;
	int status;

	if (options_parse(argc, argv, &cmd_export, &words, &status))
		return status;
	if (strcmp(arg_format, "tuples") != 0)
		return fail_now(EXIT_USAGE, "vprof export --format tuples RUN",
				"export: unknown format '%s'; there is: tuples", arg_format);
	if (words.cnt > 1)
		return fail_now(EXIT_USAGE, NULL, "export: one run at a time");
	if (store_open(data_dir(), false, &store, &diag) < 0 ||
	    run_find(store, words.cnt ? words.items[0] : NULL, &run, &diag) < 0 ||
	    run_trace_read(store, &run, &trace, &diag) < 0)
		return fail(&diag);
	trace_sort(trace);
	if (!trace->intervals.cnt && !trace->segments.cnt)
		return fail_now(EXIT_NO_EVIDENCE, "vprof show runs   (then vprof export RUN)",
				"run %u has no intervals: there is nothing to export", run.number);
	if (!trace->intervals.cnt)
		warn_line("run %u has no intervals: only what its threads did is exported", run.number);
	if (tuples_left_out(trace))
		note_line("%zu completed intervals of which no functions were recorded have no place in "
			  "tuples and are left out", tuples_left_out(trace));
	return write_to(arg_output && strcmp(arg_output, "-") ? arg_output : NULL, trace);
}

static const struct option_desc export_options[] = {
	{ 0, "format", "FORMAT", OPT_STR, &arg_format, "tuples (the default)" },
	{ 'o', "output", "FILE", OPT_STR, &arg_output, "write there instead of stdout" },
	OPT_END
};
static const char *const export_examples[] = { "vprof export --format tuples 3 > run3.tuples", NULL };
const struct cmd cmd_export = {
	.name = "export", .synopsis = "[--format FORMAT] [RUN]",
	.summary = "write a run's trace for other tools",
	.options = export_options, .run = export_run, .examples = export_examples,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analyze.c - `vprof analyze [RUN]`: analyses a trace again.
 */
#include "base/banned.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "project/config/data_lock.h"
#include "project/config/locate.h"
#include "project/runs/project.h"
#include "project/runs/recording.h"

static unsigned arg_jobs;
static bool arg_quiet;

static int analyze_one(struct store *store, struct run *run)
{
	_cleanup_(findings_freep) struct findings *findings = NULL;
	struct diag diag = DIAG_INIT;

	if (recording_settle(store, run, &diag) < 0)
		return fail(&diag);
	if (run->status == RUN_RECORDING)
		return fail_now(EXIT_NO_EVIDENCE, "it is analysed when the program ends, or Control-C ends it",
				"run %u is being recorded", run->number);
	progress_line("analysing run %u", run->number);
	if (run_analyze(store, run, arg_jobs, &findings, &diag) < 0)
		return fail(&diag);
	progress_done();
	return arg_quiet && findings->interval.cnt ? EXIT_DONE : announce_findings(store, run, findings);
}

static int analyze_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(runs_release) runs found = { NULL, 0, 0 };
	struct diag diag = DIAG_INIT;
	int status;

	if (options_parse(argc, argv, &cmd_analyze, &words, &status))
		return status;
	if (words.cnt > 1)
		return fail_now(EXIT_USAGE, NULL, "analyze: one run, or group of runs, at a time");
	if (store_open(data_dir(), false, &store, &diag) < 0 || store_check_ours(store, &diag) < 0 ||
	    runs_find(store, words.cnt ? words.items[0] : NULL, &found, &diag) < 0)
		return fail(&diag);
	progress_quiet(arg_quiet);
	for (size_t i = 0; i < found.cnt; i++) {
		int one = analyze_one(store, &found.items[i]);

		status = status ? status : one;
	}
	return status;
}

static const struct option_desc analyze_options[] = {
	{ 'j', "jobs", "N", OPT_COUNT, &arg_jobs, "use at most N threads (default: one per CPU); the results do not depend on N" },
	{ 'q', "quiet", NULL, OPT_FLAG, &arg_quiet, "print errors only: no progress, warnings or summary" },
	LOCK_OPTION,
	OPT_END
};
static const char *const analyze_examples[] = { "vprof analyze", "vprof analyze before", NULL };
const struct cmd cmd_analyze = {
	.name = "analyze", .synopsis = "[RUN] [--jobs N] [--quiet]",
	.summary = "compute the results of a run again from its trace",
	.options = analyze_options, .run = analyze_run, .examples = analyze_examples,
};

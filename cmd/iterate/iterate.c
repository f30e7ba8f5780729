/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate.c - `vprof iterate -- ./bench.sh`: finds the way from the root to the culprit automatically.
 *
 *	build		once as it is, for the call graph
 *	each round	write the plan, recompile what it changes, link, run, analyse, decide
 *	end		the last run's answer, and why it was the last
 *
 * If a round fails for any reason, the runs before it are kept and reported, and the last plan that built is
 * restored.  Each run decomposes its own variance; only the numbers of calls are carried from run to run.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "cmd/commands.h"
#include "cmd/iterate/iterate_loop.h"
#include "cmd/messages.h"
#include "project/build/header_functions.h"
#include "project/build/unit_report.h"
#include "project/config/data_lock.h"
#include "project/config/locate.h"
#include "project/runs/leave_out.h"
#include "project/runs/project.h"

static unsigned arg_k = UINT_MAX, arg_max_runs = UINT_MAX;	/* not given */
static unsigned arg_jobs, arg_buffer_mib;
static double arg_threshold = NAN, arg_overhead = NAN;
static const char *arg_policy = "budget", *arg_format = "text", *arg_from;
static bool arg_ask, arg_restart, arg_uncalled, arg_from_arrival, arg_ignore_status, arg_verbose;

static void loop_release(struct loop *l)
{
	store_close(l->store);
	config_release(&l->config);
	args_release(&l->build_command);
	args_release(&l->run_command);
	units_release(&l->scanned);
	project_free(l->project);
	refinement_free(l->refinement);
	iterate_graph_release(&l->graph);
	plan_free(l->built);
	VEC_RELEASE(&l->sites);
	for (size_t i = 0; i < l->absent.cnt; i++)
		free(l->absent.items[i]);
	VEC_RELEASE(&l->absent);
	json_decref(l->rounds);
	run_release(&l->run);
	findings_free(l->findings);
}

/* ---- before the first run ---- */

static int take_options(const struct config *c, struct refine_options *ret)
{
	*ret = (struct refine_options){
		.policy = strcmp(arg_policy, "paper") == 0 ? REFINE_PAPER : REFINE_BUDGET,
		.k = arg_k != UINT_MAX ? arg_k : c->k,
		.threshold = isnan(arg_threshold) ? c->threshold : arg_threshold,
		.max_runs = arg_max_runs != UINT_MAX ? arg_max_runs : c->max_runs,
		.overhead = isnan(arg_overhead) ? c->overhead : arg_overhead,
		.probe_ns = PROBE_NS,
		.dormant_ns = REFINE_DORMANT_NS,
		.census_functions = REFINE_CENSUS_FUNCTIONS,
	};
	if (strcmp(arg_policy, "paper") && strcmp(arg_policy, "budget"))
		return fail_now(EXIT_USAGE, NULL, "iterate: --policy is budget or paper, not '%s'",
				arg_policy);
	if (strcmp(arg_format, "text") && strcmp(arg_format, "json"))
		return fail_now(EXIT_USAGE, NULL, "iterate: --format is text or json, not '%s'",
				arg_format);
	if (arg_ask && !(isatty(STDIN_FILENO) && isatty(STDERR_FILENO)))
		return fail_now(EXIT_USAGE, "without --ask it decides automatically",
				"iterate: --ask needs a terminal to ask on, as standard input and "
				"standard error");
	if (!(ret->threshold >= 0 && ret->threshold <= 1))
		return fail_now(EXIT_USAGE, NULL,
				"iterate: --threshold is a fraction of the variance, 0 to 1");
	if (!(ret->overhead > 0 && ret->overhead <= 1))
		return fail_now(EXIT_USAGE, NULL,
				"iterate: --overhead is a fraction of the latency, 0 to 1");
	return EXIT_DONE;
}

static int no_root(const struct loop *l, struct diag *reterr)
{
	const struct unit *untouched = untouched_unit_with(&l->scanned, "VPROF_BEGIN");

	diag_set(reterr, EXIT_USAGE, -ENOENT, "no function is known in which an interval starts or ends");
	if (!untouched)
		return diag_remedy(reterr, -ENOENT, "vprof annotate --start FUNCTION --end FUNCTION, then vprof build");
	return diag_remedy(reterr, -ENOENT, "'%s' has VPROF_BEGIN and was %s: compile it in a way that vprof can instrument, then "
			   "vprof build (%.200s)", untouched->source, how_uncounted(untouched), why_uncounted(untouched));
}

static int prepare(struct loop *l, struct diag *reterr)
{
	_cleanup_(primitives_release) primitives sync = { 0 };
	int r = build_scan(l->store, &l->build_command, &l->build, &l->scanned, reterr);

	if (r == 0)
		r = project_read(l->store, &l->project, reterr);
	if (r == 0)
		r = read_primitives(&l->config, &sync, reterr);
	if (r < 0)
		return r;
	leave_out(l->project, &l->config);
	look_through_header_functions(l->project, &l->scanned);
	iterate_graph_make(l->project, &l->config, &sync, &l->scanned, &l->graph);
	warn_untouched(&l->scanned);
	r = iterate_check_places(l, reterr);
	if (r < 0)
		return r;
	if (l->graph.root_cnt == 0)
		return no_root(l, reterr);
	if (!l->uncalled)
		r = iterate_find_uncalled(l, reterr);
	l->refinement = refinement_new(&l->graph.project, &l->options);
	return r;
}

/* ---- from the first run to the last ---- */

/* A round failed: reports that, and the findings of the rounds before. */
static int end_early(struct loop *l, const struct diag *diag)
{
	int status = iterate_interrupted ? 128 + SIGINT : fail(diag);

	l->stop = iterate_interrupted ? "interrupted" : "failed";
	if (l->findings || l->json)
		iterate_end(l);
	return status;
}

/* Returns whether that was all. */
static bool begin_with_look(struct loop *l, const struct findings *look)
{
	size_t cnt = iterate_begin_with(l, look);

	l->restart = true;		/* it is no continuation of another iteration */
	note_line("the first run records %zu functions that the look names, and what the running ones call", cnt);
	return cnt > 0;
}

static int iterate(struct loop *l, const struct findings *look)
{
	struct diag diag = DIAG_INIT;

	if (prepare(l, &diag) < 0)
		return fail(&diag);
	if (look && !begin_with_look(l, look))
		return fail_now(EXIT_NO_EVIDENCE, "vprof iterate without --from", "no function that the look names is the project's");
	style_init(&l->style, stderr, false);
	note_line("%zu functions, %zu of them start, end or resume intervals; policy %s, k %u, "
		  "threshold %.3g %%",
		  l->project->functions.cnt, l->graph.root_cnt,
		  refine_policy_name(l->options.policy), l->options.k, l->options.threshold * 100);
	iterate_catch_interrupt();
	if (!l->restart && iterate_resume(l, &diag) < 0)
		return fail(&diag);
	if (!l->first_run)
		iterate_tell_uncalled(l);
	while (!l->stop)
		if (iterate_round(l, &diag) < 0)
			return end_early(l, &diag);
	iterate_end(l);
	if (!l->status && strcmp(l->stop, "unresolved") == 0 &&
	    l->findings->interval.cnt < FINDINGS_INTERVALS_MIN)
		return EXIT_NO_EVIDENCE;
	return l->status;
}

static void take_settings(struct loop *l)
{
	l->json = strcmp(arg_format, "json") == 0;
	l->ask = arg_ask;
	l->restart = arg_restart;
	l->uncalled = arg_uncalled;
	l->ignore_status = arg_ignore_status;
	l->build = (struct build_options){ arg_jobs, arg_verbose, !arg_verbose, iterate_is_absent, l };
	l->record = (struct record_options){ .buffer_mib = arg_buffer_mib,
					     .stdout_to_stderr = l->json, .config = &l->config, .from_arrival = arg_from_arrival,
					     .kernel = arg_from_arrival ? KERNEL_MODE_REQUIRE : KERNEL_MODE_OFF };
}

static int iterate_run(int argc, char **argv)
{
	_cleanup_(loop_release) struct loop l = { .rounds = json_array() };
	_cleanup_(findings_freep) struct findings *look = NULL;
	struct diag diag = DIAG_INIT;
	char *const *given = NULL;
	int status;

	if (options_parse_command(argc, argv, &cmd_iterate, NULL, &given, &status))
		return status;
	take_settings(&l);
	if (project_config(&l.config, &diag) < 0)
		return fail(&diag);
	status = take_options(&l.config, &l.options);
	if (status)
		return status;
	if (store_open(data_dir(), true, &l.store, &diag) < 0 || (arg_from && iterate_read_look(&l, arg_from, &look, &diag) < 0))
		return fail(&diag);
	if (look && iterate_look_answers(look, l.options.threshold)) {
		iterate_tell_look(&l, look, true);
		return finish_output(EXIT_DONE);
	}
	if (look)
		iterate_tell_look(&l, look, false);
	if (record_command(&l.config, "iterate", given, &l.run_command, &diag) < 0 ||
	    lock_to_build(&l.config, &diag) < 0 ||
	    build_command(l.store, &l.config, "iterate", NULL, &l.build_command, &diag) < 0)
		return fail(&diag);
	return iterate(&l, look);
}

static const struct option_desc iterate_options[] = {
	{ 'k', "k", "N", OPT_COUNT, &arg_k, "break down the N best factors of each run (default 3)" },
	{ 0, "threshold", "D", OPT_DOUBLE, &arg_threshold, "break down only factors above this fraction of the variance (default 0.05)" },
	{ 0, "policy", "POLICY", OPT_STR, &arg_policy, "budget: several levels a run; paper: Algorithm 3, one level" },
	{ 0, "max-runs", "N", OPT_COUNT, &arg_max_runs, "stop after N runs (default 12)" },
	{ 0, "overhead", "F", OPT_DOUBLE, &arg_overhead, "budget: overhead of the probes, as a fraction of the mean latency (default 0.05)" },
	{ 0, "from", "RUN", OPT_STR, &arg_from, "begin with what vprof look found in that run; where that is the answer, nothing is built" },
	{ 0, "ask", NULL, OPT_FLAG, &arg_ask, "ask which factors to break down (needs a terminal)" },
	{ 0, "restart", NULL, OPT_FLAG, &arg_restart, "start again instead of continuing an interrupted iteration" },
	{ 0, "uncalled", NULL, OPT_FLAG, &arg_uncalled, "budget: in the first run also probe functions that earlier runs never called" },
	{ 0, "from-arrival", NULL, OPT_FLAG, &arg_from_arrival, "vprof record --from-arrival in each run" },
	{ 0, "format", "FORMAT", OPT_STR, &arg_format, "text (default) or json (the runs, why it ended, the last run's factors)" },
	{ 0, "ignore-status", NULL, OPT_FLAG, &arg_ignore_status, "continue when the command fails" },
	{ 0, "buffer", "MIB", OPT_COUNT, &arg_buffer_mib, "size of the recording buffer, in MiB" },
	{ 'j', "jobs", "N", OPT_COUNT, &arg_jobs, "recompile N units at a time (default: one per core)" },
	{ 'v', "verbose", NULL, OPT_FLAG, &arg_verbose, "print the output of the builds" },
	LOCK_OPTION,
	OPT_END
};
static const char *const iterate_examples[] = {
	"vprof iterate -- ./bench.sh",
	"vprof iterate --k 3 --policy paper --max-runs 30 -- ./bench.sh", NULL
};
const struct cmd cmd_iterate = {
	.name = "iterate", .synopsis = "[--k N] [--policy budget|paper] [--ask] [-- COMMAND...]",
	.summary = "plan, build, record, analyse, until the cause has a name",
	.options = iterate_options, .run = iterate_run, .examples = iterate_examples,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iterate.c - `vprof iterate -- ./bench.sh`: from the root to the culprit by itself.
 *
 *	build		once as it is, for the call graph
 *	each round	write the plan, recompile what it changes, link, run, analyse, decide
 *	end		the last run's answer, and why it was the last
 *
 * Whatever goes wrong in a round, the runs before it are kept and told, and the plan is again the
 * one that built.  Each run decomposes its own variance; nothing is carried from run to run but how
 * often functions are called.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "cmd/build_steps.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/iterate_plan.h"
#include "cmd/record_steps.h"
#include "report/iteration.h"

static unsigned arg_k = UINT_MAX, arg_max_runs = UINT_MAX;	/* not given */
static unsigned arg_jobs, arg_buffer_mib;
static double arg_threshold = NAN, arg_overhead = NAN;
static const char *arg_policy = "budget", *arg_format = "text";
static bool arg_ignore_status, arg_verbose;

static volatile sig_atomic_t interrupted;

struct loop {
	struct store *store;
	struct config config;
	struct args build_command, run_command;
	struct build_options build;
	units scanned;
	struct project *project;
	struct iterate_graph graph;
	struct refinement *refinement;
	struct plan *built;		/* the last plan that built, or NULL */
	struct style style;		/* stderr */
	json_t *rounds;
	uint32_t first_run;
	double variance_ns2;		/* of the latest run */
	struct run run;			/* the latest that has findings */
	struct findings *findings;
	const char *stop;		/* in one word */
	int status;			/* to end with */
};

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
	json_decref(l->rounds);
	run_release(&l->run);
	findings_free(l->findings);
}

static void on_interrupt(int signal_number)
{
	interrupted = signal_number;
}

static bool for_programs(void)
{
	return strcmp(arg_format, "json") == 0;
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
		.probe_ns = REFINE_PROBE_NS,
		.dormant_ns = REFINE_DORMANT_NS,
		.census_functions = REFINE_CENSUS_FUNCTIONS,
	};
	if (strcmp(arg_policy, "paper") && strcmp(arg_policy, "budget"))
		return fail_now(EXIT_USAGE, NULL, "iterate: --policy is budget or paper, not '%s'",
				arg_policy);
	if (strcmp(arg_format, "text") && strcmp(arg_format, "json"))
		return fail_now(EXIT_USAGE, NULL, "iterate: --format is text or json, not '%s'",
				arg_format);
	if (ret->k == 0 || ret->max_runs == 0)
		return fail_now(EXIT_USAGE, NULL, "iterate: --k and --max-runs are at least 1");
	if (!(ret->threshold >= 0 && ret->threshold < 1))
		return fail_now(EXIT_USAGE, NULL,
				"iterate: --threshold is a fraction of the variance, 0 to 1");
	if (!(ret->overhead > 0 && ret->overhead <= 1))
		return fail_now(EXIT_USAGE, NULL,
				"iterate: --overhead is a fraction of the latency, 0 to 1");
	return EXIT_DONE;
}

static int prepare(struct loop *l, const struct refine_options *o, struct diag *reterr)
{
	int r = build_scan(l->store, &l->build_command, &l->build, &l->scanned, reterr);

	if (r == 0)
		r = project_read(l->store, &l->project, reterr);
	if (r < 0)
		return r;
	iterate_graph_make(l->project, &l->config, &l->scanned, &l->graph);
	if (l->graph.root_cnt == 0) {
		diag_set(reterr, EXIT_USAGE, -ENOENT,
			 "no function is known in which an interval starts or ends");
		return diag_remedy(
			reterr, -ENOENT,
			"vprof annotate --start FUNCTION --end FUNCTION, then vprof build");
	}
	l->refinement = refinement_new(&l->graph.project, o);
	return 0;
}

/* ---- one round ---- */

/* If it does not build, the plan is again the one that did. */
static int apply(struct loop *l, const struct plan *plan, struct diag *reterr)
{
	int r = build_apply(&l->scanned, plan, &l->build_command, &l->build, reterr);

	if (r < 0) {
		_cleanup_(plan_freep) struct plan *empty = plan_new();
		_cleanup_(units_release) units now = { 0 };
		struct build_options quiet = l->build;

		quiet.quiet = true;
		if (build_load_units(l->store, &now, NULL) == 0)
			build_apply(&now, l->built ? l->built : empty, &l->build_command, &quiet,
				    NULL);
		return r;
	}
	units_release(&l->scanned);
	return build_load_units(l->store, &l->scanned, reterr);
}

static void add_names(const struct loop *l, strings *ret)
{
	for (size_t i = 0; i < l->project->functions.cnt; i++)
		if (l->refinement->added[i])
			VEC_ADD(ret, l->project->functions.items[i].name);
}

static int keep_round(struct loop *l, const struct round *round, struct diag *reterr)
{
	_cleanup_(freep) char *selected = round_selected(round, true);
	struct iteration i = {
		.run = l->run.number,
		.first_run = l->first_run,
		.policy = (char *)refine_policy_name(l->refinement->options.policy),
		.recorded_cnt = (uint32_t)round->recorded_cnt,
		.dormant_cnt = (uint32_t)round->dormant_cnt,
		.added_cnt = (uint32_t)round->added.cnt,
		.probe_cost = l->refinement->cost,
		.selected = selected,
		.stop = (char *)l->stop,
	};

	return iteration_write(l->store, &i, reterr);
}

/* Does the run give a reason to stop, besides what it found? */
static void look_at_run(struct loop *l, const struct run *run)
{
	if (interrupted || run->exit_status == 128 + SIGINT || run->exit_status == 128 + SIGQUIT) {
		l->stop = "interrupted";
		l->status = 128 + SIGINT;
	} else if (run->exit_status && !arg_ignore_status) {
		l->stop = "command-failed";
		l->status = run->exit_status;
		warn_line("'%s' ended with status %d in run %u", l->run_command.items[0],
			  run->exit_status, run->number);
	}
}

static int judge_round(struct loop *l, struct diag *reterr)
{
	struct round round = {
		.number = l->refinement->run_cnt + 1, .run = &l->run, .findings = l->findings,
		.refinement = l->refinement, .recorded_cnt = l->refinement->recorded_cnt,
		.dormant_cnt = l->refinement->dormant_cnt, .variance_before_ns2 = l->variance_ns2,
	};
	int r;

	add_names(l, &round.added);
	refinement_step(l->refinement, l->findings);
	if (!l->stop && l->refinement->stop != REFINE_GOES_ON)
		l->stop = refine_stop_name(l->refinement->stop);
	round.goes_on = l->stop == NULL;
	round_text(&l->style, &round);
	json_array_append_new(l->rounds, round_json(&round));
	l->variance_ns2 = l->findings->interval.variance_ns2;
	r = keep_round(l, &round, reterr);
	VEC_RELEASE(&round.added);
	return r;
}

static int run_round(struct loop *l, struct diag *reterr)
{
	const struct record_options options = { arg_buffer_mib, for_programs() };
	_cleanup_(plan_freep) struct plan *plan = iterate_plan(l->project, l->refinement);
	_cleanup_(findings_freep) struct findings *findings = NULL;
	_cleanup_(run_release) struct run run = { 0 };
	int status, r = apply(l, plan, reterr);

	if (r < 0)
		return r;
	plan_free(l->built);
	l->built = TAKE_PTR(plan);
	progress_line("run %u/%u", l->refinement->run_cnt + 1, l->refinement->options.max_runs);
	r = record_once(l->store, NULL, &l->run_command, &options, &run, &findings, &status,
			reterr);
	progress_done();
	if (r < 0)
		return r;
	if (!findings) {
		l->stop = "not-instrumented";
		l->status = run.exit_status && !arg_ignore_status ? run.exit_status : status;
		return 0;
	}
	look_at_run(l, &run);
	if (findings->interval.cnt == 0) {
		status = announce_findings(&run, findings);
		l->status = l->status ? l->status : status;
		l->stop = l->stop ? l->stop : "no-interval";
		return 0;
	}
	run_release(&l->run);
	findings_free(l->findings);
	l->run = run;
	l->findings = TAKE_PTR(findings);
	memset(&run, 0, sizeof(run));
	if (!l->first_run)
		l->first_run = l->run.number;
	return judge_round(l, reterr);
}

/* ---- the end ---- */

static void add_too_dear(const struct loop *l, struct str *to)
{
	const struct refine_options *o = &l->refinement->options;

	str_addf(to,
		 "what is left to record is called too often for %.3g %% of the latency "
		 "(--overhead)",
		 o->overhead * 100);
}

static char *why_stopped(const struct loop *l)
{
	const struct refine_options *o = &l->refinement->options;
	double percent = o->threshold * 100;
	struct str s = STR_INIT;

	if (strcmp(l->stop, "closed") == 0)
		str_addf(&s, "every factor above %.3g %% is broken down to its end", percent);
	else if (strcmp(l->stop, "nothing") == 0)
		str_addf(&s, "no factor is above %.3g %%", percent);
	else if (strcmp(l->stop, "unresolved") == 0)
		str_addf(&s, "the run has too few intervals to tell (at least %d)",
			 REFINE_INTERVALS_MIN);
	else if (strcmp(l->stop, "too-dear") == 0)
		add_too_dear(l, &s);
	else if (strcmp(l->stop, "max-runs") == 0)
		str_addf(&s, "there is more to break down, but %u runs were made (--max-runs)",
			 o->max_runs);
	else if (strcmp(l->stop, "interrupted") == 0)
		str_add(&s, "it was interrupted; what was found until then is kept");
	else if (strcmp(l->stop, "command-failed") == 0)
		str_add(&s, "the command failed (--ignore-status goes on)");
	else
		str_add(&s, l->stop);
	return str_take(&s);
}

/* The first is in the sentence. */
static void print_others(const struct loop *l)
{
	const struct refinement *r = l->refinement;

	for (size_t i = 1; i < r->verdicts.cnt; i++) {
		const struct factor *f = &l->findings->factors.items[r->verdicts.items[i].factor];
		_cleanup_(freep) char *label = factor_label(f, locale_is_utf8());
		double share = r->options.policy == REFINE_PAPER ? f->paper_contribution : f->share;

		printf("%s%s (%.1f %%)%s", i > 1 ? ", " : "  then: ", label, share * 100,
		       i + 1 == r->verdicts.cnt ? "\n" : "");
	}
}

static void print_end(struct loop *l)
{
	_cleanup_(freep) char *why = why_stopped(l);
	struct view_input in = { .options = VIEW_OPTIONS_INIT,
				 .run = &l->run,
				 .findings = l->findings };

	in.options.ranking.k = l->refinement->options.k;
	in.options.ranking.threshold = l->refinement->options.threshold;
	in.options.ranking.paper = l->refinement->options.policy == REFINE_PAPER;
	if (for_programs()) {
		json_t *document = iteration_json(&l->refinement->options, json_incref(l->rounds),
						  l->stop, why, l->findings ? &in : NULL);

		report_write_json(stdout, document);
		json_decref(document);
		return;
	}
	if (!l->findings)
		return;

	_cleanup_(freep) char *sentence = sentence_text(l->findings, &in.options.ranking,
							locale_is_utf8());

	printf("%s %s\n", locale_is_utf8() ? "▶" : ">", sentence);
	print_others(l);
	printf("ended after %u run%s: %s\n", l->refinement->run_cnt,
	       l->refinement->run_cnt == 1 ? "" : "s", why);
	printf("next:  vprof show variance-tree    vprof show critical-path --slowest 1    vprof "
	       "show runs\n");
}

/* A round failed: say so, and what the rounds before found. */
static int end_early(struct loop *l, const struct diag *diag)
{
	int status = interrupted ? 128 + SIGINT : fail(diag);

	l->stop = interrupted ? "interrupted" : "failed";
	if (l->findings || for_programs())
		print_end(l);
	return status;
}

static int iterate(struct loop *l, const struct refine_options *o)
{
	struct sigaction catch = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
	struct diag diag = DIAG_INIT;

	if (prepare(l, o, &diag) < 0)
		return fail(&diag);
	style_init(&l->style, stderr, false);
	note_line("%zu functions, %zu of them start, end or resume intervals; policy %s, k %u, "
		  "threshold %.3g %%",
		  l->project->functions.cnt, l->graph.root_cnt, refine_policy_name(o->policy), o->k,
		  o->threshold * 100);
	sigaction(SIGINT, &catch, NULL);
	while (!l->stop)
		if (run_round(l, &diag) < 0)
			return end_early(l, &diag);
	print_end(l);
	return l->status;
}

static int iterate_run(int argc, char **argv)
{
	_cleanup_(loop_release) struct loop l = { .rounds = json_array() };
	struct refine_options options;
	struct diag diag = DIAG_INIT;
	char *const *given = NULL;
	int status;

	if (options_parse_command(argc, argv, &cmd_iterate, NULL, &given, &status))
		return status;
	l.build = (struct build_options){ arg_jobs, arg_verbose, !arg_verbose };
	if (config_read(config_path(), &l.config, &diag) < 0)
		return fail(&diag);
	status = take_options(&l.config, &options);
	if (status)
		return status;
	if (record_command(&l.config, "iterate", given, &l.run_command, &diag) < 0 ||
	    store_open(data_dir(), true, &l.store, &diag) < 0 ||
	    build_command(l.store, &l.config, "iterate", NULL, &l.build_command, &diag) < 0)
		return fail(&diag);
	return iterate(&l, &options);
}

static const struct option_desc iterate_options[] = {
	{ 'k', "k", "N", OPT_UINT, &arg_k, "go on with the N best factors (3)" },
	{ 0, "threshold", "D", OPT_DOUBLE, &arg_threshold, "of more than this fraction of the variance (0.05)" },
	{ 0, "policy", "POLICY", OPT_STR, &arg_policy, "budget: several levels a run; paper: Algorithm 3, one level" },
	{ 0, "max-runs", "N", OPT_UINT, &arg_max_runs, "at most N runs (12)" },
	{ 0, "overhead", "F", OPT_DOUBLE, &arg_overhead, "budget: what probes may cost, of the mean latency (0.05)" },
	{ 0, "format", "FORMAT", OPT_STR, &arg_format, "text, or json: the runs, why it ended, the last run's factors" },
	{ 0, "ignore-status", NULL, OPT_FLAG, &arg_ignore_status, "go on when the command fails" },
	{ 0, "buffer", "MIB", OPT_UINT, &arg_buffer_mib, "memory for records not yet written, in MiB" },
	{ 'j', "jobs", "N", OPT_UINT, &arg_jobs, "recompile N units at a time (default: one a core)" },
	{ 'v', "verbose", NULL, OPT_FLAG, &arg_verbose, "show what the build says" },
	OPT_END
};
static const char *const iterate_examples[] = {
	"vprof iterate -- ./bench.sh",
	"vprof iterate --k 3 --policy paper --max-runs 30 -- ./bench.sh", NULL
};
const struct cmd cmd_iterate = {
	.name = "iterate", .synopsis = "[--k N] [--policy budget|paper] [-- COMMAND...]",
	.summary = "plan, build, record, analyse, until the cause has a name",
	.options = iterate_options, .run = iterate_run, .examples = iterate_examples,
};

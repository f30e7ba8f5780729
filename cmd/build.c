/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build.c - `vprof build -- make`: the user's build with the launcher in front of the compiler.
 *
 *	1. run the build; each unit leaves a scan record
 *	2. load the records: functions, call graph
 *	3. decide the plan (given by --functions, or roots and callees)
 *	4. if it changed: recompile the units whose probes change, run the build once more to link
 *
 * Nothing in the user's tree changes except the build's own output.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "project/build/build_steps.h"
#include "project/build/check_places.h"
#include "project/build/choose_plan.h"
#include "project/build/header_functions.h"
#include "project/build/unit_report.h"
#include "project/config/data_lock.h"
#include "project/config/locate.h"
#include "project/runs/leave_out.h"
#include "project/runs/project.h"

#define DEFAULT_DEPTH 3

static const char *arg_functions;
static unsigned arg_depth = DEFAULT_DEPTH, arg_jobs;
static bool arg_sampled, arg_verbose;

/* ---- the plan ---- */

static bool is_sampled(const struct config *c)
{
	return arg_sampled || sample_is_rare(&c->sample);
}

static int decide_plan(struct store *s, const struct config *c, const units *scanned,
		       struct plan **ret, struct str *ret_unused, struct diag *reterr)
{
	_cleanup_(plan_freep) struct plan *plan = plan_new();
	_cleanup_(project_freep) struct project *project = NULL;
	size_t root_cnt;
	int r = project_read(s, &project, reterr);

	if (r < 0)
		return r;
	plan->sampled = is_sampled(c);
	leave_out(project, c);
	look_through_header_functions(project, scanned);
	leave_out_unused(project, c, ret_unused);
	if (arg_functions) {
		r = plan_from_text(project, arg_functions, plan, reterr);
		if (r < 0)
			return r;
	} else {
		choose_plan(project, c, scanned, arg_depth, plan, &root_cnt);
		/* check_places() reports places that do not exist. */
		if (root_cnt == 0 && c->intervals.cnt == 0) {
			diag_set(reterr, EXIT_USAGE, -ENOENT,
				 "nothing says what an interval is: there is no [interval] in vprof.conf "
				 "and no VPROF_BEGIN in the sources");
			return diag_remedy(reterr, -ENOENT,
					   "vprof annotate --start FUNCTION --end FUNCTION, then vprof build; vprof annotate"
					   " --suggest names candidates");
		}
	}
	*ret = TAKE_PTR(plan);
	return 0;
}

/* ---- the report ---- */

struct tally {
	const char *reason;
	unsigned cnt;
	const struct scan_function *example;
};

static void print_skipped(const units *list)
{
	_cleanup_(map_freep) struct map *seen = map_new();
	VEC(struct tally) tallies = { 0 };

	for (size_t u = 0; u < list->cnt; u++) {
		const struct unit *unit = list->items[u];

		if (unit->misread && !unit_is_uncounted(unit))
			note_line("'%s' was not fully understood, functions and calls in it may be missing: %s",
				  unit->source, unit->misread);
		for (size_t i = 0; i < unit->functions.cnt; i++) {
			const struct scan_function *f = &unit->functions.items[i];
			size_t t = 0;

			if (!f->skipped || (*map_slot(seen, f->key))++)
				continue;
			while (t < tallies.cnt && strcmp(tallies.items[t].reason, f->skipped) != 0)
				t++;
			if (t == tallies.cnt)
				VEC_ADD(&tallies, (struct tally){ f->skipped, 0, f });
			tallies.items[t].cnt++;
		}
	}
	for (size_t t = 0; t < tallies.cnt; t++)
		note_line("%u function%s cannot take a probe: %s (%s at %s:%u%s)", tallies.items[t].cnt,
			  tallies.items[t].cnt == 1 ? "" : "s", tallies.items[t].reason,
			  tallies.items[t].example->name, path_base(tallies.items[t].example->file),
			  tallies.items[t].example->line, tallies.items[t].cnt > 1 ? ", ..." : "");
	VEC_RELEASE(&tallies);
}

static void print_summary(const units *list)
{
	size_t functions, probed;

	units_count(list, &functions, &probed);
	print_skipped(list);
	note_line("%zu unit%s, %zu function%s, %zu of them probed (vprof show coverage lists them)",
		  list->cnt, list->cnt == 1 ? "" : "s", functions,
		  functions == 1 ? "" : "s", probed);
	note_line("next: vprof record -- COMMAND   (COMMAND puts load on the program, and ends)");
}

/* ---- the stages ---- */

static int build(struct store *s, const struct config *c, char *const *given, struct diag *reterr)
{
	const struct build_options options = { .jobs = arg_jobs, .verbose = arg_verbose };
	_cleanup_(args_release) struct args command = ARGS_INIT;
	_cleanup_(freep) char *path = plan_path(), *dir = build_dir();
	_cleanup_(units_release) units scanned = { 0 };
	_cleanup_(primitives_unused_release) struct primitives_unused unused = PRIMITIVES_UNUSED_INIT;
	_cleanup_(plan_freep) struct plan *plan = NULL;
	int r = build_command(s, c, "build", given, &command, reterr);

	if (r == 0 && arg_functions && strcmp(arg_functions, "all") == 0) {
		plan = plan_new();
		plan->all = PLAN_ALWAYS;
		plan->sampled = is_sampled(c);
		make_dirs(dir, 0700);
		r = plan_write(path, plan, reterr);
	}
	if (r == 0)
		r = build_scan(s, &command, &options, &scanned, reterr);
	plan_free(TAKE_PTR(plan));
	if (r == 0)
		r = decide_plan(s, c, &scanned, &plan, &unused.nowhere, reterr);
	if (r == 0)
		r = build_apply(s, &scanned, plan, &command, &options, reterr);
	if (r == 0) {
		warn_untouched(&scanned);
		r = check_places(s, c, &scanned, &unused, reterr);
	}
	if (unused.nowhere.len)
		warn_line("%s: nothing in the build has this name: %s", c->path, unused.nowhere.data);
	if (unused.refused.len)
		warn_line("%s: this records nothing: %s", c->path, unused.refused.data);
	if (r == 0)
		print_summary(&scanned);
	return r;
}

static int build_run(int argc, char **argv)
{
	_cleanup_(config_release) struct config config = { 0 };
	_cleanup_(store_closep) struct store *store = NULL;
	struct diag diag = DIAG_INIT;
	char *const *command = NULL;
	int status;

	if (options_parse_command(argc, argv, &cmd_build, NULL, &command, &status))
		return status;
	if (project_config(&config, &diag) < 0 ||
	    store_open(data_dir(), true, &store, &diag) < 0 ||
	    lock_to_build(&config, &diag) < 0 ||
	    build(store, &config, command, &diag) < 0)
		return fail(&diag);
	return EXIT_DONE;
}

static const struct option_desc build_options[] = {
	{ 0, "functions", "LIST", OPT_STR, &arg_functions, "functions to probe: all, a file of names, or NAME,NAME..." },
	{ 0, "depth", "N", OPT_UINT, &arg_depth, "without --functions: probe callees of the interval's root, N calls deep (default 3)" },
	{ 0, "sampled", NULL, OPT_FLAG, &arg_sampled, "make calls that are not recorded cheaper, for record --sample" },
	{ 'j', "jobs", "N", OPT_COUNT, &arg_jobs, "recompile N units at a time (default: one per core)" },
	{ 'v', "verbose", NULL, OPT_FLAG, &arg_verbose, "print what the launcher does to each unit" },
	LOCK_OPTION,
	OPT_END
};
static const char *const build_examples[] = {
	"vprof build -- make -j4",
	"vprof build --functions all -- make",
	"vprof build --functions parse_request,server.c:flush_log",
	"vprof build --sampled -- make -j4",
	NULL
};
const struct cmd cmd_build = {
	.name = "build", .synopsis = "[--functions all|FILE|NAME,...] [-- COMMAND...]",
	.summary = "run your build with the probes in place",
	.options = build_options, .run = build_run, .examples = build_examples,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge.c - `vprof merge RUN...`: several runs as one, with the intervals of all.
 *
 * The merged run keeps its parts' traces (links, or copies across file systems) under their first runs' numbers, so
 * that it survives when those are removed, and that merging merged runs, in any order, is the same as merging all at
 * once.  A part that would be included twice is an error: its intervals would count twice.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "base/file.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "cmd/merge_digests.h"
#include "project/config/locate.h"
#include "project/config/quantity.h"
#include "project/digests/recorded_by.h"
#include "project/runs/project.h"
#include "project/runs/run_parts.h"
#include "project/runs/walked_parts.h"
#include "trace/parts.h"

static const char *arg_output, *arg_window;

static int add_run(struct store *s, const struct run *run, run_parts *parts, struct run *sum, struct diag *reterr)
{
	_cleanup_(run_parts_release) run_parts own = { NULL, 0, 0 };
	int r = run_parts_find(s, run, &own, reterr);

	for (size_t i = 0; r == 0 && i < own.cnt; i++) {
		for (size_t k = 0; k < parts->cnt; k++)
			if (parts->items[k].run == own.items[i].run) {
				diag_set(reterr, EXIT_USAGE, -EEXIST, "run %" PRIu32 " would be included twice",
					 own.items[i].run);
				return diag_remedy(reterr, -EEXIST, "vprof show runs lists the parts of merged runs");
			}
		VEC_ADD(parts, own.items[i]);
		own.items[i].path = own.items[i].kernel = NULL;
	}
	sum->duration_ns += run->duration_ns;
	if (sum->duration_ns > CLOCK_MAX_NS)
		sum->duration_ns = CLOCK_MAX_NS;
	return r;
}

/* A run, or the runs of a group. */
static int add_runs(struct store *s, const char *name, run_parts *parts, struct run *sum, size_t *run_cnt, struct diag *reterr)
{
	_cleanup_(runs_release) runs found = { NULL, 0, 0 };
	int r = runs_find(s, name, &found, reterr);

	*run_cnt += found.cnt;
	for (size_t i = 0; r == 0 && i < found.cnt; i++)
		r = add_run(s, &found.items[i], parts, sum, reterr);
	return r;
}

static int take_file(const char *dir, uint32_t run, const char *from, const char *suffix, struct diag *reterr)
{
	_cleanup_(freep) char *to = xasprintf("%s/part-%03" PRIu32 ".%s", dir, run, suffix);
	int r = link(from, to) == 0 ? 0 : copy_file(from, to);

	if (r < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot copy '%s' to '%s': %s", from, to,
				strerror(-r));
	return 0;
}

static int take_part(const char *dir, const struct run_part *part, struct diag *reterr)
{
	int r = take_file(dir, part->run, part->path, part->tuples ? "tuples" : "vpt", reterr);
	size_t cnt;
	_cleanup_(freep) char *by = recorded_by_path(part->path), *walked = walked_path(part->path);
	_cleanup_(trace_parts_release) char **files = trace_parts(part->path, &cnt);

	for (size_t i = 0; r == 0 && i < cnt; i++) {
		_cleanup_(freep) char *suffix = xasprintf("vpt%s", files[i] + strlen(part->path));

		r = take_file(dir, part->run, files[i], suffix, reterr);
	}
	if (r == 0 && part->kernel)
		r = take_file(dir, part->run, part->kernel, "vpk", reterr);
	if (r == 0 && file_exists(walked))
		r = take_file(dir, part->run, walked, "walked", reterr);
	return r == 0 && file_exists(by) ? take_file(dir, part->run, by, RECORDED_BY_FILE, reterr) : r;
}

static int create(struct store *s, const struct args *words, const run_parts *parts, struct run *run,
		  struct diag *reterr)
{
	_cleanup_(freep) char *dir = NULL;
	int r = run_create_from(s, "merge", words, arg_output, run, reterr);

	if (r < 0)
		return r;
	dir = run_dir(s, run->number);
	for (size_t i = 0; r == 0 && i < parts->cnt; i++)
		r = take_part(dir, &parts->items[i], reterr);
	return r;
}

static int merge_window(int64_t *ret_ns)
{
	*ret_ns = 0;
	if (!arg_window || strcmp(arg_window, "all") == 0 || parse_duration(arg_window, ret_ns))
		return EXIT_DONE;
	return fail_now(EXIT_USAGE, "vprof merge --window 1h a.vpd b.vpd -o day.vpd",
			"merge: --window is a time with its unit, or all, not '%s'", arg_window);
}

static int merge_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(run_release) struct run run = { 0 };
	_cleanup_(run_parts_release) run_parts parts = { NULL, 0, 0 };
	_cleanup_(findings_freep) struct findings *findings = NULL;
	struct merging_digests digests = { .window_ns = 0 };
	struct diag diag = DIAG_INIT;
	size_t run_cnt = 0;
	int status, r;

	if (options_parse(argc, argv, &cmd_merge, &words, &status))
		return status;
	digests.output = arg_output;
	if (!words.cnt)
		return fail_now(EXIT_USAGE, "vprof merge 1 2 -o both", "merge: which runs, or digests? It takes two or more");
	r = merge_window(&digests.window_ns);
	if (r)
		return r;
	if (merges_digests(&words, &digests, arg_window))
		return merge_digests(&words, &digests);
	r = store_open(data_dir(), false, &store, &diag);
	if (r == 0)
		r = store_check_ours(store, &diag);
	for (size_t i = 0; r == 0 && i < words.cnt; i++)
		r = add_runs(store, words.items[i], &parts, &run, &run_cnt, &diag);
	if (r == 0 && run_cnt < 2)
		return fail_now(EXIT_USAGE, "vprof merge 1 2 -o both", "merge: which runs? It takes two or more");
	if (r == 0)
		r = create(store, &words, &parts, &run, &diag);
	if (r == 0)
		r = run_analyze(store, &run, 0, &findings, &diag);
	return r < 0 ? fail(&diag) : announce_findings(store, &run, findings);
}

static const struct option_desc merge_options[] = {
	{ 'o', "output", "NAME|FILE", OPT_STR, &arg_output, "name the run, in addition to its number; FILE.vpd: write a digest, no run" },
	{ 0, "window", "TIME|all", OPT_STR, &arg_window,
	  "merge sums, as with digests, and add up the windows of a recording that lie in the same TIME, e.g. 1h, or all of them" },
	OPT_END
};
static const char *const merge_examples[] = { "vprof merge 1 2 3 -o all", "vprof merge host-*.vpd -o fleet", NULL };
const struct cmd cmd_merge = {
	.name = "merge", .synopsis = "RUN|FILE.vpd... [-o NAME|FILE.vpd]",
	.summary = "make one run of several, or one digest",
	.options = merge_options, .run = merge_run, .examples = merge_examples,
};

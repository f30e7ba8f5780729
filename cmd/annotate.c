/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate.c - `vprof annotate`: say what an interval is.  Edits vprof.conf; with --write it puts
 * VPROF_ macros into the sources instead and prints the patch.  --dry-run only prints.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "instrumenter/marks/source_marks.h"
#include "project/build/check_annotation.h"
#include "project/build/suggest_interval.h"
#include "project/config/config.h"
#include "project/config/config_text.h"
#include "project/config/data_lock.h"
#include "project/config/locate.h"
#include "project/config/paths.h"

static const char *arg_start, *arg_end, *arg_name = "request", *arg_key;
static struct args arg_resumes;
static bool arg_write, arg_dry_run, arg_suggest;

#define SUGGESTED 5

static int read_arguments(struct interval_directive *d, struct diag *reterr)
{
	int r = 0;

	d->name = xstrdup(arg_name);
	if (arg_key)
		d->key = xstrdup(arg_key);
	r = location_parse(arg_start, &d->start, reterr);
	if (r == 0)
		r = location_parse(arg_end, &d->end, reterr);
	for (size_t i = 0; r == 0 && i < arg_resumes.cnt; i++)
		r = location_parse(arg_resumes.items[i], VEC_EXTEND(&d->resumes), reterr);
	return r;
}

/* Keeps the user's own `nested` line, for which annotate has no option. */
static void keep_nested(const char *text, const char *path, struct interval_directive *d)
{
	_cleanup_(config_release) struct config old = { 0 };

	if (config_parse(text, path, &old, NULL) < 0)
		return;			/* the new text is invalid too, which is reported */
	for (size_t i = 0; i < old.intervals.cnt; i++)
		if (strcmp(old.intervals.items[i].name, d->name) == 0)
			d->inner |= old.intervals.items[i].inner;
}

static int write_config(struct interval_directive *d)
{
	const char *path = config_path() ? config_path() : "vprof.conf";
	_cleanup_(freep) char *old = NULL, *new = NULL;
	_cleanup_(config_release) struct config check = { 0 };
	struct diag diag = DIAG_INIT;
	int r = file_read(path, &old, NULL);

	if (r < 0 && r != -ENOENT)
		return fail_now(EXIT_USAGE, NULL, "cannot read '%s': %s", path, file_why(r));
	if (old)
		keep_nested(old, path, d);
	new = config_put_interval(old ? old : "", d);
	if (config_parse(new, path, &check, &diag) < 0)
		return fail(&diag);
	if (arg_dry_run) {
		fputs(new, stdout);
		return EXIT_DONE;
	}
	if (check_way(path, &diag) < 0)
		return fail(&diag);
	r = file_write(path, new, strlen(new), file_mode(path, 0644));
	if (r < 0)
		return fail_now(EXIT_ENVIRONMENT, NULL, "cannot write '%s': %s", path, strerror(-r));
	note_line("interval '%s' is in %s", d->name, path);
	note_line("next: vprof build -- make");
	return EXIT_DONE;
}

static int write_sources(const struct interval_directive *d)
{
	_cleanup_(freep) char *build_dir = path_join(data_dir(), "build");
	_cleanup_(str_release) struct str patch = STR_INIT;
	struct diag diag = DIAG_INIT;
	bool from_root;
	struct source_marks_options options = {
		.build_dir = build_dir, .include_dir = include_dir(), .write = !arg_dry_run,
	};

	if (source_marks_insert(&options, d, &patch, &from_root, &diag) < 0)
		return fail(&diag);
	fputs(str_cstr(&patch), stdout);
	if (!arg_dry_run)
		note_line("the sources carry the marks of '%s' now; undo with: patch -R -p0%s, and this patch", d->name, from_root ? " -d /" : "");
	return EXIT_DONE;
}

/* Checks against the build, if there is one.  A build that cannot be read is reported by `vprof build`. */
static int check(const struct interval_directive *d, struct diag *reterr)
{
	_cleanup_(freep) char *build_dir = path_join(data_dir(), "build");
	_cleanup_(units_release) units scanned = { NULL, 0, 0 };

	return units_read(build_dir, &scanned, NULL) < 0 ? 0 : check_annotation(d, &scanned, reterr);
}

static int suggest(void)
{
	_cleanup_(store_closep) struct store *s = NULL;
	_cleanup_(project_freep) struct project *p = NULL;
	suggestions list = { NULL, 0, 0 };
	struct diag diag = DIAG_INIT;

	if (store_open(data_dir(), false, &s, &diag) < 0 || project_read(s, &p, &diag) < 0)
		return fail(&diag);
	if (!p->functions.cnt)
		return fail_now(EXIT_ENVIRONMENT, "vprof build -- make", "nothing was built with this data directory: there is no call graph");
	suggest_intervals(p, SUGGESTED, &list);
	for (size_t i = 0; i < list.cnt; i++) {
		const struct suggestion *x = &list.items[i];

		printf("# %s:%u\nvprof annotate --start '%s' --end '%s'%s\n", x->file ? x->file : "?", x->line, x->start, x->end,
		       x->needs_key ? " --key arg0" : "");
	}
	if (!list.cnt)
		return fail_now(EXIT_NO_EVIDENCE, "vprof show call-graph lists the functions",
				"no function of the build leads to a read from a socket and to a write");
	VEC_RELEASE(&list);
	note_line("functions that read from a socket or file and lead to a write, the likeliest first; where two differ, --key is a value "
		  "that both know (vprof check, after a run, says whether it fits)");
	return EXIT_DONE;
}

static int annotate_run(int argc, char **argv)
{
	_cleanup_(interval_directive_release) struct interval_directive d = { 0 };
	struct diag diag = DIAG_INIT;
	int status;

	if (options_parse(argc, argv, &cmd_annotate, NULL, &status))
		return status;
	if (arg_suggest)
		return suggest();
	if (!arg_start || !arg_end)
		return fail_now(EXIT_USAGE, "vprof annotate --start FUNCTION --end FUNCTION",
				"annotate: --start and --end say where an interval begins and ends");
	if (!*arg_name || strpbrk(arg_name, "\"]\n"))
		return fail_now(EXIT_USAGE, NULL, "'%s' cannot name an interval", arg_name);
	if (read_arguments(&d, &diag) < 0)
		return fail(&diag);
	if (!arg_dry_run && data_lock(LOCK_BUILD, &diag) < 0)
		return fail(&diag);
	if (check(&d, &diag) < 0)
		return fail(&diag);
	return arg_write ? write_sources(&d) : write_config(&d);
}

static const struct option_desc annotate_options[] = {
	{ 0, "start", "LOC", OPT_STR, &arg_start, "where an interval begins" },
	{ 0, "end", "LOC", OPT_STR, &arg_end, "where the interval ends" },
	{ 0, "resume", "LOC", OPT_STRS, &arg_resumes, "where a thread takes up an interval (may repeat)" },
	{ 'n', "name", "NAME", OPT_STR, &arg_name, "name of the interval (default: request)" },
	{ 0, "key", "EXPRESSION", OPT_STR, &arg_key, "value that identifies an interval, e.g. arg0->id (default: the thread)" },
	{ 0, "write", NULL, OPT_FLAG, &arg_write, "insert VPROF_ macros into the sources and print the patch" },
	{ 0, "dry-run", NULL, OPT_FLAG, &arg_dry_run, "print the changes, write nothing" },
	{ 0, "suggest", NULL, OPT_FLAG, &arg_suggest, "print intervals that the last build's call graph suggests" },
	LOCK_OPTION,
	OPT_END
};
static const char *const annotate_examples[] = {
	"vprof annotate --start handle_request --end handle_request",
	"vprof annotate --start enqueue@entry --resume work@entry --end reply@return --key 'arg0->id'",
	NULL
};
const struct cmd cmd_annotate = {
	.name = "annotate", .synopsis = "--start LOC --end LOC [--resume LOC]... [--name N] [--key K]",
	.summary = "define an interval: where it begins and ends",
	.options = annotate_options, .run = annotate_run, .examples = annotate_examples, .needs_no_config = true,
};

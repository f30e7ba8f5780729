/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import.c - `vprof import --from FORMAT FILE...`: a run from data that vprof did not record.
 *
 *	tuples	the paper's, as `vprof export` writes them
 *	perf	scheduler events, as `perf script` prints them: no intervals, but all that the views of
 *		whole runs need
 *
 * Whatever it was, the run keeps it as tuples.  The files are read whole before anything is stored: a
 * damaged line leaves no trace of itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/import_perf.h"
#include "cmd/project.h"
#include "cmd/run_parts.h"
#include "trace/tuples.h"

static const char *arg_from, *arg_output;
static struct args arg_comms, arg_pids;

static int save_tuples(const char *path, const struct trace *t, struct diag *reterr)
{
	_cleanup_(fclosep) FILE *out = fopen(path, "we");
	int r = out ? tuples_write(out, t) : -errno;

	if (r == 0 && fflush(out) != 0)
		r = -errno;
	if (r < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot write '%s': %s", path, strerror(-r));
	return 0;
}

static int import(struct store *s, const struct args *files, const struct trace *t, struct run *run,
		  struct findings **ret, struct diag *reterr)
{
	int r = run_create_from(s, "import", files, arg_output, run, reterr);

	if (r < 0)
		return r;

	_cleanup_(freep) char *dir = run_dir(s, run->number), *path = path_join(dir, "trace.tuples");

	r = save_tuples(path, t, reterr);
	return r < 0 ? r : run_analyze(s, run, 0, ret, reterr);
}

static int read_perf(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	return import_perf(paths, cnt, &arg_comms, &arg_pids, ret, reterr);
}

static const struct format {
	const char *name;
	int (*read)(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr);
} formats[] = { { "tuples", tuples_read }, { "perf", read_perf } };

static const struct format *find_format(void)
{
	for (size_t i = 0; arg_from && i < sizeof(formats) / sizeof(*formats); i++)
		if (strcmp(arg_from, formats[i].name) == 0)
			return &formats[i];
	return NULL;
}

static int import_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args files = ARGS_INIT;
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(trace_freep) struct trace *trace = NULL;
	_cleanup_(run_release) struct run run = { 0 };
	_cleanup_(findings_freep) struct findings *findings = NULL;
	const struct format *format;
	struct diag diag = DIAG_INIT;
	int status;

	if (options_parse(argc, argv, &cmd_import, &files, &status))
		return status;
	format = find_format();
	if (!format)
		return fail_now(EXIT_USAGE, "vprof import --from tuples FILE...",
				arg_from ? "import: unknown format '%s'; there are: tuples, perf" :
				"import: --from says what the files are", arg_from);
	if (files.cnt == 0)
		return fail_now(EXIT_USAGE, "vprof import --from tuples FILE...", "import: which files?");
	for (size_t i = 0; i < files.cnt; i++)
		if (strcmp(files.items[i], "-") == 0) {
			free(files.items[i]);
			files.items[i] = xstrdup("/dev/stdin");
		}
	if (format->read != read_perf && arg_comms.cnt + arg_pids.cnt)
		return fail_now(EXIT_USAGE, "vprof import --from perf --comm NAME FILE...",
				"import: --comm and --pid are for --from perf");
	if (format->read((const char *const *)files.items, files.cnt, &trace, &diag) < 0)
		return fail(&diag);
	trace_sort(trace);
	if (store_open(data_dir(), true, &store, &diag) < 0 ||
	    import(store, &files, trace, &run, &findings, &diag) < 0)
		return fail(&diag);
	return format->read == read_perf ? import_perf_announce(&run, trace) : announce_findings(store, &run, findings);
}

static const struct option_desc import_options[] = {
	{ 0, "from", "FORMAT", OPT_STR, &arg_from, "what the files are: tuples, or perf (what perf script prints)" },
	{ 'o', "output", "NAME", OPT_STR, &arg_output, "give the run a name besides its number" },
	{ 0, "comm", "NAME", OPT_STRS, &arg_comms, "perf: only threads of that name, and those they made (may repeat)" },
	{ 'p', "pid", "PID", OPT_STRS, &arg_pids, "perf: only that process, and those it made (may repeat)" },
	OPT_END
};
static const char *const import_examples[] = {
	"vprof import --from tuples trace.tuples",
	"perf script --ns --show-lost-events -F comm,pid,tid,cpu,time,event,trace | vprof import --from perf -", NULL
};
const struct cmd cmd_import = {
	.name = "import", .synopsis = "--from FORMAT FILE... [-o NAME]",
	.summary = "make a run from data of another tool",
	.options = import_options, .run = import_run, .examples = import_examples,
};

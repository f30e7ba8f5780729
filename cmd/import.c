/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import.c - `vprof import --from FORMAT FILE...`: a run from data that vprof did not record.
 *
 * Each format is a row of its own file (import_format.h).  The run always stores tuples.  All files are read before
 * anything is stored, so a damaged line changes nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "cmd/commands.h"
#include "cmd/formats/import_format.h"
#include "cmd/messages.h"
#include "project/config/locate.h"
#include "project/runs/project.h"
#include "project/runs/run_parts.h"

static const char *arg_from, *arg_output;

static const struct import_format *const formats[] = {
#define X(name) &import_##name,
	IMPORT_FORMATS
#undef X
};

static const struct import_format *find_format(void)
{
	for (size_t i = 0; arg_from && i < ARRAY_SIZE(formats); i++)
		if (strcmp(arg_from, formats[i]->name) == 0)
			return formats[i];
	return NULL;
}

static int unknown_format(void)
{
	_cleanup_(str_release) struct str names = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		str_addf(&names, "%s%s", i ? ", " : "", formats[i]->name);
	if (!arg_from)
		return fail_now(EXIT_USAGE, "vprof import --from tuples FILE...", "import: --from says what the files are");
	return fail_now(EXIT_USAGE, "vprof import --from tuples FILE...", "import: unknown format '%s'; there are: %s",
			arg_from, str_cstr(&names));
}

/* An option of one format is not one of another. */
static int refuse_options(const struct import_format *chosen)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		const struct import_format *f = formats[i];
		_cleanup_(str_release) struct str names = STR_INIT;

		if (f == chosen || f->options == chosen->options || !f->has_options || !f->has_options())
			continue;
		for (const struct option_desc *o = f->options; o->help; o++)
			str_addf(&names, "%s--%s", o == f->options ? "" : o[1].help ? ", " : " and ", o->long_name);
		return fail_now(EXIT_USAGE, f->example, "import: %s %s for --from %s", str_cstr(&names),
				f->options[1].help ? "are" : "is", f->name);
	}
	return EXIT_DONE;
}

static int import_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args files = ARGS_INIT;
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(trace_freep) struct trace *trace = NULL;
	_cleanup_(run_release) struct run run = { 0 };
	_cleanup_(findings_freep) struct findings *findings = NULL;
	const struct import_format *format;
	struct diag diag = DIAG_INIT;
	int status;

	if (options_parse(argc, argv, &cmd_import, &files, &status))
		return status;
	format = find_format();
	if (!format)
		return unknown_format();
	if (files.cnt == 0)
		return fail_now(EXIT_USAGE, "vprof import --from tuples FILE...", "import: which files?");
	for (size_t i = 0; i < files.cnt; i++)
		if (strcmp(files.items[i], "-") == 0) {
			free(files.items[i]);
			files.items[i] = xstrdup("/dev/stdin");
		}
	status = refuse_options(format);
	if (status)
		return status;
	if (format->keep) {
		if (store_open(data_dir(), true, &store, &diag) < 0 ||
		    format->keep((const char *const *)files.items, files.cnt, store, &files, arg_output, &run, &findings, &diag) < 0)
			return fail(&diag);
		return announce_findings(store, &run, findings);
	}
	if (format->read((const char *const *)files.items, files.cnt, &trace, &diag) < 0)
		return fail(&diag);
	trace_sort(trace);
	if (store_open(data_dir(), true, &store, &diag) < 0 ||
	    run_create_of_tuples(store, "import", &files, arg_output, trace, &run, &diag) < 0 ||
	    run_analyze(store, &run, 0, &findings, &diag) < 0)
		return fail(&diag);
	return format->announce ? format->announce(&run, trace) : announce_findings(store, &run, findings);
}

/* "format of the files: tuples, or perf (output of perf script)"; lives as long as the process. */
static const char *help_of_from(void)
{
	static struct str text;

	str_add(&text, "format of the files: ");
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		option_help_add(&text, i, ARRAY_SIZE(formats), formats[i]->name, formats[i]->help);
	return str_cstr(&text);
}

static const struct option_desc *import_options(void)
{
	static option_table table;

	if (table.cnt)
		return table.items;
	option_table_add(&table, (const struct option_desc[]){
		{ 0, "from", "FORMAT", OPT_STR, &arg_from, help_of_from() },
		{ 'o', "output", "NAME", OPT_STR, &arg_output, "name the run, in addition to its number" },
		OPT_END });
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (i == 0 || formats[i]->options != formats[i - 1]->options)	/* several share some: they stand side by side */
			option_table_add(&table, formats[i]->options);
	return option_table_end(&table);
}

static const char *const import_examples[] = {
	"vprof import --from tuples trace.tuples",
	"perf script --ns --show-lost-events -F comm,pid,tid,cpu,time,event,trace | vprof import --from perf -", NULL
};
const struct cmd cmd_import = {
	.name = "import", .synopsis = "--from FORMAT FILE... [-o NAME]",
	.summary = "make a run from data of another tool",
	.all_options = import_options, .run = import_run, .examples = import_examples,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export.c - `vprof export --format FORMAT [RUN]`: a run's trace for other tools, on stdout.
 *
 * Each format is a row of its own file (export_format.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"
#include "cmd/commands.h"
#include "cmd/formats/export_format.h"
#include "cmd/formats/export_given.h"
#include "cmd/formats/export_sums.h"
#include "cmd/merge_digests.h"
#include "cmd/messages.h"
#include "cmd/output_file.h"
#include "project/config/locate.h"
#include "project/runs/project.h"
#include "trace/causal/in_virtual_time.h"

static const char *arg_format, *arg_output, *arg_faster;

static const struct export_format *const formats[] = {
#define X(name) &export_##name,
	EXPORT_FORMATS
#undef X
};

static const struct export_format *find_format(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!arg_format || strcmp(arg_format, formats[i]->name) == 0)
			return formats[i];
	return NULL;
}

static int unknown_format(void)
{
	_cleanup_(str_release) struct str names = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		str_addf(&names, "%s%s", i ? ", " : "", formats[i]->name);
	return fail_now(EXIT_USAGE, "vprof export --format tuples RUN", "export: unknown format '%s'; there are: %s", arg_format,
			str_cstr(&names));
}

/* The exported object: a run, or its trace, or a digest. */
struct exported {
	struct store *store;
	const struct run *run;
	const struct trace *trace;
	const struct summed *digest;
};

static int write_format(const struct export_format *format, FILE *out, const struct exported *of, struct diag *reterr)
{
	if (format->sums)
		return format->sums->write(out, of->digest, reterr);
	if (format->writer)
		return export_given(out, of->store, of->run, format->writer, reterr);
	return format->write(out, of->trace);
}

static int write_to(const char *path, const struct export_format *format, const struct exported *of)
{
	_cleanup_(output_release) struct output o = { .path = path };
	struct diag diag = DIAG_INIT;
	int r;

	if (!path && format->is_binary && isatty(STDOUT_FILENO))
		return fail_now(EXIT_USAGE, "vprof export --format FORMAT RUN -o FILE", "export: %s is not text for a terminal",
				format->name);
	r = output_open(&o, &diag);
	if (r < 0)
		return fail(&diag);
	r = write_format(format, o.file, of, &diag);
	if (r < 0 && *diag.text)
		return fail(&diag);
	/* finish_output() reports errors of stdout. */
	if (r < 0 && (path || !ferror(o.file)))
		return fail_now(EXIT_ENVIRONMENT, NULL, "cannot write '%s': %s", path ? path : "stdout", strerror(-r));
	return output_finish(&o, &diag) < 0 ? fail(&diag) : EXIT_DONE;
}

/* Refuses an option, and names all formats that have it. */
static int refuse_option(const struct option_desc *options)
{
	_cleanup_(str_release) struct str names = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (formats[i]->options == options)
			str_addf(&names, "%s%s", names.len ? ", " : "", formats[i]->name);
	return fail_now(EXIT_USAGE, NULL, "export: --%s is for --format %s", options->long_name, str_cstr(&names));
}

/* An option of one format is not one of another. */
static int refuse_options(const struct export_format *chosen)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (formats[i] != chosen && formats[i]->has_options && formats[i]->has_options() &&
		    formats[i]->options != chosen->options)
			return refuse_option(formats[i]->options);
	if (export_interval && !chosen->takes_interval)
		return fail_now(EXIT_USAGE, NULL, "export: --format %s has no --interval", chosen->name);
	return EXIT_DONE;
}

/* The trace becomes that of the blocks in which the target was so much faster, in virtual time. */
static int make_faster(struct store *s, const struct run *run, struct trace *t)
{
	_cleanup_(experiments_freep) struct experiments *e = NULL;
	const char *is = strrchr(arg_faster, '=');
	char *end = NULL;
	double percent = is ? strtod(is + 1, &end) : -1;
	size_t number, cnt;

	if (!is || end == is + 1 || *end || !(percent >= 0 && percent <= 100))
		return fail_now(EXIT_USAGE, "vprof export --faster log_flush=50 RUN", "export: --faster is TARGET=PERCENT, not '%s'", arg_faster);
	if (experiments_read(s, run->number, &e, NULL) < 0 || e->replayed || !t->blocks.cnt)
		return fail_now(EXIT_NO_EVIDENCE, "vprof causal -- COMMAND", "run %u has no experiments in its trace", run->number);
	number = experiments_target_number(e, arg_faster, (size_t)(is - arg_faster), &cnt);
	if (number == SIZE_MAX || trace_targets_cnt(t) > cnt)	/* a target without any result has no row */
		return fail_now(EXIT_USAGE, "vprof show causal   lists the targets", "export: run %u has no experiments with the target '%.*s'",
				run->number, (int)(is - arg_faster), arg_faster);
	if (!trace_put_in_virtual_time(t, (uint32_t)number, (uint32_t)(percent * 10 + 0.5)))
		return fail_now(EXIT_NO_EVIDENCE, "vprof show causal   lists the speedups", "run %u has no interval with '%.*s' %g %% faster in its"
				" trace, which is that of the program's last start", run->number, (int)(is - arg_faster), arg_faster, percent);
	return EXIT_DONE;
}

static int export_trace(const char *path, const struct export_format *format, struct store *store, const struct run *run)
{
	_cleanup_(trace_freep) struct trace *trace = NULL;
	struct diag diag = DIAG_INIT;

	if (run_trace_read(store, run, &trace, &diag) < 0)
		return fail(&diag);
	trace_sort(trace);
	if (arg_faster) {
		int status = make_faster(store, run, trace);

		if (status)
			return status;
	}
	if (!trace->intervals.cnt && !trace->segments.cnt)
		return fail_now(EXIT_NO_EVIDENCE, "vprof show runs   (then vprof export RUN)",
				"run %u has no intervals: there is nothing to export", run->number);
	if (!trace->intervals.cnt)
		warn_line("run %u has no intervals: only what its threads did is exported", run->number);
	if (format->announce)
		format->announce(trace);
	return write_to(path, format, &(struct exported){ .store = store, .run = run, .trace = trace });
}

/* file NULL: of the run. */
static int export_digest_of(const char *path, const struct export_format *format, struct store *store, const struct run *run,
			    const char *file)
{
	_cleanup_(summed_freep) struct summed *digest = NULL;
	struct diag diag = DIAG_INIT;

	if (format->sums->check(&diag) < 0 || export_sums_read(store, run, file, &digest, &diag) < 0)
		return fail(&diag);
	return write_to(path, format, &(struct exported){ .digest = digest });
}

static int check_words(const struct export_format *format, const struct args *words)
{
	const char *word = words->cnt ? words->items[0] : NULL;

	if (words->cnt > 1)
		return fail_now(EXIT_USAGE, NULL, "export: one run at a time");
	if (is_digest_name(word) && !format->sums)
		return fail_now(EXIT_USAGE, "vprof import --from digest FILE.vpd   makes a run of it", "export: '%s' is a digest, which only "
				"--format digest and digest-tsv write", word);
	if (!format->write && arg_faster)
		return fail_now(EXIT_USAGE, "vprof export --format tuples --faster TARGET=PERCENT", "export: --format %s has no --faster",
				format->name);
	return refuse_options(format);
}

static int export_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(run_release) struct run run = { 0 };
	const struct export_format *format;
	struct diag diag = DIAG_INIT;
	const char *path, *word;
	int status;

	if (options_parse(argc, argv, &cmd_export, &words, &status))
		return status;
	format = find_format();
	if (!format)
		return unknown_format();
	status = check_words(format, &words);
	if (status)
		return status;
	path = arg_output && strcmp(arg_output, "-") ? arg_output : NULL;
	word = words.cnt ? words.items[0] : NULL;
	if (is_digest_name(word))
		return export_digest_of(path, format, NULL, NULL, word);
	if (store_open(data_dir(), false, &store, &diag) < 0 || run_find(store, word, &run, &diag) < 0)
		return fail(&diag);
	if (format->sums)
		return export_digest_of(path, format, store, &run, NULL);
	if (!format->write)
		return write_to(path, format, &(struct exported){ .store = store, .run = &run });
	return export_trace(path, format, store, &run);
}

/* "tuples (the default)"; lives as long as the process. */
static const char *help_of_format(void)
{
	static struct str text;

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		option_help_add(&text, i, ARRAY_SIZE(formats), formats[i]->name, i ? NULL : "the default");
	return str_cstr(&text);
}

/* An earlier format has the same table. */
static bool is_shared(size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (formats[i]->options == formats[at]->options)
			return true;
	return false;
}

static const struct option_desc *export_options(void)
{
	static option_table table;

	if (table.cnt)
		return table.items;
	option_table_add(&table, (const struct option_desc[]){
		{ 0, "format", "FORMAT", OPT_STR, &arg_format, help_of_format() },
		{ 'o', "output", "FILE", OPT_STR, &arg_output, "write to FILE instead of stdout" },
		{ 0, "faster", "TARGET=PERCENT", OPT_STR, &arg_faster,
		  "of a run of experiments: the part in which that was so much faster, in virtual time; for import and all views" },
		{ 0, "interval", "NAME", OPT_STR, &export_interval, "name of the kind of interval; not for tuples and digests" },
		OPT_END });
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!is_shared(i))
			option_table_add(&table, formats[i]->options);
	return option_table_end(&table);
}

static const char *const export_examples[] = {
	"vprof export --format tuples 3 > run3.tuples", "vprof export --format chrome-trace -o slowest.json",
	"vprof export --format folded --metric mean | flamegraph.pl > mean.svg", NULL
};
const struct cmd cmd_export = {
	.name = "export", .synopsis = "[--format FORMAT] [RUN|FILE.vpd]",
	.summary = "write a run's trace for other tools",
	.all_options = export_options, .run = export_run, .examples = export_examples,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diff.c - `vprof diff BASE HEAD`: how two sides of runs differ, and whether a gate holds.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "cmd/commands.h"
#include "cmd/diff/diff.h"
#include "cmd/diff/sides.h"
#include "cmd/merge_digests.h"
#include "cmd/messages.h"
#include "cmd/pager.h"
#include "project/config/locate.h"
#include "report/compare/diff.h"

static const char *arg_format = "text", *arg_by = "run", *arg_gate, *arg_interval, *arg_output, *arg_inconclusive_exit;
static unsigned arg_interleave;
static bool arg_ascii, arg_fail_inconclusive;

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_GITHUB, FORMAT_JUNIT, FORMAT_CNT };
static const char *const format_names[] = {
	[FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", [FORMAT_GITHUB] = "github", [FORMAT_JUNIT] = "junit",
};

/* The comparison and its gate; release frees all of it. */
struct judged {
	struct sides sides;
	struct gate gate;
};

static void judged_release(struct judged *j)
{
	gate_release(&j->gate);
	sides_release(&j->sides);
}

static int read_judged(struct judged *j, const char *base, const char *head, struct diag *reterr)
{
	struct compared_side sides[SIDE_CNT];
	bool by_host = strcmp(arg_by, "host") == 0;
	int r = sides_read(&j->sides, base, head, arg_interval, by_host, sides, reterr);

	if (r == 0 && arg_gate)
		r = gate_check_functions(&j->gate, &sides[SIDE_BASE], &sides[SIDE_HEAD], reterr);
	if (r < 0)
		return r;
	j->sides.comparison = (by_host ? compare_hosts : compare)(&sides[SIDE_BASE], &sides[SIDE_HEAD]);
	if (arg_gate)
		gate_judge(&j->gate, j->sides.comparison);
	return 0;
}

/* ---- output ---- */

/* Appends, because other steps write to the file, too.  GitHub shows its text at the end of a job. */
static int write_summary(const struct diff_input *in)
{
	const char *path = getenv("GITHUB_STEP_SUMMARY");
	_cleanup_(fclosep) FILE *out = path && *path ? fopen(path, "ae") : NULL;

	if (!path || !*path)
		return EXIT_DONE;
	if (!out)
		return fail_now(EXIT_ENVIRONMENT, NULL, "cannot write '%s' ($GITHUB_STEP_SUMMARY): %s", path, strerror(errno));
	diff_github_summary(out, in);
	return fflush(out) == 0 ? EXIT_DONE :
	       fail_now(EXIT_ENVIRONMENT, NULL, "cannot write '%s' ($GITHUB_STEP_SUMMARY): %s", path, strerror(errno));
}

static int print_sides(const struct judged *j, enum format format)
{
	const struct sides *s = &j->sides;
	struct diff_input in = {
		.comparison = s->comparison, .gate = arg_gate ? &j->gate : NULL,
		.runs = { &s->runs[SIDE_BASE], &s->runs[SIDE_HEAD] }, .label = { s->label[SIDE_BASE], s->label[SIDE_HEAD] },
	};
	diff_warnings warnings = { NULL, 0, 0 };
	struct style style;
	json_t *document;

	style_init(&style, stdout, arg_ascii);
	pager_start();
	if (format != FORMAT_JSON)
		diff_warn(s->comparison, &warnings);
	for (size_t i = 0; i < warnings.cnt; i++)
		warn_line("%s", warnings.items[i].text);
	VEC_RELEASE(&warnings);
	switch (format) {
	case FORMAT_TEXT:
		diff_text(&style, &in);
		break;
	case FORMAT_JSON:
		document = diff_json(&in);
		report_write_json(stdout, document);
		json_decref(document);
		break;
	case FORMAT_GITHUB:
		diff_github(stdout, &in);
		return write_summary(&in);
	case FORMAT_JUNIT:
		diff_junit(stdout, &in);
		break;
	case FORMAT_CNT:
		break;
	}
	return EXIT_DONE;
}

static int end_of(const struct judged *j, unsigned inconclusive)
{
	if (!arg_gate || j->gate.result == GATE_PASS)
		return EXIT_DONE;
	if (j->gate.result == GATE_FAIL || arg_fail_inconclusive)
		return EXIT_CHECK_FAILED;
	return (int)inconclusive;
}

/* ---- usage ---- */

static int choose_format(enum format *ret)
{
	for (unsigned f = 0; f < FORMAT_CNT; f++)
		if (strcmp(arg_format, format_names[f]) == 0) {
			*ret = (enum format)f;
			return EXIT_DONE;
		}
	return fail_now(EXIT_USAGE, "--format text, json, github or junit", "diff cannot be printed as '%s'", arg_format);
}

static int take_inconclusive(unsigned *ret)
{
	char *end;
	unsigned long number;

	*ret = EXIT_NO_EVIDENCE;
	if (!arg_inconclusive_exit)
		return EXIT_DONE;
	if (arg_fail_inconclusive)
		return fail_now(EXIT_USAGE, NULL, "diff: --fail-inconclusive is --inconclusive-exit 1: give one of them");
	number = strtoul(arg_inconclusive_exit, &end, 10);
	if (!arg_inconclusive_exit[0] || arg_inconclusive_exit[strspn(arg_inconclusive_exit, "0123456789")] || number > 255)
		return fail_now(EXIT_USAGE, "vprof diff --inconclusive-exit 125",
				"diff: --inconclusive-exit is a status from 0 to 255, not '%s'", arg_inconclusive_exit);
	*ret = (unsigned)number;
	return EXIT_DONE;
}

/* Finds the two commands, each after its "--". */
static int take_commands(char *const *given, struct args *base, struct args *head)
{
	struct args *to = base;

	for (; given && *given; given++) {
		if (to == base && strcmp(*given, "--") == 0)
			to = head;
		else
			args_add(to, *given);
	}
	if (base->cnt && head->cnt)
		return EXIT_DONE;
	return fail_now(EXIT_USAGE, "vprof diff --interleave 10 -- COMMAND_A -- COMMAND_B",
			"diff: --interleave wants two commands, each after its own '--'");
}

static int record_both(struct sides *s, char *const *given, enum format format, char *ret_groups[2])
{
	_cleanup_(args_release) struct args base = ARGS_INIT, head = ARGS_INIT;
	struct diag diag = DIAG_INIT;
	int status = take_commands(given, &base, &head);

	if (status)
		return status;
	if (store_open(data_dir(), true, &s->store, &diag) < 0)
		return fail(&diag);
	return diff_interleave(s->store, arg_interleave, arg_output, &base, &head, format != FORMAT_TEXT, ret_groups);
}

static int check_by(void)
{
	if (strcmp(arg_by, "run") && strcmp(arg_by, "host"))
		return fail_now(EXIT_USAGE, "vprof diff --by host canary baseline", "diff: --by is run or host, not '%s'", arg_by);
	return arg_interleave && strcmp(arg_by, "host") == 0 ?
	       fail_now(EXIT_USAGE, NULL, "diff: --interleave records on one host; --by host compares many") : EXIT_DONE;
}

static int check_words(const struct args *words, char *const *given)
{
	if (arg_interleave)
		return words->cnt ? fail_now(EXIT_USAGE, "vprof diff --interleave 10 -- COMMAND_A -- COMMAND_B",
					     "diff: --interleave records its own runs; '%s' is one too many", words->items[0]) : EXIT_DONE;
	if (given || arg_output)
		return fail_now(EXIT_USAGE, "vprof diff --interleave 10 -- COMMAND_A -- COMMAND_B",
				"diff: %s goes with --interleave", given ? "a command" : "-o");
	if (words->cnt != 2)
		return fail_now(EXIT_USAGE, "vprof diff before after", "diff: which runs? It takes two: BASE and HEAD");
	for (size_t i = 0; i < words->cnt; i++)
		if (strcmp(arg_by, "host") && is_digest_name(words->items[i]))
			return fail_now(EXIT_USAGE, "vprof diff BASE.vpd HEAD.vpd --by host; vprof import --from digest FILE.vpd makes a run",
					"diff: '%s' is a digest, and these are compared by host", words->items[i]);
	return EXIT_DONE;
}

static int diff_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	_cleanup_(judged_release) struct judged j = { .sides = { .store = NULL } };
	_cleanup_(freep) char *base = NULL, *head = NULL;
	struct diag diag = DIAG_INIT;
	char *const *given = NULL, *groups[2] = { NULL, NULL };
	unsigned inconclusive;
	enum format format = FORMAT_TEXT;
	int status;

	if (options_parse_command(argc, argv, &cmd_diff, &words, &given, &status))
		return status;
	status = choose_format(&format);
	if (status == EXIT_DONE)
		status = take_inconclusive(&inconclusive);
	if (status == EXIT_DONE)
		status = check_by();
	if (status == EXIT_DONE)
		status = check_words(&words, given);
	if (status)
		return status;
	if (arg_gate && gate_parse(arg_gate, &j.gate, &diag) < 0)
		return fail(&diag);
	if (arg_interleave)
		status = record_both(&j.sides, given, format, (char **)groups);
	base = arg_interleave ? groups[0] : xstrdup(words.items[0]);
	head = arg_interleave ? groups[1] : xstrdup(words.items[1]);
	if (status)
		return status;
	if (read_judged(&j, base, head, &diag) < 0)
		return fail(&diag);
	status = print_sides(&j, format);
	return status ? status : end_of(&j, inconclusive);
}

static const struct option_desc diff_options[] = {
	{ 0, "gate", "TERMS", OPT_STR, &arg_gate,
	  "exit 1 if a term is violated, 3 if the runs cannot tell: 'p99>+10%,var>+25%,share:f>+5pt,time:f>+20%'" },
	{ 0, "interval", "NAME", OPT_STR, &arg_interval, "name of the kind of interval (default: that of BASE with the most)" },
	{ 0, "by", "UNIT", OPT_STR, &arg_by, "run (default): runs are compared; host: hosts, of digests and merged runs, 5 a side for a verdict" },
	{ 0, "format", "FORMAT", OPT_STR, &arg_format, "text (default), json, github, junit" },
	{ 0, "interleave", "N", OPT_COUNT, &arg_interleave, "record N runs of each of two commands in turns, and compare these" },
	{ 'o', "output", "NAME", OPT_STR, &arg_output,
	  "with --interleave: name the groups NAME.base and NAME.head (default: diff1, diff2, ...)" },
	{ 0, "fail-inconclusive", NULL, OPT_FLAG, &arg_fail_inconclusive, "exit 1, not 3, if the runs cannot tell" },
	{ 0, "inconclusive-exit", "N", OPT_STR, &arg_inconclusive_exit, "exit N, not 3, if the runs cannot tell; git bisect skips at 125" },
	{ 0, "ascii", NULL, OPT_FLAG, &arg_ascii, "print ASCII characters only" },
	PAGER_OPTION,
	OPT_END
};
static const char *const diff_examples[] = {
	"vprof diff before after", "vprof diff 1,2,3 4,5,6 --gate 'p99>+10%'", "vprof diff old.vpd new.vpd --by host",
	"vprof diff --interleave 10 --gate 'p99>+10%,sd>+25%' -- ./bench.old -- ./bench.new", NULL
};
const struct cmd cmd_diff = {
	.name = "diff", .synopsis = "BASE HEAD [--gate TERMS]",
	.summary = "compare runs or groups of runs, and judge a gate",
	.options = diff_options, .run = diff_run, .examples = diff_examples,
};

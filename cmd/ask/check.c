/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check.c - `vprof check [RUN]`: is the interval what was meant?  Another name for the view `check`. */
#include "base/banned.h"
#include "base/cleanup.h"
#include "cmd/commands.h"
#include "cmd/messages.h"

static const char *arg_format = "text", *arg_interval;

static int check_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	char show[] = "show", view[] = "check", format[] = "--format", interval[] = "--interval";
	char *call[8];
	int cnt = 0, status;

	if (options_parse(argc, argv, &cmd_check, &words, &status))
		return status;
	if (words.cnt > 1)
		return fail_now(EXIT_USAGE, NULL, "check takes one run; '%s' is one too many", words.items[1]);
	call[cnt++] = show;
	call[cnt++] = view;
	if (words.cnt)
		call[cnt++] = (char *)words.items[0];
	call[cnt++] = format;
	call[cnt++] = (char *)arg_format;
	if (arg_interval) {
		call[cnt++] = interval;
		call[cnt++] = (char *)arg_interval;
	}
	call[cnt] = NULL;
	return cmd_show.run(cnt, call);
}

static const struct option_desc check_options[] = {
	{ 0, "format", "FORMAT", OPT_STR, &arg_format, "text (default), json, csv" },
	{ 0, "interval", "NAME", OPT_STR, &arg_interval, "name of the kind of interval" },
	OPT_END
};

static const char *const check_examples[] = { "vprof check", "vprof check before --format json", NULL };

const struct cmd cmd_check = {
	.name = "check", .synopsis = "[RUN] [--format text|json|csv]",
	.summary = "is the interval what was meant?",
	.options = check_options, .run = check_run, .examples = check_examples,
};

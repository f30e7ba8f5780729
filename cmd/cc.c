/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cc.c - `vprof cc COMPILER ARG...`: the compiler launcher, as launch.c is it; and
 * `vprof cc --print FILE`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "instrumenter/launcher/compile_unit.h"
#include "instrumenter/marks/readable.h"
#include "project/config/launch.h"
#include "project/config/launcher_context.h"
#include "project/config/locate.h"

/* ---- vprof cc --print FILE ---- */

static const char *arg_print;

/* The first unit that was compiled from path: one source may make several objects. */
static const struct unit *unit_of_source(const units *list, const char *path)
{
	_cleanup_(freep) char *real = path_real(path);

	for (size_t i = 0; i < list->cnt; i++)
		if (strcmp(list->items[i]->source, real) == 0)
			return list->items[i];
	return NULL;
}

static int no_such_unit(const units *list, const char *path)
{
	_cleanup_(freep) char *real = path_real(path);
	VEC(const char *) names = { 0 };

	for (size_t i = 0; i < list->cnt; i++)
		VEC_ADD(&names, list->items[i]->source);

	const char *nearest = nearest_word(real, names.items, names.cnt);
	int status = fail_now(EXIT_USAGE, "vprof show coverage lists what was built",
			      "no unit of the last build was compiled from '%s'%s%s%s", path,
			      nearest ? "; the nearest is '" : "", nearest ? nearest : "", nearest ? "'" : "");

	VEC_RELEASE(&names);
	return status;
}

static int print_text(const struct unit *u, const struct launcher_options *o, struct diag *reterr)
{
	_cleanup_(str_release) struct str text = STR_INIT, shown = STR_INIT;
	int r = unit_text(u, o, &text, reterr);

	if (r < 0)
		return fail(reterr);
	if (u->untouched)
		warn_line("'%s' was compiled untouched: %s", u->source, u->untouched);
	if (r == 0)
		note_line("nothing is inserted into '%s': it is compiled from the user's file", u->source);
	else
		readable_text(text.data, text.len, u->directory, o->include_dir, &shown);
	fputs(str_cstr(&shown), stdout);
	return EXIT_DONE;
}

static int print(const char *path)
{
	_cleanup_(launcher_context_release) struct launcher_context context = { 0 };
	_cleanup_(units_release) units list = { 0 };
	struct diag diag = DIAG_INIT;
	const struct unit *u;

	if (launcher_context_read(&context, &diag) < 0 ||
	    units_read(context.build_dir, &list, &diag) < 0)
		return fail(&diag);
	u = unit_of_source(&list, path);
	return u ? print_text(u, &context.options, &diag) : no_such_unit(&list, path);
}

static int cc_run(int argc, char **argv)
{
	struct diag diag = DIAG_INIT;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		options_print_help(&cmd_cc);
		return EXIT_DONE;
	}
	if (argc > 1 && starts_with(argv[1], "--print")) {
		int status;

		return options_parse(argc, argv, &cmd_cc, NULL, &status) ? status : print(arg_print);
	}
	if (argc > 1 && strcmp(argv[1], "--") == 0) {
		argv++;
		argc--;
	}
	if (argc < 2)
		return fail_now(EXIT_USAGE, "make CC=\"vprof cc gcc\"",
				"cc: which compiler, with which arguments?");
	return config_check(&diag) < 0 ? fail(&diag) : launch(argv + 1);
}

static const struct option_desc cc_options[] = {
	{ 0, "print", "FILE", OPT_STR, &arg_print, "print a source file of the last build with the probes it is compiled with" },
	OPT_END
};
static const char *const cc_examples[] = {
	"make CC=\"vprof cc gcc\"",
	"cmake -DCMAKE_C_COMPILER_LAUNCHER=\"vprof;cc\" ..",
	"vprof cc --print server.c",
	NULL
};
const struct cmd cmd_cc = {
	.name = "cc", .synopsis = "COMPILER ARG... | --print FILE",
	.summary = "compiler launcher: instrument one unit and compile it",
	.options = cc_options, .run = cc_run, .examples = cc_examples,
};

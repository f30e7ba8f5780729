/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cc.c - `vprof cc COMPILER ARG...`: the compiler launcher (DESIGN section 3).
 *
 * Also what runs when a build calls one of the links named cc, gcc, clang++ ... that `vprof build`
 * puts first on PATH.
 */
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/project.h"
#include "instrumenter/compiler_name.h"

bool launcher_name(const char *argv0)
{
	return is_compiler_name(path_base(argv0));
}

/*
 * What the launcher runs is the real compiler: not to be caught again, and free to be a ccache.
 * `vprof build` had switched that off for those in front of us.
 */
static void what_is_run_now_is_real(void)
{
	setenv("VPROF_CAUGHT", "1", 1);
	if (getenv("VPROF_CCACHE")) {
		unsetenv("VPROF_CCACHE");
		unsetenv("CCACHE_DISABLE");
	}
}

static int launch(char *const *argv, bool verbose)
{
	struct launcher_context context;
	struct diag diag = DIAG_INIT;
	int status;

	what_is_run_now_is_real();
	if (launcher_context_read(&context, &diag) < 0) {
		struct launcher_options nothing = { 0 };

		warn_line("%s; '%s' runs as if vprof were absent", diag.text, argv[0]);
		return launcher_run(argv, &nothing);
	}
	context.options.verbose = verbose;
	if (make_dirs(context.build_dir, 0700) < 0)
		context.options.build_dir = NULL;
	status = launcher_run(argv, &context.options);
	launcher_context_release(&context);
	return status;
}

int launcher_main(char **argv)
{
	const char *name = path_base(argv[0]);
	_cleanup_(args_release) struct args args = ARGS_INIT;

	args_add(&args, name);
	args_add_all(&args, argv + 1);
	return launch(args.items, getenv("VPROF_VERBOSE") != NULL);
}

static int cc_run(int argc, char **argv)
{
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		options_print_help(&cmd_cc);
		return EXIT_DONE;
	}
	if (argc > 1 && strcmp(argv[1], "--") == 0) {
		argv++;
		argc--;
	}
	if (argc < 2)
		return fail_now(EXIT_USAGE, "make CC=\"vprof cc gcc\"",
				"cc: which compiler, with which arguments?");
	return launch(argv + 1, getenv("VPROF_VERBOSE") != NULL);
}

static const char *const cc_examples[] = {
	"make CC=\"vprof cc gcc\"",
	"cmake -DCMAKE_C_COMPILER_LAUNCHER=\"vprof;cc\" ..",
	NULL
};
const struct cmd cmd_cc = {
	.name = "cc", .synopsis = "COMPILER ARG...",
	.summary = "compiler launcher: instrument one unit and compile it",
	.run = cc_run, .examples = cc_examples,
};

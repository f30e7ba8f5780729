/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launch.c - one command of a build: read what the project says, run it through the launcher.
 *
 * It is linked twice.  `vprof cc gcc -c a.c` is the program vprof, with all its libraries; the links named
 * cc, gcc, clang++ ... that `vprof build` puts first on PATH lead to vprof-launcher, which has those
 * that a compile needs, and is started in a third of the time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/file.h"
#include "base/ours.h"
#include "instrumenter/parse/compiler_name.h"
#include "project/config/launch.h"
#include "project/config/launcher_context.h"
#include "project/config/locate.h"
#include "project/config/paths.h"
#include "project/notices.h"

#define CATCHER "libvprof-exec.so"

bool launcher_name(const char *argv0)
{
	return is_compiler_name(path_base(argv0));
}

char *launcher_path(void)
{
	return path_join(runtime_dir(), "vprof-launcher");
}

/* catch_exec.c must ignore everything that the launcher runs: its programs are started without it. */
static void leave_catcher_out(void)
{
	_cleanup_(str_release) struct str rest = STR_INIT;
	const char *word = getenv("LD_PRELOAD");
	bool found = false;

	while (word && *word) {
		size_t len = strcspn(word, ": ");
		_cleanup_(freep) char *library = xstrndup(word, len);

		if (strcmp(path_base(library), CATCHER) == 0)
			found = true;
		else if (len)
			str_addf(&rest, "%s%s", rest.len ? ":" : "", library);
		word += len + (word[len] != '\0');
	}
	if (found && rest.len)
		setenv("LD_PRELOAD", rest.data, 1);
	else if (found)
		unsetenv("LD_PRELOAD");
}

/* The launcher's own programs are real compilers: catch_exec.c must not catch them, and they may use ccache, which
 * `vprof build` had switched off for programs in front of the launcher. */
static void stop_catching(void)
{
	setenv("VPROF_CAUGHT", "1", 1);
	leave_catcher_out();
	if (getenv("VPROF_CCACHE")) {
		unsetenv("VPROF_CCACHE");
		unsetenv("CCACHE_DISABLE");
	}
}

/* The launcher writes into this directory: same check as in store_open(). */
static int check_data_dir(struct diag *reterr)
{
	_cleanup_(freep) char *why = NULL;
	_cleanup_(closep) int fd = ours_open(data_dir(), true, &why);
	int r = fd < 0 ? fd : ours_alone(fd, data_dir(), &why);

	if (r == 0)
		return 0;
	return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot write to '%s': %s", data_dir(), why ? why : strerror(-r));
}

int launch(char *const *argv)
{
	struct launcher_context context;
	struct diag diag = DIAG_INIT;
	int status;

	stop_catching();
	if (check_data_dir(&diag) < 0 || launcher_context_read(&context, &diag) < 0) {
		struct launcher_options nothing = { 0 };

		warn_line("%s; '%s' runs as if vprof were absent", diag.text, argv[0]);
		return launcher_run(argv, &nothing);
	}
	context.options.verbose = getenv("VPROF_VERBOSE") != NULL;
	status = launcher_run(argv, &context.options);
	launcher_context_release(&context);
	return status;
}

int launch_as(char **argv)
{
	_cleanup_(args_release) struct args args = ARGS_INIT;

	args_add(&args, path_base(argv[0]));
	args_add_all(&args, argv + 1);
	return launch(args.items);
}

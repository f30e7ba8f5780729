/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demo_step.c - runs a command of vprof for `vprof demo`, and shows it as the user would type it.
 */
#include <stdio.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/proc.h"
#include "base/str.h"
#include "base/file.h"
#include "cmd/demo/demo.h"
#include "project/config/paths.h"

int demo_step(const char *dir, bool quiet, struct str *out, const char *const *words)
{
	_cleanup_(args_release) struct args argv = ARGS_INIT;
	_cleanup_(freep) char *self = path_self();
	_cleanup_(str_release) struct str shown = STR_INIT, err = STR_INIT;
	struct proc_options options = { .dir = dir, .out = out };
	int status;

	args_add(&argv, self);
	for (; *words; words++) {
		args_add(&argv, *words);
		str_addf(&shown, " %s", *words);
	}
	if (quiet) {
		options.err = &err;
		if (!out)
			options.out = &err;
	} else {
		printf("\n$ vprof%s\n", str_cstr(&shown));
		fflush(stdout);
		options.err_to_out = true;
	}
	status = proc_run(argv.items, &options);
	if (status != 0 && quiet)
		fputs(str_cstr(&err), stderr);
	return status < 0 ? EXIT_ENVIRONMENT : status;
}

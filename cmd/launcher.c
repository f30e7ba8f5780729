/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launcher.c - the program vprof-launcher, which a build runs in place of its compilers.
 *
 *	gcc -c a.c				by the link gcc -> vprof-launcher
 *	vprof-launcher cc /usr/bin/gcc -c a.c	by catch_exec.c
 *
 * It is never called by its own name.
 */
#include <string.h>

#include "base/banned.h"
#include "cmd/messages.h"
#include "project/config/launch.h"

int main(int argc, char **argv)
{
	alloc_set_failure_handler(die_out_of_memory);
	messages_start();
	if (argc > 0 && launcher_name(argv[0]))
		return launch_as(argv);
	if (argc > 2 && strcmp(argv[1], "cc") == 0)
		return launch(argv + 2);
	return fail_now(EXIT_USAGE, "vprof build -- make", "vprof-launcher is what a build runs in place of its compilers");
}

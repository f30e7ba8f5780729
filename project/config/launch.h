/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * launch.h - the compiler launcher, as both `vprof` and the small program vprof-launcher have it.
 */
#ifndef PROJECT_CONFIG_LAUNCH_H
#define PROJECT_CONFIG_LAUNCH_H

#include <stdbool.h>

/* Is this program called by a compiler's name: through the links of `vprof build`, or the user's own? */
bool launcher_name(const char *argv0);

/* Compiler argv[0] argv[1]... through the launcher of this project; the exit status to end with. */
int launch(char *const *argv);

/* The same for a program that was called by a compiler's name. */
int launch_as(char **argv);

/* The program that the links lead to; it stands beside the runtime.  The caller frees it. */
char *launcher_path(void);

#endif

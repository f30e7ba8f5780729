/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * commands.h - calls a subcommand as main() would, in this process.
 *
 * Its options have the values of a new process each time.  Its output is discarded; a sanitizer's messages are not.
 *
 *	FUZZ_RUN(&cmd_show, "factors", "--format", "json");
 */
#ifndef TESTS_FUZZ_COMMANDS_H
#define TESTS_FUZZ_COMMANDS_H

#include <stdio.h>
#include "cmd/commands.h"

/* words: up to a NULL.  Its exit status. */
int fuzz_run(const struct cmd *cmd, const char *const *words);

#define FUZZ_RUN(cmd, ...) fuzz_run(cmd, (const char *const[]){ __VA_ARGS__, NULL })

/* A stream that keeps nothing. */
FILE *fuzz_nowhere(void);

#endif

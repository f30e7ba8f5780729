/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * messages.h - the messages of vprof on stderr, and its exit status.
 *
 *	vprof: error: TEXT
 *	  → REMEDY
 *	vprof: warning: TEXT
 *	vprof: TEXT
 *
 * A line of progress is overwritten by the next one; it is shown only where stderr is a terminal.
 */
#ifndef CMD_MESSAGES_H
#define CMD_MESSAGES_H

#include "project/notices.h"

/*
 * From here on the notices are printed.  The first call of a program: a standard stream that is closed is taken by
 * /dev/null, so that no file gets its number and with it the messages; results cannot be written there.
 */
void messages_start(void);

/* Prints an error and its remedy; returns the exit status. */
int fail(const struct diag *d);

void progress_quiet(bool quiet);		/* no lines of progress from here on */

/* For alloc_set_failure_handler(): prints a message, and exits. */
void die_out_of_memory(size_t wanted_bytes);

/* Flushes stdout: 0, or EXIT_ENVIRONMENT with a message (disk full); a closed pipe is silent. */
int finish_output(int status);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diag.h - an error on its way up.
 *
 * Library code returns a negative errno and, where the user needs a place or a
 * remedy, fills a struct diag once, where the facts are known.  cmd/ prints it once:
 *
 *	vprof: error: <text>
 *	  → <remedy>
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdbool.h>

/* Exit statuses, vprof-formats(5). */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_CHECK_FAILED = 1,
	EXIT_USAGE = 2,			/* usage or configuration */
	EXIT_NO_EVIDENCE = 3,
	EXIT_ENVIRONMENT = 4,		/* not instrumented, missing tool or permission */
	EXIT_DATA = 5,			/* unreadable or damaged data */
};

struct diag {
	char text[1024];		/* "" if nothing was set */
	char remedy[512];		/* what to run or change; "" if there is none */
	enum exit_status status;	/* what the command exits with */
	bool has_lines;			/* text ends in a compiler's messages; else a line feed is part of a name */
};

#define DIAG_INIT { "", "", EXIT_ENVIRONMENT, false }

/* Sets text and status, returns err (a negative errno).  d may be NULL. */
int diag_set(struct diag *d, enum exit_status status, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds lines that a compiler said; returns err. */
int diag_lines(struct diag *d, int err, const char *lines);

/* Adds the remedy; returns err. */
int diag_remedy(struct diag *d, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif

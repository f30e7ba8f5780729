/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reach.h - finds out from outside, by /proc/PID, whether a process can reach the recording.
 *
 *	environment without VPROF_ARENA		it does not know where the recording is
 *	another root				it knows, but cannot see that file
 */
#ifndef PROJECT_RECORD_REACH_H
#define PROJECT_RECORD_REACH_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/str.h"

/* The variable with the recording's place, for the runtime.  Every file with the runtime contains this name. */
#define ARENA_VARIABLE "VPROF_ARENA"

enum reach {
	REACH_UNKNOWN,			/* no known obstacle; or the process is gone */
	REACH_NO_PROBES,		/* not built with vprof */
	REACH_NOT_TOLD,			/* its environment does not have the variable */
	REACH_NO_RUNTIME,		/* LD_PRELOAD is not what record made it, and the runtime is not linked in */
	REACH_PRIVILEGED,		/* it distrusts its environment: set-user-ID and the like */
	REACH_NOT_SEEN,			/* the arena is not below its root */
	REACH_READ_ONLY,		/* it is, but there nothing can be written */
	REACH_NOT_ALLOWED,		/* the arena is another user's */
};

/* arena_path: of the recording's file; NULL: whether it is visible is not asked.  exe, if not NULL, gets the program's path. */
enum reach reach_ask(pid_t pid, const char *arena_path, struct str *exe);

/* In words, of a subject: "its environment does not say where the recording is"; and what to do. */
const char *reach_text(enum reach r);
const char *reach_remedy(enum reach r);

/* The rest of the line of /proc/PID/FILE that begins with name, without blanks; false: no such line or process. */
bool reach_line(pid_t pid, const char *file, const char *name, struct str *ret);

#endif

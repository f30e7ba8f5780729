/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * proc.h - running other programs.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/str.h"

/* A list of arguments that grows; always ends in NULL. */
struct args {
	char **items;
	size_t cnt, cap;
};

#define ARGS_INIT { NULL, 0, 0 }
void args_add(struct args *a, const char *word);		/* a copy is kept */
void args_addf(struct args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void args_add_all(struct args *a, char *const *words);	/* up to the NULL */
void args_release(struct args *a);				/* also a _cleanup_ function */

struct proc_options {
	const char *dir;		/* run there; NULL: here */
	struct str *out;		/* collect stdout; NULL: inherited */
	struct str *err;		/* collect stderr; NULL: inherited */
	bool quiet;			/* stdout and stderr (unless collected) to /dev/null */
	bool err_to_out;		/* stderr goes where stdout goes */
	bool ends_with_us;		/* if this process is killed, the program and its children of this
					 * session get TERM */
	const char *const *unset;	/* variables to leave out, NULL after the last; NULL: none */
};

/* Runs argv (execvp) and waits.  The exit status, 128+N for a signal, or a negative errno
 * if it could not be started (-ENOENT: no such program). */
int proc_run(char *const *argv, const struct proc_options *options);

/* One number for a wait status: exit status, or 128+N. */
int proc_status(int wait_status);

/* Reads /proc/PID/stat: the letter of its first thread's state (Z: that has ended), its parent.  -ESRCH: there is no such process. */
int proc_stat(pid_t pid, char *ret_state, pid_t *ret_parent);

/* Whether all threads of the process have ended: it may go on after its first one.  false also if nobody may know. */
bool proc_has_ended(pid_t pid);

/* Stores pid and all its descendants as of now, pid first, at most max; returns how many.  A child whose
 * parent has ended is not found. */
size_t proc_tree(pid_t pid, pid_t *tree, size_t max);

#endif

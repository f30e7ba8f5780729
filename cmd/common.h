/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * common.h - what every subcommand says and where it finds the project.
 */
#ifndef CMD_COMMON_H
#define CMD_COMMON_H

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/str.h"

/* Prints "vprof: error: TEXT" and "  → REMEDY" on stderr; returns the exit status. */
int fail(const struct diag *d);

/* The same in one call. */
int fail_now(enum exit_status status, const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* For alloc_set_failure_handler(): says so, and ends. */
void die_out_of_memory(size_t wanted_bytes);

/* "vprof: warning: ..." and "vprof: ..." on stderr. */
void warn_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void note_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A line that is overwritten by the next one; shown only where stderr is a terminal. */
void progress_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void progress_done(void);
void progress_quiet(bool quiet);		/* no such lines from here on */

/* -d DIR before the subcommand; NULL takes it back. */
void set_data_dir(const char *dir);

/*
 * The project's data directory, absolute: -d, else $VPROF_DIR, else vprof.data beside the
 * vprof.conf found by walking up, else the nearest vprof.data on the way up, else ./vprof.data.
 * Lives as long as the process.
 */
const char *data_dir(void);

/* The vprof.conf found by walking up from here ($VPROF_CONF overrides), or NULL. */
const char *config_path(void);

/*
 * Opens it.  -ENOENT without a message: there is none.  EXIT_ENVIRONMENT if it lies above the current directory and somebody
 * else may write it: in a directory that users share, /tmp say, one of them could have vprof run commands as another.  Root's
 * are everybody's.
 */
int config_open(struct diag *reterr);

/* 0, or EXIT_ENVIRONMENT: we are root, and another user may put something in the place of the file's directory (base/ours.h). */
int check_way(const char *path, struct diag *reterr);

/* Adds a word to a list with colons in the environment. */
void environment_append(const char *name, const char *word);

/*
 * Preloads a library of the runtime directory into the programs that are run from here on, behind
 * the user's own libraries.  AddressSanitizer wants to be the first library and refuses to start if
 * it is not; ours is not in its way.  False if the library is not there.
 */
bool preload(const char *library);

/* Flushes stdout: 0, or EXIT_ENVIRONMENT with a message (disk full); a closed pipe is silent. */
int finish_output(int status);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate.h - where the project is: its data directory and its vprof.conf.
 */
#ifndef PROJECT_CONFIG_LOCATE_H
#define PROJECT_CONFIG_LOCATE_H

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/str.h"

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
 * Opens it.  -ENOENT without a message: there is none.  EXIT_ENVIRONMENT if it lies above the current directory and
 * another user may write it: in a shared directory such as /tmp, one user could make vprof run commands as another.
 * Files of root are accepted.
 */
int config_open(struct diag *reterr);

/* EXIT_USAGE if $VPROF_CONF names no file: its directory would be taken for that of the data. */
int config_check(struct diag *reterr);

/* 0, or EXIT_ENVIRONMENT: we are root, and another user may replace the file's directory (base/ours.h). */
int check_way(const char *path, struct diag *reterr);

/* Adds a word to a colon-separated list in the environment. */
void environment_append(const char *name, const char *word);

/*
 * Preloads a library of the runtime directory into the programs that are run from here on, after the user's own
 * libraries.  AddressSanitizer refuses to start unless it is the first library; ours does not precede it.  False if
 * the library is not there.
 */
bool preload(const char *library);

#endif

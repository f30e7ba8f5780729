/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data_lock.h - locks of a data directory: two builds at once would remove each other's probes.
 *
 *	data_lock(LOCK_BUILD)		build, iterate to its end, annotate; record waits for them before it starts the program
 *	data_lock(LOCK_RUN(7))		held while run 7 is analysed
 *
 * The second one names the holder on stderr and waits; with --no-wait it fails with EXIT_ENVIRONMENT.  Processes
 * started by the holder, such as a vprof in the command of a build, do not wait.  A lock ends with its process,
 * however that ends, even if its children live on.
 */
#ifndef PROJECT_CONFIG_DATA_LOCK_H
#define PROJECT_CONFIG_DATA_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/diag.h"
#include "base/option.h"

#define LOCK_BUILD 0
#define LOCK_RUN(number) ((int64_t)(number))

extern bool lock_no_wait;
#define LOCK_OPTION { 0, "no-wait", NULL, OPT_FLAG, &lock_no_wait, "exit with status 4 instead of waiting when another vprof uses the data directory" }

/* 1: waited for another process, so what was read before may have changed; 0; or an error.  On file systems without
 * locks (some network file systems) a warning says so. */
int data_lock(int64_t what, struct diag *reterr);
void data_unlock(int64_t what);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data_lock.h - one at a time in a data directory: two builds would take each other's probes away.
 *
 *	data_lock(LOCK_BUILD)		build, iterate to its end, annotate; record waits for them before it starts the program
 *	data_lock(LOCK_RUN(7))		who analyses run 7
 *
 * The second one names the holder on stderr and waits; with --no-wait it fails with EXIT_ENVIRONMENT.  What the holder itself has
 * started, as a vprof in the command of a build, goes on.  A lock ends with its process, however that ends, whoever lives on.
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

/* 1: waited for another process, so what was read before may have changed; 0; or an error.  Where nothing can be locked (some
 * network file systems) a warning says so. */
int data_lock(int64_t what, struct diag *reterr);
void data_unlock(int64_t what);

#endif

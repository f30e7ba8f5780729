/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recording.h - which process records a run: the one that holds the lock on the run's file `recorder`.
 *
 * The lock is released when its process ends in any way, so a run whose recorder was killed can be distinguished from
 * one that is under way.
 */
#ifndef PROJECT_RUNS_RECORDING_H
#define PROJECT_RUNS_RECORDING_H

#include "store/store.h"

/* This process records the run, from here to recording_end().  -1: the file system has no locks. */
int recording_begin(const struct store *s, uint32_t run);
void recording_end(int lock);

/* Notes where the records are that are not in the trace yet, in case we are killed. */
void recording_note_arena(int lock, const char *path);

/* 0: no process does. */
pid_t recording_pid(const struct store *s, uint32_t run);

/* A run without a living recorder was killed.  Records that it had not written yet are added to its trace; if the data
 * directory is only read (store_check_ours()) the trace stays as it is, and only r says so. */
int recording_settle(struct store *s, struct run *r, struct diag *reterr);
int recordings_settle(struct store *s, runs *ret, struct diag *reterr);	/* all runs */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recording.h - who records a run: whoever holds the lock on its file `recorder`.
 *
 * The lock goes with its process however that ends, so a run whose recorder was killed is told from one
 * that is under way.
 */
#ifndef CMD_RECORDING_H
#define CMD_RECORDING_H

#include "store/store.h"

/* This process records the run, from here to recording_end().  -1 where nothing can be locked. */
int recording_begin(const struct store *s, uint32_t run);
void recording_end(int lock);

/* 0: nobody does. */
pid_t recording_pid(const struct store *s, uint32_t run);

/* A run that nobody records any more was killed. */
int recording_settle(struct store *s, struct run *r, struct diag *reterr);

#endif

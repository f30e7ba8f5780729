/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reduced.h - the recorder for ordinary users: when their threads were off the CPU, not why, from
 * perf's context-switch records.
 */
#ifndef RECORDER_REDUCED_H
#define RECORDER_REDUCED_H

#include "recorder/recorder_internal.h"

struct reduced;

/* Records what the calling thread forks from now on.  0 or a negative errno. */
int reduced_open(struct reduced **ret);

/* Writes the new records to w; last: all of them, and the threads that are off the CPU. */
void reduced_drain(struct reduced *r, struct writer *w, bool last);

uint64_t reduced_lost(const struct reduced *r);
void reduced_close(struct reduced *r);		/* NULL is fine */

#endif

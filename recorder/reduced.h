/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reduced.h - what an ordinary user may know: when his threads were off the CPU, not why, from
 * perf's context-switch records.
 */
#ifndef RECORDER_REDUCED_H
#define RECORDER_REDUCED_H

#include "recorder/private.h"

struct reduced;

/* From now on what the calling thread forks is recorded.  0 or a negative errno. */
int reduced_open(struct reduced **ret);

/* What has happened meanwhile, into w; last: all of it, and who is away. */
void reduced_drain(struct reduced *r, struct writer *w, bool last);

uint64_t reduced_lost(const struct reduced *r);
void reduced_close(struct reduced *r);		/* NULL is fine */

#endif

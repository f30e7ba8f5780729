/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * in_virtual_time.h - a trace as it would be, had a target been faster: all of the analysis and all views read it as any other.
 *
 * Each thread's times become those of its virtual clock, which stands still while the thread does, and is slower in the target.
 * Between two moments at which its lag is known, the lag grows evenly.
 *
 *	T1 is 0 behind at 100 and 50 at 200 (it is in the target, 50 % faster): its segment 100..200 becomes 100..150
 *	T2 stands still from 160 to 210, by 50: its segment 100..210 becomes 100..160
 */
#ifndef TRACE_CAUSAL_IN_VIRTUAL_TIME_H
#define TRACE_CAUSAL_IN_VIRTUAL_TIME_H

#include "trace/model.h"

/* Targets that the blocks of t were for, by the largest number. */
size_t trace_targets_cnt(const struct trace *t);

/* Keeps the intervals that count in blocks of that point (speed per mille; 0: the baseline), as in the experiment without the rounds
 * that were repeated, and sorts t.  Returns how many. */
size_t trace_put_in_virtual_time(struct trace *t, uint32_t target, uint32_t speed);

#endif

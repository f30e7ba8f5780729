/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_kinds.h - whose places are summed up before a square is taken: a function's, its bodies', its waits' of one class.
 *
 * A function that is called in two places takes 1 and 2 there: its square is 9, not 1 + 4.
 */
#ifndef ANALYSIS_FINDINGS_OWN_KINDS_H
#define ANALYSIS_FINDINGS_OWN_KINDS_H

enum own_kind {
	OWN_FUNCTION,			/* its outermost places */
	OWN_BODY,
	OWN_WAIT,			/* waits of one class */
	OWN_RUNQUEUE,			/* all time in the run queue, as runqueue.c has it */
	OWN_RUNQUEUE_WAITS,		/* of it, what the intervals' own threads waited */
	OWN_KIND_CNT
};

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stacks.h - the variance tree as stacks with values, for folded and pprof.  Private to cmd/formats/.
 *
 *	request;handle;log_append;[lock wait]	variance 619000 ppm, mean 303000 ns
 *
 * Each leaf of the tree is a stack, so the values add up to the whole.  The tail is known for a function's own time and its
 * waits, not for the call path to it, so those stacks consist of the interval and the function only.
 */
#ifndef CMD_FORMATS_PIECES_STACKS_H
#define CMD_FORMATS_PIECES_STACKS_H

#include "base/alloc.h"
#include "cmd/formats/export_given.h"

struct stack_frame {
	const char *name, *file;	/* as the findings have it: any bytes; file may be NULL */
	uint32_t line;
};

struct stack {
	VEC(struct stack_frame) frames;		/* outermost first */
	double value[EXPORT_METRIC_CNT];	/* ppm of Var(T); ns; ns */
};
typedef VEC(struct stack) tree_stacks;

void tree_stacks_read(const struct findings *f, tree_stacks *ret);
void tree_stacks_release(tree_stacks *list);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.h - what the files of `vprof diff` share.  Private to cmd/diff/. */
#ifndef CMD_DIFF_DIFF_H
#define CMD_DIFF_DIFF_H

#include <stdbool.h>
#include "base/diag.h"
#include "base/proc.h"
#include "store/store.h"

/*
 * Records cnt runs of each command in the order ABBA..., as the groups NAME.base and NAME.head.  name NULL: the first of "diff1",
 * "diff2", ... that is free.  Returns EXIT_DONE, or the exit status after a message.  The caller owns the names of the groups.
 */
int diff_interleave(struct store *s, unsigned cnt, const char *name, const struct args *base, const struct args *head,
		    bool stdout_to_stderr, char *ret_groups[2]);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fold_inline.h - small inline functions of headers that many units include.
 *
 * A probe in such a function costs twice: every unit that includes the header is compiled again, and
 * what the compiler would have folded into its caller becomes two time stamps.  In PostgreSQL lnext,
 * list_head and MemoryContextSwitchTo alone are in 942 of 942 units.  Nobody chooses to record them:
 * their time is in the body of who calls them, and what they call counts as called by that one.
 * `vprof build --functions` records what it is told.
 */
#ifndef CMD_FOLD_INLINE_H
#define CMD_FOLD_INLINE_H

#include "instrumenter/scan.h"
#include "store/store.h"

enum { FOLD_LINES = 16, FOLD_UNITS = 16 };	/* fewer lines, and in more units */

/* Sets folded of p's functions. */
void fold_inline(struct project *p, const units *scanned);

#endif

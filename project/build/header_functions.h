/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * header_functions.h - functions of headers that many units include: inline, static, members of classes and templates.
 *
 * A probe in such a function costs twice: every unit that includes the header is compiled again, and
 * what the compiler would have folded into its caller becomes two time stamps.  In PostgreSQL lnext,
 * list_head and MemoryContextSwitchTo alone are in 942 of 942 units.  vprof does not choose to record them:
 * their time is in the body of the caller, and what they call counts as called by the caller.  Where one unlocks or
 * signals, its caller counts as a function that does.  In MariaDB every mutex is released by inline_mysql_mutex_unlock,
 * which is in 722 of 802 units.
 * A longer function is not inlined, but in very many units it costs a build of the whole project, too.
 * With probes in all of them the default plan compiles 786 of MariaDB's 802 units again, without 475.
 * `vprof build --functions` records the named functions.
 */
#ifndef PROJECT_BUILD_HEADER_FUNCTIONS_H
#define PROJECT_BUILD_HEADER_FUNCTIONS_H

#include "instrumenter/scan/scan.h"
#include "store/store.h"

enum { HEADER_LINES = 16, HEADER_UNITS = 16 };	/* fewer lines, and in more units */
enum { HEADER_ANY_LENGTH_UNITS = 128 };		/* in more units, however long */

/* Sets looked_through of p's functions, and releases of those that call such a one that releases. */
void look_through_header_functions(struct project *p, const units *scanned);

#endif

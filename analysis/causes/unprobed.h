/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unprobed.h - a cause that is known better than the tree has it: by the function that waited, although it carries no probe.
 *
 *	handle › sleep wait .98, of which .97 in note (f->waiters)	handle, which sleeps -> note, which sleeps, through handle › sleep wait
 *
 * Private to analysis/.
 */
#ifndef ANALYSIS_CAUSES_UNPROBED_H
#define ANALYSIS_CAUSES_UNPROBED_H

#include "analysis/findings/findings.h"

/* After find_causes() and find_waiters(). */
void causes_name_unprobed(struct findings *f);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * because.h - the cause of a wait, in words.
 *
 *	"flush_log", "flush_log › sleep wait", "flush_log › io wait for the disk", "unknown"
 *
 * "unknown" is the one word for a blame without a name, everywhere.  A sentence tells all of it as one, in its place among
 * the others: who is told second is never the largest.
 */
#ifndef REPORT_WORDS_BECAUSE_H
#define REPORT_WORDS_BECAUSE_H

#include <stdbool.h>

#include "analysis/findings/findings.h"
#include "base/str.h"

#define NAME_READABLE 48		/* columns of a name in a sentence; of one in C++ that is longer less is told (base/text/label.h) */

/* Of a tenth of the waits nobody knows who ended them. */
bool lacks_wakers(const struct findings *f);

/* What names somebody who was in no probed function. */
const char *would_name(const struct findings *f);

/* The caller frees it. */
char *because_label(const struct because *b, bool utf8);

/* "by flush_log (io, disk)"; the caller frees it. */
char *blame_label(const struct node *n);
/* "by flush_log" */
char *blame_label_short(const struct node *n);

/*
 * The blames of a factor by function, largest first: what a function did in several ways (it ran, it waited for a lock, for the
 * disk) is one, told with its way where that is nearly all of it.  Their number; the caller frees *ret, not the texts.
 */
size_t because_by_function(const struct factor *f, struct because **ret);

/* "; because of flush_log › sleep wait (60 %) and rotate_log (6 %)", or nothing. */
void because_add(struct str *to, const struct findings *all, const struct factor *f, bool utf8);

#endif

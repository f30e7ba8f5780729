/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * because.h - words the cause of a wait.
 *
 *	"flush_log", "flush_log › sleep wait", "flush_log › io wait for the disk", "unknown"
 *
 * A blame without a name is called "unknown" everywhere.  A sentence adds up all unknown blames and places the sum by its size
 * among the others.
 */
#ifndef REPORT_WORDS_BECAUSE_H
#define REPORT_WORDS_BECAUSE_H

#include <stdbool.h>

#include "analysis/findings/findings.h"
#include "base/str.h"

#define NAME_READABLE 48		/* columns of a name in a sentence; longer C++ names are shortened (base/text/label.h) */

/* A tenth or more of the waits have no known waker. */
bool lacks_wakers(const struct findings *f);

/* Words for a thread that was in no probed function, and the remedy that would name its function. */
const char *in_no_function(const struct findings *f);	/* where that thread was */
const char *would_name(const struct findings *f);

/* The caller frees it. */
char *because_label(const struct because *b, bool utf8);

/* "by flush_log (io, disk)"; the caller frees it. */
char *blame_label(const struct node *n);
/* "by flush_log" */
char *blame_label_short(const struct node *n);

/*
 * The blames of a factor, grouped by function, largest first.  A function that acted in several ways (it ran, it waited for a
 * lock, for the disk) is one entry, with its way if that is nearly all of it.  Returns their number; the caller frees *ret, not
 * the texts.
 */
size_t because_by_function(const struct factor *f, struct because **ret);

/* "; because of flush_log › sleep wait (60 %) and rotate_log (6 %)", or nothing. */
void because_add(struct str *to, const struct findings *all, const struct factor *f, bool utf8);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unite.h - several digests as one: their windows side by side, under common names.
 *
 *	struct uniter *u = uniter_new();
 *	uniter_add(u, a);  uniter_add(u, b);
 *	r = uniter_end(u, &both, &diag);
 *
 * What comes out depends on what went in and not on the order, nor on what was united before: names, places, sources and
 * windows stand in an order of their own.  Nothing is added up, so that hosts and windows can be told apart later.  A window that
 * would be in it twice is an error: its intervals would count double.
 */
#ifndef DIGEST_UNITE_H
#define DIGEST_UNITE_H

#include "analysis/summed/summed.h"
#include "base/diag.h"

struct uniter;

struct uniter *uniter_new(void);
void uniter_free(struct uniter *u);	/* NULL is fine */
DEFINE_CLEANUP(struct uniter *, uniter_free);

/* Copies all that it keeps. */
void uniter_add(struct uniter *u, const struct summed *s);

/* No more of them.  -EEXIST: a window twice, or two of one recording that overlap.  -EBADMSG: one of them has twins. */
int uniter_end(struct uniter *u, struct summed **ret, struct diag *reterr);

/* Whether two of its functions, or two of its places, are the same: no sum over places is right then. */
bool summed_has_twins(const struct summed *s);

/*
 * Windows of the same recording and interval become one of window_ns each, or, of 0, one.  What cannot be cut keeps its
 * length: a window that is longer than that.  -EOVERFLOW: the sums of all of them together would not be exact.
 */
int summed_roll_up(struct summed *s, int64_t window_ns, struct diag *reterr);

#endif

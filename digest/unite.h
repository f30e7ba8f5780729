/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unite.h - unites several digests: keeps their windows side by side, under common names.
 *
 *	struct uniter *u = uniter_new();
 *	uniter_add(u, a);  uniter_add(u, b);
 *	r = uniter_end(u, &both, &diag);
 *
 * The result depends on the set of digests only, not on their order or on earlier unions: names, places, sources and windows are
 * sorted.  Nothing is added up, so hosts and windows stay distinguishable.  A window that occurs twice is an error, because its
 * intervals would count double.
 */
#ifndef DIGEST_UNITE_H
#define DIGEST_UNITE_H

#include "analysis/summed/summed.h"
#include "base/diag.h"

struct uniter;

struct uniter *uniter_new(void);
void uniter_free(struct uniter *u);	/* NULL is fine */
DEFINE_CLEANUP(struct uniter *, uniter_free);

/* Copies everything that it keeps. */
void uniter_add(struct uniter *u, const struct summed *s);

/* After the last digest.  -EEXIST: a window occurs twice, or two windows of one recording overlap.  -EBADMSG: a digest has twins.
 * After the last digest.  -EEXIST: a window occurs twice, or two windows of one recording overlap.  -EBADMSG: a digest has twins. */
int uniter_end(struct uniter *u, struct summed **ret, struct diag *reterr);

/* Whether it lists the same function or place twice: then sums over places would be wrong. */
bool summed_has_twins(const struct summed *s);

/*
 * Adds up the windows of the same recording and interval to windows of window_ns each; 0: to one window.  A window that is longer
 * than that stays as it is.  -EOVERFLOW: the sums of all windows together would not be exact.
 */
int summed_roll_up(struct summed *s, int64_t window_ns, struct diag *reterr);

#endif

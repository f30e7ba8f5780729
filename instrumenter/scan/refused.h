/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refused.h - functions that a compiler rejects with a probe.
 *
 * When the instrumented text of a unit does not compile, though the user's does, its errors tell which functions they
 * are about.  Those go without a probe, and all others keep theirs:
 *
 *	queue.cc: In function 'int depth(int)':
 *	queue.cc:31:5: error: ...	the innermost function around line 31 of queue.cc
 *	queue.cc:12:5: note: 'constexpr int cells(int)' ...	if that does not help: line 12, and the functions named in quotes
 *
 * A function that was refused once is refused as long as the unit's text and vprof.conf are the same.
 */
#ifndef INSTRUMENTER_SCAN_REFUSED_H
#define INSTRUMENTER_SCAN_REFUSED_H

#include "instrumenter/scan/scan.h"

struct refused {
	struct map *why;		/* key of a function -> index in reasons, plus one */
	VEC(char *) reasons;
	const char *constants;		/* NULL, or why functions that the compiler may compute have no probe */
	size_t known_cnt;		/* of the reasons, before the last errors */
	unsigned care;			/* the step that the next errors are used for, see refused_add() */
};

void refused_release(struct refused *r);	/* also a _cleanup_ function; {0} to begin with */

/*
 * After a failed compile of u, decides which functions get no probe the next time.  Goes further each time: functions
 * around errors, or named in them; then those of notes; then all that the compiler may compute; then all functions
 * around these places.  False: there are none left.
 */
bool refused_add(struct refused *r, const struct unit *u, const char *messages);

/* Takes over the refusals of the last compile of the same text. */
void refused_take(struct refused *r, const struct unit *before);

/* Before probes are put into u: marks the refused functions as skipped. */
void refused_apply(const struct refused *r, struct unit *u);

/* "error: ..." of the first error in messages; length 0: there is none. */
size_t refused_first_error(const char *messages, const char **ret);

#endif

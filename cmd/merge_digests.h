/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge_digests.h - `vprof merge` where sums are merged, not traces: FILE.vpd, and runs that are made of digests.
 */
#ifndef CMD_MERGE_DIGESTS_H
#define CMD_MERGE_DIGESTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/proc.h"

struct merging_digests {
	const char *output;		/* FILE.vpd, or a run's name; NULL: a run without one */
	int64_t window_ns;		/* 0: all, if windows is set */
	bool windows;			/* they are to be added up */
};

bool is_digest_name(const char *word);	/* "-", or ends in ".vpd"; NULL is none */

/* One of the words is a digest, or they are to become one; window: what was given. */
bool merges_digests(const struct args *words, struct merging_digests *m, const char *window);

int merge_digests(const struct args *words, const struct merging_digests *m);	/* the exit status */

#endif

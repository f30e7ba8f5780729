/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * window_digest.h - the digest of a stretch of time of a recording that goes on, from a trace that reaches as far back as needed.
 *
 *	recording	|----part 1----|----part 2----|----part 3----|--
 *	wanted		                        [ from       until )
 *	intervals	           a------a   b--------b     c-----------
 *
 * Of the trace with parts 2 and 3 the digest has b: it ended in the stretch.  c has to be whole in the next one: since is its start.
 */
#ifndef PROJECT_DIGESTS_WINDOW_DIGEST_H
#define PROJECT_DIGESTS_WINDOW_DIGEST_H

#include "analysis/summed/summed.h"
#include "store/store.h"

#define WINDOW_LOST_OF_TRACE UINT64_MAX

struct window_wanted {
	const char *trace;		/* trace.vpt, in the directory that has its parts; recorded-by is in the run's */
	int64_t from_ns, until_ns;	/* CLOCK_MONOTONIC; INT64_MAX: to the end, with the intervals that have none */
	int64_t window_ns;		/* divides both, but for INT64_MIN and INT64_MAX */
	uint64_t lost_records;		/* in that stretch; WINDOW_LOST_OF_TRACE: in the trace, without those before */
	uint64_t lost_before;
};

/* ret: may have no windows.  ret_since_ns: where the trace of the next stretch has to begin. */
int window_digest_read(struct store *s, const struct run *r, const struct window_wanted *wanted, struct summed **ret,
		       int64_t *ret_since_ns, struct diag *reterr);

#endif

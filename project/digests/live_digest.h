/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live_digest.h - the digests of a recording that goes on: stretch by stretch into the spool, a file for each full window.
 *
 *	runs/007/windows	every 60000000000	how long a window is
 *				done 185000000000	up to here intervals are in the spool, or in windows.vpd
 *				since 184200000000	where the trace of the next stretch begins
 *				lost 0			records up to here
 *	runs/007/windows.vpd	stretches of the window that is not full yet
 *
 * Both stay if the recorder is killed; the next one goes on there.
 */
#ifndef PROJECT_DIGESTS_LIVE_DIGEST_H
#define PROJECT_DIGESTS_LIVE_DIGEST_H

#include "base/diag.h"
#include "store/store.h"

struct live_state {
	int64_t every_ns, done_ns, since_ns;
	uint64_t lost_records;		/* up to done_ns */
	uint64_t refused_cnt;		/* windows for which the spool had no room */
	unsigned int is_refusing;	/* the last one was among them */
};

struct live_stretch {
	const char *trace;		/* as in struct window_wanted */
	int64_t until_ns;		/* INT64_MAX: the recording is over */
	uint64_t lost_records;		/* as in struct window_wanted */
	uint64_t limit;			/* of the spool */
};

/* A stretch of each window, so that little of the trace is in memory at once. */
int64_t live_stretch_ns(int64_t every_ns);

int live_begin(const struct store *s, uint32_t run, const struct live_state *state, struct diag *reterr);
bool live_read(const struct store *s, uint32_t run, struct live_state *ret);	/* false: the run has none, or they are complete */

/* Digests what ended since the last stretch; the state says how far that is, afterwards. */
int live_digest(struct store *s, const struct run *r, const struct live_stretch *stretch, struct diag *reterr);

#endif

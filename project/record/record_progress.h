/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_progress.h - on a terminal: "recording 12 s, 4,100 intervals, p99 9 ms", once a second.
 *
 * It reads begins and ends while they are recorded (drainer/experiments.h).  Both figures are about right: if two
 * intervals that are open at once have the same place in a small table, one of them counts without its time.
 */
#ifndef PROJECT_RECORD_RECORD_PROGRESS_H
#define PROJECT_RECORD_RECORD_PROGRESS_H

#include "base/bucket.h"
#include "drainer/experiments.h"

enum { PROGRESS_OPEN = 4096, PROGRESS_BITS = 4 };

struct progress_open {			/* an interval that has begun */
	uint64_t label, key, began;	/* ticks */
	uint32_t depth;			/* 0: the place is free */
};

struct record_progress {
	struct drainer_experiments watch;	/* for struct drainer_options */
	int64_t started_ns, last_ns;	/* the last line's */
	uint64_t ended_cnt, timed_cnt;
	struct progress_open open[PROGRESS_OPEN];
	uint64_t buckets[BUCKETS_MAX(PROGRESS_BITS)];	/* latencies in ticks */
};

void record_progress_init(struct record_progress *p, int64_t now_ns);

/* The 99th percentile of the latencies so far, in ticks: the lower edge of its bucket.  timed_cnt > 0. */
uint64_t record_progress_p99(const struct record_progress *p);

/* "12 s, 4,100 intervals, p99 9 ms"; ns_per_tick 0: not known.  The caller frees it. */
char *record_progress_text(const struct record_progress *p, int64_t now_ns, double ns_per_tick);

#endif

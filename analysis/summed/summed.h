/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summed.h - the sums over a run's intervals: exact integers for each place of the tree.
 *
 * One of the doors of analysis/.  Traces cannot be added up, sums can: digest/unite.h unites the sums of two hosts, and the
 * findings follow from the united sums.  This room stores no shares, means or variances, because these need the total of all
 * sums.
 *	struct analyzer *a = analyzer_new();
 *	analyzer_sum_up(a, window_ns);
 *	while (... a window of the trace)
 *		analyzer_add(a, &window);
 *	summed = analyzer_summed(a, names, &source);
 *	summed_findings(summed, &options, &findings);
 *
 * A weight is the number of intervals that one recorded interval stands for (record --sample).  Counts and sums are weighted;
 * unit is the common divisor of all weights.  Sums are exact as long as n * L^2 is at most 2^124 (squares_fit()).
 */
#ifndef ANALYSIS_SUMMED_SUMMED_H
#define ANALYSIS_SUMMED_SUMMED_H

#include "base/bucket.h"
#include "analysis/analyze.h"
#include "analysis/findings/own_kinds.h"

/* ---- names: shared by all windows ---- */

struct summed_function {
	const char *name, *file;	/* file: NULL if unknown */
	uint32_t line;
	uint64_t key;			/* as in struct function */
	uint32_t height;		/* lower bound, through functions that are not kept */
	bool open;			/* calls functions without a probe */
	bool registered, left_out;	/* as in struct function */
};

struct summed_call {			/* between two functions of the tree */
	uint32_t caller, callee;	/* indexes into functions */
	uint32_t call_site;		/* or CALL_SITE_NONE, or SUMMED_THROUGH_OTHERS */
};

/* No call, but a part of a circle of calls that leads through functions that are not in the tree: both have the same height. */
#define SUMMED_THROUGH_OTHERS (CALL_SITE_NONE - 1)

/* Values of a place's function that are not an index: none, or a kind of device (see FUNCTION_OF_DEVICE()). */
#define SUMMED_NO_FUNCTION UINT32_MAX
#define SUMMED_DEVICE(kind) (SUMMED_NO_FUNCTION - (uint32_t)(kind))
#define SUMMED_DEVICES ((uint32_t)KIND_PEER)	/* none, and the kinds of devices; a peer is among the functions, by its name */

struct summed_place {			/* parents come before children */
	uint32_t parent;		/* NODE_NONE: the root of an interval's tree */
	uint32_t name;			/* of a root: index into interval_names */
	uint32_t function;		/* index into functions, SUMMED_NO_FUNCTION, or SUMMED_DEVICE() */
	uint32_t call_site;		/* index into call_sites, or CALL_SITE_NONE */
	uint8_t kind, wait, device;	/* enum node_kind, trace_state, thread_kind */
	bool is_wait;
};

struct summed_source {			/* a recording; unknown texts are "" */
	const char *machine, *boot;	/* machine-id and boot-id, 32 hex digits each */
	const char *host, *container;	/* host name; the container's name in the control group */
	const char *build;		/* build id of the program, hex digits */
	const char *run;		/* number or name of its run */
	int64_t started_ns;		/* CLOCK_REALTIME */
	int64_t clock_ns;		/* CLOCK_REALTIME - CLOCK_MONOTONIC when it began; 0: not known */
	uint64_t recording;		/* distinguishes the recordings of one machine and start */
};

/* ---- sums over the intervals of one name that ended in one window of one recording ---- */

struct summed_sums {			/* of one place */
	uint32_t place;
	__int128 x, xx, xt;		/* X, X^2, X T */
	uint64_t calls, presence;
};

struct summed_pair {			/* two siblings, or two bodies of one function, that took time in the same interval */
	uint32_t a, b;			/* places, a < b */
	__int128 xy;
};

struct summed_own {			/* all places of one function, of its bodies, or of its waits of one class */
	uint8_t kind, wait;		/* wait: if OWN_WAIT, else STATE_RUNNING */
	uint32_t function;		/* like a place's; the run queue has none */
	__int128 xx;
	uint64_t cnt;			/* intervals in which it took time */
	__int128 t;			/* the sum of their latencies */
};

struct summed_bucket {			/* of latencies, 128 per octave */
	uint32_t bucket;
	uint64_t n, recorded;
	__int128 t;
};

struct summed_cell {			/* time of a place without children, in the intervals of a bucket (8 per octave) */
	uint32_t bucket, place;
	__int128 x;
};

struct summed_share {			/* number of a bucket's intervals (8 per octave) in which an own took time */
	uint32_t bucket, own;		/* own: index into owns */
	uint64_t n;
};

struct summed_counts {			/* see struct counted_intervals, for the whole recording */
	uint64_t open, aborted, bad_path, lost;
	uint64_t nested, unmatched_ends, lost_records;
	__int128 waited_ns, no_waker_ns, io_waited_ns, io_no_waker_ns;
	bool has_pairing, knows_runqueue;
};

struct summed_root_only {		/* intervals whose functions were not recorded; not weighted */
	uint64_t n;
	__int128 t, tt;
	int64_t max_ns;
};

struct summed_window {
	uint32_t source, root;		/* index into sources; the root of the tree, a place */
	/* Covers intervals that ended from .. until - 1, in CLOCK_MONOTONIC; INT64_MIN to INT64_MAX: the whole recording. */
	int64_t from_ns, until_ns;
	uint64_t n, recorded;		/* with weights; without weights */
	uint32_t unit;			/* divides all weights; 0: no intervals */
	int64_t min_ns, max_ns;
	struct summed_counts counts;
	struct summed_root_only root_only;
	VEC(struct summed_sums) sums;	/* by place */
	VEC(struct summed_pair) pairs;	/* by a, b */
	VEC(struct summed_own) owns;	/* by kind, wait, function */
	VEC(struct summed_bucket) buckets;	/* by bucket */
	VEC(struct summed_cell) cells;	/* by bucket, place */
	VEC(struct summed_share) shares;	/* by bucket, own */
};

struct summed {
	struct arena *arena;		/* owns all strings below */
	strings interval_names, call_sites;
	VEC(struct summed_function) functions;
	VEC(struct summed_call) calls;
	VEC(struct summed_place) places;
	VEC(struct summed_source) sources;
	VEC(struct summed_window) windows;
};

struct summed *summed_new(void);
void summed_free(struct summed *s);	/* NULL is fine */
DEFINE_CLEANUP(struct summed *, summed_free);
void summed_window_release(struct summed_window *w);

/* Whether heights know the call. */
static inline bool summed_call_counts(const struct summed *s, const struct summed_call *c)
{
	return c->caller != c->callee && !s->functions.items[c->callee].left_out;
}

/* The common divisor of two units; 0 stands for no unit. */
uint32_t summed_divisor(uint32_t a, uint32_t b);

/* Of latencies (base/bucket.h). */
enum { BUCKET_BITS_FINE = 7, BUCKET_BITS = 3 };

/* ---- summing up ---- */

/* Call it before the first window: the analyzer keeps sums instead of rows.  window_ns 0: the whole run is one window. */
void analyzer_sum_up(struct analyzer *a, int64_t window_ns);

/* The limit of windows; beyond it analyzer_summed() returns -EFBIG. */
#define SUMMED_WINDOWS_MAX 65536

/* Call it after the last window.  names: those of analyzer_finish().  Copies source. */
int analyzer_summed(struct analyzer *a, const struct trace *names, const struct summed_source *source, struct summed **ret);

/* ---- findings ---- */

/* -ENOENT: no interval has that name.  -EOVERFLOW: the intervals of all windows are too many, or too long, for exact sums. */
int summed_findings(const struct summed *s, const struct analyze_options *o, struct findings **ret);

#endif

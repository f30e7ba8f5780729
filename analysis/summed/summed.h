/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summed.h - what is left of a run's intervals when they are summed up: exact integers by place of the tree.
 *
 * One of the doors of analysis/.  Sums add up, traces do not: two hosts' sums are united (digest/unite.h), and findings are made
 * of what came out.  Nothing in here is a share, a mean or a variance; these follow when all sums are known.
 *
 *	struct analyzer *a = analyzer_new();
 *	analyzer_sum_up(a, window_ns);
 *	while (... a window of the trace)
 *		analyzer_add(a, &window);
 *	summed = analyzer_summed(a, names, &source);
 *	summed_findings(summed, &options, &findings);
 *
 * A weight is the number of intervals that a recorded one stands for (record --sample): counts and sums are weighted, unit is the
 * common divisor of all weights.  Sums are exact while n * L^2 is at most 2^124 (squares_fit()).
 */
#ifndef ANALYSIS_SUMMED_SUMMED_H
#define ANALYSIS_SUMMED_SUMMED_H

#include "analysis/analyze.h"
#include "analysis/findings/own_kinds.h"

/* ---- names: all windows share them ---- */

struct summed_function {
	const char *name, *file;	/* file: NULL if unknown */
	uint32_t line;
	uint64_t key;			/* as in struct function */
	uint32_t height;		/* at least: the way down through functions that are not kept */
	bool open;			/* calls functions that were not probed */
	bool registered, left_out;	/* as in struct function */
};

struct summed_call {			/* of two functions that are in the tree */
	uint32_t caller, callee;	/* indexes into functions */
	uint32_t call_site;		/* or CALL_SITE_NONE */
};

/* What a place's function may be instead of an index: none, or a kind of device; as FUNCTION_OF_DEVICE() has it. */
#define SUMMED_NO_FUNCTION UINT32_MAX
#define SUMMED_DEVICE(kind) (SUMMED_NO_FUNCTION - (uint32_t)(kind))

struct summed_place {			/* parents stand before children */
	uint32_t parent;		/* NODE_NONE: an interval's, the root of a tree */
	uint32_t name;			/* of roots: index into interval_names */
	uint32_t function;		/* index into functions, SUMMED_NO_FUNCTION, or SUMMED_DEVICE() */
	uint32_t call_site;		/* index into call_sites, or CALL_SITE_NONE */
	uint8_t kind, wait, device;	/* enum node_kind, trace_state, thread_kind */
	bool is_wait;
};

struct summed_source {			/* a recording; texts are "" where nobody knows */
	const char *machine, *boot;	/* machine-id and boot-id, 32 hex digits each */
	const char *host, *container;	/* host name; what the control group calls the container */
	const char *build;		/* build id of the program, hex digits */
	const char *run;		/* number or name that it was recorded under */
	int64_t started_ns;		/* CLOCK_REALTIME */
	int64_t clock_ns;		/* CLOCK_REALTIME - CLOCK_MONOTONIC when it began; 0: not known */
	uint64_t recording;		/* tells recordings of one machine and start apart */
};

/* ---- sums over the intervals of one name that ended in one window of one recording ---- */

struct summed_sums {			/* of a place */
	uint32_t place;
	__int128 x, xx, xt;		/* X, X^2, X T */
	uint64_t calls, presence;
};

struct summed_pair {			/* of two siblings, or bodies of one function, that both took time in some interval */
	uint32_t a, b;			/* places, a < b */
	__int128 xy;
};

struct summed_own {			/* of all places of one function, of its bodies, or of its waits of one class */
	uint8_t kind, wait;		/* wait: of OWN_WAIT, else STATE_RUNNING */
	uint32_t function;		/* as a place's; of the run queue none */
	__int128 xx;
	uint64_t cnt;			/* intervals in which it took time */
	__int128 t;			/* the sum of their latencies */
};

struct summed_bucket {			/* of latencies, 128 an octave */
	uint32_t bucket;
	uint64_t n, recorded;
	__int128 t;
};

struct summed_cell {			/* what a place of those without children took in the intervals of a bucket, 8 an octave */
	uint32_t bucket, place;
	__int128 x;
};

struct summed_share {			/* in how many intervals of a bucket, 8 an octave, that took time */
	uint32_t bucket, own;		/* own: index into owns */
	uint64_t n;
};

struct summed_counts {			/* as in struct counted_intervals, and of the recording */
	uint64_t open, aborted, bad_path, lost;
	uint64_t nested, unmatched_ends, lost_records;
	__int128 waited_ns, no_waker_ns, io_waited_ns, io_no_waker_ns;
	bool has_pairing, knows_runqueue;
};

struct summed_root_only {		/* intervals of which functions were not recorded; not weighted */
	uint64_t n;
	__int128 t, tt;
	int64_t max_ns;
};

struct summed_window {
	uint32_t source, root;		/* index into sources; root of the tree, a place */
	/* Its intervals ended from .. until - 1, CLOCK_MONOTONIC there; INT64_MIN and INT64_MAX: all of the recording. */
	int64_t from_ns, until_ns;
	uint64_t n, recorded;		/* weighted; without weights */
	uint32_t unit;			/* divides all weights; 0: there were none */
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
	struct arena *arena;		/* owns every string below */
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

/* Of two units; 0: of none. */
uint32_t summed_divisor(uint32_t a, uint32_t b);

/* ---- buckets of latencies: 2^bits an octave ---- */

enum { BUCKET_BITS_FINE = 7, BUCKET_BITS = 3 };

uint32_t bucket_of(int64_t ns, unsigned bits);
int64_t bucket_from(uint32_t bucket, unsigned bits);	/* the least of it */
#define BUCKETS_MAX(bits) ((uint32_t)(64 - (bits)) << (bits))

/* ---- summing up ---- */

/* Before the first window: sums take the place of rows.  window_ns 0: all of the run is one. */
void analyzer_sum_up(struct analyzer *a, int64_t window_ns);

/* More windows than this are refused, -EFBIG. */
#define SUMMED_WINDOWS_MAX 65536

/* After the last window.  names: as of analyzer_finish().  source is copied. */
int analyzer_summed(struct analyzer *a, const struct trace *names, const struct summed_source *source, struct summed **ret);

/* ---- findings ---- */

/* -ENOENT: no interval of that name.  -EOVERFLOW: all together are too many, or too long, for exact sums. */
int summed_findings(const struct summed *s, const struct analyze_options *o, struct findings **ret);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wait_totals.h - sums of a stretch of a thread's past by function and wait, without walking all of it.
 *
 * Private to analysis/.  If many intervals wait for the same long work, or in one long queue, walking each wait piece
 * by piece takes the square of the trace's length.  Here each thread's past is built once, with its waits explained,
 * as a rope; sums over any part of it take the logarithm of its length.  They equal the sums over the pieces of
 * unfold() exactly.
 */
#ifndef ANALYSIS_PATH_WAIT_TOTALS_H
#define ANALYSIS_PATH_WAIT_TOTALS_H

#include "analysis/path/critical_path.h"
#include "analysis/path/timeline.h"

/*
 * The key under which a thread's time in an invocation (INVOCATION_NONE: in no function) and state is summed; tid 0:
 * unknown; device: as in struct piece.
 */
typedef uint64_t (*past_key)(void *arg, uint64_t tid, uint32_t innermost, enum trace_state state, enum thread_kind device);

struct past_sum {
	uint64_t key;
	int64_t ns;
};
typedef VEC(struct past_sum) past_sums;

struct past *past_new(const struct timeline *tl, past_key key, void *arg);
void past_free(struct past *p);
DEFINE_CLEANUP(struct past *, past_free);

/* Sums of the folded piece within [start, end), each key once, in no particular order. */
void past_sum(struct past *p, const struct piece *folded, int64_t start_ns, int64_t end_ns,
	      past_sums *ret);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_sums.h - what passes take from rows, where there are no rows but sums over them.
 *
 * Private to analysis/.  Numbers of places are the tree's.  Blocks are hosts, or windows of time, or several of either, in
 * order of host and time; 0: there are too few of them to say how far off a share may be.
 */
#ifndef ANALYSIS_TREE_PLACE_SUMS_H
#define ANALYSIS_TREE_PLACE_SUMS_H

#include "analysis/findings/block_kind.h"
#include "analysis/findings/own_kinds.h"
#include "analysis/tree/moments.h"
#include "base/map.h"

struct own_sums {			/* of all places of one function, body or wait together */
	__int128 xx, t;
	uint64_t cnt;			/* intervals in which it took time */
	uint64_t slow, fast;		/* ... slow ones, fast ones */
};

struct window_block {
	uint64_t n, slow_n;
	__int128 t, tt, slow_t;
	__int128 *x, *xt, *slow_x;	/* per place */
};

struct place_sums {
	struct map *pairs;		/* place << 32 | larger one -> index into pair_sums */
	VEC(__int128) pair_sums;
	struct map *owns;		/* own_key() -> index into own_sums */
	VEC(struct own_sums) own_sums;
	__int128 *slow_x, *fast_x;	/* per place */
	uint32_t host_cnt;		/* with intervals */
	struct block_kind kind;		/* of the blocks */
	struct window_block *blocks;
};

static inline uint64_t own_key(enum own_kind kind, enum trace_state wait, uint32_t function)
{
	return (uint64_t)kind << 40 | (uint64_t)wait << 32 | function;
}

static inline struct own_sums own_sums_of(const struct place_sums *s, uint64_t key)
{
	uint64_t at;

	return map_get(s->owns, key, &at) ? s->own_sums.items[at] : (struct own_sums){ 0 };
}

static inline __int128 pair_sum_of(const struct place_sums *s, uint32_t a, uint32_t b)
{
	uint64_t at, key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;

	return map_get(s->pairs, key, &at) ? s->pair_sums.items[at] : 0;
}

#endif

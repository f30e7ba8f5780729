/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * carrier.c - all paths from the outermost function, below the interval and below waits alike, and the way down to their carriers.
 *
 * A set of leaves in a function is a range of an array; what of their paths is below that function begins at "at".
 */
#include "analysis/causes/carrier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/stats/confidence.h"
#include "base/map.h"
#include "base/banned.h"

#define ALL_BUT 0.9			/* of a share, one may name less than that */
#define ITS_OWN_SHARE 1.02		/* times what it has here: all that it has */
#define ITS_OWN_TIME 1.25
#define UNLIKE 0.15			/* of the share is not where the time is */
#define ONE_KIND 0.75			/* of the share */
#define SMALL 0.01			/* shares about which nothing is said */

struct path {				/* of a leaf */
	size_t first, end;		/* in frames, the outermost first */
	size_t at;			/* what follows the function that is looked at */
	struct carried *leaf;
};

struct sum {				/* over leaves */
	double share, mean_ns;
};

struct name {
	const char *function;
	struct sum all, here;		/* in all leaves; in those that are looked at */
	bool is_loop;
	double depth;			/* of here: sum of shares times depths */
	size_t counted;			/* the path, plus one, that was counted last */
};

struct walk {
	struct names *numbers;
	VEC(struct name) names;
	VEC(uint32_t) frames;
	VEC(struct path) paths;
	double share;			/* of all */
	const struct carrier_blocks *blocks;
};

static void add_frame(struct walk *w, size_t first, const struct node *n)
{
	uint32_t number = names_add(w->numbers, n->function);

	if (number == w->names.cnt)
		VEC_ADD(&w->names, (struct name){ .function = n->function, .is_loop = n->is_loop });
	if (w->frames.cnt == first || w->frames.items[w->frames.cnt - 1] != number)
		VEC_ADD(&w->frames, number);
}

/* The function of a wait is the node above; the functions to blame for it are below.  Functions of system libraries are somebody's work,
 * and no cause, unless there are no others. */
static void add_path(struct walk *w, const struct findings *f, struct carried *leaf)
{
	const struct node *n = &f->nodes.items[leaf->doer];
	size_t first = w->frames.cnt;
	VEC(const struct node *) around = { NULL, 0, 0 };	/* the innermost first */
	enum node_kind kind;

	leaf->carrier = n->function;
	if ((n->kind == NODE_WAIT || n->kind == NODE_BODY) && n->parent != NODE_NONE)
		n = &f->nodes.items[n->parent];
	kind = n->kind;
	for (; n->kind == kind && n->function && n->parent != NODE_NONE; n = &f->nodes.items[n->parent])
		VEC_ADD(&around, n);
	for (size_t i = around.cnt; i-- > 0; )
		if (!around.items[i]->is_system)
			add_frame(w, first, around.items[i]);
	if (w->frames.cnt == first && around.cnt)
		add_frame(w, first, around.items[0]);
	VEC_RELEASE(&around);
	if (w->frames.cnt == first)
		return;
	VEC_ADD(&w->paths, (struct path){ first, w->frames.cnt, first, leaf });
	w->share += leaf->share;
}

/* Adds up, for each name below, the leaves that have it; a name that calls itself has them once. */
static void sum_names(struct walk *w, size_t begin, size_t end)
{
	for (size_t i = 0; i < w->names.cnt; i++) {
		w->names.items[i].here = (struct sum){ 0, 0 };
		w->names.items[i].depth = 0;
		w->names.items[i].counted = 0;
	}
	for (size_t i = begin; i < end; i++) {
		const struct path *p = &w->paths.items[i];

		for (size_t k = p->at; k < p->end; k++) {
			struct name *n = &w->names.items[w->frames.items[k]];

			if (n->counted == i + 1)
				continue;
			n->counted = i + 1;
			n->here.share += p->leaf->share;
			n->here.mean_ns += p->leaf->mean_ns;
			n->depth += p->leaf->share * (double)(k - p->at);
		}
	}
}

static struct sum sum_of(const struct walk *w, size_t begin, size_t end)
{
	struct sum s = { 0, 0 };

	for (size_t i = begin; i < end; i++) {
		s.share += w->paths.items[i].leaf->share;
		s.mean_ns += w->paths.items[i].leaf->mean_ns;
	}
	return s;
}

/* It has little elsewhere. */
static bool is_its_own(const struct name *n, struct sum here)
{
	return n->all.share <= ITS_OWN_SHARE * here.share && n->all.mean_ns <= ITS_OWN_TIME * here.mean_ns;
}

/* The highest name of its own that has nearly all of that share; NAMES_NONE: there is none. */
static uint32_t highest(struct walk *w, size_t begin, size_t end, double share)
{
	uint32_t best = NAMES_NONE;

	sum_names(w, begin, end);
	for (uint32_t i = 0; i < w->names.cnt; i++) {
		const struct name *n = &w->names.items[i];

		if (!n->counted || n->here.share < ALL_BUT * share || !is_its_own(n, n->here))
			continue;
		if (best == NAMES_NONE || n->depth * w->names.items[best].here.share < w->names.items[best].depth * n->here.share)
			best = i;
	}
	return best;
}

static size_t found_at(const struct walk *w, const struct path *p, uint32_t name)
{
	size_t k = p->at;

	while (k < p->end && w->frames.items[k] != name)
		k++;
	return k;
}

/* Moves the paths through that function to the front, and goes down to it in them.  Returns where the others begin. */
static size_t go_down(struct walk *w, size_t begin, size_t end, uint32_t name)
{
	size_t others = begin;

	for (size_t i = begin; i < end; i++) {
		struct path p = w->paths.items[i];
		size_t k = found_at(w, &p, name);

		if (k == p.end)
			continue;
		p.at = k + 1;
		w->paths.items[i] = w->paths.items[others];
		w->paths.items[others++] = p;
	}
	return others;
}

/* The function that is called next, plus one; 0: none is. */
static uint32_t next_of(const struct walk *w, size_t path)
{
	const struct path *p = &w->paths.items[path];

	return p->at < p->end ? w->frames.items[p->at] + 1 : 0;
}

static int by_next(const void *pa, const void *pb, void *arg)
{
	const struct walk *w = arg;
	const struct path *a = pa, *b = pb;
	uint32_t x = a->at < a->end ? w->frames.items[a->at] + 1 : 0, y = b->at < b->end ? w->frames.items[b->at] + 1 : 0;

	if (x != y)
		return x < y ? -1 : 1;
	return (a->leaf > b->leaf) - (a->leaf < b->leaf);
}

/* The paths are sorted by what they call next: where those end that call the same. */
static size_t next_group(const struct walk *w, size_t begin, size_t end)
{
	size_t i = begin + 1;

	while (i < end && next_of(w, i) == next_of(w, begin))
		i++;
	return i;
}

static enum trace_state kind_of(enum trace_state state)
{
	return state_is_runqueue(state) ? STATE_RUNNING : state;
}

static bool is_of_one_kind(const struct walk *w, size_t begin, size_t end)
{
	double of_kind[STATE_CNT] = { 0 }, all = 0, most = 0;

	for (size_t i = begin; i < end; i++) {
		double share = fabs(w->paths.items[i].leaf->share);

		of_kind[kind_of(w->paths.items[i].leaf->state)] += share;
		all += share;
	}
	for (int i = 0; i < STATE_CNT; i++)
		most = of_kind[i] > most ? of_kind[i] : most;
	return most >= ONE_KIND * all;
}

/* Adds the blocks of these paths, times factor. */
static void add_blocks(const struct walk *w, size_t begin, size_t end, double factor, double *to)
{
	for (size_t i = begin; i < end; i++)
		for (size_t b = 0; b < w->blocks->kind.cnt; b++)
			to[b] += factor * w->paths.items[i].leaf->blocks[b];
}

/* Whether some of the paths may have, but for chance, that part of what all have.  excess: what they have above it. */
static bool may_be_chance(const struct walk *w, size_t begin, size_t end, size_t first, size_t next, double part, double excess)
{
	double sums[CONFIDENCE_BLOCKS_MAX] = { 0 };

	if (!w->blocks || !w->blocks->kind.cnt || w->blocks->kind.cnt > CONFIDENCE_BLOCKS_MAX)
		return false;
	add_blocks(w, first, next, 1, sums);
	add_blocks(w, begin, end, -part, sums);
	return fabs(excess) <= confidence_of(sums, w->blocks->kind, w->blocks->n).half_width;
}

/* Whether its callees, and it itself, have the same part of the share as of the time. */
static bool is_alike(const struct walk *w, size_t begin, size_t end, struct sum whole)
{
	double off = 0;

	for (size_t i = begin, next; i < end; i = next) {
		double part, excess;
		struct sum s;

		next = next_group(w, i, end);
		s = sum_of(w, i, next);
		part = s.mean_ns / whole.mean_ns;
		excess = s.share - part * whole.share;
		if (!may_be_chance(w, begin, end, i, next, part, excess))
			off += fabs(excess) / whole.share / 2;
	}
	return off <= UNLIKE;
}

static void give(struct walk *w, size_t begin, size_t end, uint32_t name)
{
	for (size_t i = begin; i < end; i++)
		w->paths.items[i].leaf->carrier = w->names.items[name].function;
}

static void give_innermost(struct walk *w, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		give(w, i, i + 1, w->frames.items[w->paths.items[i].end - 1]);
}

static void carry(struct walk *w, size_t begin, size_t end, uint32_t name, double of);

/* They are several causes. */
static void split(struct walk *w, size_t begin, size_t end, uint32_t name)
{
	for (size_t i = begin, next; i < end; i = next) {
		uint32_t called = next_of(w, i);

		next = next_group(w, i, end);
		for (size_t k = i; called && k < next; k++)
			w->paths.items[k].at++;
		if (called)
			carry(w, i, next, called - 1, sum_of(w, i, next).share);
		else
			give(w, i, next, name);
	}
}

static bool is_outermost(const struct walk *w, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		if (w->paths.items[i].at == w->paths.items[i].first + 1)
			return true;
	return false;
}

/* The paths, sorted by what they call next, are all those through that function, and one cause. */
static bool is_one_cause(const struct walk *w, size_t begin, size_t end, uint32_t name, struct sum whole)
{
	const struct name *n = &w->names.items[name];

	return is_its_own(n, whole) && whole.mean_ns > 0 && !n->is_loop && !is_outermost(w, begin, end) &&
	       is_of_one_kind(w, begin, end) && is_alike(w, begin, end, whole);
}

/* name: of the function that they are all in; NAMES_NONE: of none.  of: the share of the cause, of which they have nearly all. */
static void carry(struct walk *w, size_t begin, size_t end, uint32_t name, double of)
{
	struct sum whole = sum_of(w, begin, end);
	uint32_t below = NAMES_NONE;
	size_t others = begin;

	if (whole.share < SMALL) {
		give_innermost(w, begin, end);
		return;
	}
	below = highest(w, begin, end, of);
	if (below != NAMES_NONE) {
		others = go_down(w, begin, end, below);
		carry(w, begin, others, below, of);
	}
	if (others < end)
		qsort_r(w->paths.items + others, end - others, sizeof(*w->paths.items), by_next, w);
	if (below == NAMES_NONE && name != NAMES_NONE && is_one_cause(w, begin, end, name, whole))
		give(w, begin, end, name);
	else
		split(w, others, end, name);
}

void find_carriers(const struct findings *f, const struct carrier_blocks *blocks, struct carried *leaves, size_t cnt)
{
	struct walk w = { .numbers = names_new(), .blocks = blocks };

	for (size_t i = 0; i < cnt; i++) {
		leaves[i].carrier = NULL;
		if (leaves[i].doer != NODE_NONE)
			add_path(&w, f, &leaves[i]);
	}
	sum_names(&w, 0, w.paths.cnt);
	for (size_t i = 0; i < w.names.cnt; i++)
		w.names.items[i].all = w.names.items[i].here;
	if (w.paths.cnt)
		carry(&w, 0, w.paths.cnt, NAMES_NONE, w.share);
	VEC_RELEASE(&w.paths);
	VEC_RELEASE(&w.frames);
	VEC_RELEASE(&w.names);
	names_free(w.numbers);
}

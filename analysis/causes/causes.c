/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causes.c - groups the leaves of the tree by the function or device that took the time.
 *
 * The leaves are disjoint and add up to the latency.  A share is linear in the time, so the share of a cause is the sum of its
 * leaves' shares, and its blocks are the sums of their blocks.  A leaf belongs to:
 *
 *	a body, a function that is a leaf	the function; in none: unknown
 *	a wait for a CPU, of any thread	the run queue; for a request on a socket whose thread was preempted: the
 *						function that ran then, whose running time takes that long
 *	a blame with a function			that function
 *	a blame of a peer			the peer; reported with it: the function that waited most
 *	a blame of another device		the function that waited, if one has a probe; else the device
 *	an io wait or sleep without a blame	the function that waited
 *	any other wait without a blame		unknown: the function that waited only suffers it
 *
 * A function that acts in several ways is one cause.  The report shows its largest state, its largest way of acting, and the
 * largest wait through which it acts.
 */
#include "analysis/causes/causes.h"
#include "analysis/causes/carrier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/stats/confidence.h"
#include "base/map.h"
#include "base/banned.h"

struct leaf {
	uint32_t node;
	const struct node *wait;	/* that it is in; NULL: none */
	struct summed_cause as;		/* the cause if this were its only leaf */
};

static enum cause_how how_of(enum trace_state wait)
{
	switch (wait) {
	case STATE_LOCK:
	case STATE_COND:
	case STATE_JOIN:
		return HOW_LOCK;
	case STATE_QUEUE:
	case STATE_ARRIVED:
	case STATE_BUSY:
	case STATE_HANDED_OVER:
		return HOW_QUEUE;
	case STATE_IO:
		return HOW_IO;
	case STATE_RUNNABLE:
	case STATE_WAKEUP:
		return HOW_RUNQUEUE;
	case STATE_RUNNING:
		return HOW_CPU;
	default:
		return HOW_OTHER;
	}
}

static bool is_device(const char *function)
{
	return function && function[0] == '(';
}

static void set_function(struct summed_cause *c, const struct node *n)
{
	c->known = true;
	c->function = n->function;
	c->file = n->file;
	c->line = n->line;
}

/* The cause is a peer: the other end of a connection, or a file, for which a function waits, or a request that was put aside. */
static void set_peer(struct arena *arena, struct summed_cause *c, const struct node *wait, const struct node *blame)
{
	c->known = c->is_wait = true;
	c->wait = STATE_IO;
	c->how = HOW_IO;
	c->peer = arena_strndup(arena, blame->function + 1, findings_peer_len(blame->function));
	if (wait->function)
		set_function(c, wait);
}

static void set_runqueue(struct summed_cause *c)
{
	c->known = c->is_wait = true;
	c->wait = STATE_RUNNABLE;
	c->how = HOW_RUNQUEUE;
}

/* The function that waited is the cause: no other thread is known to have ended the wait, and none had to. */
static void set_waiting(struct summed_cause *c, enum trace_state wait, const struct node *in)
{
	c->is_wait = true;
	c->wait = wait;
	if (in->function)
		set_function(c, in);
}

/* The thread was preempted in that function. */
static bool is_preempted(const struct node *n)
{
	return n && n->is_wait && n->wait == STATE_RUNNABLE && n->function;
}

/* The function that waits, for a wait in a system library: the program's function that called the library. */
static const struct node *caller_of_library(const struct findings *f, const struct node *n)
{
	const struct node *at = n;

	while (at->is_system && at->parent != NODE_NONE)
		at = &f->nodes.items[at->parent];
	return at->function ? at : n;
}

/* blame: below wait; NULL: it has none. */
static void judge_wait(const struct findings *f, struct summed_cause *c, const struct node *wait, const struct node *blame)
{
	bool may_end_by_itself = wait->wait == STATE_IO || wait->wait == STATE_SLEEP;
	const struct node *in = caller_of_library(f, wait);

	c->how = how_of(wait->wait);
	c->has_waiter = true;
	c->waiter = in->function;
	c->waiter_file = in->file;
	c->waiter_line = in->line;
	c->waited = wait->wait;
	if (blame) {
		c->is_wait = blame->is_wait;
		c->wait = blame->wait;
		c->device = blame->device;
	}
	if (state_is_runqueue(wait->wait) || (blame && blame->is_wait && state_is_runqueue(blame->wait))) {
		set_runqueue(c);
		if (f->look.is_one && is_preempted(blame ? blame : wait))
			set_function(c, blame ? blame : wait);
	} else if (blame && findings_peer_len(blame->function)) {
		set_peer(f->arena, c, in, blame);
	} else if (blame && is_device(blame->function)) {
		set_waiting(c, wait->wait, in);
		c->known = true;
		c->device = strcmp(blame->function, "(timer)") == 0 ? "timer" : strcmp(blame->function, "(disk)") == 0 ? "disk" :
			    strcmp(blame->function, "(nic)") == 0 ? "nic" : "kernel";
	} else if (blame && blame->function) {
		set_function(c, blame);
	} else if (may_end_by_itself && !(blame && blame->is_wait)) {
		set_waiting(c, wait->wait, in);
	}
}

/* For each node the innermost wait at or above it; NULL: there is none.  One pass from the top: the way up from each leaf of a deep tree
 * would take the square of its depth.  The caller frees it. */
static const struct node **waits_above(const struct findings *f)
{
	const struct node **waits = xcalloc(f->nodes.cnt + 1, sizeof(*waits));

	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];

		waits[i] = n->kind == NODE_WAIT ? n : n->parent == NODE_NONE ? NULL : waits[n->parent];
	}
	return waits;
}

/* A blame without a name, below one with a name, is that one's own running time. */
static const struct node *blamed(const struct findings *f, const struct node *n)
{
	const struct node *above = n->parent == NODE_NONE ? NULL : &f->nodes.items[n->parent];

	return n->kind == NODE_BLAME && !n->function && !n->is_wait && above && above->kind == NODE_BLAME ? above : n;
}

/* The thread ran for other requests, in an unknown function. */
static bool runs_for_others(const struct node *n, const struct node *wait)
{
	return wait && wait->wait == STATE_BUSY && n->kind == NODE_BLAME && !n->function && !n->is_wait;
}

static void judge(const struct findings *f, struct leaf *leaf, const struct node *const *waits)
{
	const struct node *n = blamed(f, &f->nodes.items[leaf->node]), *wait = waits[n - f->nodes.items];
	struct summed_cause *c = &leaf->as;

	leaf->wait = wait;
	c->share = f->nodes.items[leaf->node].share;
	c->mean_ns = f->nodes.items[leaf->node].mean_ns;
	c->is_estimated = f->nodes.items[leaf->node].samples > 0;
	if (runs_for_others(n, wait)) {
		c->how = HOW_CPU;
	} else if (n->kind == NODE_WAIT || n->kind == NODE_BLAME) {
		if (wait)
			judge_wait(f, c, wait, n->kind == NODE_BLAME ? n : NULL);
	} else {
		c->how = HOW_CPU;
		if (n->function)
			set_function(c, n);
	}
}

static int compare_texts(const char *a, const char *b)
{
	if (a == b)		/* nearly always: leaves have the names of few functions */
		return 0;
	return strcmp(a ? a : "", b ? b : "");
}

/* Returns 0 if both are the same cause. */
static int compare_doers(const struct summed_cause *a, const struct summed_cause *b)
{
	int r;

	if (a->known != b->known)
		return a->known ? -1 : 1;
	if (!a->known)
		return 0;
	r = compare_texts(a->peer, b->peer);
	if (r != 0 || a->peer)
		return r;
	r = compare_texts(a->function, b->function);
	if (r == 0)
		r = compare_texts(a->file, b->file);
	if (r != 0 || a->function)
		return r;
	r = compare_texts(a->device, b->device);
	if (r != 0 || a->device)
		return r;
	return (a->wait > b->wait) - (a->wait < b->wait);
}

/* ---- groups of leaves with one doer, in order ---- */

#define RECENT_DOERS 256

struct doer {				/* leaves with the very same texts */
	const struct leaf *first;
	uint32_t number;
};

struct leaf_groups {
	const struct leaf **leaves;	/* by group, then by node */
	size_t *ends;			/* of each group, in leaves */
	size_t cnt;
};

static void leaf_groups_release(struct leaf_groups *g)
{
	free(g->leaves);
	free(g->ends);
}

static bool same_texts(const struct summed_cause *a, const struct summed_cause *b)
{
	return a->known == b->known && a->peer == b->peer && a->function == b->function && a->file == b->file &&
	       a->device == b->device && a->wait == b->wait;
}

static int by_doer(const void *pa, const void *pb)
{
	const struct doer *a = pa, *b = pb;
	int r = compare_doers(&a->first->as, &b->first->as);

	return r ? r : (a->number > b->number) - (a->number < b->number);
}

typedef VEC(struct doer) doer_list;

/* Returns for each leaf the number of its doer.  The caller frees it.  Two doers in the list may still have equal texts. */
static uint32_t *find_doers(const struct leaf *leaves, size_t cnt, doer_list *doers)
{
	uint32_t *ret = xcalloc(cnt + 1, sizeof(*ret)), recent[RECENT_DOERS] = { 0 };	/* by their texts: their number, plus one */

	for (size_t i = 0; i < cnt; i++) {
		const struct summed_cause *c = &leaves[i].as;
		uint32_t *r = &recent[hash_u64((uintptr_t)c->function, (uintptr_t)c->device + c->wait) % RECENT_DOERS];

		if (!*r || !same_texts(&doers->items[*r - 1].first->as, c)) {
			VEC_ADD(doers, (struct doer){ &leaves[i], (uint32_t)doers->cnt });
			*r = (uint32_t)doers->cnt;
		}
		ret[i] = *r - 1;
	}
	return ret;
}

/* Sorts the doers, which are few, instead of the leaves, which may be as many as calls. */
static void group_leaves(const struct leaf *leaves, size_t cnt, struct leaf_groups *g)
{
	doer_list doers = { NULL, 0, 0 };
	_cleanup_(freep) uint32_t *doer_of_leaf = find_doers(leaves, cnt, &doers);
	_cleanup_(freep) uint32_t *group_of_doer = xcalloc(doers.cnt + 1, sizeof(*group_of_doer));

	g->leaves = xcalloc(cnt + 1, sizeof(*g->leaves));
	g->ends = xcalloc(doers.cnt + 1, sizeof(*g->ends));
	if (doers.cnt > 1)
		qsort(doers.items, doers.cnt, sizeof(*doers.items), by_doer);
	for (size_t i = 0; i < doers.cnt; i++) {
		g->cnt += i == 0 || compare_doers(&doers.items[i - 1].first->as, &doers.items[i].first->as) != 0;
		group_of_doer[doers.items[i].number] = (uint32_t)g->cnt - 1;
	}
	for (size_t i = 0; i < cnt; i++)
		g->ends[group_of_doer[doer_of_leaf[i]] + 1]++;
	for (size_t i = 0; i < g->cnt; i++)
		g->ends[i + 1] += g->ends[i];
	for (size_t i = 0; i < cnt; i++)
		g->leaves[g->ends[group_of_doer[doer_of_leaf[i]]]++] = &leaves[i];	/* beginnings become ends */
	VEC_RELEASE(&doers);
}

/* Returns 0 if both leaves agree in one property, of which the leaves of a group have few values. */
typedef int (*compare_leaves)(const struct summed_cause *a, const struct summed_cause *b);

static int compare_states(const struct summed_cause *a, const struct summed_cause *b)
{
	if (a->is_wait != b->is_wait)
		return a->is_wait ? 1 : -1;
	if (a->is_wait && a->wait != b->wait)
		return a->wait < b->wait ? -1 : 1;
	return compare_texts(a->device, b->device);
}

static int compare_hows(const struct summed_cause *a, const struct summed_cause *b)
{
	return (int)a->how - (int)b->how;
}

static int compare_waiters(const struct summed_cause *a, const struct summed_cause *b)
{
	int r;

	if (a->has_waiter != b->has_waiter)
		return a->has_waiter ? 1 : -1;
	if (a->waited != b->waited)
		return a->waited < b->waited ? -1 : 1;
	r = compare_texts(a->waiter, b->waiter);
	return r ? r : compare_texts(a->waiter_file, b->waiter_file);
}

struct alike_order {
	const struct leaf *const *leaves;
	compare_leaves compare;
};

static int by_likeness(const void *pa, const void *pb, void *arg)
{
	const struct alike_order *o = arg;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
	int r = o->compare(&o->leaves[a]->as, &o->leaves[b]->as);

	return r ? r : (a > b) - (a < b);
}

static bool all_alike(const struct leaf *const *leaves, size_t cnt, compare_leaves compare)
{
	size_t i = 1;

	while (i < cnt && compare(&leaves[0]->as, &leaves[i]->as) == 0)
		i++;
	return i >= cnt;
}

/* Returns the first leaf of the subgroup with the largest sum by absolute value (ties: the longest); ret_share: its part of the
 * group. */
static const struct summed_cause *largest(const struct leaf *const *leaves, size_t cnt, compare_leaves compare, double *ret_share)
{
	_cleanup_(freep) size_t *order = NULL;
	size_t best = 0;
	double best_ns = 0;

	*ret_share = 0;
	if (all_alike(leaves, cnt, compare)) {
		for (size_t i = 0; i < cnt; i++)
			*ret_share += leaves[i]->as.share;
		return &leaves[0]->as;
	}
	order = xcalloc(cnt, sizeof(*order));
	for (size_t i = 0; i < cnt; i++)
		order[i] = i;
	if (cnt > 1)
		qsort_r(order, cnt, sizeof(*order), by_likeness, &(struct alike_order){ leaves, compare });
	for (size_t first = 0, end; first < cnt; first = end) {
		double share = 0, mean_ns = 0;

		for (end = first; end < cnt && compare(&leaves[order[first]]->as, &leaves[order[end]]->as) == 0; end++) {
			share += leaves[order[end]]->as.share;
			mean_ns += leaves[order[end]]->as.mean_ns;
		}
		if (first == 0 || fabs(share) > fabs(*ret_share) ||
		    (fabs(share) == fabs(*ret_share) && (mean_ns > best_ns || (mean_ns == best_ns && order[first] < best)))) {
			best = order[first];
			*ret_share = share;
			best_ns = mean_ns;
		}
	}
	return &leaves[best]->as;
}

/* Sums up the leaves of one cause. */
static struct summed_cause sum_up(struct arena *arena, const struct leaf *const *leaves, size_t cnt)
{
	struct summed_cause c = leaves[0]->as;
	const struct summed_cause *x;
	double share;

	c.share = c.mean_ns = 0;
	c.places.items = ARENA_NEW(arena, uint32_t, cnt);
	c.places.cnt = c.places.cap = cnt;
	for (size_t i = 0; i < cnt; i++) {
		c.share += leaves[i]->as.share;
		c.mean_ns += leaves[i]->as.mean_ns;
		c.is_estimated |= leaves[i]->as.is_estimated;
		c.places.items[i] = leaves[i]->node;
	}
	x = largest(leaves, cnt, compare_hows, &c.how_share);
	c.how = x->how;
	x = largest(leaves, cnt, compare_waiters, &c.waiter_share);
	c.has_waiter = x->has_waiter;
	c.waiter = x->waiter;
	c.waiter_file = x->waiter_file;
	c.waiter_line = x->waiter_line;
	c.waited = x->waited;
	if (c.peer) {
		c.function = x->function;
		c.file = x->file;
		c.line = x->line;
		return c;
	}
	x = largest(leaves, cnt, compare_states, &share);
	c.is_wait = x->is_wait;
	c.wait = x->wait;
	c.device = x->device;
	if (c.known && c.function && fabs(share) < NEARLY_ALL * fabs(c.share)) {
		c.is_wait = false;
		c.is_mixed = true;
		c.device = NULL;
	}
	return c;
}

struct ordered {
	struct summed_cause cause;
	size_t before;
};

static int by_share(const void *pa, const void *pb)
{
	const struct ordered *a = pa, *b = pb;

	if (a->cause.share != b->cause.share)
		return a->cause.share > b->cause.share ? -1 : 1;
	return (a->before > b->before) - (a->before < b->before);	/* by name */
}

/* Sorts the causes, and renumbers of_node. */
static void sort_causes(struct findings *f, uint32_t *of_node)
{
	size_t cnt = f->causes.cnt;
	_cleanup_(freep) struct ordered *order = xcalloc(cnt + 1, sizeof(*order));
	_cleanup_(freep) uint32_t *after = xcalloc(cnt + 1, sizeof(*after));

	for (size_t i = 0; i < cnt; i++)
		order[i] = (struct ordered){ f->causes.items[i], i };
	if (cnt > 1)
		qsort(order, cnt, sizeof(*order), by_share);
	for (uint32_t i = 0; i < cnt; i++) {
		f->causes.items[i] = order[i].cause;
		after[order[i].before] = i;
	}
	for (size_t i = 0; i < f->nodes.cnt; i++)
		if (of_node[i] != NODE_NONE)
			of_node[i] = after[of_node[i]];
}

static uint32_t doer_of(const struct findings *f, const struct leaf *leaf)
{
	const struct node *n = blamed(f, &f->nodes.items[leaf->node]);

	if (!leaf->as.known || !leaf->as.function || leaf->as.peer)
		return NODE_NONE;
	return n->function && strcmp(n->function, leaf->as.function) == 0 ? n->id : leaf->wait ? leaf->wait->id : NODE_NONE;
}

/* For requests on sockets: their functions are all those of stacks. */
static void give_to_carriers(const struct analysis *a, const struct shown_tree *shown, const struct factor_columns *factors,
			     struct leaf *leaves, size_t cnt)
{
	const struct carrier_blocks blocks = { analysis_blocks(a), a->m->n };
	const struct findings *f = a->f;
	_cleanup_(freep) struct carried *all = xcalloc(cnt + 1, sizeof(*all));

	for (size_t i = 0; i < cnt; i++) {
		const struct summed_cause *c = &leaves[i].as;

		all[i] = (struct carried){ .doer = doer_of(f, &leaves[i]), .state = c->is_wait ? c->wait : STATE_RUNNING,
					   .share = c->share, .mean_ns = c->mean_ns };
		if (factors->block_cnt)
			all[i].blocks = factors->blocks_of_place + shown->place_of_node[leaves[i].node] * factors->block_cnt;
	}
	find_carriers(f, factors->block_cnt ? &blocks : NULL, all, cnt);
	for (size_t i = 0; i < cnt; i++) {
		struct summed_cause *c = &leaves[i].as;

		if (!all[i].carrier || strcmp(all[i].carrier, c->function) == 0)
			continue;
		if (c->has_waiter && compare_texts(c->waiter, c->function) == 0)	/* it waited itself */
			c->waiter = all[i].carrier;
		c->function = all[i].carrier;
		c->file = NULL;
		c->line = 0;
	}
}

static size_t leaves_in(const bool *has_child, size_t cnt)
{
	size_t ret = 0;

	for (size_t i = 0; i < cnt; i++)
		ret += !has_child[i];
	return ret;
}

/* Fills f->causes from f->nodes, largest share first.  Returns for each node the index of its cause; NODE_NONE: not a leaf.  The
 * caller frees it. */
static uint32_t *sum_causes(const struct analysis *a, const struct shown_tree *shown, const struct factor_columns *factors)
{
	struct findings *f = a->f;
	size_t cnt = f->nodes.cnt, leaf_cnt = 0;
	_cleanup_(freep) struct leaf *leaves = NULL;
	_cleanup_(leaf_groups_release) struct leaf_groups groups = { 0 };
	uint32_t *of_node = xmalloc((cnt + 1) * sizeof(*of_node));
	_cleanup_(freep) bool *has_child = xcalloc(cnt + 1, sizeof(*has_child));
	const struct node **waits = waits_above(f);

	memset(of_node, 0xff, (cnt + 1) * sizeof(*of_node));
	for (size_t i = 1; i < cnt; i++)
		has_child[f->nodes.items[i].parent] = true;
	leaves = xcalloc(leaves_in(has_child, cnt) + 1, sizeof(*leaves));
	for (uint32_t i = 0; i < cnt; i++) {
		if (has_child[i])
			continue;
		leaves[leaf_cnt].node = i;
		judge(f, &leaves[leaf_cnt++], waits);
	}
	free(waits);
	if (f->look.is_one)
		give_to_carriers(a, shown, factors, leaves, leaf_cnt);
	group_leaves(leaves, leaf_cnt, &groups);
	for (size_t i = 0, first = 0; i < groups.cnt; first = groups.ends[i++]) {
		for (size_t k = first; k < groups.ends[i]; k++)
			of_node[groups.leaves[k]->node] = (uint32_t)i;
		VEC_ADD(&f->causes, sum_up(f->arena, groups.leaves + first, groups.ends[i] - first));
	}
	sort_causes(f, of_node);
	return of_node;
}

void find_causes(const struct analysis *a, const struct shown_tree *shown, const struct factor_columns *factors)
{
	_cleanup_(freep) uint32_t *of_node = NULL;
	_cleanup_(freep) double *sums = NULL;
	size_t blocks = factors->block_cnt;

	if (a->f->interval.cnt == 0)
		return;
	of_node = sum_causes(a, shown, factors);
	if (blocks == 0)
		return;
	sums = xcalloc(a->f->causes.cnt * blocks + 1, sizeof(*sums));
	for (size_t i = 0; i < a->f->nodes.cnt; i++)
		for (size_t b = 0; b < blocks && of_node[i] != NODE_NONE; b++)
			sums[of_node[i] * blocks + b] += factors->blocks_of_place[shown->place_of_node[i] * blocks + b];
	for (size_t i = 0; i < a->f->causes.cnt; i++) {
		struct summed_cause *c = &a->f->causes.items[i];

		c->has_ci95 = true;
		findings_ci95(c->share, confidence_of(sums + i * blocks, analysis_blocks(a), a->m->n).half_width, c->ci95);
	}
}

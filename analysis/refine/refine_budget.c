/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine_budget.c - several levels at once, cheapest first, within the overhead.
 *
 * Any set of functions may carry probes: the time of one without a probe is in the body of the nearest function with
 * one.  So a plan is filled in tiers, each from the rarest function up, as long as calls x cost fit into overhead x
 * mean (and their part of the variance into overhead, see refine_cost.c):
 *
 *	path	what holds more than the threshold, and what it is called by
 *	scope	all levels below bodies above the threshold that call what was not recorded; then below
 *		those that are above it only at the upper end of their confidence interval
 *	rest	what was recorded before
 *
 * If nothing of the scope fits, all of it is recorded, but only in one of several intervals (refine.h).
 *
 * A function that was never recorded is assumed to be called as often as its callers, once per call in the source;
 * the run then measures it.  Example, 100 calls fit: handle 1 calls step twice in its source, step calls leaf 3
 * times: step 2, leaf 6.
 */
#include "analysis/refine/refine_state.h"

#include <math.h>
#include <string.h>
#include "base/banned.h"

#define TRIES 2				/* runs between two attempts at a function that is too expensive */
#define WAKER_LEVELS 3			/* levels below a waker: its number of calls is unknown */

struct candidate {
	double calls;
	uint32_t function;
	enum refine_level level;
};

struct budget {
	struct refinement *r;
	const struct findings *f;
	struct refine_state *s;
	enum refine_level *next;
	double *estimate;		/* calls an interval */
	double left_ns, left_share;	/* of the mean latency, of its variance */
	VEC(struct candidate) tier;
	bool *in_scope;
	size_t new_cnt;			/* functions that no run had recorded, below those to look into */
	indexes callers;		/* callers of where intervals begin, if their callees are searched */
};

/* ---- the first run ---- */

/* Leaves out functions that earlier runs never saw called, and those that only they call; a later run records them if
 * their caller's own time counts. */
static void add_to_census(struct refinement *r, uint32_t f, bool *known, indexes *below)
{
	const struct refine_function *function = &r->state->p->functions[f];

	if (known[f])
		return;
	known[f] = true;
	if (function->uncalled && !function->always)
		r->uncalled_cnt++;
	else
		VEC_ADD(below, f);
}

void refine_census(struct refinement *r)
{
	struct refine_state *s = r->state;
	indexes level = { NULL, 0, 0 }, below = { NULL, 0, 0 }, children = { NULL, 0, 0 };
	bool *known = xcalloc(s->p->function_cnt + 1, sizeof(*known));
	size_t cnt = 0;

	for (uint32_t i = 0; i < s->p->function_cnt; i++)
		if (s->p->functions[i].root) {
			known[i] = true;
			VEC_ADD(&level, i);
		}
	for (bool first = true; level.cnt > 0; first = false) {
		below.cnt = 0;
		for (size_t i = 0; i < level.cnt; i++) {
			refine_children(s, level.items[i], &children, NULL);
			for (size_t c = 0; c < children.cnt; c++)
				add_to_census(r, children.items[c], known, &below);
		}
		cnt += below.cnt;
		if (!first && cnt > r->options.census_functions)
			break;
		for (size_t i = 0; i < below.cnt; i++)
			if (r->levels[below.items[i]] < REFINE_IN_INTERVALS)
				r->levels[below.items[i]] = REFINE_IN_INTERVALS;
		indexes other = level;

		level = below;
		below = other;
	}
	VEC_RELEASE(&level);
	VEC_RELEASE(&below);
	VEC_RELEASE(&children);
	free(known);
}

/* ---- how often is what was never recorded called? ---- */

/*
 * From the functions that are called down, a level at a time: a function counts its callers of the level above alone.
 * Others may call it, too, if they are called at all: each way down to a function of MariaDB, or all of them in turn, are more
 * calls than there is time for.
 */
static void estimate_calls(struct budget *b)
{
	const struct refine_state *s = b->s;
	_cleanup_(freep) uint32_t *level = xcalloc(s->p->function_cnt + 1, sizeof(*level));
	_cleanup_(indexes_release) indexes queue = { NULL, 0, 0 };

	for (uint32_t i = 0; i < s->p->function_cnt; i++) {
		b->estimate[i] = fmax(s->calls[i], 0);
		if (s->calls[i] > 0)
			VEC_ADD(&queue, i);
	}
	/* Callers of the functions that begin intervals or go on with them are called as often. */
	for (size_t i = 0; i < s->edges.cnt; i++) {
		const struct refine_call *c = &s->edges.items[i];

		if (!s->p->functions[c->callee].root || s->calls[c->callee] <= 0 || s->calls[c->caller] >= 0)
			continue;
		if (b->estimate[c->caller] == 0)
			VEC_ADD(&queue, c->caller);
		b->estimate[c->caller] += s->calls[c->callee];
	}
	for (size_t i = 0; i < queue.cnt; i++)
		level[queue.items[i]] = 1;
	for (size_t i = 0; i < queue.cnt; i++) {
		uint32_t f = queue.items[i];

		for (uint32_t c = s->first[f]; c < s->first[f + 1]; c++) {
			uint32_t callee = s->callees[c];

			if (s->calls[callee] >= 0 || !refine_is_call(s, c))
				continue;	/* it is known how often, or none */
			if (level[callee] == 0) {
				level[callee] = level[f] + 1;
				VEC_ADD(&queue, callee);
			}
			if (level[callee] == level[f] + 1)
				b->estimate[callee] += b->estimate[f] * s->weights[c];
		}
	}
}

/* ---- filling the plan ---- */

static int compare_candidates(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->calls != b->calls)
		return a->calls < b->calls ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

static void add_candidate(struct budget *b, uint32_t f, enum refine_level level)
{
	if (b->next[f] < level && !b->s->p->functions[f].skipped)
		VEC_ADD(&b->tier, (struct candidate){ b->estimate[f], f, level });
}

/* Takes the tier's candidates while they fit, and empties it. */
static void take_tier(struct budget *b)
{
	if (b->tier.cnt > 1)
		qsort(b->tier.items, b->tier.cnt, sizeof(*b->tier.items), compare_candidates);
	for (size_t i = 0; i < b->tier.cnt; i++) {
		const struct candidate *c = &b->tier.items[i];
		double cost = c->calls * b->r->probe_ns, share = b->s->share_cost[c->function];

		if (b->next[c->function] >= c->level)
			continue;
		if (c->level == REFINE_DORMANT) {
			cost = c->calls * b->r->options.dormant_ns;
			share *= b->r->options.dormant_ns / b->r->options.probe_ns;
		}
		if (b->next[c->function] >= REFINE_IN_INTERVALS)
			cost = share = 0;	/* it is recorded already, now outside intervals, too */
		if (cost > b->left_ns || share > b->left_share)
			continue;
		b->left_ns -= cost;
		b->left_share -= share;
		b->next[c->function] = c->level;
	}
	b->tier.cnt = 0;
}

static void take_fixed(struct budget *b)
{
	for (uint32_t i = 0; i < b->s->p->function_cnt; i++) {
		const struct refine_function *f = &b->s->p->functions[i];

		if (f->skipped || !(f->root || f->always))
			continue;
		b->next[i] = f->always ? REFINE_ALWAYS : REFINE_IN_INTERVALS;
		b->left_ns -= b->estimate[i] * b->r->probe_ns;
		b->left_share -= b->s->share_cost[i];
	}
}

static void add_path(struct budget *b)
{
	const struct refine_state *s = b->s;

	for (uint32_t i = 0; i < s->p->function_cnt; i++) {
		if (s->total[i] > b->r->options.threshold)
			for (uint32_t f = i, steps = 0; f != FUNCTION_NONE && steps < 1000;
			     f = s->parent[f], steps++)
				add_candidate(b, f, b->r->levels[f]);
		if (s->blamed[i] > b->r->options.threshold || s->own[i] > b->r->options.threshold)
			add_candidate(b, i, b->r->levels[i]);
	}
}

/* The callees of from that are not known to be candidates, and not settled; returns how many of them no run recorded. */
static size_t find_level(struct budget *b, const indexes *from, enum refine_level level, bool *seen, indexes *ret)
{
	_cleanup_(indexes_release) indexes children = { NULL, 0, 0 };
	size_t new_cnt = 0;

	ret->cnt = 0;
	for (size_t i = 0; i < from->cnt; i++) {
		if (b->r->answers[from->items[i]] == REFINE_NO)
			continue;
		refine_children(b->s, from->items[i], &children, NULL);
		for (size_t c = 0; c < children.cnt; c++) {
			uint32_t child = children.items[c];

			if (seen[child] || (level == REFINE_IN_INTERVALS &&
					    (b->in_scope[child] || refine_settled(b->r, child))))
				continue;
			seen[child] = true;
			new_cnt += b->r->levels[child] == REFINE_OUT && !b->s->p->functions[child].skipped;
			VEC_ADD(ret, child);
		}
	}
	return new_cnt;
}

/*
 * Everything below those in from, levels deep (0: all), becomes a candidate, except functions that a run has settled
 * and all below those: in a circle of calls the rest would be the whole program.  Like the first run, a later one takes
 * whole levels, at least one, as long as they have no more than a limit of new functions together: in MariaDB 6,000
 * functions are below the dispatcher, in nearly all units of the project, and each level shows which of them count.
 * known: also those that the run recorded, and what is below them.
 */
static void add_below(struct budget *b, const indexes *from, enum refine_level level, unsigned levels, bool known)
{
	_cleanup_(indexes_release) indexes above = { NULL, 0, 0 }, below = { NULL, 0, 0 };
	_cleanup_(freep) bool *seen = xcalloc(b->s->p->function_cnt + 1, sizeof(*seen));

	for (uint32_t i = 0; i < b->s->p->function_cnt; i++)
		seen[i] = !known && b->r->levels[i] >= REFINE_IN_INTERVALS;
	for (size_t i = 0; i < from->cnt; i++) {
		seen[from->items[i]] = b->r->levels[from->items[i]] != REFINE_OUT;
		VEC_ADD(&above, from->items[i]);
	}
	for (unsigned depth = 0; above.cnt > 0 && (levels == 0 || depth < levels); depth++) {
		size_t new_cnt = find_level(b, &above, level, seen, &below);
		indexes other = above;

		if (depth > 0 && b->new_cnt + new_cnt > b->r->options.census_functions)
			break;
		b->new_cnt += new_cnt;
		for (size_t i = 0; i < below.cnt; i++) {
			add_candidate(b, below.items[i], level);
			b->in_scope[below.items[i]] |= level == REFINE_IN_INTERVALS;
		}
		above = below;
		below = other;
	}
}

/* Whether a share is above the threshold, or, with sure false, may be. */
static bool in_doubt(const struct budget *b, double share, double doubt, bool sure)
{
	double threshold = b->r->options.threshold;

	return (share > threshold) == sure && share + doubt > threshold;
}

/* Functions with time of no recorded function in them or below: inside intervals, around those in the queue, and where threads
 * begin (refine_unknown.c). */
static void find_unknown(struct budget *b, bool sure, indexes *ret_inside, indexes *ret_around, indexes *ret_starts)
{
	const struct refine_state *s = b->s;

	if (in_doubt(b, s->own_nobody, s->own_nobody_doubt, sure)) {
		refine_callers(b->r, &b->callers);
		for (size_t i = 0; i < b->callers.cnt; i++)
			VEC_ADD(ret_inside, b->callers.items[i]);
	}
	if (in_doubt(b, s->queue_nobody, s->queue_nobody_doubt, sure))
		refine_around(b->r, b->f, ret_around);
	for (size_t i = 0; i < ret_around->cnt; i++)
		add_candidate(b, ret_around->items[i], REFINE_ALWAYS);
	if (!in_doubt(b, s->blamed_nobody, s->blamed_nobody_doubt, sure))
		return;
	for (uint32_t i = 0; i < s->p->function_cnt; i++)
		if (refine_is_start(b->r, i)) {
			add_candidate(b, i, REFINE_ALWAYS);
			VEC_ADD(ret_starts, i);
		}
}

/* Adds functions that wait without a probe. */
static bool add_waiters(struct budget *b)
{
	indexes waiters = { NULL, 0, 0 };
	bool any;

	refine_waiters(b->r, b->f, NULL, &waiters);
	any = waiters.cnt > 0;
	for (size_t i = 0; i < waiters.cnt; i++)
		add_candidate(b, waiters.items[i], REFINE_IN_INTERVALS);
	VEC_RELEASE(&waiters);
	return any;
}

/* Whether something above the threshold, or with sure false perhaps above it, is not fully known. */
static bool add_scope(struct budget *b, bool sure)
{
	_cleanup_(indexes_release) indexes inside = { NULL, 0, 0 }, starts = { NULL, 0, 0 }, wakers = { NULL, 0, 0 };
	_cleanup_(indexes_release) indexes around = { NULL, 0, 0 };
	double threshold = b->r->options.threshold;
	bool any = sure && add_waiters(b);

	find_unknown(b, sure, &inside, &around, &starts);
	for (uint32_t i = 0; i < b->s->p->function_cnt; i++) {
		if ((b->s->own[i] > threshold) == sure && refine_in_scope(b->r, i, false))
			VEC_ADD(&inside, i);
		if ((b->s->blamed[i] > threshold) == sure && refine_in_scope(b->r, i, true))
			VEC_ADD(&wakers, i);
	}
	add_below(b, &inside, REFINE_IN_INTERVALS, 0, true);
	add_below(b, &around, REFINE_ALWAYS, WAKER_LEVELS - 1, false);
	add_below(b, &wakers, REFINE_ALWAYS, WAKER_LEVELS, true);
	add_below(b, &starts, REFINE_ALWAYS, WAKER_LEVELS - 1, true);
	return any || inside.cnt + around.cnt + wakers.cnt + starts.cnt > 0;
}

static void add_recorded(struct budget *b)
{
	for (uint32_t i = 0; i < b->s->p->function_cnt; i++)
		if (b->r->levels[i] >= REFINE_IN_INTERVALS)
			add_candidate(b, i, b->r->levels[i]);
}

/* Keeps recorded functions: as they are if they fit, else dormant, which needs no rebuild. */
static void take_rest(struct budget *b)
{
	add_recorded(b);
	take_tier(b);
	for (uint32_t i = 0; i < b->s->p->function_cnt; i++)
		if (b->r->levels[i] >= REFINE_DORMANT)
			add_candidate(b, i, REFINE_DORMANT);
	take_tier(b);
}

/* ---- going on or not ---- */

struct difference {
	bool more, less;		/* more: functions recorded that add knowledge; less: fewer functions with a
					 * probe */
	uint64_t hash;			/* of the new set */
};

static void add_callees(struct refine_state *s, uint32_t f, indexes *children, bool *frontier)
{
	refine_children(s, f, children, NULL);
	for (size_t c = 0; c < children->cnt; c++)
		frontier[children->items[c]] = true;
}

/*
 * The functions called by functions that are known to be called.  Only these add knowledge: nothing can be said about
 * a callee of an unrecorded function before that function fits.
 */
static bool *find_frontier(const struct budget *b)
{
	bool *frontier = xcalloc(b->s->p->function_cnt + 1, sizeof(*frontier));
	indexes children = { NULL, 0, 0 };

	for (uint32_t i = 0; i < b->s->p->function_cnt; i++)
		if (b->s->calls[i] > 0)
			add_callees(b->s, i, &children, frontier);
	for (size_t i = 0; i < b->callers.cnt; i++)
		add_callees(b->s, b->callers.items[i], &children, frontier);
	refine_waiters(b->r, b->f, NULL, &children);	/* they were seen */
	for (size_t i = 0; i < children.cnt; i++)
		frontier[children.items[i]] = true;
	VEC_RELEASE(&children);
	return frontier;
}

/* Whether its probe is a reason for another run. */
static bool tells_more(const struct budget *b, uint32_t i, const bool *frontier)
{
	enum refine_level then = b->r->levels[i], now = b->next[i];

	if (now == REFINE_ALWAYS)
		return then != REFINE_ALWAYS;
	return now == REFINE_IN_INTERVALS && then < REFINE_IN_INTERVALS && frontier[i] &&
	       b->s->tried[i] < TRIES;
}

static struct difference compare_plans(const struct budget *b)
{
	struct difference d = { false, false, 0 };
	bool *frontier = find_frontier(b);

	for (uint32_t i = 0; i < b->s->p->function_cnt; i++) {
		bool recorded = b->r->levels[i] >= REFINE_IN_INTERVALS;

		d.more |= tells_more(b, i, frontier);
		d.less |= b->next[i] < b->r->levels[i] && (recorded || b->next[i] == REFINE_OUT);
		if (b->next[i] != REFINE_OUT)
			d.hash = hash_u64(d.hash, (uint64_t)i << 2 | b->next[i]);
	}
	free(frontier);
	return d;
}

/* ---- one of several intervals in full ---- */

/* Takes all of the tier that is recorded only inside intervals, at any cost; the rest stays in it. */
static void take_at_any_cost(struct budget *b)
{
	size_t left = 0;

	for (size_t i = 0; i < b->tier.cnt; i++) {
		const struct candidate c = b->tier.items[i];

		if (c.level != REFINE_IN_INTERVALS)
			b->tier.items[left++] = c;
		else if (b->next[c.function] < c.level)
			b->next[c.function] = c.level;
	}
	b->tier.cnt = left;
}

/* N such that one interval in N in full keeps the average within the budget; 0: impossible, since dormant probes and
 * those that always record exceed it already. */
static double gate_of(const struct budget *b)
{
	const struct refine_options *o = &b->r->options;
	double probe_ns = b->r->probe_ns, left_ns = o->overhead * b->s->mean_ns, full_ns = 0;

	for (size_t i = 0; i < b->s->p->function_cnt; i++) {
		if (b->next[i] == REFINE_ALWAYS)
			left_ns -= b->estimate[i] * probe_ns;
		if (b->next[i] != REFINE_IN_INTERVALS)
			continue;
		left_ns -= b->estimate[i] * o->dormant_ns;
		full_ns += b->estimate[i] * (probe_ns - o->dormant_ns);
	}
	return left_ns > 0 ? ceil(full_ns / left_ns) : 0;
}

/* The part of the intervals that call the function to look into first: of few in full, one that is rare may be in none. */
static double part_with_first(const struct budget *b)
{
	double most = b->r->options.threshold, calls = 1;

	for (uint32_t i = 0; i < b->s->p->function_cnt; i++)
		if (b->s->own[i] > most && refine_in_scope(b->r, i, false)) {
			most = b->s->own[i];
			calls = b->s->calls[i];
		}
	return calls > 0 && calls < 1 ? calls : 1;
}

/* The path and the whole scope, and as much of the recorded functions as the budget alone would take. */
static bool take_gated(struct budget *b, const struct findings *f)
{
	size_t cnt = b->s->p->function_cnt;
	uint64_t *times;
	double gate, needed;

	memset(b->next, 0, cnt * sizeof(*b->next));
	memset(b->in_scope, 0, cnt * sizeof(*b->in_scope));
	b->new_cnt = 0;
	b->left_ns = b->r->options.overhead * b->s->mean_ns;
	b->left_share = b->r->options.overhead;
	take_fixed(b);
	add_path(b);
	add_scope(b, true);
	take_at_any_cost(b);
	take_tier(b);
	add_recorded(b);
	take_tier(b);
	gate = gate_of(b);
	if (!(gate >= 2) || gate > UINT32_MAX)
		return false;
	needed = ceil(gate * REFINE_GATED_MIN / part_with_first(b));
	if ((double)(f->interval.cnt + f->probing.root_only_cnt) < needed) {
		b->r->gate_intervals = needed < 1e18 ? (uint64_t)needed : 0;
		return false;
	}
	b->s->next_gate = (uint32_t)gate;
	times = map_slot(b->s->plans, hash_u64(compare_plans(b).hash, b->s->next_gate));
	return (*times)++ == 0;
}

enum refine_stop refine_by_budget(struct refinement *r, const struct findings *f,
				  enum refine_level *next)
{
	struct refine_state *s = r->state;
	struct budget b = { .r = r, .f = f, .s = s, .next = next,
			    .left_ns = r->options.overhead * s->mean_ns,
			    .left_share = r->options.overhead,
			    .estimate = xcalloc(s->p->function_cnt + 1, sizeof(double)),
			    .in_scope = xcalloc(s->p->function_cnt + 1, sizeof(bool)) };
	bool too_dear = fmax(r->cost, s->share_of_probes) > r->options.overhead;
	bool open, doubtful, repeated;
	enum refine_stop stop = REFINE_CLOSED;
	struct difference d;

	estimate_calls(&b);
	take_fixed(&b);
	add_path(&b);
	take_tier(&b);
	open = add_scope(&b, true);
	take_tier(&b);
	doubtful = add_scope(&b, false);
	take_tier(&b);
	take_rest(&b);
	d = compare_plans(&b);
	repeated = (*map_slot(s->plans, d.hash))++ > 0;
	if ((open || doubtful) && d.more && !repeated)
		stop = REFINE_GOES_ON;
	else if (too_dear && r->gate == 1 && d.less && !repeated)
		stop = REFINE_GOES_ON;	/* the same plan again, now without the cost of its own probes */
	else if (open)
		stop = take_gated(&b, f) ? REFINE_GOES_ON : REFINE_TOO_DEAR;
	VEC_RELEASE(&b.tier);
	VEC_RELEASE(&b.callers);
	free(b.estimate);
	free(b.in_scope);
	return stop;
}

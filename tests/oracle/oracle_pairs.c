/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oracle_pairs.c - pairs of parts from the definitions: every pair of every part, nothing pruned.
 *
 * A part's time is counted nanosecond by nanosecond: what the innermost function ran or waited for.  The place of a pair comes
 * from the nodes that are shown: below which two siblings.  Example: f below g and h below k, g and k siblings: across, in (g, k).
 */
#include <math.h>
#include <string.h>
#include "base/str.h"
#include "tests/oracle/oracle.h"
#include "base/banned.h"

struct column {
	bool is_wait;
	enum trace_state wait;
	uint32_t function;
	int64_t ns[ORACLE_ROWS_MAX];
};

typedef VEC(struct column) columns;

static int64_t *column_of(columns *all, enum trace_state wait, uint32_t function)
{
	for (size_t i = 0; i < all->cnt; i++)
		if (all->items[i].wait == wait && all->items[i].function == function)
			return all->items[i].ns;
	VEC_ADD(all, (struct column){ .is_wait = wait != STATE_RUNNING, .wait = wait, .function = function });
	return all->items[all->cnt - 1].ns;
}

static void count_time(const struct oracle *o, columns *all)
{
	for (size_t row = 0; row < o->row_cnt; row++)
		for (int64_t ns = o->rows[row]->start_ns; ns < o->rows[row]->end_ns; ns++) {
			const struct tick *k = &o->ticks[row][ns];
			uint32_t stack[ORACLE_STACK_MAX], function = FUNCTION_NONE;
			size_t cnt = k->wait == STATE_QUEUE ? 0 : oracle_stack(o->t, k->owner_tid, ns, stack);

			if (cnt)
				function = o->t->invocations.items[stack[cnt - 1]].function;
			column_of(all, k->wait, function)[row]++;
		}
}

static bool is_part(const struct oracle *o, const struct column *c, const struct part *p)
{
	const char *name = oracle_function(o, c->function);

	return c->is_wait == p->is_wait && (!c->is_wait || c->wait == p->wait) &&
	       (name ? p->function && strcmp(name, p->function) == 0 : !p->function);
}

/* The node shows time of the part: its waits, its body, or the function where it has no other child. */
static bool shows(const struct oracle *o, size_t node, const struct column *c)
{
	const struct oracle_node *n = &o->nodes.items[node];
	bool took = false;

	if (!n->shown || n->function != c->function || node == 0)
		return false;
	for (size_t row = 0; row < o->row_cnt; row++)
		took |= n->ns[row] > 0;
	if (!took || c->is_wait)
		return took && n->kind == NODE_WAIT && n->wait == c->wait;
	for (size_t i = 1; i < o->nodes.cnt && n->kind == NODE_FUNCTION; i++)
		if (o->nodes.items[i].shown && o->nodes.items[i].parent == (int)node)
			return false;
	return n->kind == NODE_BODY || n->kind == NODE_FUNCTION;
}

static int depth_of(const struct oracle *o, int node)
{
	int depth = 0;

	while ((node = o->nodes.items[node].parent) >= 0)
		depth++;
	return depth;
}

static bool is_called(const struct oracle *o, int node, const char *label)
{
	const struct oracle_node *n = &o->nodes.items[node];
	const char *function = oracle_function(o, n->function);
	_cleanup_(str_release) struct str s = STR_INIT;

	if (n->kind == NODE_BODY)
		str_addf(&s, "body%s%s", function ? " of " : "", function ? function : "");
	else if (n->kind == NODE_WAIT)
		str_addf(&s, "wait:%s%s%s", trace_state_name(n->wait), function ? " in " : "", function ? function : "");
	else
		str_add(&s, function);
	return strcmp(str_cstr(&s), label) == 0;
}

/* Climbs to the two siblings. */
static void climb(const struct oracle *o, int *i, int *k)
{
	while (o->nodes.items[*i].parent != o->nodes.items[*k].parent)
		if (depth_of(o, *i) >= depth_of(o, *k))
			*i = o->nodes.items[*i].parent;
		else
			*k = o->nodes.items[*k].parent;
}

static bool same_siblings(const struct oracle *o, int i, int k, const char *const *labels)
{
	return (is_called(o, i, labels[0]) && is_called(o, k, labels[1])) ||
	       (is_called(o, i, labels[1]) && is_called(o, k, labels[0]));
}

/* The pair of siblings of these names, or NODE_NONE. */
static uint32_t pair_of_siblings(const struct oracle *o, const struct findings *f, int i, int k)
{
	for (uint32_t n = 0; n < f->factors.cnt; n++)
		if (f->factors.items[n].kind == FACTOR_PAIR && same_siblings(o, i, k, f->factors.items[n].functions))
			return n;
	return NODE_NONE;
}

static bool is_at(const struct oracle *o, const struct findings *f, const struct part_pair *p, const struct column *a,
		  const struct column *b)
{
	bool across = false, first = true;
	uint32_t within = NODE_NONE;

	for (size_t i = 1; i < o->nodes.cnt; i++)
		for (size_t k = 1; k < o->nodes.cnt; k++) {
			int x = (int)i, y = (int)k;
			uint32_t here;

			if (!shows(o, i, a) || !shows(o, k, b))
				continue;
			across |= o->nodes.items[i].parent != o->nodes.items[k].parent;
			climb(o, &x, &y);
			here = pair_of_siblings(o, f, x, y);
			within = first || here == within ? here : NODE_NONE;
			if (within == NODE_NONE)
				return across <= p->across && p->within == NODE_NONE;
			first = false;
		}
	return across == p->across && within == p->within;
}

static bool differs(double found, __int128 numerator, __int128 denominator)
{
	double exact = (double)((long double)numerator / denominator);

	return fabs(found - exact) > 1e-9 * (1 + fabs(exact));
}

static const struct part_pair *find_pair(const struct oracle *o, const struct findings *f, const struct column *a,
					 const struct column *b)
{
	for (size_t i = 0; i < f->part_pairs.cnt; i++) {
		const struct part_pair *p = &f->part_pairs.items[i];
		const struct part *x = &f->parts.items[p->a], *y = &f->parts.items[p->b];

		if ((is_part(o, a, x) && is_part(o, b, y)) || (is_part(o, b, x) && is_part(o, a, y)))
			return p;
	}
	return NULL;
}

/* All pairs of column i; what is too small to be named is summed up. */
static bool same_column(const struct oracle *o, const struct findings *f, const columns *all, size_t i, size_t *named)
{
	const int64_t *latency = o->nodes.items[0].ns;
	__int128 variance_t = oracle_covariance(latency, latency, o->row_cnt), other = 0;
	const struct column *a = &all->items[i];
	const struct part *part = NULL;

	for (size_t k = 0; k < all->cnt; k++) {
		const struct column *b = &all->items[k];
		__int128 twice = 2 * oracle_covariance(a->ns, b->ns, o->row_cnt);
		const struct part_pair *p = k == i ? NULL : find_pair(o, f, a, b);

		if (k == i)
			continue;
		if (!p)
			other += twice;
		if (!p && (twice < 0 ? -twice : twice) * 100 > variance_t)
			return false;
		if (!p)
			continue;
		*named += 1;
		if (differs(p->share, twice, variance_t) || (twice < 0 ? -twice : twice) * 100 < variance_t ||
		    !is_at(o, f, p, a, b))
			return false;
	}
	for (size_t k = 0; k < f->parts.cnt; k++)
		if (is_part(o, a, &f->parts.items[k]))
			part = &f->parts.items[k];
	return part && !differs(part->variance_share, oracle_covariance(a->ns, a->ns, o->row_cnt), variance_t) &&
	       !differs(part->other_pairs, other, variance_t);
}

bool oracle_same_pairs(const struct oracle *o, const struct findings *f)
{
	const int64_t *latency = o->nodes.items[0].ns;
	columns all = { NULL, 0, 0 };
	size_t named = 0;
	bool same = true;

	if (oracle_covariance(latency, latency, o->row_cnt) == 0)
		return f->part_pairs.cnt == 0;
	count_time(o, &all);
	for (size_t i = 0; i < all.cnt && same; i++)
		same = same_column(o, f, &all, i, &named);
	VEC_RELEASE(&all);
	return same && named == 2 * f->part_pairs.cnt;
}

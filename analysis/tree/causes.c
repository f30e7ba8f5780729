/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causes.c - sums over the rows of the variance tree, by function and cause.
 *
 * A row is one interval's times in terminal places.  Each time belongs to every function around it, to each once
 * (recursion), and to one cause: the class of the wait it lies in, or running.  As in moments.c sums are 128-bit
 * integers, and an interval in which something took no time counts as 0.
 */
#include "analysis/tree/causes.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include "analysis/tree/intervals.h"
#include "analysis/tree/moments.h"
#include "analysis/tree/row_tree.h"
#include "base/banned.h"

struct cause_sums {			/* of one function, or of the interval */
	__int128 x[STATE_CNT], xt[STATE_CNT];
	__int128 xy[STATE_CNT][STATE_CNT];	/* a <= b */
	int64_t row_ns[STATE_CNT];	/* of the row being summed */
	bool in_row;
};

struct listed_causes {			/* of a place of the row */
	int64_t ns[STATE_CNT];
	enum trace_state state;
};

struct summing {
	const struct vtree *v;
	struct row_tree tree;
	VEC(struct listed_causes) of_listed;
	struct cause_sums **sums;	/* by function, then the interval; NULL: took no time */
	VEC(uint32_t) touched;
	uint32_t interval;		/* its index */
	uint64_t row_cnt;
};

static void charge(struct summing *s, uint32_t index, enum trace_state state, int64_t ns)
{
	if (!s->sums[index])
		s->sums[index] = xcalloc(1, sizeof(*s->sums[index]));
	if (!s->sums[index]->in_row)
		VEC_ADD(&s->touched, index);
	s->sums[index]->in_row = true;
	s->sums[index]->row_ns[state] += ns;
}

/* Top down: the state of a place is the class of the innermost wait at or above it. */
static void find_states(struct summing *s)
{
	const struct listed *list = s->tree.list.items;

	s->of_listed.cnt = 0;
	for (size_t k = 0; k < s->tree.list.cnt; k++) {
		const struct place *p = &s->v->places.items[list[k].place];
		struct listed_causes *c = VEC_EXTEND(&s->of_listed);

		memset(c, 0, sizeof(*c));
		c->state = p->kind == NODE_WAIT ? p->wait : k ? s->of_listed.items[list[k].parent].state : STATE_RUNNING;
	}
}

/* Bottom up: each place's time by cause, and the functions it is charged to. */
static void charge_places(struct summing *s, const cells *row)
{
	const struct listed *list = s->tree.list.items;
	struct listed_causes *causes = s->of_listed.items;

	for (size_t c = 0; c < row->cnt; c++) {
		uint32_t k = row_tree_find(&s->tree, row->items[c].place);

		causes[k].ns[causes[k].state] += row->items[c].ns;
	}
	for (size_t k = s->tree.list.cnt; k-- > 0; ) {
		const struct place *p = &s->v->places.items[list[k].place];
		uint32_t whose = k == 0 ? s->interval : p->kind == NODE_FUNCTION && p->outermost ? p->function : FUNCTION_NONE;

		for (unsigned state = 0; state < STATE_CNT; state++) {
			if (!causes[k].ns[state])
				continue;
			if (k > 0)
				causes[list[k].parent].ns[state] += causes[k].ns[state];
			if (whose != FUNCTION_NONE)
				charge(s, whose, state, causes[k].ns[state]);
		}
	}
}

static void end_row(struct summing *s, int64_t latency_ns)
{
	for (size_t i = 0; i < s->touched.cnt; i++) {
		struct cause_sums *c = s->sums[s->touched.items[i]];

		for (int a = 0; a < STATE_CNT; a++) {
			if (!c->row_ns[a])
				continue;
			c->x[a] += c->row_ns[a];
			c->xt[a] += (__int128)c->row_ns[a] * latency_ns;
			for (int b = a; b < STATE_CNT; b++)
				c->xy[a][b] += (__int128)c->row_ns[a] * c->row_ns[b];
		}
		memset(c->row_ns, 0, sizeof(c->row_ns));
		c->in_row = false;
	}
	s->touched.cnt = 0;
}

static int by_share(const void *pa, const void *pb)
{
	const struct cause *a = pa, *b = pb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->state < b->state ? -1 : a->state > b->state;
}

static int by_covariance(const void *pa, const void *pb)
{
	const struct cause_pair *a = pa, *b = pb;
	double x = fabs(a->covariance_ns2), y = fabs(b->covariance_ns2);

	if (x != y)
		return x > y ? -1 : 1;
	return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b < b->b ? -1 : a->b > b->b;
}

/* latency: the interval's sum and variance of T. */
static void conclude(struct caused *f, const struct cause_sums *c, uint64_t n, __int128 t, double variance)
{
	__int128 x = 0, xx = 0, xt = 0;

	for (int a = 0; a < STATE_CNT; a++) {
		double with_t = moments_covariance(n, c->x[a], t, c->xt[a]);

		if (!c->x[a])
			continue;
		VEC_ADD(&f->causes, (struct cause){ (enum trace_state)a, moments_mean(n, c->x[a]),
			moments_covariance(n, c->x[a], c->x[a], c->xy[a][a]),
			variance > 0 ? with_t / variance : 0 });
		x += c->x[a];
		xt += c->xt[a];
		xx += c->xy[a][a];
		for (int b = a + 1; b < STATE_CNT; b++) {
			xx += 2 * c->xy[a][b];
			if (c->x[b])
				VEC_ADD(&f->pairs, (struct cause_pair){ (enum trace_state)a,
					(enum trace_state)b,
					moments_covariance(n, c->x[a], c->x[b], c->xy[a][b]) });
		}
	}
	f->mean_ns = moments_mean(n, x);
	f->variance_ns2 = moments_covariance(n, x, x, xx);
	f->share = variance > 0 ? moments_covariance(n, x, t, xt) / variance : 0;
	if (f->causes.cnt)
		qsort(f->causes.items, f->causes.cnt, sizeof(*f->causes.items), by_share);
	if (f->pairs.cnt)
		qsort(f->pairs.items, f->pairs.cnt, sizeof(*f->pairs.items), by_covariance);
}

static int by_function_share(const void *pa, const void *pb)
{
	const struct caused *a = pa, *b = pb;
	int r;

	if (!a->function || !b->function)
		return !b->function - !a->function;
	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	r = strcmp(a->function, b->function);
	return r ? r : strcmp(a->file ? a->file : "", b->file ? b->file : "");
}

static void list_functions(const struct summing *s, const struct trace *t, uint64_t n, caused_list *ret)
{
	const struct cause_sums *whole = s->sums[s->interval];
	__int128 latency = 0, squares = 0;
	double variance;

	if (!whole)
		return;
	for (int a = 0; a < STATE_CNT; a++) {
		latency += whole->x[a];
		squares += whole->xt[a];	/* the parts of T add up to T */
	}
	variance = moments_covariance(n, latency, latency, squares);
	for (uint32_t i = 0; i <= s->interval; i++) {
		struct caused *f;

		if (!s->sums[i])
			continue;
		f = VEC_EXTEND(ret);
		if (i != s->interval) {
			f->function = t->functions.items[i].name;
			f->file = t->functions.items[i].file;
		}
		conclude(f, s->sums[i], n, latency, variance);
	}
	qsort(ret->items, ret->cnt, sizeof(*ret->items), by_function_share);
}

static void add_interval(void *arg, const struct interval *iv, const cells *row)
{
	struct summing *s = arg;

	if (iv->root_only)
		return;
	row_tree_fill(&s->tree, s->v, row);
	for (uint32_t copy = 0; copy < interval_weight(iv); copy++) {
		find_states(s);
		charge_places(s, row);
		end_row(s, iv->end_ns - iv->start_ns);
		s->row_cnt++;
	}
}

int variance_by_cause(struct trace *t, const char *interval, caused_list *ret)
{
	_cleanup_(vtree_freep) struct vtree *v = vtree_new(CHARGE_WAITER);
	struct summing s = { .v = v, .interval = (uint32_t)t->functions.cnt };
	int r;

	s.sums = xcalloc(t->functions.cnt + 1, sizeof(*s.sums));
	r = intervals_walk_all(t, interval, v, add_interval, &s);
	if (r == 0)
		list_functions(&s, t, s.row_cnt, ret);
	for (uint32_t i = 0; i <= s.interval; i++)
		free(s.sums[i]);
	free(s.sums);
	VEC_RELEASE(&s.touched);
	VEC_RELEASE(&s.of_listed);
	row_tree_release(&s.tree);
	return r;
}

void caused_release(caused_list *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		VEC_RELEASE(&list->items[i].causes);
		VEC_RELEASE(&list->items[i].pairs);
	}
	VEC_RELEASE(list);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * execution_table.c - time per interval and function (paper 3.3.3), for either charge.
 *
 * A place's time belongs to every function around it, to each once: function rows are inclusive, and recursion does
 * not count twice.  `wait:CLASS` is the time of the waits of that class, `other` running time in no probed function.
 * Rows of 0 are left out.
 *
 * Example (times in ns): A runs [10,20], waits [20,50], runs [50,70], its lock() is [18,52]; B, who wakes A at 50,
 * runs hold() [5,45].
 *	charge waiter	lock 34   other 26   wait:lock 30
 *	charge waker	hold 25   lock 4     other 31
 */
#include "analysis/tree/execution_table.h"

#include "analysis/tree/intervals.h"
#include "analysis/tree/row_tree.h"

#include <string.h>
#include "base/banned.h"

#define X(id, name) [STATE_##id] = "wait:" name,
static const char *const wait_labels[STATE_CNT] = { TRACE_STATES(X) };
#undef X

/* Rows are numbered: functions first, then the wait classes, then `other`. */
struct totals {
	const struct trace *t;
	int64_t *ns;
	VEC(uint32_t) touched;
};

static void charge_row(struct totals *s, uint32_t row, int64_t ns)
{
	if (s->ns[row] == 0)
		VEC_ADD(&s->touched, row);
	s->ns[row] += ns;
}

/* ns: time of the whole subtree. */
static void charge_place(struct totals *s, const struct place *p, int64_t ns)
{
	uint32_t function_cnt = (uint32_t)s->t->functions.cnt;

	if (p->kind == NODE_BODY && p->parent == 0)
		charge_row(s, function_cnt + STATE_CNT, ns);
	else if (p->kind == NODE_WAIT)
		charge_row(s, function_cnt + p->wait, ns);
	else if (p->kind == NODE_FUNCTION && p->outermost)
		charge_row(s, p->function, ns);
}

static const char *row_label(const struct trace *t, uint32_t row)
{
	if (row < t->functions.cnt)
		return t->functions.items[row].name;
	row -= (uint32_t)t->functions.cnt;
	return row < STATE_CNT ? wait_labels[row] : "other";
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct execution_row *a = pa, *b = pb;
	int r = strcmp(a->label, b->label);

	return r ? r : (a->nanoseconds > b->nanoseconds) - (a->nanoseconds < b->nanoseconds);
}

static void flush(struct totals *s, uint64_t sid, execution_rows *ret)
{
	size_t first = ret->cnt;

	for (size_t i = 0; i < s->touched.cnt; i++) {
		struct execution_row row = {
			sid, row_label(s->t, s->touched.items[i]), s->ns[s->touched.items[i]],
		};

		VEC_ADD(ret, row);
		s->ns[s->touched.items[i]] = 0;
	}
	s->touched.cnt = 0;
	if (ret->cnt - first > 1)
		qsort(ret->items + first, ret->cnt - first, sizeof(*ret->items), compare_rows);
}

struct making {
	struct totals s;
	struct vtree *v;
	struct row_tree tree;
	execution_rows *ret;
};

static void add_interval(void *arg, const struct interval *iv, const cells *row)
{
	struct making *m = arg;

	row_tree_fill(&m->tree, m->v, row);
	for (size_t k = 0; k < m->tree.list.cnt; k++)
		charge_place(&m->s, &m->v->places.items[m->tree.list.items[k].place], m->tree.list.items[k].ns);
	flush(&m->s, iv->sid, m->ret);
}

int execution_table(struct trace *t, const char *interval, enum charge charge, execution_rows *ret)
{
	_cleanup_(vtree_freep) struct vtree *v = vtree_new(charge);
	struct making m = { .s = { .t = t }, .v = v, .ret = ret };
	int r;

	m.s.ns = xcalloc(t->functions.cnt + STATE_CNT + 1, sizeof(*m.s.ns));
	r = intervals_walk_all(t, interval, v, add_interval, &m);
	free(m.s.ns);
	VEC_RELEASE(&m.s.touched);
	row_tree_release(&m.tree);
	return r;
}

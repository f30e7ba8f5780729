/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analyzer.c - rows and sums, window by window.
 *
 * The analyzer keeps of each window: a row for each interval that ended in it, exact sums over these rows, and which
 * functions were seen in which.  Example: windows [0,100] and [100,200], intervals [20,60] and [80,150]: the first
 * window yields the first row; the second, which has what was under way at 80 as well, the other one.
 */
#include "analysis/collected.h"
#include "analysis/pass/before_start.h"
#include "analysis/pass/sampled.h"
#include "analysis/summed/summing.h"
#include "analysis/path/put_aside.h"
#include "analysis/tree/waiter_sums.h"

#include <errno.h>
#include <string.h>
#include "base/banned.h"
#include "base/search.h"

struct analyzer *analyzer_new(void)
{
	struct analyzer *a = xcalloc(1, sizeof(*a));

	a->nestings = nestings_new();
	a->lives = lives_new();
	return a;
}

static void collected_free(struct collected *c)
{
	if (!c)
		return;
	waiter_sums_free(c->waiters);
	before_sums_free(c->before);
	put_aside_free(c->put_aside);
	vtree_free(c->v);
	moments_free(c->m);
	rows_free(c->rows);
	rows_free(c->root_only);
	summing_free(c->summing);
	free(c);
}

static struct collected *collected_new(const struct analyzer *a)
{
	struct collected *c = xcalloc(1, sizeof(*c));

	c->v = vtree_new(CHARGE_WAITER);
	if (a->sums_up) {
		c->summing = summing_new(a->window_ns);
		c->v->called = &c->summing->called;
		return c;
	}
	c->v->waiters = c->waiters = waiter_sums_new();
	c->before = before_sums_new();
	c->v->put_aside = c->put_aside = put_aside_new();
	c->v->takes_samples = true;
	c->m = moments_new();
	c->rows = rows_new();
	c->root_only = rows_new_unrepeated();
	return c;
}

struct collected *analyzer_collected(struct analyzer *a, uint32_t name)
{
	while (a->by_name.cnt <= name)
		VEC_ADD(&a->by_name, collected_new(a));
	return a->by_name.items[name];
}

void analyzer_free(struct analyzer *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->by_name.cnt; i++)
		collected_free(a->by_name.items[i]);
	VEC_RELEASE(&a->by_name);
	nestings_free(a->nestings);
	lives_free(a->lives);
	free(a);
}

struct taking {
	struct collected *c;
	const struct trace *t;
	const struct timeline *tl;
	int64_t before_ns;		/* what ended by then was in an earlier window */
	noted_works works;
};

/* Index of the interval's first work; works are sorted by SID. */
static size_t first_work(const struct trace *t, uint64_t sid)
{
	return partition_point(i, t->works.cnt, t->works.items[i].sid < sid);
}

static void take_interval(void *arg, const struct interval *iv, const cells *row)
{
	struct taking *k = arg;
	struct row_head head = { iv->start_ns, iv->end_ns - k->c->v->sample_cost_ns, iv->sid, iv->start_tid, iv->end_tid,
				 interval_weight(iv), iv->origin };

	if (k->c->summing) {
		summing_add(k->c->summing, k->c->v, iv, row);
		return;
	}
	if (iv->root_only) {
		rows_add(k->c->root_only, &head, NULL, 0, NULL, 0);
		return;
	}
	before_sums_add(k->c->before, k->tl, iv, k->before_ns);
	k->works.cnt = 0;
	for (size_t i = first_work(k->t, iv->sid); i < k->t->works.cnt && k->t->works.items[i].sid == iv->sid; i++)
		VEC_ADD(&k->works, (struct noted_work){ k->t->works.items[i].name, k->t->works.items[i].value });
	rows_add(k->c->rows, &head, row->items, row->cnt, k->works.items, k->works.cnt);
	moments_add_row(k->c->m, k->c->v, row, interval_weight(iv));
}

static void take_name(struct collected *c, const struct timeline *tl, const struct interval_lists *l, uint32_t name,
		      int64_t longest_ns, int64_t before_ns)
{
	struct taking k = { .c = c, .t = tl->trace, .tl = tl, .before_ns = before_ns };

	vtree_enter(c->v, tl);
	intervals_walk(tl, l, name, longest_ns, c->v, &c->counted, take_interval, &k);
	vtree_leave(c->v);
	VEC_RELEASE(&k.works);
}

static void add_threads(struct analyzer *a, const struct timeline *tl, int64_t before_ns, int64_t until_ns)
{
	a->clamped += tl->clamped;
	lives_add(a->lives, tl->trace);
	nestings_add(a->nestings, tl, before_ns, until_ns);
}

void analyzer_add(struct analyzer *a, const struct analysis_window *w)
{
	_cleanup_(timeline_freep) struct timeline *tl = timeline_new(w->t);
	_cleanup_(interval_lists_release) struct interval_lists lists = { 0 };
	bool is_whole = w->before_ns == INT64_MIN && w->until_ns == INT64_MAX;

	interval_lists_make(&lists, w->t);
	add_threads(a, tl, w->before_ns, w->until_ns);
	while (a->by_name.cnt < w->t->interval_names.cnt)
		VEC_ADD(&a->by_name, collected_new(a));
	for (uint32_t i = 0; i < a->by_name.cnt; i++)
		if (interval_lists_cnt(&lists, i))
			take_name(a->by_name.items[i], tl, &lists, i,
				  is_whole ? intervals_longest_allowed(&lists, i) : INT64_MAX, w->before_ns);
}

static void finish(struct analyzer *a, struct collected *c, const struct trace *names)
{
	uint32_t *new_ids;

	if (!a->nestings_final)
		nestings_finish(a->nestings);
	a->nestings_final = true;
	if (c->is_final)
		return;
	moments_end(c->m);
	sampled_settle(c->v, &c->m, &c->rows, names->look.sample_ns);
	vtree_divide(c->v, rows_unit(c->rows));
	moments_divide(c->m, rows_unit(c->rows));
	new_ids = vtree_renumber(c->v, names);
	moments_renumber(c->m, c->v, new_ids);
	rows_renumber(c->rows, new_ids);
	c->is_final = true;
}

int analyzer_finish(struct analyzer *a, const struct trace *names, const struct analyze_options *o,
		    struct findings **ret)
{
	_cleanup_(freep) struct counted_intervals *by_name = xcalloc(names->interval_names.cnt + 1,
								     sizeof(*by_name));
	uint32_t name;
	int r;

	if (!a->nestings_final)
		alloc_give_back();	/* of the windows */
	while (a->by_name.cnt < names->interval_names.cnt || a->by_name.cnt == 0)
		VEC_ADD(&a->by_name, collected_new(a));
	for (size_t i = 0; i < names->interval_names.cnt; i++)
		by_name[i] = a->by_name.items[i]->counted;
	r = intervals_choose_counted(&names->interval_names, by_name, o->interval, &name);
	if (r < 0)
		return r;
	finish(a, a->by_name.items[name == NAME_NONE ? 0 : name], names);
	return analyze_collected(names, a->by_name.items[name == NAME_NONE ? 0 : name], a->nestings, a->lives,
				 a->clamped, name, o, ret);
}

int analyze(struct trace *t, const struct analyze_options *o, struct findings **ret)
{
	_cleanup_(analyzer_freep) struct analyzer *a = analyzer_new();
	_cleanup_(timeline_freep) struct timeline *tl = NULL;
	_cleanup_(interval_lists_release) struct interval_lists lists = { 0 };
	struct collected *c;
	uint32_t name;
	int r = intervals_choose(t, o->interval, &name);

	if (r < 0)
		return r;
	trace_sort(t);
	trace_find_idle(t);
	tl = timeline_new(t);
	add_threads(a, tl, INT64_MIN, INT64_MAX);
	c = collected_new(a);
	VEC_ADD(&a->by_name, c);
	interval_lists_make(&lists, t);
	take_name(c, tl, &lists, name, intervals_longest_allowed(&lists, name), INT64_MIN);
	finish(a, c, t);
	return analyze_collected(t, c, a->nestings, a->lives, a->clamped, name, o, ret);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intervals.c - which intervals count, and one walk over them.
 *
 * Only completed ones with complete records are used; the others are counted by reason. Example: of six "request"s
 * one is still open at the end of the trace, one lost records, and one is root-only: n = 3, open = 1, lost = 1.  The
 * root-only one has a latency and no more: it is kept apart (probing.c).
 */
#include "analysis/tree/intervals.h"
#include "analysis/path/put_aside.h"
#include "analysis/tree/waiter_sums.h"

#include <errno.h>
#include <string.h>
#include "base/banned.h"

static bool is_candidate(const struct interval *iv, uint32_t name)
{
	return iv->name == name && iv->status == INTERVAL_COMPLETED && !iv->lost;
}

static bool is_more(const struct counted_intervals *a, const struct counted_intervals *b)
{
	return a->in_full != b->in_full ? a->in_full > b->in_full : a->completed > b->completed;
}

int intervals_choose_counted(const strings *names, const struct counted_intervals *by_name,
			     const char *name, uint32_t *ret)
{
	uint32_t best = NAME_NONE;

	for (uint32_t i = 0; i < names->cnt; i++) {
		if (name && strcmp(name, names->items[i]) == 0) {
			*ret = i;
			return 0;
		}
		if (best == NAME_NONE || is_more(&by_name[i], &by_name[best]) ||
		    (!is_more(&by_name[best], &by_name[i]) &&
		     strcmp(names->items[i], names->items[best]) < 0))
			best = i;
	}
	if (name)
		return -ENOENT;
	*ret = best;
	return 0;
}

int intervals_choose(const struct trace *t, const char *name, uint32_t *ret)
{
	_cleanup_(freep) struct counted_intervals *by_name = xcalloc(t->interval_names.cnt + 1, sizeof(*by_name));

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *iv = &t->intervals.items[i];
		bool whole = is_candidate(iv, iv->name);

		by_name[iv->name].completed += whole;
		by_name[iv->name].in_full += whole && !iv->root_only;
	}
	return intervals_choose_counted(&t->interval_names, by_name, name, ret);
}

void interval_lists_make(struct interval_lists *l, const struct trace *t)
{
	size_t names = t->interval_names.cnt;
	_cleanup_(freep) size_t *next = xcalloc(names + 1, sizeof(*next));

	l->t = t;
	l->order = xcalloc(t->intervals.cnt + 1, sizeof(*l->order));
	l->first = xcalloc(names + 1, sizeof(*l->first));
	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (t->intervals.items[i].name < names)
			l->first[t->intervals.items[i].name + 1]++;
	for (size_t i = 0; i < names; i++) {
		l->first[i + 1] += l->first[i];
		next[i] = l->first[i];
	}
	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (t->intervals.items[i].name < names)
			l->order[next[t->intervals.items[i].name]++] = (uint32_t)i;
}

void interval_lists_release(struct interval_lists *l)
{
	free(l->order);
	free(l->first);
}

size_t interval_lists_cnt(const struct interval_lists *l, uint32_t name)
{
	return name < l->t->interval_names.cnt ? l->first[name + 1] - l->first[name] : 0;
}

static const struct interval *interval_at(const struct interval_lists *l, uint32_t name, size_t i)
{
	return &l->t->intervals.items[l->order[l->first[name] + i]];
}

/*
 * Sums of squares are exact while n * L^2 < 2^124.  If the longest latency L would break that, latencies above 19.5
 * hours count as damage and are left out.
 */
int64_t intervals_longest_allowed(const struct interval_lists *l, uint32_t name)
{
	int64_t longest_ns = 0;
	uint64_t cnt = 0;

	for (size_t i = 0; i < interval_lists_cnt(l, name); i++) {
		const struct interval *iv = interval_at(l, name, i);

		if (!is_candidate(iv, name) || iv->start_ns < 0 || iv->end_ns < iv->start_ns)
			continue;
		cnt += interval_weight(iv);
		if (iv->end_ns - iv->start_ns > longest_ns)
			longest_ns = iv->end_ns - iv->start_ns;
	}
	return squares_fit(cnt, longest_ns) ? INT64_MAX : LONGEST_LATENCY_NS;
}

/* Whether such a wait ends because another thread acts.  Sleeping ends by itself, input and output may. */
static bool somebody_ends(enum trace_state wait)
{
	return wait == STATE_LOCK || wait == STATE_COND || wait == STATE_JOIN;
}

static void count_waits(struct counted_intervals *counted, const pieces *path)
{
	for (size_t i = 0; i < path->cnt; i++) {
		const struct piece *p = &path->items[i];

		int64_t ns = p->end_ns - p->start_ns, unknown_ns = p->fold == FOLD_NONE ? ns : 0;

		if (p->wait == STATE_IO) {
			counted->io_waited_ns += ns;
			counted->io_no_waker_ns += unknown_ns;
		} else if (somebody_ends(p->wait)) {
			counted->waited_ns += ns;
			counted->no_waker_ns += unknown_ns;
		}
	}
}

static bool is_possible(const struct interval *iv, int64_t longest_ns)
{
	return iv->start_ns >= 0 && iv->end_ns >= iv->start_ns &&
	       iv->end_ns - iv->start_ns <= longest_ns;
}

void intervals_walk(const struct timeline *tl, const struct interval_lists *l, uint32_t name, int64_t longest_ns,
		    struct vtree *v, struct counted_intervals *counted, interval_taker take, void *arg)
{
	pieces path = { NULL, 0, 0 };
	const cells none = { NULL, 0, 0 };

	for (size_t i = 0; i < interval_lists_cnt(l, name); i++) {
		const struct interval *iv = interval_at(l, name, i);

		if (!is_candidate(iv, name)) {
			counted->open += iv->status == INTERVAL_OPEN;
			counted->aborted += iv->status == INTERVAL_ABORTED;
			counted->lost += iv->status == INTERVAL_COMPLETED;
			continue;
		}
		counted->completed++;
		counted->in_full += !iv->root_only;
		if (!is_possible(iv, longest_ns) ||
		    (!iv->root_only && folded_path(tl, iv, &path) < 0)) {
			counted->bad_path++;
			continue;
		}
		if (iv->root_only) {
			take(arg, iv, &none);
			continue;
		}
		count_waits(counted, &path);
		if (v->put_aside)
			put_aside_add(v->put_aside, tl, &path, interval_weight(iv));
		if (v->waiters)
			waiter_sums_add(v->waiters, tl, &path, iv->end_ns - iv->start_ns, interval_weight(iv));
		vtree_add_row(v, &path, interval_weight(iv));
		take(arg, iv, &v->row);
	}
	VEC_RELEASE(&path);
}

int intervals_walk_all(struct trace *t, const char *name, struct vtree *v, interval_taker take, void *arg)
{
	_cleanup_(timeline_freep) struct timeline *tl = NULL;
	_cleanup_(interval_lists_release) struct interval_lists lists = { 0 };
	struct counted_intervals counted = { 0 };
	uint32_t chosen;
	int r = intervals_choose(t, name, &chosen);

	if (r < 0)
		return r;
	trace_sort(t);
	tl = timeline_new(t);
	interval_lists_make(&lists, t);
	vtree_enter(v, tl);
	intervals_walk(tl, &lists, chosen, intervals_longest_allowed(&lists, chosen), v, &counted, take, arg);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.c - which remote interval a wait was for.
 *
 * The only one of its group, if there is only one; else the last to end before the wait did: what the caller waited for after that
 * had not ended yet.
 *
 *	waits 10..20, 21..60; a ends at 18, b at 30, c at 58	10..20 is a's, 21..60 is c's
 */
#include <stdlib.h>
#include "base/banned.h"
#include "base/saturate.h"
#include "trace/stitch/stitching.h"

struct part {
	int64_t from_ns, until_ns;	/* of the caller's clock */
};

static struct part part_of(const struct stitching *s, const struct remote *r)
{
	const struct interval *v = &s->t->intervals.items[r->callee];

	return (struct part){ narrow_saturated((__int128)v->start_ns - r->ahead_ns), narrow_saturated((__int128)v->end_ns - r->ahead_ns) };
}

static struct part cut(struct part p, int64_t from_ns, int64_t until_ns)
{
	p.from_ns = p.from_ns > from_ns ? p.from_ns : from_ns;
	p.until_ns = p.until_ns < until_ns ? p.until_ns : until_ns;
	return p;
}

/* By how much the end of an interval may seem later than it was. */
static int64_t doubt_of(const struct stitching *s, const struct remote *r)
{
	for (size_t i = 0; i < s->ret->clocks.cnt; i++)
		if (s->ret->clocks.items[i].caller == r->caller_run && s->ret->clocks.items[i].callee == r->callee_run)
			return s->ret->clocks.items[i].width_ns;
	return 0;
}

/* The last of the group that lies in the wait and ended by its end, or within a doubt of that. */
static struct explained last_in(const struct stitching *s, const struct segment *g, int64_t woken_ns, const size_t *group, size_t cnt, bool doubtful)
{
	struct explained found = { .remote = SIZE_MAX };
	int64_t best_ns = INT64_MIN;

	for (size_t i = 0; i < cnt; i++) {
		const struct remote *r = &s->remotes.items[group[i]];
		struct part whole = part_of(s, r), p = cut(whole, g->start_ns, woken_ns);

		if (p.from_ns >= p.until_ns || whole.until_ns <= best_ns ||
		    (cnt > 1 && whole.until_ns > sum_saturated(woken_ns, doubtful ? doubt_of(s, r) : 0)))
			continue;
		best_ns = whole.until_ns;
		found = (struct explained){ group[i], p.from_ns, p.until_ns };
	}
	return found;
}

static void explain_wait(struct stitching *s, size_t segment, const size_t *group, size_t cnt)
{
	const struct segment *g = &s->t->segments.items[segment];
	const struct wakeup *unused;
	int64_t woken_ns = stitch_woken(s->t, g->tid, g->start_ns, g->end_ns, &unused);
	struct explained found = last_in(s, g, woken_ns, group, cnt, false);

	if (found.remote == SIZE_MAX)
		found = last_in(s, g, woken_ns, group, cnt, true);
	if (found.remote == SIZE_MAX)
		return;
	VEC_ADD(&s->explained, found);
	map_set(s->explained_of, segment, s->explained.cnt);
}

static const struct remote *sorted_list;

static int by_group(const void *pa, const void *pb)
{
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	if (sorted_list[a].group != sorted_list[b].group)
		return sorted_list[a].group < sorted_list[b].group ? -1 : 1;
	return (a > b) - (a < b);
}

void stitch_explain(struct stitching *s)
{
	_cleanup_(freep) size_t *list = xcalloc(s->remotes.cnt + 1, sizeof(*list));
	size_t cnt = 0;

	for (size_t i = 0; i < s->remotes.cnt; i++)
		if (s->remotes.items[i].wrong)
			s->ret->wrong++;
		else
			list[cnt++] = i;
	s->ret->joined = cnt;
	sorted_list = s->remotes.items;
	if (cnt > 1)
		qsort(list, cnt, sizeof(*list), by_group);
	for (size_t i = 0, end; i < cnt; i = end) {
		const struct remote *r = &s->remotes.items[list[i]];

		map_set(s->remote_of, r->callee, list[i] + 1);
		for (end = i + 1; end < cnt && s->remotes.items[list[end]].group == r->group; end++)
			map_set(s->remote_of, s->remotes.items[list[end]].callee, list[end] + 1);
		for (size_t k = 0; k < r->wait_cnt; k++)
			explain_wait(s, s->waits.items[r->first_wait + k], list + i, end - i);
	}
}

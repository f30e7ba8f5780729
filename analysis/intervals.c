/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intervals.c - which intervals count, and one walk over them.
 *
 * Only completed ones whose records are whole are used; every other is counted by reason.
 * Example: of six "request"s one is still open at the end of the trace, one lost records, and one is
 * root-only: n = 3, open = 1, lost = 1.  The root-only one has a latency and no more: it is
 * kept apart (probing.c).
 */
#include "analysis/passes.h"

#include <errno.h>
#include <string.h>
#include "base/banned.h"

static bool is_candidate(const struct interval *iv, uint32_t name)
{
	return iv->name == name && iv->status == INTERVAL_COMPLETED && !iv->lost;
}

struct completed {
	size_t in_full, all;
};

static bool is_more(const struct completed *a, const struct completed *b)
{
	return a->in_full != b->in_full ? a->in_full > b->in_full : a->all > b->all;
}

int intervals_choose(const struct trace *t, const char *name, uint32_t *ret)
{
	_cleanup_(freep) struct completed *completed = xcalloc(t->interval_names.cnt + 1, sizeof(*completed));
	uint32_t best = NAME_NONE;

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *iv = &t->intervals.items[i];
		bool whole = is_candidate(iv, iv->name);

		completed[iv->name].all += whole;
		completed[iv->name].in_full += whole && !iv->root_only;
	}
	for (uint32_t i = 0; i < t->interval_names.cnt; i++) {
		if (name && strcmp(name, t->interval_names.items[i]) == 0) {
			*ret = i;
			return 0;
		}
		if (best == NAME_NONE || is_more(&completed[i], &completed[best]) ||
		    (!is_more(&completed[best], &completed[i]) &&
		     strcmp(t->interval_names.items[i], t->interval_names.items[best]) < 0))
			best = i;
	}
	if (name)
		return -ENOENT;
	*ret = best;
	return 0;
}

/*
 * Sums of squares are exact while n * L^2 < 2^124.  Where the longest latency L would break
 * that, what is longer than 19.5 hours is no latency but damage, and is left out.
 */
static int64_t longest_allowed(const struct trace *t, uint32_t name)
{
	int64_t longest_ns = 0;
	uint64_t cnt = 0;

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *iv = &t->intervals.items[i];

		if (!is_candidate(iv, name) || iv->start_ns < 0 || iv->end_ns < iv->start_ns)
			continue;
		cnt++;
		if (iv->end_ns - iv->start_ns > longest_ns)
			longest_ns = iv->end_ns - iv->start_ns;
	}
	return moments_fit(cnt, longest_ns) ? INT64_MAX : LONGEST_LATENCY_NS;
}

/* Sleeping and input/output end by themselves; these end because some thread did something. */
static bool somebody_ends(enum trace_state wait)
{
	return wait == STATE_LOCK || wait == STATE_COND || wait == STATE_JOIN;
}

static void count_waits(struct used_intervals *u, const pieces *path)
{
	for (size_t i = 0; i < path->cnt; i++) {
		const struct piece *p = &path->items[i];

		if (!somebody_ends(p->wait))
			continue;
		u->waited_ns += p->end_ns - p->start_ns;
		if (p->fold == FOLD_NONE)
			u->no_waker_ns += p->end_ns - p->start_ns;
	}
}

static bool is_possible(const struct interval *iv, int64_t longest_ns)
{
	return iv->start_ns >= 0 && iv->end_ns >= iv->start_ns &&
	       iv->end_ns - iv->start_ns <= longest_ns;
}

struct used_intervals *used_intervals_new(const struct timeline *tl, uint32_t name,
					  struct vtree *v)
{
	const struct trace *t = tl->trace;
	struct used_intervals *u = xcalloc(1, sizeof(*u));
	int64_t longest_ns = longest_allowed(t, name);
	pieces path = { NULL, 0, 0 };

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *iv = &t->intervals.items[i];

		if (iv->name != name)
			continue;
		if (!is_candidate(iv, name)) {
			u->open += iv->status == INTERVAL_OPEN;
			u->aborted += iv->status == INTERVAL_ABORTED;
			u->lost += iv->status == INTERVAL_COMPLETED;
			continue;
		}
		if (!is_possible(iv, longest_ns) ||
		    (!iv->root_only && folded_path(tl, iv, &path) < 0)) {
			u->bad_path++;
			continue;
		}
		if (iv->root_only) {
			VEC_ADD(&u->root_only, iv);
			continue;
		}
		count_waits(u, &path);
		vtree_add_row(v, &path);
		VEC_ADD(&u->items, iv);
	}
	VEC_RELEASE(&path);
	return u;
}

void used_intervals_free(struct used_intervals *u)
{
	if (!u)
		return;
	VEC_RELEASE(&u->items);
	VEC_RELEASE(&u->root_only);
	free(u);
}

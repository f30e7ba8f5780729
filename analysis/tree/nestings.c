/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nestings.c - collects nestings window by window.
 *
 * Whether an interval was recorded in full is known when it ends, perhaps in a later window.  Until then the nestings
 * seen in it are pending, unless they were seen inside another one before, as nearly all were.  Example: interval 7
 * is open and shows handle > get for the first time: pending.  In the next window it ends; records were lost in it:
 * handle > get counts, but not as inside.  A thread may continue it after its end, so incomplete intervals are
 * remembered; nestings still pending at the end were in one recorded in full.
 */
#include "analysis/tree/nestings.h"

#include <stdlib.h>
#include "base/map.h"
#include "base/banned.h"

struct pending {
	uint64_t sid;
	uint32_t caller, callee;
};

struct nestings *nestings_new(void)
{
	struct nestings *n = xcalloc(1, sizeof(*n));

	n->known = map_new();
	n->partial = map_new();
	return n;
}

void nestings_free(struct nestings *n)
{
	if (!n)
		return;
	VEC_RELEASE(&n->list);
	map_free(n->known);
	map_free(n->partial);
	free(n->pending);
	free(n);
}

static uint64_t key_of(uint32_t caller, uint32_t callee, bool inside)
{
	return (uint64_t)inside << 63 | (uint64_t)caller << 32 | callee;
}

static bool is_known(const struct nestings *n, uint32_t caller, uint32_t callee, bool inside)
{
	uint64_t unused;

	return map_get(n->known, key_of(caller, callee, inside), &unused);
}

static void keep(struct nestings *n, uint32_t caller, uint32_t callee, bool inside)
{
	if ((*map_slot(n->known, key_of(caller, callee, inside)))++ == 0)
		VEC_ADD(&n->list, (struct nesting){ caller, callee, inside });
}

static void postpone(struct nestings *n, uint64_t sid, uint32_t caller, uint32_t callee)
{
	if (n->pending_cnt == n->pending_cap) {
		n->pending_cap = n->pending_cap ? 2 * n->pending_cap : 64;
		n->pending = xrealloc(n->pending, n->pending_cap, sizeof(*n->pending));
	}
	n->pending[n->pending_cnt++] = (struct pending){ sid, caller, callee };
}

static void add_partial(struct nestings *n, const struct trace *t)
{
	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (t->intervals.items[i].root_only || t->intervals.items[i].lost)
			map_set(n->partial, t->intervals.items[i].sid, true);
}

/* A pair seen inside once needs no more evidence: what explains it there explains it elsewhere. */
static bool is_settled(const struct nestings *n, uint32_t caller, uint32_t callee, bool together)
{
	return is_known(n, caller, callee, true) || (!together && is_known(n, caller, callee, false));
}

static bool has(const struct map *sids, uint64_t sid)
{
	uint64_t unused;

	return map_get(sids, sid, &unused);
}

struct ended {				/* the intervals that ended in the window */
	const struct trace *t;
	struct map *sids;		/* NULL: not needed yet; most windows show no new pair */
};

static bool has_ended(struct ended *e, uint64_t sid)
{
	if (!e->sids) {
		e->sids = map_new();
		for (size_t i = 0; i < e->t->intervals.cnt; i++)
			map_set(e->sids, e->t->intervals.items[i].sid, true);
	}
	return has(e->sids, sid);
}

static void add_pair(struct nestings *n, struct ended *ended, const struct invocation *outer, const struct invocation *inner)
{
	if (inner->sid == SID_NONE || inner->sid != outer->sid || has(n->partial, inner->sid))
		keep(n, outer->function, inner->function, false);
	else if (has_ended(ended, inner->sid))
		keep(n, outer->function, inner->function, true);
	else
		postpone(n, inner->sid, outer->function, inner->function);
}

/* ended: NULL: intervals that have not ended by now count as recorded in full. */
static void settle(struct nestings *n, struct ended *ended)
{
	size_t left = 0;

	for (size_t i = 0; i < n->pending_cnt; i++) {
		struct pending p = n->pending[i];

		if (!ended || has_ended(ended, p.sid))
			keep(n, p.caller, p.callee, !has(n->partial, p.sid));
		else
			n->pending[left++] = p;
	}
	n->pending_cnt = left;
}

#define SEEN 1024

/* Recently seen pairs, so that most need no look-up in a map. */
struct seen {
	uint32_t caller, callee;
	bool together, settled;
	uint64_t sid;
};

static struct seen *seen_lately(struct seen *list, uint32_t caller, uint32_t callee, bool together)
{
	uint32_t hash = (caller * 0x9e3779b1U + callee) * 0x85ebca6bU + together;

	return &list[hash >> 7 & (SEEN - 1)];
}

void nestings_add(struct nestings *n, const struct timeline *tl, int64_t before_ns, int64_t until_ns)
{
	const struct trace *t = tl->trace;
	struct ended ended = { .t = t };
	_cleanup_(freep) struct seen *seen = xcalloc(SEEN, sizeof(*seen));

	add_partial(n, t);
	settle(n, &ended);
	for (size_t i = 0; i < SEEN; i++)
		seen[i].caller = FUNCTION_NONE;
	for (size_t i = 0; i < t->invocations.cnt; i++) {
		const struct invocation *inner = &t->invocations.items[i], *outer;
		struct seen *s;
		bool together;

		if (tl->parents[i] == INVOCATION_NONE || inner->end_ns <= before_ns ||
		    (inner->sid == SID_NONE && inner->end_ns > until_ns))
			continue;
		outer = &t->invocations.items[tl->parents[i]];
		together = inner->sid != SID_NONE && inner->sid == outer->sid;
		s = seen_lately(seen, outer->function, inner->function, together);
		if (s->caller == outer->function && s->callee == inner->function && s->together == together &&
		    (s->settled || s->sid == inner->sid))
			continue;
		if (!is_settled(n, outer->function, inner->function, together))
			add_pair(n, &ended, outer, inner);
		*s = (struct seen){ outer->function, inner->function, together,
				    is_settled(n, outer->function, inner->function, together), inner->sid };
	}
	map_free(ended.sids);
}

void nestings_archive(struct nestings *n, struct archive *a, uint32_t function_cnt)
{
	ARCHIVE_RESIZE(a, &n->list);
	for (size_t i = 0; i < n->list.cnt; i++) {
		archive_below(a, &n->list.items[i].caller, function_cnt);
		archive_below(a, &n->list.items[i].callee, function_cnt);
		archive_bool(a, &n->list.items[i].inside);
	}
}

void nestings_join(struct nestings *to, const struct nestings *from, const uint32_t *functions)
{
	for (size_t i = 0; i < from->list.cnt; i++)
		keep(to, functions[from->list.items[i].caller], functions[from->list.items[i].callee], from->list.items[i].inside);
}

static int compare_nestings(const void *pa, const void *pb)
{
	const struct nesting *a = pa, *b = pb;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	if (a->inside != b->inside)
		return a->inside ? -1 : 1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

void nestings_finish(struct nestings *n)
{
	size_t cnt = 0;

	settle(n, NULL);
	for (size_t i = 0; i < n->list.cnt; i++) {
		struct nesting x = n->list.items[i];

		if (x.inside || !is_known(n, x.caller, x.callee, true))
			n->list.items[cnt++] = x;
	}
	n->list.cnt = cnt;
	if (n->list.cnt > 1)
		qsort(n->list.items, n->list.cnt, sizeof(*n->list.items), compare_nestings);
}

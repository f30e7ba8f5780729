/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * thread_spans.c - keeps a first moment of all threads, and a last one for each.
 */
#include "analysis/tree/thread_spans.h"
#include "base/banned.h"

struct lives *lives_new(void)
{
	struct lives *l = xcalloc(1, sizeof(*l));

	l->first_ns = INT64_MAX;
	l->last = map_new();
	return l;
}

void lives_free(struct lives *l)
{
	if (!l)
		return;
	map_free(l->last);
	VEC_RELEASE(&l->lasts_ns);
	free(l);
}

static void extend(struct lives *l, uint64_t tid, int64_t until_ns)
{
	uint64_t *place = map_slot(l->last, tid);

	if (!*place) {
		VEC_ADD(&l->lasts_ns, until_ns);
		*place = l->lasts_ns.cnt;
	} else if (l->lasts_ns.items[*place - 1] < until_ns) {
		l->lasts_ns.items[*place - 1] = until_ns;
	}
}

void lives_add(struct lives *l, const struct trace *t)
{
	const struct segment *s = t->segments.items;

	for (size_t i = 0; i < t->segments.cnt; i++) {
		if (s[i].start_ns < l->first_ns)
			l->first_ns = s[i].start_ns;
		if (i + 1 == t->segments.cnt || s[i + 1].tid != s[i].tid)
			extend(l, s[i].tid, s[i].end_ns);
	}
}

int64_t lives_until(const struct lives *l, uint64_t tid)
{
	uint64_t place;

	return map_get(l->last, tid, &place) ? l->lasts_ns.items[place - 1] : INT64_MIN;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * span_marks.c - beginnings and ends of spans that a file holds in any order: those of one span may be of two threads, each with a
 * buffer of its own.
 */
#include <stdlib.h>

#include "base/banned.h"
#include "cmd/formats/spans/spans.h"

void spans_mark(struct spans *s, const char *name, uint64_t tid, int64_t ns, bool ends)
{
	VEC_ADD(&s->marks, (struct span_mark){ name ? arena_strdup(s->arena, name) : "", tid, ns, s->marks.cnt, ends });
}

static int by_time(const void *pa, const void *pb)
{
	const struct span_mark *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

void spans_match(struct spans *s)
{
	if (s->marks.cnt > 1)
		qsort(s->marks.items, s->marks.cnt, sizeof(*s->marks.items), by_time);
	for (size_t i = 0; i < s->marks.cnt; i++) {
		const struct span_mark *m = &s->marks.items[i];

		if (m->ends)
			spans_end(s, m->name, m->tid, m->ns);
		else
			spans_begin(s, m->name, m->tid, m->ns);
	}
}

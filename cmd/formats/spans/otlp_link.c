/* SPDX-License-Identifier: GPL-3.0-or-later */
/* otlp_link.c - who is whose child, see otlp_spans.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/banned.h"
#include "cmd/formats/spans/otlp_spans.h"
#include "cmd/messages.h"

static void find_parents(struct otlp *o)
{
	for (size_t i = 0; i < o->spans.cnt; i++) {
		struct ospan *s = &o->spans.items[i];
		uint64_t parent;

		if (!s->parent || s->parent == s->id)
			continue;
		if (map_get(o->index, s->parent, &parent))
			s->up = (uint32_t)parent - 1;
		else
			o->orphans++;
	}
}

static void cut_circle(struct otlp *o, uint32_t member)
{
	for (uint32_t next; o->spans.items[member].up != OTLP_NONE; member = next) {
		next = o->spans.items[member].up;
		o->spans.items[member].up = OTLP_NONE;
		o->spans.items[member].in_circle = true;
		o->in_circles++;
	}
}

/* Goes up from each span; what this walk has seen before is a circle, what another one has leads to none. */
static void cut_circles(struct otlp *o)
{
	uint32_t *seen_by = xcalloc(o->spans.cnt + 1, sizeof(*seen_by));

	for (size_t i = 0; i < o->spans.cnt; i++) {
		uint32_t at = (uint32_t)i;

		for (; at != OTLP_NONE && !seen_by[at]; at = o->spans.items[at].up)
			seen_by[at] = (uint32_t)i + 1;
		if (at != OTLP_NONE && seen_by[at] == i + 1)
			cut_circle(o, at);
	}
	free(seen_by);
}

static int last_end_first(const void *pa, const void *pb)
{
	const struct ochild *a = pa, *b = pb;

	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

static bool begins_before(const struct ochild *a, const struct ochild *b)
{
	return a->start_ns < b->start_ns || (a->start_ns == b->start_ns && a->span < b->span);
}

static void order_children(struct otlp *o, const struct ospan *s)
{
	struct ochild *c = &o->children.items[s->first_child];

	if (s->child_cnt > 1)
		qsort(c, s->child_cnt, sizeof(*c), last_end_first);
	for (size_t i = 0; i < s->child_cnt; i++) {
		c[i].earliest = i && begins_before(&c[c[i - 1].earliest], &c[i]) ? c[i - 1].earliest : (uint32_t)i;
		o->outside += c[i].end_ns < s->start_ns || c[i].start_ns > s->end_ns;
	}
}

static void gather_children(struct otlp *o)
{
	size_t at = 0;

	for (size_t i = 0; i < o->spans.cnt; i++)
		if (o->spans.items[i].up != OTLP_NONE)
			o->spans.items[o->spans.items[i].up].child_cnt++;
	for (size_t i = 0; i < o->spans.cnt; i++) {
		o->spans.items[i].first_child = at;
		at += o->spans.items[i].child_cnt;
		o->spans.items[i].child_cnt = 0;
	}
	for (size_t i = 0; i < at; i++)
		VEC_ADD(&o->children, (struct ochild){ .span = OTLP_NONE });
	for (size_t i = 0; i < o->spans.cnt; i++) {
		const struct ospan *s = &o->spans.items[i];
		struct ospan *parent = s->up != OTLP_NONE ? &o->spans.items[s->up] : NULL;

		if (parent)
			o->children.items[parent->first_child + parent->child_cnt++] = (struct ochild){ s->start_ns, s->end_ns, (uint32_t)i, 0 };
	}
	for (size_t i = 0; i < o->spans.cnt; i++)
		order_children(o, &o->spans.items[i]);
}

void otlp_link(struct otlp *o)
{
	int64_t base_ns = INT64_MAX;

	for (size_t i = 0; i < o->spans.cnt; i++)
		base_ns = o->spans.items[i].start_ns < base_ns ? o->spans.items[i].start_ns : base_ns;
	for (size_t i = 0; i < o->spans.cnt; i++) {
		o->spans.items[i].start_ns -= base_ns;
		o->spans.items[i].end_ns -= base_ns;
	}
	find_parents(o);
	cut_circles(o);
	gather_children(o);
}

void otlp_warn(const struct otlp *o)
{
	if (o->repeated)
		warn_line("spans with the id of one before them, left out: %" PRIu64 "; an exporter sent them again", o->repeated);
	if (o->in_circles)
		warn_line("spans that are their own ancestors: %" PRIu64 "; none is taken for a parent, nor for an interval by itself", o->in_circles);
	if (o->orphans)
		warn_line("spans whose parent is in no file: %" PRIu64 "; each counts as one without a parent", o->orphans);
	if (o->outside)
		warn_line("spans outside of their parent's time, and no part of it: %" PRIu64 "; it did not wait for them, or clocks differ", o->outside);
	if (o->others)
		warn_line("documents of metrics, logs or profiles, which have no spans: %" PRIu64, o->others);
}

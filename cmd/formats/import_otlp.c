/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_otlp.c - `vprof import --from otlp`: OpenTelemetry spans as JSON (otlp_spans.h).
 *
 * An interval is a span without a parent, or each span of --interval NAME.  Its critical path is found backward from its end: the
 * child that ended last, then the child that ended last before that one began, and so on at each level; the rest is the span's
 * own time.  So a child that ran beside others counts only while it was the last to end.  A child's times are cut to those of its
 * parent, because the clocks of hosts differ.
 *
 *	root 0..10, a 1..6, b 2..9	path: root 0..2, b 2..9, root 9..10
 *
 * A span that links to another one was woken by it: where nothing else explains the time before it began, the linked span does (of
 * several, the last that had ended by then).
 *
 *	root 0..10, child 6..9 with a link to x 1..5 of another trace	path: root 0..1, x 1..5, root 5..6, child 6..9, root 9..10
 *
 * A span with the attribute vprof.wait (our own export) is a wait, and its link says who ended it.
 *
 * If there is more than one service, a function is named "service/span".
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "base/search.h"
#include "cmd/formats/import_format.h"
#include "cmd/formats/spans/otlp_spans.h"
#include "cmd/messages.h"

enum { DEPTH_MAX = 500 };		/* nesting of spans; deeper spans count as their parent's own time */

struct woken {				/* a wait that another span ended */
	uint64_t sid;
	size_t waker;			/* index of the span */
	int64_t ns;
};

struct paths {
	struct otlp o;
	struct trace *t;
	struct map *functions;
	VEC(struct woken) woken;
	uint64_t too_deep;
};

static uint32_t function_of(struct paths *p, const struct ospan *s)
{
	_cleanup_(freep) char *name = p->o.has_services && *s->service ? xasprintf("%s/%s", s->service, s->name) : xstrdup(s->name);

	return spans_function(p->t, p->functions, name);
}

static void walk(struct paths *p, uint64_t sid, const struct ospan *s, int64_t from_ns, int64_t until_ns, int depth);

/*
 * The children of a span in the order of the walk: first, of those that end where the walk begins or later (they are cut there), the
 * one that began first; then one after the other by their ends.
 */
struct backward {
	const struct ochild *list;
	size_t cnt, next;
	int64_t from_ns, until_ns;
};

static struct backward backward_from(const struct otlp *o, const struct ospan *s, int64_t from_ns, int64_t until_ns)
{
	const struct ochild *c = o->children.items + s->first_child;

	return (struct backward){ c, s->child_cnt, partition_point(i, s->child_cnt, c[i].end_ns >= until_ns), from_ns, until_ns };
}

/* The child that was the last to end by that time; NULL: none. */
static const struct ospan *last_child(const struct otlp *o, struct backward *b, int64_t at_ns)
{
	if (at_ns == b->until_ns && b->next) {
		const struct ochild *c = &b->list[b->list[b->next - 1].earliest];

		if (c->start_ns < at_ns)
			return &o->spans.items[c->span];
	}
	for (; b->next < b->cnt && b->list[b->next].end_ns > b->from_ns; b->next++) {
		const struct ochild *c = &b->list[b->next];

		if (c->end_ns <= at_ns && c->start_ns < c->end_ns)
			return &o->spans.items[c->span];
	}
	return NULL;
}

/* Of the spans to which it links the last to end by that time; NULL: none that is here and not the span itself. */
static const struct ospan *linked(const struct otlp *o, const struct ospan *s, int64_t until_ns)
{
	const struct ospan *best = NULL;
	uint64_t at;

	for (size_t i = 0; i < s->link_cnt; i++) {
		const struct ospan *l = map_get(o->index, o->links.items[s->first_link + i], &at) ? &o->spans.items[at - 1] : NULL;

		if (l && l->end_ns <= until_ns && (!best || l->end_ns > best->end_ns))
			best = l;
	}
	return best;
}

static void add_wait(struct paths *p, uint64_t sid, const struct ospan *s, int64_t from_ns, int64_t until_ns)
{
	const struct ospan *waker = linked(&p->o, s, INT64_MAX);

	spans_add_wait(&p->o.counts, sid, from_ns, until_ns, s->state);
	if (waker)
		VEC_ADD(&p->woken, (struct woken){ sid, (size_t)(waker - p->o.spans.items), until_ns });
}

/* The span to which the path's last part links, if it ended by then and no child ended later. */
static const struct ospan *waker_before(const struct otlp *o, const struct ospan *taken, const struct ospan *child, int64_t from_ns, int64_t until_ns)
{
	const struct ospan *l = taken && taken->state == STATE_RUNNING ? linked(o, taken, until_ns) : NULL;

	if (!l || l->end_ns <= from_ns || l->start_ns >= l->end_ns || (child && child->end_ns >= l->end_ns))
		return child;
	return l;
}

static void walk(struct paths *p, uint64_t sid, const struct ospan *s, int64_t from_ns, int64_t until_ns, int depth)
{
	struct backward children = backward_from(&p->o, s, from_ns, until_ns);
	const struct ospan *c = NULL;
	int64_t at_ns = until_ns;

	if (s->state != STATE_RUNNING) {
		add_wait(p, sid, s, from_ns, until_ns);
		return;
	}
	VEC_ADD(&p->t->invocations, (struct invocation){
		.tid = sid, .sid = sid, .function = function_of(p, s), .call_site = CALL_SITE_NONE, .start_ns = from_ns,
		.end_ns = until_ns, .order = (uint32_t)p->t->invocations.cnt });
	while (at_ns > from_ns && (c = waker_before(&p->o, c, last_child(&p->o, &children, at_ns), from_ns, at_ns))) {
		int64_t end_ns = c->end_ns > until_ns ? until_ns : c->end_ns;
		int64_t start_ns = c->start_ns < from_ns ? from_ns : c->start_ns;

		if (depth >= DEPTH_MAX) {
			p->too_deep++;
			return;
		}
		p->o.counts.crossing += end_ns != c->end_ns || start_ns != c->start_ns;
		walk(p, sid, c, start_ns, end_ns, depth + 1);
		at_ns = start_ns;
	}
}

static void add_interval(struct paths *p, struct ospan *s)
{
	struct trace *t = p->t;

	s->sid = spans_add_interval(t, s->name, t->intervals.cnt + 1, s->start_ns, s->end_ns);
	walk(p, s->sid, s, s->start_ns, s->end_ns, 0);
	if (s->end_ns > s->start_ns)
		VEC_ADD(&t->segments, (struct segment){ .tid = s->sid, .sid = s->sid, .start_ns = s->start_ns, .end_ns = s->end_ns,
							.state = STATE_RUNNING });
}

/* The interval that the span is a part of, by its parents; 0: none. */
static uint64_t interval_of(const struct otlp *o, size_t span)
{
	for (int depth = 0; depth < DEPTH_MAX && !o->spans.items[span].sid && o->spans.items[span].up != OTLP_NONE; depth++)
		span = o->spans.items[span].up;
	return o->spans.items[span].sid;
}

/* Each interval is a thread. */
static void add_wakeups(struct paths *p)
{
	for (size_t i = 0; i < p->woken.cnt; i++) {
		uint64_t waker = interval_of(&p->o, p->woken.items[i].waker);

		if (waker && waker != p->woken.items[i].sid)
			spans_add_wakeup(&p->o.counts, p->woken.items[i].sid, waker, p->woken.items[i].ns);
	}
}

static bool is_interval(const struct ospan *s)
{
	return import_interval ? strcmp(s->name, import_interval) == 0 : s->up == OTLP_NONE && !s->in_circle;
}

static int no_interval(const struct otlp *o, struct diag *reterr)
{
	otlp_warn(o);
	if (!o->spans.cnt) {
		diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "no span with a beginning and an end is there; %" PRIu64 " have no end, %" PRIu64
			 " no beginning before it", o->counts.open, o->counts.unmatched_ends);
		return diag_remedy(reterr, -ENODATA, "the file exporter of an OpenTelemetry collector writes them: {\"resourceSpans\":[...]}");
	}
	diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "none of the %zu spans %s%s%s", o->spans.cnt,
		 import_interval ? "is named '" : "has no parent and an end", import_interval ? import_interval : "", import_interval ? "'" : "");
	return diag_remedy(reterr, -ENODATA, "vprof import --from otlp --interval NAME FILE: NAME is the name of spans in FILE");
}

static int make_trace(struct paths *p, struct trace **ret, struct diag *reterr)
{
	struct spans *counts = &p->o.counts;

	otlp_link(&p->o);
	for (size_t i = 0; i < p->o.spans.cnt; i++)
		if (is_interval(&p->o.spans.items[i]))
			add_interval(p, &p->o.spans.items[i]);
	add_wakeups(p);
	spans_cut_waits(counts, p->t, true);
	if (p->t->intervals.cnt == 0)
		return no_interval(&p->o, reterr);
	counts->list.cnt = p->o.spans.cnt;
	spans_tell(counts, p->t);
	counts->list.cnt = 0;
	otlp_warn(&p->o);
	if (p->too_deep)
		warn_line("spans nested %d deep, whose children count as their own time: %" PRIu64, DEPTH_MAX, p->too_deep);
	*ret = TAKE_PTR(p->t);
	return 0;
}

static int read_otlp(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	struct paths p = { .t = trace_new(), .functions = map_new() };
	int e = 0;

	otlp_init(&p.o);
	if (import_start || import_end)
		e = diag_set(reterr, EXIT_USAGE, -EINVAL, "import: otlp takes no --start and --end, because its spans have both: give --interval NAME");
	for (size_t i = 0; e == 0 && i < cnt; i++) {
		_cleanup_(freep) char *text = NULL;
		size_t len;

		e = spans_read_file(paths[i], &text, &len, reterr);
		if (e == 0)
			e = otlp_read_text(&p.o, paths[i], text, len, reterr);
	}
	if (e == 0)
		e = make_trace(&p, ret, reterr);
	VEC_RELEASE(&p.woken);
	map_free(p.functions);
	trace_free(p.t);
	otlp_release(&p.o);
	return e;
}

const struct import_format import_otlp = {
	.name = "otlp", .help = "spans of OpenTelemetry as JSON, or JSON lines", .read = read_otlp,
	.options = import_span_options, .has_options = import_span_options_given,
	.example = "vprof import --from otlp --interval NAME FILE",
};

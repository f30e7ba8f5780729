/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_otlp.c - `vprof import --from otlp`: OpenTelemetry spans as JSON, one TracesData per file or per line.
 *
 * An interval is a span without a parent, or each span of --interval NAME.  Its critical path is found backward from its end: the
 * child that ended last, then the child that ended last before that one began, and so on at each level; the rest is the span's
 * own time.  So a child that ran beside others counts only while it was the last to end.  A child's times are cut to those of its
 * parent, because the clocks of hosts differ.
 *
 *	root 0..10, a 1..6, b 2..9	path: root 0..2, b 2..9, root 9..10
 *
 * A span that links to another one was woken by it: where nothing else explains the time before it began, the linked span does.
 *
 *	root 0..10, child 6..9 with a link to x 1..5 of another trace	path: root 0..1, x 1..5, root 5..6, child 6..9, root 9..10
 *
 * A span with the attribute vprof.wait (our own export) is a wait, and its link says who ended it.
 *
 * If there is more than one service, a function is named "service/span".
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/formats/import_format.h"
#include "cmd/formats/spans/spans.h"

enum { DEPTH_MAX = 500 };		/* nesting of spans; deeper spans count as their parent's own time */

struct ospan {
	const char *name, *service;
	uint64_t id, parent;		/* hashes of the trace's and the span's id together; parent 0: none */
	int64_t start_ns, end_ns;
	uint32_t first_child, next;	/* UINT32_MAX: none */
	uint64_t link;			/* as an id; 0: none */
	enum trace_state state;		/* running, or what it waits for */
	uint64_t sid;			/* of the interval that it is; 0: none */
};

struct woken {				/* a wait that another span ended */
	uint64_t sid;
	size_t waker;			/* index of the span */
	int64_t ns;
};

struct otlp {
	struct spans counts;		/* its arena, and the counts of what was left out */
	VEC(struct ospan) spans;
	const char *path;
	unsigned long line;
	const char *first_service;
	bool has_services;		/* there is more than one */
	struct map *functions, *index;	/* index: id -> index of the span + 1 */
	VEC(struct woken) woken;
};

static int wrong(const struct otlp *o, const char *what, struct diag *reterr)
{
	return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%lu: %s", o->path, o->line, what);
}

/* This JSON has 64-bit numbers as strings. */
static bool to_ns(const json_t *v, int64_t *ret)
{
	const char *text = json_string_value(v);
	char *end;

	if (json_is_integer(v)) {
		*ret = json_integer_value(v);
		return *ret >= 0;
	}
	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoll(text, &end, 10);
	return !*end && errno == 0;
}

/* 0: no id, or an id of zeros. */
static uint64_t id_of(const char *trace, const char *span)
{
	if (!span || !span[strspn(span, "0")])
		return 0;
	return hash_str(hash_str(0, trace), span) | 1;
}

/* The first link; others are of the same kind. */
static uint64_t link_of(const json_t *j)
{
	const json_t *link = json_array_get(json_object_get(j, "links"), 0);
	const char *trace = json_string_value(json_object_get(link, "traceId"));

	return trace ? id_of(trace, json_string_value(json_object_get(link, "spanId"))) : 0;
}

static enum trace_state state_of(const json_t *j)
{
	const json_t *list = json_object_get(j, "attributes");
	enum trace_state state = STATE_RUNNING;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *a = json_array_get(list, i);
		const char *key = json_string_value(json_object_get(a, "key"));
		const char *value = json_string_value(json_object_get(json_object_get(a, "value"), "stringValue"));

		if (key && value && strcmp(key, "vprof.wait") == 0 && (!trace_state_parse(value, &state) || state == STATE_WAKEUP))
			state = STATE_OTHER;
	}
	return state;
}

static int read_span(struct otlp *o, const json_t *j, const char *service, struct diag *reterr)
{
	const char *trace = json_string_value(json_object_get(j, "traceId")), *name = json_string_value(json_object_get(j, "name"));
	struct ospan s = { .first_child = UINT32_MAX, .next = UINT32_MAX };

	if (!json_is_object(j) || !trace || !name || !*name)
		return wrong(o, "a span needs \"traceId\" and \"name\"", reterr);
	s.id = id_of(trace, json_string_value(json_object_get(j, "spanId")));
	s.parent = id_of(trace, json_string_value(json_object_get(j, "parentSpanId")));
	if (!s.id)
		return wrong(o, "a span needs a \"spanId\" other than zeros", reterr);
	if (!to_ns(json_object_get(j, "startTimeUnixNano"), &s.start_ns))
		return wrong(o, "\"startTimeUnixNano\" is not a number of nanoseconds", reterr);
	if (!to_ns(json_object_get(j, "endTimeUnixNano"), &s.end_ns) || s.end_ns == 0) {
		o->counts.open++;
		return 0;
	}
	if (s.end_ns < s.start_ns) {
		o->counts.unmatched_ends++;
		return 0;
	}
	s.name = arena_strdup(o->counts.arena, name);
	s.service = service;
	s.link = link_of(j);
	s.state = state_of(j);
	VEC_ADD(&o->spans, s);
	return 0;
}

static const char *service_of(struct otlp *o, const json_t *resource_spans)
{
	const json_t *attributes = json_object_get(json_object_get(resource_spans, "resource"), "attributes");
	const char *service = "";

	for (size_t i = 0; i < json_array_size(attributes); i++) {
		const json_t *a = json_array_get(attributes, i);
		const char *key = json_string_value(json_object_get(a, "key"));
		const char *value = json_string_value(json_object_get(json_object_get(a, "value"), "stringValue"));

		if (key && value && strcmp(key, "service.name") == 0)
			service = arena_strdup(o->counts.arena, value);
	}
	if (o->first_service && strcmp(o->first_service, service) != 0)
		o->has_services = true;
	o->first_service = service;
	return service;
}

static int read_document(struct otlp *o, const json_t *root, struct diag *reterr)
{
	const json_t *list = json_object_get(root, "resourceSpans");
	int e = 0;

	if (!json_is_array(list))
		return wrong(o, "an object with \"resourceSpans\" was expected", reterr);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *of = json_array_get(list, i), *scopes = json_object_get(of, "scopeSpans");
		const char *service = service_of(o, of);

		for (size_t k = 0; k < json_array_size(scopes); k++) {
			const json_t *spans = json_object_get(json_array_get(scopes, k), "spans");

			for (size_t n = 0; e == 0 && n < json_array_size(spans); n++)
				e = read_span(o, json_array_get(spans, n), service, reterr);
		}
	}
	return e;
}

/* Reads one document, or one per line. */
static int read_text(struct otlp *o, char *text, size_t len, struct diag *reterr)
{
	json_error_t error, first;
	json_t *root = json_loadb(text, len, 0, &first);
	bool is_first = true;
	int e = 0;

	o->line = 1;
	if (root) {
		e = read_document(o, root, reterr);
		json_decref(root);
		return e;
	}
	for (char *line = text; e == 0 && line < text + len; o->line++) {
		size_t bytes = strcspn(line, "\n");

		if (strspn(line, " \t\r") < bytes) {
			root = json_loadb(line, bytes, 0, &error);
			if (root)
				e = read_document(o, root, reterr);
			else if (is_first)	/* not one document per line: report the error of the whole text */
				e = diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%d: no JSON: %s", o->path, first.line, first.text);
			else
				e = diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%lu: no JSON: %s", o->path, o->line, error.text);
			is_first = false;
			json_decref(root);
		}
		line += bytes + 1;
	}
	return e;
}

/* ---- critical paths ---- */

static void link_children(struct otlp *o)
{
	uint64_t parent;

	for (size_t i = 0; i < o->spans.cnt; i++)
		map_set(o->index, o->spans.items[i].id, i + 1);
	for (size_t i = 0; i < o->spans.cnt; i++) {
		struct ospan *s = &o->spans.items[i];

		if (!s->parent || !map_get(o->index, s->parent, &parent) || --parent == i) {
			s->parent = 0;
			continue;
		}
		s->next = o->spans.items[parent].first_child;
		o->spans.items[parent].first_child = (uint32_t)i;
	}
}

static uint32_t function_of(struct otlp *o, struct trace *t, const struct ospan *s)
{
	_cleanup_(freep) char *name = o->has_services && *s->service ? xasprintf("%s/%s", s->service, s->name) : xstrdup(s->name);

	return spans_function(t, o->functions, name);
}

static void walk(struct otlp *o, struct trace *t, uint64_t sid, const struct ospan *s, int64_t from_ns, int64_t until_ns, int depth);

/* The child that was the last to end by that time; NULL: none. */
static const struct ospan *last_child(const struct otlp *o, const struct ospan *s, int64_t from_ns, int64_t until_ns, int64_t parent_end_ns)
{
	const struct ospan *best = NULL;
	int64_t best_end = 0;

	for (uint32_t i = s->first_child; i != UINT32_MAX; i = o->spans.items[i].next) {
		const struct ospan *c = &o->spans.items[i];
		int64_t end_ns = c->end_ns > parent_end_ns ? parent_end_ns : c->end_ns;

		if (end_ns <= from_ns || end_ns > until_ns || c->start_ns >= end_ns)
			continue;
		if (!best || end_ns > best_end || (end_ns == best_end && c->start_ns < best->start_ns)) {
			best = c;
			best_end = end_ns;
		}
	}
	return best;
}

/* The span that it links to; NULL: none that is here. */
static const struct ospan *linked(const struct otlp *o, const struct ospan *s)
{
	uint64_t at;

	return s->link && map_get(o->index, s->link, &at) && &o->spans.items[at - 1] != s ? &o->spans.items[at - 1] : NULL;
}

static void add_wait(struct otlp *o, uint64_t sid, const struct ospan *s, int64_t from_ns, int64_t until_ns)
{
	const struct ospan *waker = linked(o, s);

	spans_add_wait(&o->counts, sid, from_ns, until_ns, s->state);
	if (waker)
		VEC_ADD(&o->woken, (struct woken){ sid, (size_t)(waker - o->spans.items), until_ns });
}

/* The span to which the path's last part links, if it ended by then and no child ended later. */
static const struct ospan *waker_before(const struct otlp *o, const struct ospan *taken, const struct ospan *child, int64_t from_ns, int64_t until_ns)
{
	const struct ospan *l = taken && taken->state == STATE_RUNNING ? linked(o, taken) : NULL;

	if (!l || l->end_ns <= from_ns || l->end_ns > until_ns || l->start_ns >= l->end_ns || l->start_ns >= until_ns ||
	    (child && child->end_ns >= l->end_ns))
		return child;
	return l;
}

static void walk(struct otlp *o, struct trace *t, uint64_t sid, const struct ospan *s, int64_t from_ns, int64_t until_ns, int depth)
{
	const struct ospan *c = NULL;
	int64_t at_ns = until_ns;

	if (s->state != STATE_RUNNING) {
		add_wait(o, sid, s, from_ns, until_ns);
		return;
	}
	VEC_ADD(&t->invocations, (struct invocation){
		.tid = sid, .sid = sid, .function = function_of(o, t, s), .call_site = CALL_SITE_NONE, .start_ns = from_ns,
		.end_ns = until_ns, .order = (uint32_t)t->invocations.cnt });
	while (depth < DEPTH_MAX && at_ns > from_ns &&
	       (c = waker_before(o, c, last_child(o, s, from_ns, at_ns, until_ns), from_ns, at_ns))) {
		int64_t end_ns = c->end_ns > until_ns ? until_ns : c->end_ns;
		int64_t start_ns = c->start_ns < from_ns ? from_ns : c->start_ns;

		o->counts.crossing += end_ns != c->end_ns || start_ns != c->start_ns;
		walk(o, t, sid, c, start_ns, end_ns, depth + 1);
		at_ns = start_ns;
	}
}

static void add_interval(struct otlp *o, struct trace *t, struct ospan *s)
{
	s->sid = spans_add_interval(t, s->name, t->intervals.cnt + 1, s->start_ns, s->end_ns);
	walk(o, t, s->sid, s, s->start_ns, s->end_ns, 0);
	if (s->end_ns > s->start_ns)
		VEC_ADD(&t->segments, (struct segment){ .tid = s->sid, .sid = s->sid, .start_ns = s->start_ns, .end_ns = s->end_ns,
							.state = STATE_RUNNING });
}

/* The interval that the span is a part of, by its parents; 0: none. */
static uint64_t interval_of(const struct otlp *o, size_t span)
{
	uint64_t parent;

	for (int depth = 0; depth < DEPTH_MAX && !o->spans.items[span].sid; depth++) {
		if (!o->spans.items[span].parent || !map_get(o->index, o->spans.items[span].parent, &parent))
			break;
		span = (size_t)parent - 1;
	}
	return o->spans.items[span].sid;
}

/* Each interval is a thread. */
static void add_wakeups(struct otlp *o)
{
	for (size_t i = 0; i < o->woken.cnt; i++) {
		uint64_t waker = interval_of(o, o->woken.items[i].waker);

		if (waker && waker != o->woken.items[i].sid)
			spans_add_wakeup(&o->counts, o->woken.items[i].sid, waker, o->woken.items[i].ns);
	}
}

static int make_trace(struct otlp *o, struct trace **ret, struct diag *reterr)
{
	_cleanup_(trace_freep) struct trace *t = trace_new();
	int64_t base_ns = INT64_MAX;

	link_children(o);
	for (size_t i = 0; i < o->spans.cnt; i++)
		base_ns = o->spans.items[i].start_ns < base_ns ? o->spans.items[i].start_ns : base_ns;
	for (size_t i = 0; i < o->spans.cnt; i++) {
		o->spans.items[i].start_ns -= base_ns;
		o->spans.items[i].end_ns -= base_ns;
	}
	for (size_t i = 0; i < o->spans.cnt; i++) {
		struct ospan *s = &o->spans.items[i];

		if (import_interval ? strcmp(s->name, import_interval) == 0 : s->parent == 0)
			add_interval(o, t, s);
	}
	add_wakeups(o);
	spans_cut_waits(&o->counts, t);
	if (t->intervals.cnt == 0) {
		diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "none of the %zu spans %s%s%s", o->spans.cnt,
			 import_interval ? "is named '" : "has no parent and an end", import_interval ? import_interval : "",
			 import_interval ? "'" : "");
		return diag_remedy(reterr, -ENODATA, "vprof import --from otlp --interval NAME FILE: NAME is the name of spans in FILE");
	}
	o->counts.list.cnt = o->spans.cnt;
	spans_tell(&o->counts, t);
	o->counts.list.cnt = 0;
	*ret = TAKE_PTR(t);
	return 0;
}

static int read_otlp(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	struct otlp o = { .functions = map_new(), .index = map_new() };
	int e = 0;

	spans_init(&o.counts);
	if (import_start || import_end)
		e = diag_set(reterr, EXIT_USAGE, -EINVAL, "import: otlp takes no --start and --end, because its spans have both: give --interval NAME");
	for (size_t i = 0; e == 0 && i < cnt; i++) {
		_cleanup_(freep) char *text = NULL;
		size_t len;

		o.path = paths[i];
		e = spans_read_file(paths[i], &text, &len, reterr);
		if (e == 0)
			e = read_text(&o, text, len, reterr);
	}
	if (e == 0)
		e = make_trace(&o, ret, reterr);
	VEC_RELEASE(&o.spans);
	VEC_RELEASE(&o.woken);
	map_free(o.functions);
	map_free(o.index);
	spans_release(&o.counts);
	return e;
}

const struct import_format import_otlp = {
	.name = "otlp", .help = "spans of OpenTelemetry as JSON, or JSON lines", .read = read_otlp,
	.options = import_span_options, .has_options = import_span_options_given,
	.example = "vprof import --from otlp --interval NAME FILE",
};

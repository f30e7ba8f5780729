/* SPDX-License-Identifier: GPL-3.0-or-later */
/* otlp_read.c - from JSON to spans, see otlp_spans.h. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "cmd/formats/spans/otlp_spans.h"

#define WALL_CLOCK INT64_C(100000000000000000)		/* 1973: times from here on are of a clock, not from a program's start */

void otlp_init(struct otlp *o)
{
	memset(o, 0, sizeof(*o));
	spans_init(&o->counts);
	o->index = map_new();
}

void otlp_release(struct otlp *o)
{
	VEC_RELEASE(&o->spans);
	VEC_RELEASE(&o->children);
	VEC_RELEASE(&o->links);
	map_free(o->index);
	spans_release(&o->counts);
}

static int wrong(const struct otlp *o, const char *what, struct diag *reterr)
{
	return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%lu: %s", o->path, o->line, what);
}

static int wrong_span(const struct otlp *o, const char *what, struct diag *reterr)
{
	return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%lu: span %zu of the document: %s", o->path, o->line, o->number, what);
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

/* Hexadecimal digits are the same in either case; the letters of base64 are not. */
static uint64_t hash_id(uint64_t seed, const char *id)
{
	bool is_hex = !id[strspn(id, "0123456789abcdefABCDEF")];

	for (; *id; id++) {
		char c = (char)(is_hex ? tolower((unsigned char)*id) : *id);

		seed = hash_bytes(seed, &c, 1);
	}
	return hash_bytes(seed, "", 1);
}

/* "0000", or the same in base64, which has its padding. */
static bool is_zero(const char *id)
{
	return !id[strspn(id, "0")] || (strchr(id, '=') && !id[strspn(id, "A=")]);
}

/* 0: no id, or an id of zeros. */
static uint64_t id_of(const char *trace, const char *span)
{
	return trace && span && !is_zero(span) ? hash_id(hash_id(0, trace), span) | 1 : 0;
}

static const char *text_of(const json_t *attribute)
{
	return json_string_value(json_object_get(json_object_get(attribute, "value"), "stringValue"));
}

static enum trace_state state_of(const json_t *j)
{
	const json_t *list = json_object_get(j, "attributes");
	enum trace_state state = STATE_RUNNING;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *a = json_array_get(list, i);
		const char *key = json_string_value(json_object_get(a, "key")), *value = text_of(a);

		if (key && value && strcmp(key, "vprof.wait") == 0 && (!trace_state_parse(value, &state) || state == STATE_WAKEUP))
			state = STATE_OTHER;
	}
	return state;
}

static void take_links(struct otlp *o, const json_t *j, struct ospan *s)
{
	const json_t *list = json_object_get(j, "links");

	s->first_link = o->links.cnt;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *link = json_array_get(list, i);
		uint64_t id = id_of(json_string_value(json_object_get(link, "traceId")), json_string_value(json_object_get(link, "spanId")));

		if (id && id != s->id)
			VEC_ADD(&o->links, id);
	}
	s->link_cnt = o->links.cnt - s->first_link;
}

/* An end or a beginning that is not known is 0. */
static bool has_times(struct otlp *o, const struct ospan *s)
{
	bool begins = s->start_ns != 0 || s->end_ns < WALL_CLOCK;

	if (s->end_ns == 0)
		o->counts.open++;
	else if (!begins || s->end_ns < s->start_ns)
		o->counts.unmatched_ends++;
	return s->end_ns != 0 && begins && s->end_ns >= s->start_ns;
}

static int read_span(struct otlp *o, const json_t *j, const char *service, struct diag *reterr)
{
	const char *trace = json_string_value(json_object_get(j, "traceId")), *name = json_string_value(json_object_get(j, "name"));
	struct ospan s = { .up = OTLP_NONE, .service = service };
	const json_t *end = json_object_get(j, "endTimeUnixNano");
	uint64_t *slot;

	o->number++;
	if (!json_is_object(j) || !trace)
		return wrong_span(o, "a span needs a \"traceId\"", reterr);
	s.id = id_of(trace, json_string_value(json_object_get(j, "spanId")));
	s.parent = id_of(trace, json_string_value(json_object_get(j, "parentSpanId")));
	if (!s.id)
		return wrong_span(o, "a span needs a \"spanId\" other than zeros", reterr);
	if (!to_ns(json_object_get(j, "startTimeUnixNano"), &s.start_ns))
		return wrong_span(o, "\"startTimeUnixNano\" is not a number of nanoseconds", reterr);
	if (end && !json_is_null(end) && !to_ns(end, &s.end_ns))
		return wrong_span(o, "\"endTimeUnixNano\" is not a number of nanoseconds", reterr);
	if (!has_times(o, &s))
		return 0;
	slot = map_slot(o->index, s.id);
	if (*slot) {
		o->repeated++;
		return 0;
	}
	s.name = arena_strdup(o->counts.arena, name && *name ? name : "(no name)");
	s.state = state_of(j);
	take_links(o, j, &s);
	VEC_ADD(&o->spans, s);
	*slot = o->spans.cnt;
	return 0;
}

static const char *service_of(struct otlp *o, const json_t *resource_spans)
{
	const json_t *attributes = json_object_get(json_object_get(resource_spans, "resource"), "attributes");
	const char *service = "";

	for (size_t i = 0; i < json_array_size(attributes); i++) {
		const json_t *a = json_array_get(attributes, i);
		const char *key = json_string_value(json_object_get(a, "key")), *value = text_of(a);

		if (key && value && strcmp(key, "service.name") == 0)
			service = arena_strdup(o->counts.arena, value);
	}
	if (o->first_service && strcmp(o->first_service, service) != 0)
		o->has_services = true;
	o->first_service = service;
	return service;
}

/* The list of that name, or of its other one; NULL, and no error: there is none, or it is null. */
static int list_of(const struct otlp *o, const json_t *in, const char *name, const char *other, const json_t **ret, struct diag *reterr)
{
	*ret = json_object_get(in, name);
	if (!*ret)
		*ret = json_object_get(in, other);
	if (json_is_null(*ret))
		*ret = NULL;
	return *ret && !json_is_array(*ret) ? wrong(o, "\"resourceSpans\", \"scopeSpans\" and \"spans\" are lists", reterr) : 0;
}

static int read_resource(struct otlp *o, const json_t *of, struct diag *reterr)
{
	const char *service = service_of(o, of);
	const json_t *scopes, *spans;
	int e = list_of(o, of, "scopeSpans", "instrumentationLibrarySpans", &scopes, reterr);

	for (size_t k = 0; e == 0 && k < json_array_size(scopes); k++) {
		e = list_of(o, json_array_get(scopes, k), "spans", "spans", &spans, reterr);
		for (size_t n = 0; e == 0 && n < json_array_size(spans); n++)
			e = read_span(o, json_array_get(spans, n), service, reterr);
	}
	return e;
}

static bool is_of_other_signals(const json_t *root)
{
	return json_is_object(root) && (json_object_size(root) == 0 || json_object_get(root, "resourceMetrics") ||
					json_object_get(root, "resourceLogs") || json_object_get(root, "resourceProfiles"));
}

static int read_object(struct otlp *o, const json_t *root, struct diag *reterr)
{
	const json_t *inside = json_object_get(root, "trace"), *list;
	int e;

	if (!inside)
		inside = json_object_get(root, "result");
	if (json_is_object(inside))
		root = inside;
	e = list_of(o, root, "resourceSpans", "batches", &list, reterr);
	if (e < 0)
		return e;
	if (is_of_other_signals(root) && !list) {
		o->others += json_object_size(root) != 0;
		return 0;
	}
	if (!json_object_get(root, "resourceSpans") && !list)
		return wrong(o, "an object with \"resourceSpans\" was expected", reterr);
	for (size_t i = 0; e == 0 && i < json_array_size(list); i++)
		e = read_resource(o, json_array_get(list, i), reterr);
	return e;
}

static int read_document(struct otlp *o, const json_t *root, struct diag *reterr)
{
	int e = 0;

	o->number = 0;
	if (!json_is_array(root))
		return read_object(o, root, reterr);
	for (size_t i = 0; e == 0 && i < json_array_size(root); i++)
		e = read_object(o, json_array_get(root, i), reterr);
	return e;
}

/*
 * The document that begins here: the line, or as much as it takes.  *ret_bytes: how much that is.  Where there is none, *ret_error
 * says why: about the line if those before it were lines.
 */
static json_t *load_document(const char *text, size_t len, bool by_line, size_t *ret_bytes, json_error_t *ret_error)
{
	const char *line_end = memchr(text, '\n', len);
	json_error_t of_many;
	json_t *root;

	*ret_bytes = line_end ? (size_t)(line_end - text) : len;
	root = json_loadb(text, *ret_bytes, 0, ret_error);
	if (root)
		return root;
	root = json_loadb(text, len, JSON_DISABLE_EOF_CHECK, &of_many);
	if (root)
		*ret_bytes = (size_t)of_many.position;
	else if (!by_line)
		*ret_error = of_many;
	return root;
}

int otlp_read_text(struct otlp *o, const char *path, const char *text, size_t len, struct diag *reterr)
{
	bool by_line = false;		/* the document before this one was a line */
	size_t at = 0, bytes;
	int e = 0;

	o->path = path;
	o->line = 1;
	for (; e == 0; at += bytes) {
		json_error_t error;
		json_t *root;

		for (; at < len && strchr(" \t\r\n", text[at]) && text[at]; at++)
			o->line += text[at] == '\n';
		if (at == len)
			break;
		root = load_document(text + at, len - at, by_line, &bytes, &error);
		if (!root)
			return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%lu: no JSON: %s", path, o->line + (unsigned long)error.line - 1, error.text);
		e = read_document(o, root, reterr);
		json_decref(root);
		by_line = !memchr(text + at, '\n', bytes);
		for (size_t i = at; i < at + bytes; i++)
			o->line += text[i] == '\n';
	}
	return e;
}

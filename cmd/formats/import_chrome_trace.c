/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_chrome_trace.c - `vprof import --from chrome-trace`: the JSON of about:tracing, which many tracers write.
 *
 * Spans are the events X (with their duration), B and E (matched by thread, and by name if E has one), and b and e (matched by
 * category, id and name; each id counts as a thread).  Times are microseconds.  A list that ends after some event is read up to
 * there.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/formats/spans/chrome_own.h"
#include "cmd/formats/import_format.h"
#include "cmd/formats/spans/spans.h"

#define NS_MAX 4e18

struct reading {
	struct spans *s;
	const char *path;
};

static int damaged(const struct reading *r, size_t event, const char *what, struct diag *reterr)
{
	return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s: event %zu of traceEvents: %s", r->path, event + 1, what);
}

static bool to_ns(const json_t *o, const char *key, int64_t *ret)
{
	const json_t *v = json_object_get(o, key);
	double ns = json_is_number(v) ? round(json_number_value(v) * 1000) : NAN;

	if (!(ns >= 0 && ns < NS_MAX))
		return false;
	*ret = (int64_t)ns;
	return true;
}

/* An id is a number or a string. */
static uint64_t id_of(const json_t *v)
{
	return json_is_integer(v) ? (uint64_t)json_integer_value(v) : json_is_string(v) ? hash_str(0, json_string_value(v)) : 0;
}

static uint64_t thread_of(const json_t *e, bool async)
{
	uint64_t pid = id_of(json_object_get(e, "pid")), tid = id_of(json_object_get(e, "tid"));
	const char *category = json_string_value(json_object_get(e, "cat"));

	if (async)
		return (hash_str(hash_u64(1, id_of(json_object_get(e, "id"))), category ? category : "") & INT64_MAX) | 1;
	return pid < UINT32_MAX && tid < UINT32_MAX ? pid << 32 | tid : hash_u64(hash_u64(0, pid), tid) & INT64_MAX;
}

static int read_event(struct reading *r, size_t i, const json_t *e, struct diag *reterr)
{
	const char *phase = json_string_value(json_object_get(e, "ph")), *name = json_string_value(json_object_get(e, "name"));
	bool async = phase && (*phase == 'b' || *phase == 'e');
	int64_t ns, duration_ns;

	if (!json_is_object(e) || !phase || !*phase)
		return damaged(r, i, "an object with \"ph\" was expected", reterr);
	if (!strchr("XBEbe", *phase))
		return 0;
	if (!to_ns(e, "ts", &ns))
		return damaged(r, i, "\"ts\" is not a time in microseconds", reterr);
	if (strchr("XBb", *phase) && (!name || !*name))
		return damaged(r, i, "it has no \"name\"", reterr);
	if (*phase == 'X') {
		if (!to_ns(e, "dur", &duration_ns) || (double)ns + (double)duration_ns >= NS_MAX)
			return damaged(r, i, "\"dur\" is not a time in microseconds", reterr);
		spans_add(r->s, name, thread_of(e, false), ns, ns + duration_ns);
	} else if (*phase == 'B' || *phase == 'b') {
		spans_begin(r->s, name, thread_of(e, async), ns);
	} else {
		spans_end(r->s, name, thread_of(e, async), ns);
	}
	return 0;
}

/* A tracer that was killed leaves "[{...}, {...}," behind. */
static json_t *parse(const char *text, size_t len, json_error_t *error)
{
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, error);
	size_t end = len;
	char *closed;

	if (root || strspn(text, " \t\r\n") == len || text[strspn(text, " \t\r\n")] != '[')
		return root;
	while (end && strchr(" \t\r\n,", text[end - 1]))
		end--;
	if (end == 0 || text[end - 1] != '}')
		return NULL;
	closed = xasprintf("%.*s]", (int)end, text);
	root = json_loads(closed, JSON_REJECT_DUPLICATES, &(json_error_t){ .line = 0 });
	free(closed);
	return root;
}

static int read_file(struct spans *s, const char *path, struct diag *reterr)
{
	struct reading r = { .s = s, .path = path };
	_cleanup_(freep) char *text = NULL;
	json_error_t error;
	json_t *root, *events;
	size_t len;
	int e = spans_read_file(path, &text, &len, reterr);

	if (e < 0)
		return e;
	root = len < INT32_MAX ? parse(text, len, &error) : NULL;
	if (!root)
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%d: no JSON: %s", path, len < INT32_MAX ? error.line : 1,
				len < INT32_MAX ? error.text : "the file is larger than 2 GiB");
	events = json_is_array(root) ? root : json_object_get(root, "traceEvents");
	if (!json_is_array(events))
		e = diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:1: an array, or an object with \"traceEvents\", was expected", path);
	for (size_t i = 0; e == 0 && i < json_array_size(events); i++)
		e = read_event(&r, i, json_array_get(events, i), reterr);
	json_decref(root);
	return e;
}

/* Our own export, if no other intervals are asked for: the same intervals, calls, waits and wake-ups (chrome_own.h). */
static int read_own(const char *path, struct trace **ret, struct diag *reterr)
{
	_cleanup_(freep) char *text = NULL;
	json_error_t error;
	json_t *root;
	size_t len;
	int e = spans_read_file(path, &text, &len, reterr);

	if (e < 0)
		return e;
	root = len < INT32_MAX ? json_loadb(text, len, JSON_REJECT_DUPLICATES, &error) : NULL;
	if (chrome_is_own(root))
		e = chrome_own_read(root, path, ret, reterr);
	json_decref(root);
	return e;
}

static int read_chrome(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	struct spans s;
	int e = 0;

	if (cnt == 1 && !import_span_options_given() && strcmp(paths[0], "/dev/stdin") != 0) {
		e = read_own(paths[0], ret, reterr);
		if (e < 0 || *ret)
			return e;
	}
	spans_init(&s);
	for (size_t i = 0; e == 0 && i < cnt; i++)
		e = read_file(&s, paths[i], reterr);
	if (e == 0)
		e = spans_to_trace(&s, ret, reterr);
	spans_release(&s);
	return e;
}

const struct import_format import_chrome_trace = {
	.name = "chrome-trace", .help = "JSON of about:tracing", .read = read_chrome,
	.options = import_span_options, .has_options = import_span_options_given,
	.example = "vprof import --from chrome-trace --interval NAME FILE",
};

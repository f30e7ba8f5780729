/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_chrome_trace.c - `vprof import --from chrome-trace`: the JSON of about:tracing, which many tracers write.
 *
 * Spans are the events X (with their duration), B and E (matched by thread, and by name if E has one), and b and e, or of old tracers
 * S and F (matched by category, scope, id and name, in the order of time; each id counts as a thread).  Times are microseconds.  A
 * file that was cut off is read up to the last whole event (chrome_text.h).
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/formats/spans/chrome_own.h"
#include "cmd/formats/spans/chrome_text.h"
#include "cmd/formats/import_format.h"
#include "cmd/formats/spans/spans.h"

struct reading {
	struct spans *s;
	const char *path, *text;
};

static int damaged(const struct reading *r, size_t event, const char *what, struct diag *reterr)
{
	return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%lu: event %zu of traceEvents: %s", r->path,
			chrome_text_line(r->text, event), event + 1, what);
}

/* An id is a number or a string. */
static uint64_t id_of(const json_t *v)
{
	return json_is_integer(v) ? (uint64_t)json_integer_value(v) : json_is_string(v) ? hash_str(0, json_string_value(v)) : 0;
}

static uint64_t hash_text(uint64_t seed, const json_t *v)
{
	return hash_str(seed, json_is_string(v) ? json_string_value(v) : "");
}

/* "id2" says whether the id is of the process alone. */
static uint64_t thread_of_id(const json_t *e)
{
	const json_t *id2 = json_object_get(e, "id2"), *local = json_object_get(id2, "local"), *global = json_object_get(id2, "global");
	uint64_t key = hash_u64(1, id_of(local ? local : global ? global : json_object_get(e, "id")));

	key = hash_text(hash_text(key, json_object_get(e, "cat")), json_object_get(e, "scope"));
	return ((local ? hash_u64(key, id_of(json_object_get(e, "pid"))) : key) & INT64_MAX) | 1;
}

static uint64_t thread_of(const json_t *e, bool async)
{
	uint64_t pid = id_of(json_object_get(e, "pid")), tid = id_of(json_object_get(e, "tid"));

	if (async)
		return thread_of_id(e);
	return pid < UINT32_MAX && tid < UINT32_MAX ? pid << 32 | tid : hash_u64(hash_u64(0, pid), tid) & INT64_MAX;
}

/* Some tracers end the list with {} or null, so that each event before can have its comma. */
static bool is_filler(const json_t *e)
{
	return json_is_null(e) || (json_is_object(e) && json_object_size(e) == 0);
}

static int read_span(struct reading *r, size_t i, const json_t *e, const char *name, int64_t ns, struct diag *reterr)
{
	int64_t duration_ns;

	if (!json_object_get(e, "dur")) {
		r->s->open++;
		return 0;
	}
	if (!chrome_text_ns(e, "dur", &duration_ns) || ns + duration_ns >= CHROME_NS_MAX)
		return damaged(r, i, "\"dur\" is not a time in microseconds", reterr);
	spans_add(r->s, name, thread_of(e, false), ns, ns + duration_ns);
	return 0;
}

static int read_event(struct reading *r, size_t i, const json_t *e, struct diag *reterr)
{
	const char *phase = json_string_value(json_object_get(e, "ph")), *name = json_string_value(json_object_get(e, "name"));
	int64_t ns;

	if (is_filler(e))
		return 0;
	if (!json_is_object(e) || !phase || !*phase)
		return damaged(r, i, "an object with \"ph\" was expected", reterr);
	if (!strchr("XBEbeSF", *phase))
		return 0;
	if (!chrome_text_ns(e, "ts", &ns))
		return damaged(r, i, "\"ts\" is not a time in microseconds", reterr);
	if (strchr("XBbS", *phase) && (!name || !*name))
		return damaged(r, i, "it has no \"name\"", reterr);
	if (*phase == 'X')
		return read_span(r, i, e, name, ns, reterr);
	spans_mark(r->s, name, thread_of(e, strchr("beSF", *phase) != NULL), ns, strchr("EeF", *phase) != NULL);
	return 0;
}

static int read_events(struct reading *r, const json_t *root, struct diag *reterr)
{
	const json_t *events = json_is_array(root) ? root : json_object_get(root, "traceEvents");
	int e = 0;

	if (!json_is_array(events))
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:1: an array, or an object with \"traceEvents\", was expected", r->path);
	for (size_t i = 0; e == 0 && i < json_array_size(events); i++)
		e = read_event(r, i, json_array_get(events, i), reterr);
	return e;
}

/*
 * One file of our own export, if no other intervals are asked for, gives *ret: the same intervals, calls, waits and wake-ups
 * (chrome_own.h).  A file is read once: it may be a pipe.
 */
static int read_files(struct reading *r, const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	bool may_be_own = cnt == 1 && !import_span_options_given();
	int e = 0;

	for (size_t i = 0; e == 0 && i < cnt; i++) {
		_cleanup_(freep) char *text = NULL;
		json_t *root = NULL;
		size_t len;

		e = spans_read_file(paths[i], &text, &len, reterr);
		if (e == 0)
			e = chrome_text_load(paths[i], text, len, &root, reterr);
		r->path = paths[i];
		r->text = text;
		if (e == 0)
			e = may_be_own && chrome_is_own(root) ? chrome_own_read(root, paths[i], text, ret, reterr) : read_events(r, root, reterr);
		json_decref(root);
	}
	return e;
}

static int read_chrome(const char *const *paths, size_t cnt, struct trace **ret, struct diag *reterr)
{
	struct spans s;
	struct reading r = { .s = &s };
	int e;

	spans_init(&s);
	e = read_files(&r, paths, cnt, ret, reterr);
	if (e == 0 && !*ret) {
		spans_match(&s);
		e = spans_to_trace(&s, ret, reterr);
	}
	spans_release(&s);
	return e;
}

const struct import_format import_chrome_trace = {
	.name = "chrome-trace", .help = "JSON of about:tracing", .read = read_chrome,
	.options = import_span_options, .has_options = import_span_options_given,
	.example = "vprof import --from chrome-trace --interval NAME FILE",
};

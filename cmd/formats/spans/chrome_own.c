/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chrome_own.c - see chrome_own.h. */
#include "cmd/formats/spans/chrome_own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/formats/spans/chrome_text.h"
#include "cmd/formats/spans/own_export.h"

struct chrome {
	struct own *own;
	struct map *flows;		/* id -> index in wakers + 1 */
	VEC(struct wakeup) wakers;	/* tid is not known yet */
	uint32_t calls;
	const char *path, *text;
	size_t event;
	struct diag *reterr;
};

bool chrome_is_own(const json_t *root)
{
	const char *producer = json_string_value(json_object_get(json_object_get(root, "otherData"), "producer"));

	return producer && strcmp(producer, "vprof") == 0 && json_is_array(json_object_get(root, "traceEvents"));
}

static int damaged(struct chrome *c, const char *what)
{
	return diag_set(c->reterr, EXIT_DATA, -EBADMSG, "%s:%lu: event %zu of traceEvents: %s", c->path,
			chrome_text_line(c->text, c->event), c->event + 1, what);
}

/* why: what is wrong, or NULL. */
static int added(struct chrome *c, const char *why)
{
	return why ? damaged(c, why) : 0;
}

/* A TID is a number; a SID stands as text, since it may need 64 bits; "-": none. */
static bool to_tid(const json_t *e, uint64_t *ret)
{
	const json_t *v = json_object_get(e, "tid");

	*ret = (uint64_t)json_integer_value(v);
	return json_is_integer(v) && json_integer_value(v) >= 0;
}

static bool to_sid(const json_t *e, uint64_t *ret)
{
	const char *text = json_string_value(json_object_get(json_object_get(e, "args"), "interval"));
	char *end;

	*ret = SID_NONE;
	if (text && strcmp(text, "-") == 0)
		return true;
	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return !*end && !errno && *ret < SID_SHARED;
}

static int take_interval(struct chrome *c, const json_t *e, bool ends)
{
	const char *name = json_string_value(json_object_get(e, "name"));
	uint64_t sid, tid;
	int64_t ns;

	if (!to_sid(e, &sid) || !to_tid(e, &tid) || !chrome_text_ns(e, "ts", &ns) || !name || !*name)
		return damaged(c, "an interval needs \"ts\", \"tid\", \"name\" and args.interval");
	return added(c, ends ? own_interval_ends(c->own, sid, tid, ns) : own_interval_begins(c->own, sid, name, tid, ns));
}

static int take_slice(struct chrome *c, const json_t *e)
{
	const char *name = json_string_value(json_object_get(e, "name")), *category = json_string_value(json_object_get(e, "cat"));
	const json_t *args = json_object_get(e, "args");
	struct own_call call = { .name = name, .file = json_string_value(json_object_get(args, "file")), .order = c->calls++ };
	json_int_t line = json_integer_value(json_object_get(args, "line"));
	int64_t duration_ns;

	if (!to_sid(e, &call.sid) || !to_tid(e, &call.tid) || !chrome_text_ns(e, "ts", &call.start_ns) ||
	    !chrome_text_ns(e, "dur", &duration_ns) || call.start_ns + duration_ns >= CHROME_NS_MAX || !name || !*name || !category)
		return damaged(c, "a slice needs \"ts\", \"dur\", \"tid\", \"name\", \"cat\" and args.interval");
	call.end_ns = call.start_ns + duration_ns;
	call.line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
	if (strcmp(category, "wait") == 0)
		return added(c, own_add_wait(c->own, call.tid, call.sid, call.start_ns, call.end_ns,
					     json_string_value(json_object_get(args, "wait"))));
	return added(c, own_add_call(c->own, &call));
}

/* s is where the waker was, f the wait that it ended, of one id; s comes first. */
static int take_flow(struct chrome *c, const json_t *e, bool ends)
{
	uint64_t id = (uint64_t)json_integer_value(json_object_get(e, "id")), tid, at;
	int64_t ns;

	if (!to_tid(e, &tid) || !chrome_text_ns(e, "ts", &ns))
		return damaged(c, "a flow needs \"ts\", \"tid\" and \"id\"");
	if (!ends) {
		VEC_ADD(&c->wakers, (struct wakeup){ .waker_tid = tid, .time_ns = ns });
		map_set(c->flows, id, c->wakers.cnt);
	} else if (map_get(c->flows, id, &at)) {
		own_add_wakeup(c->own, tid, c->wakers.items[at - 1].waker_tid, c->wakers.items[at - 1].time_ns);
	}
	return 0;
}

static int take_event(struct chrome *c, const json_t *e)
{
	const char *phase = json_string_value(json_object_get(e, "ph"));
	const char *thread = json_string_value(json_object_get(json_object_get(e, "args"), "name"));
	uint64_t tid;

	if (!phase || !*phase || phase[1])
		return damaged(c, "an object with \"ph\" was expected");
	switch (*phase) {
	case 'b':
	case 'e':
		return take_interval(c, e, *phase == 'e');
	case 'X':
		return take_slice(c, e);
	case 's':
	case 'f':
		return take_flow(c, e, *phase == 'f');
	case 'M':
		if (thread && to_tid(e, &tid))
			own_add_thread(c->own, tid, KIND_THREAD, thread);
		return 0;
	default:
		return 0;
	}
}

int chrome_own_read(const json_t *root, const char *path, const char *text, struct trace **ret, struct diag *reterr)
{
	const json_t *events = json_object_get(root, "traceEvents");
	struct chrome c = { .own = own_new(), .flows = map_new(), .path = path, .text = text, .reterr = reterr };
	int e = 0;

	for (c.event = 0; e == 0 && c.event < json_array_size(events); c.event++)
		e = take_event(&c, json_array_get(events, c.event));
	if (e == 0)
		e = own_finish(c.own, path, ret, reterr);
	own_free(c.own);
	map_free(c.flows);
	VEC_RELEASE(&c.wakers);
	return e;
}

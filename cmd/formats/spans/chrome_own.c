/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chrome_own.c - see chrome_own.h. */
#include "cmd/formats/spans/chrome_own.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/formats/spans/chrome_text.h"
#include "cmd/formats/spans/spans.h"
#include "cmd/messages.h"

struct own {
	struct trace *t;
	struct spans spans;		/* its waits and wake-ups */
	struct map *functions;
	struct map *interval_of;	/* sid -> index + 1 */
	struct map *flows;		/* id -> index in wakers + 1 */
	VEC(struct wakeup) wakers;	/* tid is not known yet */
	const char *path, *text;
	size_t event;
	struct diag *reterr;
};

bool chrome_is_own(const json_t *root)
{
	const char *producer = json_string_value(json_object_get(json_object_get(root, "otherData"), "producer"));

	return producer && strcmp(producer, "vprof") == 0 && json_is_array(json_object_get(root, "traceEvents"));
}

static int damaged(struct own *o, const char *what)
{
	return diag_set(o->reterr, EXIT_DATA, -EBADMSG, "%s:%lu: event %zu of traceEvents: %s", o->path,
			chrome_text_line(o->text, o->event), o->event + 1, what);
}

/* A TID is a number; a SID stands as text, since it may need 64 bits. */
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

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return !*end && !errno && *ret < SID_SHARED;
}

static int take_interval(struct own *o, const json_t *e, bool ends)
{
	const char *name = json_string_value(json_object_get(e, "name"));
	uint64_t sid, tid, *slot;
	struct interval *v;
	int64_t ns;

	if (!to_sid(e, &sid) || !to_tid(e, &tid) || !chrome_text_ns(e, "ts", &ns) || !name || !*name)
		return damaged(o, "an interval needs \"ts\", \"tid\", \"name\" and args.interval");
	slot = map_slot(o->interval_of, sid);
	if (!ends) {
		if (*slot)
			return damaged(o, "this interval has begun already");
		VEC_ADD(&o->t->intervals, (struct interval){
			.sid = sid, .name = trace_add_string(o->t, &o->t->interval_names, name), .start_tid = tid, .start_ns = ns, .end_ns = -1 });
		*slot = o->t->intervals.cnt;
		return 0;
	}
	v = *slot ? &o->t->intervals.items[*slot - 1] : NULL;
	if (!v || v->status == INTERVAL_COMPLETED || ns < v->start_ns)
		return damaged(o, "this end belongs to no interval");
	v->status = INTERVAL_COMPLETED;
	v->end_tid = tid;
	v->end_ns = ns;
	return 0;
}

static int take_slice(struct own *o, const json_t *e)
{
	const char *name = json_string_value(json_object_get(e, "name")), *category = json_string_value(json_object_get(e, "cat"));
	const char *wait = json_string_value(json_object_get(json_object_get(e, "args"), "wait"));
	enum trace_state state = STATE_RUNNING;
	int64_t ns, duration_ns;
	uint64_t sid, tid;

	if (!to_sid(e, &sid) || !to_tid(e, &tid) || !chrome_text_ns(e, "ts", &ns) || !chrome_text_ns(e, "dur", &duration_ns) ||
	    !name || !*name || !category)
		return damaged(o, "a slice needs \"ts\", \"dur\", \"tid\", \"name\", \"cat\" and args.interval");
	if (strcmp(category, "wait") == 0) {
		if (!wait || !trace_state_parse(wait, &state) || state == STATE_WAKEUP)
			return damaged(o, "no class of waits has that name");
		spans_add_wait(&o->spans, tid, ns, ns + duration_ns, state);
		VEC_ADD(&o->t->segments, (struct segment){ .tid = tid, .sid = sid, .start_ns = ns, .end_ns = ns + duration_ns });
		return 0;
	}
	VEC_ADD(&o->t->invocations, (struct invocation){
		.tid = tid, .sid = sid, .function = spans_function(o->t, o->functions, name), .call_site = CALL_SITE_NONE,
		.start_ns = ns, .end_ns = ns + duration_ns, .order = (uint32_t)o->t->invocations.cnt });
	return 0;
}

/* s is where the waker was, f the wait that it ended, of one id; s comes first. */
static int take_flow(struct own *o, const json_t *e, bool ends)
{
	uint64_t id = (uint64_t)json_integer_value(json_object_get(e, "id")), tid, at;
	int64_t ns;

	if (!to_tid(e, &tid) || !chrome_text_ns(e, "ts", &ns))
		return damaged(o, "a flow needs \"ts\", \"tid\" and \"id\"");
	if (!ends) {
		VEC_ADD(&o->wakers, (struct wakeup){ .waker_tid = tid, .time_ns = ns });
		map_set(o->flows, id, o->wakers.cnt);
	} else if (map_get(o->flows, id, &at)) {
		spans_add_wakeup(&o->spans, tid, o->wakers.items[at - 1].waker_tid, o->wakers.items[at - 1].time_ns);
	}
	return 0;
}

static int take_event(struct own *o, const json_t *e)
{
	const char *phase = json_string_value(json_object_get(e, "ph"));
	const char *thread = json_string_value(json_object_get(json_object_get(e, "args"), "name"));
	uint64_t tid;

	if (!phase || !*phase || phase[1])
		return damaged(o, "an object with \"ph\" was expected");
	switch (*phase) {
	case 'b':
	case 'e':
		return take_interval(o, e, *phase == 'e');
	case 'X':
		return take_slice(o, e);
	case 's':
	case 'f':
		return take_flow(o, e, *phase == 'f');
	case 'M':
		if (thread && to_tid(e, &tid))
			VEC_ADD(&o->t->threads, (struct thread_name){ .tid = tid, .name = arena_strdup(o->t->arena, thread) });
		return 0;
	default:
		return 0;
	}
}

/* A thread works for an interval from its first call or wait for it to the last, and from its beginning or to its end, if these are on it. */
struct turn {
	uint64_t tid, sid;
	int64_t start_ns, end_ns;
};
typedef VEC(struct turn) turns;

static int by_time(const void *pa, const void *pb)
{
	const struct turn *a = pa, *b = pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static void find_turns(const struct own *o, turns *ret)
{
	const struct trace *t = o->t;

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *v = &t->intervals.items[i];

		if (v->status == INTERVAL_COMPLETED && v->start_tid == v->end_tid) {
			VEC_ADD(ret, (struct turn){ v->start_tid, v->sid, v->start_ns, v->end_ns });
			continue;
		}
		VEC_ADD(ret, (struct turn){ v->start_tid, v->sid, v->start_ns, v->start_ns });
		if (v->status == INTERVAL_COMPLETED)
			VEC_ADD(ret, (struct turn){ v->end_tid, v->sid, v->end_ns, v->end_ns });
	}
	for (size_t i = 0; i < t->invocations.cnt; i++)
		VEC_ADD(ret, (struct turn){ t->invocations.items[i].tid, t->invocations.items[i].sid, t->invocations.items[i].start_ns,
					    t->invocations.items[i].end_ns });
	for (size_t i = 0; i < t->segments.cnt; i++)
		VEC_ADD(ret, (struct turn){ t->segments.items[i].tid, t->segments.items[i].sid, t->segments.items[i].start_ns,
					    t->segments.items[i].end_ns });
	if (ret->cnt)
		qsort(ret->items, ret->cnt, sizeof(*ret->items), by_time);
}

/* Stretches of one interval that follow each other are one; another one's begins where it does. */
static void make_segments(struct own *o)
{
	turns list = { NULL, 0, 0 };
	struct trace *t = o->t;

	find_turns(o, &list);
	t->segments.cnt = 0;
	for (size_t i = 0, end; i < list.cnt; i = end) {
		int64_t start_ns = list.items[i].start_ns, until_ns = list.items[i].end_ns;

		for (end = i + 1; end < list.cnt && list.items[end].tid == list.items[i].tid && list.items[end].sid == list.items[i].sid; end++)
			until_ns = list.items[end].end_ns > until_ns ? list.items[end].end_ns : until_ns;
		if (end < list.cnt && list.items[end].tid == list.items[i].tid && list.items[end].start_ns < until_ns)
			until_ns = list.items[end].start_ns;
		if (t->segments.cnt && t->segments.items[t->segments.cnt - 1].tid == list.items[i].tid &&
		    t->segments.items[t->segments.cnt - 1].end_ns > start_ns)
			start_ns = t->segments.items[t->segments.cnt - 1].end_ns;
		if (start_ns < until_ns)
			VEC_ADD(&t->segments, (struct segment){ .tid = list.items[i].tid, .sid = list.items[i].sid, .start_ns = start_ns,
								.end_ns = until_ns, .state = STATE_RUNNING });
	}
	VEC_RELEASE(&list);
	spans_cut_waits(&o->spans, t);
}

/* Calls of a thread nest. */
static int check_calls(struct own *o)
{
	VEC(int64_t) ends = { NULL, 0, 0 };
	struct trace *t = o->t;
	int e = 0;

	if (t->invocations.cnt > 1)
		qsort(t->invocations.items, t->invocations.cnt, sizeof(*t->invocations.items), compare_invocations);
	for (size_t i = 0; e == 0 && i < t->invocations.cnt; i++) {
		const struct invocation *v = &t->invocations.items[i];

		if (i && v->tid != v[-1].tid)
			ends.cnt = 0;
		while (ends.cnt && ends.items[ends.cnt - 1] <= v->start_ns)
			ends.cnt--;
		if (ends.cnt && ends.items[ends.cnt - 1] < v->end_ns)
			e = diag_set(o->reterr, EXIT_DATA, -EBADMSG, "%s: two calls of thread %" PRIu64 " cross: '%s' ends later than the call around it",
				     o->path, v->tid, t->functions.items[v->function].name);
		VEC_ADD(&ends, v->end_ns);
	}
	VEC_RELEASE(&ends);
	return e;
}

int chrome_own_read(const json_t *root, const char *path, const char *text, struct trace **ret, struct diag *reterr)
{
	const json_t *events = json_object_get(root, "traceEvents");
	struct own o = { .t = trace_new(), .functions = map_new(), .interval_of = map_new(), .flows = map_new(), .path = path, .text = text,
			 .reterr = reterr };
	int e = 0;

	spans_init(&o.spans);
	for (o.event = 0; e == 0 && o.event < json_array_size(events); o.event++)
		e = take_event(&o, json_array_get(events, o.event));
	if (e == 0 && !o.t->intervals.cnt)
		e = diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "%s: no interval is in it", path);
	if (e == 0)
		e = check_calls(&o);
	if (e == 0) {
		make_segments(&o);
		note_line("found an export of vprof's own: %zu intervals, %zu calls of %zu functions, %zu waits, %zu wake-ups", o.t->intervals.cnt,
			  o.t->invocations.cnt, o.t->functions.cnt, o.spans.waits.cnt, o.spans.wakeups.cnt);
		note_line("views that work: all, about these intervals%s", o.spans.wakeups.cnt ? "" : "; no waker is known, so no wait has a blame");
		*ret = TAKE_PTR(o.t);
	}
	trace_free(o.t);
	map_free(o.functions);
	map_free(o.interval_of);
	map_free(o.flows);
	VEC_RELEASE(&o.wakers);
	spans_release(&o.spans);
	return e;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* own_export.c - see own_export.h. */
#include "cmd/formats/spans/own_export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "cmd/formats/spans/spans.h"
#include "cmd/messages.h"

struct own {
	struct trace *t;
	struct spans spans;		/* its waits and wake-ups */
	struct map *functions;		/* name, file and line -> index + 1 */
	struct map *interval_of;	/* sid -> index + 1 */
};

struct own *own_new(void)
{
	struct own *o = xcalloc(1, sizeof(*o));

	o->t = trace_new();
	o->functions = map_new();
	o->interval_of = map_new();
	spans_init(&o->spans);
	return o;
}

void own_free(struct own *o)
{
	if (!o)
		return;
	trace_free(o->t);
	map_free(o->functions);
	map_free(o->interval_of);
	spans_release(&o->spans);
	free(o);
}

const char *own_interval_begins(struct own *o, uint64_t sid, const char *name, uint64_t tid, int64_t ns)
{
	uint64_t *slot;

	if (sid >= SID_SHARED)
		return "no interval has that number";
	slot = map_slot(o->interval_of, sid);
	if (*slot)
		return "this interval has begun already";
	VEC_ADD(&o->t->intervals, (struct interval){
		.sid = sid, .name = trace_add_string(o->t, &o->t->interval_names, name), .start_tid = tid, .start_ns = ns, .end_ns = -1 });
	*slot = o->t->intervals.cnt;
	return NULL;
}

const char *own_interval_ends(struct own *o, uint64_t sid, uint64_t tid, int64_t ns)
{
	uint64_t at;
	struct interval *v = map_get(o->interval_of, sid, &at) && at ? &o->t->intervals.items[at - 1] : NULL;

	if (!v || v->status == INTERVAL_COMPLETED || ns < v->start_ns)
		return "this end belongs to no interval";
	v->status = INTERVAL_COMPLETED;
	v->end_tid = tid;
	v->end_ns = ns;
	return NULL;
}

/* Functions of one name may be of several files. */
static bool is_function(const struct function *f, const struct own_call *call)
{
	return strcmp(f->name, call->name) == 0 && !f->file == !call->file && f->line == call->line &&
	       (!f->file || strcmp(f->file, call->file) == 0);
}

static uint32_t function_of(struct own *o, const struct own_call *call)
{
	uint64_t key = hash_u64(hash_str(hash_str(0, call->name), call->file ? call->file : ""), call->line);
	uint64_t *slot = map_slot(o->functions, key);
	struct trace *t = o->t;

	while (*slot && !is_function(&t->functions.items[*slot - 1], call))
		slot = map_slot(o->functions, key = hash_u64(key, *slot));
	if (*slot == 0) {
		VEC_ADD(&t->functions, (struct function){
			.name = arena_strdup(t->arena, call->name), .file = call->file ? arena_strdup(t->arena, call->file) : NULL,
			.line = call->line, .probed = true });
		*slot = t->functions.cnt;
	}
	return (uint32_t)*slot - 1;
}

const char *own_add_call(struct own *o, const struct own_call *call)
{
	if (call->end_ns < call->start_ns)
		return "a call ends before it begins";
	VEC_ADD(&o->t->invocations, (struct invocation){
		.tid = call->tid, .sid = call->sid, .function = function_of(o, call), .call_site = CALL_SITE_NONE,
		.start_ns = call->start_ns, .end_ns = call->end_ns, .order = call->order });
	return NULL;
}

const char *own_add_wait(struct own *o, uint64_t tid, uint64_t sid, int64_t start_ns, int64_t end_ns, const char *class_name)
{
	enum trace_state state;

	if (!class_name || !trace_state_parse(class_name, &state) || state == STATE_WAKEUP || state == STATE_RUNNING)
		return "no class of waits has that name";
	if (end_ns < start_ns)
		return "a wait ends before it begins";
	spans_add_wait(&o->spans, tid, start_ns, end_ns, state);
	VEC_ADD(&o->t->segments, (struct segment){ .tid = tid, .sid = sid, .start_ns = start_ns, .end_ns = end_ns });
	return NULL;
}

void own_add_wakeup(struct own *o, uint64_t tid, uint64_t waker_tid, int64_t ns)
{
	spans_add_wakeup(&o->spans, tid, waker_tid, ns);
}

void own_add_thread(struct own *o, uint64_t tid, enum thread_kind kind, const char *name)
{
	VEC_ADD(&o->t->threads, (struct thread_name){ .tid = tid, .kind = kind, .name = name ? arena_strdup(o->t->arena, name) : NULL });
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

/* Whether a turn goes on with the one after it.  What the thread did between two calls for no interval is not known. */
static bool goes_on(const struct turn *t, const struct turn *next, int64_t until_ns)
{
	return next->tid == t->tid && next->sid == t->sid && (t->sid != SID_NONE || next->start_ns <= until_ns);
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

		for (end = i + 1; end < list.cnt && goes_on(&list.items[i], &list.items[end], until_ns); end++)
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
	spans_cut_waits(&o->spans, t, false);
}

/* Calls of a thread nest. */
static int check_calls(struct own *o, const char *path, struct diag *reterr)
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
			e = diag_set(reterr, EXIT_DATA, -EBADMSG, "%s: two calls of thread %" PRIu64 " cross: '%s' ends later than the call around it",
				     path, v->tid, t->functions.items[v->function].name);
		VEC_ADD(&ends, v->end_ns);
	}
	VEC_RELEASE(&ends);
	return e;
}

int own_finish(struct own *o, const char *path, struct trace **ret, struct diag *reterr)
{
	int e;

	if (!o->t->intervals.cnt)
		return diag_set(reterr, EXIT_NO_EVIDENCE, -ENODATA, "%s: no interval is in it", path);
	e = check_calls(o, path, reterr);
	if (e < 0)
		return e;
	make_segments(o);
	note_line("found an export of vprof's own: %zu intervals, %zu calls of %zu functions, %zu waits, %zu wake-ups", o->t->intervals.cnt,
		  o->t->invocations.cnt, o->t->functions.cnt, o->spans.waits.cnt, o->spans.wakeups.cnt);
	note_line("views that work: all, about these intervals%s", o->spans.wakeups.cnt ? "" : "; no waker is known, so no wait has a blame");
	*ret = TAKE_PTR(o->t);
	return 0;
}

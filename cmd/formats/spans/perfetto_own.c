/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfetto_own.c - see perfetto_own.h.
 *
 * Intervals have the category "interval", calls "function", waits "wait"; they and their ends say the rest in notes.  An instant says of
 * the thread of its track what it is.
 */
#include "cmd/formats/spans/perfetto_own.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "cmd/formats/spans/own_export.h"

struct begun {				/* a slice whose end is to come */
	size_t event;
	size_t around;			/* the one around it on its track: index + 1 */
	int64_t ns;
};

struct reading {
	const struct perfetto *p;
	struct own *own;
	VEC(struct begun) begun;
	struct map *open;		/* track -> its innermost slice: index in begun + 1 */
	const char *path;
	size_t event;
	struct diag *reterr;
};

static int damaged(struct reading *r, const char *what)
{
	return diag_set(r->reterr, EXIT_DATA, -EBADMSG, "%s: event %zu: %s", r->path, r->event + 1, what);
}

/* why: what is wrong, or NULL. */
static int added(struct reading *r, const char *why)
{
	return why ? damaged(r, why) : 0;
}

static bool is(const struct perfetto_event *v, const char *category)
{
	return v->category && strcmp(v->category, category) == 0;
}

/* A thread with a number that the schema does not hold says so itself. */
static uint64_t thread_of(const struct reading *r, const struct perfetto_event *v)
{
	const struct perfetto_track *track = perfetto_track(r->p, v->track);

	return v->notes && v->notes->has_thread ? v->notes->thread : track ? track->tid : 0;
}

static int begin(struct reading *r, const struct perfetto_event *v, int64_t ns)
{
	const struct perfetto_track *lane = perfetto_track(r->p, v->track);
	uint64_t *open = map_slot(r->open, v->track);

	VEC_ADD(&r->begun, (struct begun){ r->event, (size_t)*open, ns });
	*open = r->begun.cnt;
	if (!v->name)
		return damaged(r, "a slice needs a name");
	if (!is(v, "interval"))
		return 0;
	if (!v->notes || !v->notes->has_sid)
		return damaged(r, "an interval needs a note vprof.sid");
	return added(r, lane && lane->name ? own_interval_begins(r->own, v->notes->sid, lane->name, v->notes->thread, ns) :
		     "an interval's track has no name");
}

static int end_slice(struct reading *r, const struct begun *b, const struct perfetto_event *end, int64_t ns)
{
	const struct perfetto_event *v = &r->p->events.items[b->event];
	static const struct perfetto_notes none;
	const struct perfetto_notes *n = v->notes ? v->notes : &none;
	uint64_t tid = thread_of(r, v), sid = n->has_sid ? n->sid : SID_NONE;

	if (is(v, "interval"))
		return added(r, own_interval_ends(r->own, n->sid, end->notes && end->notes->has_thread ? end->notes->thread : tid, ns));
	if (is(v, "wait")) {
		if (n->has_waker)
			own_add_wakeup(r->own, tid, n->waker, n->wake_ns);
		return added(r, own_add_wait(r->own, tid, sid, b->ns, ns, n->wait));
	}
	return added(r, own_add_call(r->own, &(struct own_call){
		.tid = tid, .sid = sid, .start_ns = b->ns, .end_ns = ns, .name = v->name, .file = n->file,
		.line = n->line <= UINT32_MAX ? (uint32_t)n->line : 0, .order = (uint32_t)b->event }));
}

static int end(struct reading *r, const struct perfetto_event *v, int64_t ns)
{
	uint64_t *open = map_slot(r->open, v->track);
	const struct begun *b;

	if (!*open)
		return damaged(r, "this end belongs to no slice");
	b = &r->begun.items[*open - 1];
	*open = b->around;
	return end_slice(r, b, v, ns);
}

static int take_event(struct reading *r, const struct perfetto_event *v)
{
	int64_t ns;

	if (v->phase == PERFETTO_INSTANT || v->phase == PERFETTO_WHOLE)
		return 0;
	if (!perfetto_clocks_convert(r->p->clocks, v->time, &ns))
		return damaged(r, "its time is out of range");
	return v->phase == PERFETTO_BEGIN ? begin(r, v, ns) : end(r, v, ns);
}

/* Threads with names, and what those are that are none: devices, peers. */
static void add_threads(struct reading *r)
{
	for (size_t i = 0; i < r->p->tracks.cnt; i++)
		if (r->p->tracks.items[i].is_thread && r->p->tracks.items[i].name)
			own_add_thread(r->own, r->p->tracks.items[i].tid, KIND_THREAD, r->p->tracks.items[i].name);
	for (size_t i = 0; i < r->p->events.cnt; i++) {
		const struct perfetto_event *v = &r->p->events.items[i];
		const struct perfetto_track *track = perfetto_track(r->p, v->track);
		enum thread_kind kind;

		if (v->notes && v->notes->kind && thread_kind_parse(v->notes->kind, &kind))
			own_add_thread(r->own, thread_of(r, v), kind, track ? track->name : NULL);
	}
}

int perfetto_own_read(const struct perfetto *p, const char *path, struct trace **ret, struct diag *reterr)
{
	struct reading r = { .p = p, .own = own_new(), .open = map_new(), .path = path, .reterr = reterr };
	int e = 0;

	add_threads(&r);
	for (; e == 0 && r.event < p->events.cnt; r.event++)
		e = take_event(&r, &p->events.items[r.event]);
	if (e == 0)
		e = own_finish(r.own, path, ret, reterr);
	VEC_RELEASE(&r.begun);
	map_free(r.open);
	own_free(r.own);
	return e;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.c - a recorded trace -> the paper's tuples, in stages:
 *
 *	raw.c		bytes -> threads, events, invocations
 *	raw_time.c	ticks -> nanoseconds
 *	replay.c	who worked on which interval when; creations
 *	segments.c	running and waiting; wakeups
 *	invocations.c	functions and their calls
 */
#include <errno.h>
#include "base/banned.h"
#include "trace/replay.h"

static void name_threads(struct raw *r);
static void add_threads(struct reading *rd);

static void timeline_release(struct timeline *line)
{
	VEC_RELEASE(&line->changes);
	VEC_RELEASE(&line->waits);
}

int trace_read(const char *path, const struct reader_options *o, struct trace **ret,
	       struct diag *reterr)
{
	_cleanup_(trace_freep) struct trace *t = trace_new();
	struct reading rd = { .options = o, .t = t };
	int r;

	rd.raw.arena = t->arena;
	r = raw_read(&rd.raw, path, reterr);
	if (!r)
		r = raw_to_ns(&rd.raw, path, reterr);
	if (!r) {
		rd.timelines = xcalloc(rd.raw.threads.cnt + 1, sizeof(*rd.timelines));
		name_threads(&rd.raw);
		replay_events(&rd);
		build_segments(&rd);
		build_invocations(&rd);
		add_threads(&rd);
		trace_sort(t);
		*ret = TAKE_PTR(t);
		for (size_t i = 0; i < rd.raw.threads.cnt; i++)
			timeline_release(&rd.timelines[i]);
		free(rd.timelines);
	}
	raw_release(&rd.raw);
	return r;
}

static int compare_serials(const void *a, const void *b)
{
	const struct raw_thread *x = *(struct raw_thread *const *)a;
	const struct raw_thread *y = *(struct raw_thread *const *)b;

	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* The kernel gives numbers out again: the second thread 77 becomes 77 + 2^32. */
static void make_unique(struct raw *r)
{
	_cleanup_(freep) struct raw_thread **by_serial =
		xmalloc((r->threads.cnt + 1) * sizeof(*by_serial));
	_cleanup_(map_freep) struct map *used = map_new();

	for (size_t i = 0; i < r->threads.cnt; i++)
		by_serial[i] = &r->threads.items[i];
	qsort(by_serial, r->threads.cnt, sizeof(*by_serial), compare_serials);
	for (size_t i = 0; i < r->threads.cnt; i++) {
		uint64_t *cnt = map_slot(used, by_serial[i]->kernel_tid);

		by_serial[i]->tid = by_serial[i]->kernel_tid + (*cnt << 32);
		++*cnt;
	}
}

static void name_threads(struct raw *r)
{
	make_unique(r);
	for (size_t i = 0; i < r->events.cnt; i++) {
		const struct raw_event *e = &r->events.items[i];
		const uint64_t *name = e->kind == EVENT_START ? &e->words[1] : &e->words[0];

		/* A name set later, by pthread_setname_np, is the better one. */
		if ((e->kind == EVENT_START || e->kind == EVENT_STOP) && *name)
			r->threads.items[e->thread].name =
				arena_strndup(r->arena, (const char *)name,
					      strnlen((const char *)name, 16));
	}
}

static void add_threads(struct reading *rd)
{
	_cleanup_(freep) bool *stopped = xcalloc(rd->raw.threads.cnt + 1, sizeof(*stopped));

	for (size_t i = 0; i < rd->raw.events.cnt; i++)
		if (rd->raw.events.items[i].kind == EVENT_STOP)
			stopped[rd->raw.events.items[i].thread] = true;
	for (size_t i = 0; i < rd->raw.threads.cnt; i++) {
		const struct raw_thread *t = &rd->raw.threads.items[i];

		VEC_ADD(&rd->t->threads, (struct thread_name){ t->tid, t->pid, t->name,
			KIND_THREAD, !stopped[i] });
	}
}

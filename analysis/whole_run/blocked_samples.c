/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blocked_samples.c - counts the points of the grid on each call path, on and off the processor.
 *
 * The grid starts with the run and continues through every wait, as bperf's does.  A point belongs to a span that
 * ends at it or goes on: t is in (start, end].  After its wake-up a waiting thread is no longer blocked, but has no
 * processor yet.
 *
 * Example, period 10 from 0: running f (0,12], io in f (12,37] woken at 33, running f (37,40].
 *	points	10 | 20 30 | - | 40		cpu 2, io 2, sched 0
 */
#include "analysis/whole_run/blocked_samples.h"

#include <string.h>
#include "analysis/whole_run/whole_run.h"
#include "base/map.h"
#include "base/banned.h"
#include "base/saturate.h"

static const char *const type_names[SAMPLE_TYPE_CNT] = {
#define X(id, name) [SAMPLE_##id] = name,
	SAMPLE_TYPES(X)
#undef X
};

const char *sample_type_name(enum sample_type type)
{
	return type_names[type];
}

struct sum {				/* of a thread name, call path and type */
	uint32_t name, path;
	enum sample_type type;
	uint64_t samples;
	int64_t time_ns;
};

struct sampling {
	const struct timeline *tl;
	const struct call_paths *paths;
	struct names *names;		/* of threads */
	struct map *sum_of;		/* (name, path, type) -> index of sums, plus one */
	VEC(struct sum) sums;
	struct sample_row *rows;	/* by spot, the last for none, and type */
	struct blocked_samples *ret;
};

static enum sample_type type_of(enum trace_state state)
{
	switch (state) {
	case STATE_RUNNING:
		return SAMPLE_CPU;
	case STATE_IO:
		return SAMPLE_IO;
	case STATE_LOCK:
	case STATE_COND:
	case STATE_JOIN:
	case STATE_QUEUE:
	case STATE_ARRIVED:
	case STATE_BUSY:
	case STATE_HANDED_OVER:
	case STATE_PARKED:
		return SAMPLE_LOCK;
	case STATE_RUNNABLE:
	case STATE_WAKEUP:
		return SAMPLE_SCHED;
	case STATE_SLEEP:
	case STATE_OTHER:
	case STATE_CNT:
		break;
	}
	return SAMPLE_OTHER;
}

/* Points in (start, end]. */
static uint64_t points(const struct blocked_samples *s, int64_t start_ns, int64_t end_ns)
{
	return (uint64_t)((end_ns - s->start_ns) / s->period_ns -
			  (start_ns - s->start_ns) / s->period_ns);
}

static void add(struct sampling *g, uint32_t name, const struct path_walk *w, enum sample_type type)
{
	uint64_t samples = points(g->ret, w->from_ns, w->to_ns);
	int64_t time_ns = w->to_ns - w->from_ns;
	/* Names and types are few; a path has 32 bits. */
	uint64_t key = ((uint64_t)name * SAMPLE_TYPE_CNT + type) << 32 | w->path;
	uint64_t *slot = map_slot(g->sum_of, key);
	struct sample_row *row = &g->rows[(size_t)w->spot * SAMPLE_TYPE_CNT + type];
	struct sum *sum;

	if (*slot == 0) {
		VEC_ADD(&g->sums, (struct sum){ .name = name, .path = w->path, .type = type });
		*slot = g->sums.cnt;
	}
	sum = &g->sums.items[*slot - 1];
	sum->samples += samples;
	sum->time_ns = sum_saturated(sum->time_ns, time_ns);
	row->samples += samples;
	row->time_ns = sum_saturated(row->time_ns, time_ns);
	g->ret->samples[type] += samples;
	g->ret->time_ns[type] = sum_saturated(g->ret->time_ns[type], time_ns);
}

static void add_stretch(struct sampling *g, uint64_t tid, uint32_t name, int64_t start_ns,
			int64_t end_ns, enum sample_type type)
{
	struct path_walk w;

	for (path_walk_init(&w, g->tl, g->paths, tid, start_ns, end_ns); path_walk_next(&w); )
		add(g, name, &w, type);
}

static void add_thread(struct sampling *g, uint32_t thread)
{
	const struct thread_line *line = &g->tl->threads.items[thread];
	const char *name = whole_run_thread_name(g->tl->trace, line->tid);
	uint32_t id;

	if (line->segments.cnt == 0 || !kind_is_thread(line->kind))
		return;
	g->ret->thread_cnt++;
	id = names_add(g->names, name ? name : "");
	for (size_t i = 0; i < line->segments.cnt; i++) {
		const struct segment *s = &g->tl->segments[line->segments.first + i];
		int64_t woken_ns = whole_run_woken(g->tl, thread, s);

		add_stretch(g, line->tid, id, s->start_ns, woken_ns, type_of(s->state));
		add_stretch(g, line->tid, id, woken_ns, s->end_ns, SAMPLE_SCHED);
	}
}

static int by_samples(const void *pa, const void *pb)
{
	const struct sample_stack *a = pa, *b = pb;
	int r;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	r = strcmp(a->thread ? a->thread : "", b->thread ? b->thread : "");
	if (r == 0)
		r = compare_frames(a->frames, a->frame_cnt, b->frames, b->frame_cnt);
	return r ? r : (int)a->type - (int)b->type;
}

static int by_samples_of_rows(const void *pa, const void *pb)
{
	const struct sample_row *a = pa, *b = pb;
	int r;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	r = strcmp(a->function ? a->function : "", b->function ? b->function : "");
	if (r == 0)
		r = strcmp(a->file ? a->file : "", b->file ? b->file : "");
	if (r == 0)
		r = (a->line > b->line) - (a->line < b->line);
	return r ? r : (int)a->type - (int)b->type;
}

static void fill_stacks(const struct sampling *g)
{
	struct blocked_samples *ret = g->ret;

	for (size_t i = 0; i < g->sums.cnt; i++) {
		const struct sum *sum = &g->sums.items[i];
		const char *name = names_get(g->names, sum->name);
		struct sample_stack s = {
			.type = sum->type, .samples = sum->samples, .time_ns = sum->time_ns,
			.thread = *name ? arena_strdup(ret->arena, name) : NULL,
		};

		if (sum->samples == 0)
			continue;
		s.frames = call_path_frames(g->paths, sum->path, ret->arena, &s.frame_cnt);
		VEC_ADD(&ret->stacks, s);
	}
	if (ret->stacks.cnt > 1)
		qsort(ret->stacks.items, ret->stacks.cnt, sizeof(*ret->stacks.items), by_samples);
}

static void fill_rows(const struct sampling *g)
{
	struct blocked_samples *ret = g->ret;
	size_t spot_cnt = g->paths->spots.cnt;

	for (size_t i = 0; i < (spot_cnt + 1) * SAMPLE_TYPE_CNT; i++) {
		struct sample_row row = g->rows[i];
		const struct spot *spot = i / SAMPLE_TYPE_CNT < spot_cnt ? &g->paths->spots.items[i / SAMPLE_TYPE_CNT] : NULL;

		if (row.samples == 0)
			continue;
		row.type = (enum sample_type)(i % SAMPLE_TYPE_CNT);
		if (spot) {
			row.function = arena_strdup(ret->arena, spot->function);
			row.file = spot->file ? arena_strdup(ret->arena, spot->file) : NULL;
			row.line = spot->line;
		}
		VEC_ADD(&ret->rows, row);
	}
	if (ret->rows.cnt > 1)
		qsort(ret->rows.items, ret->rows.cnt, sizeof(*ret->rows.items), by_samples_of_rows);
}

struct blocked_samples *blocked_samples_new(struct trace *t, int64_t period_ns)
{
	_cleanup_(timeline_freep) struct timeline *tl = NULL;
	_cleanup_(call_paths_freep) struct call_paths *paths = NULL;
	struct sampling g = { .names = names_new(), .sum_of = map_new() };
	int64_t end_ns;

	trace_sort(t);
	g.tl = tl = timeline_new(t);
	g.paths = paths = call_paths_new(tl);
	g.ret = xcalloc(1, sizeof(*g.ret));
	g.ret->arena = arena_new();
	g.ret->period_ns = period_ns;
	g.rows = xcalloc((paths->spots.cnt + 1) * SAMPLE_TYPE_CNT, sizeof(*g.rows));
	whole_run_span(t, &g.ret->start_ns, &end_ns);
	for (uint32_t i = 0; i < tl->threads.cnt; i++)
		add_thread(&g, i);
	fill_stacks(&g);
	fill_rows(&g);
	names_free(g.names);
	map_free(g.sum_of);
	VEC_RELEASE(&g.sums);
	free(g.rows);
	return g.ret;
}

void blocked_samples_free(struct blocked_samples *s)
{
	if (!s)
		return;
	VEC_RELEASE(&s->rows);
	VEC_RELEASE(&s->stacks);
	arena_free(s->arena);
	free(s);
}

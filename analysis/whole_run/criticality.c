/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * criticality.c - CMetric per thread, call path and function; see criticality.h.
 *
 * One sweep over all changes of the number n of active threads computes, at each change, how much a thread active
 * since the beginning would have earned: the sum of time / n.  The earnings of a slice are a difference of two such
 * sums, so a slice may contain any number of changes.
 *
 * Example: A active (0,10], B active (4,6]: n = 1, 2, 1.
 *	time	0   4   6   10
 *	earned	0   4   5   9		A: 9 - 0 = 9, B: 5 - 4 = 1; together 10
 *
 * Sums are fixed point, 2^-32 ns, so that the order of additions changes no digit that is shown.
 */
#include "analysis/whole_run/criticality.h"

#include <stdlib.h>
#include <string.h>
#include "analysis/whole_run/whole_run.h"
#include "base/banned.h"
#include "base/saturate.h"
#include "base/search.h"

#define FIXED_BITS 32

typedef __int128 fixed;			/* of 2^-32 ns */

struct slice {
	uint32_t thread;
	int64_t start_ns, end_ns;
};

struct change {				/* of the number of active threads */
	int64_t ns;
	int32_t by;
};

struct step {				/* from ns on */
	int64_t ns;
	int64_t active;			/* threads */
	fixed earned;			/* until ns: the integral of 1/n */
	fixed earned_alone;		/* the same where n is at most nmin, or 1 */
	__int128 threads_ns;		/* until ns: the integral of n */
};

struct sweep {
	const struct timeline *tl;
	const struct call_paths *paths;
	struct criticality *ret;
	VEC(struct slice) slices;	/* of one thread after the other, in order of time */
	VEC(struct step) steps;
	fixed *of_thread, *of_path, *of_spot;	/* the last: in no function */
	uint64_t *slices_of_path;
	size_t *last_slice_of_path;	/* plus one */
};

static double to_ns(fixed f)
{
	return (double)f / (double)(1ULL << FIXED_BITS);
}

/* ---- slices ---- */

static void add_active(struct sweep *s, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
	struct slice *last = s->slices.cnt ? &s->slices.items[s->slices.cnt - 1] : NULL;

	if (start_ns >= end_ns)
		return;
	if (last && last->thread == thread && last->end_ns == start_ns)
		last->end_ns = end_ns;
	else
		VEC_ADD(&s->slices, (struct slice){ thread, start_ns, end_ns });
}

static void collect_slices(struct sweep *s)
{
	for (uint32_t n = 0; n < s->tl->threads.cnt; n++) {
		const struct thread_line *line = &s->tl->threads.items[n];

		if (!kind_is_thread(line->kind))
			continue;
		for (size_t i = 0; i < line->segments.cnt; i++) {
			const struct segment *g = &s->tl->segments[line->segments.first + i];

			if (g->state == STATE_RUNNING || g->state == STATE_RUNNABLE)
				add_active(s, n, g->start_ns, g->end_ns);
			else
				add_active(s, n, whole_run_woken(s->tl, n, g), g->end_ns);
		}
	}
}

/* ---- the sweep ---- */

static int by_time(const void *pa, const void *pb)
{
	const struct change *a = pa, *b = pb;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

static struct change *collect_changes(const struct sweep *s, size_t *ret_cnt)
{
	struct change *changes = xcalloc(2 * s->slices.cnt + 1, sizeof(*changes));
	size_t cnt = 0;

	for (size_t i = 0; i < s->slices.cnt; i++) {
		changes[cnt++] = (struct change){ s->slices.items[i].start_ns, 1 };
		changes[cnt++] = (struct change){ s->slices.items[i].end_ns, -1 };
	}
	qsort(changes, cnt, sizeof(*changes), by_time);
	*ret_cnt = cnt;
	return changes;
}

/* Advances step p to ns; nothing changes in between. */
static struct step advance(const struct sweep *s, const struct step *p, int64_t ns)
{
	struct step next = *p;
	int64_t passed_ns = ns - p->ns;

	next.ns = ns;
	if (p->active > 0) {
		fixed earned = ((fixed)passed_ns << FIXED_BITS) / p->active;

		next.earned += earned;
		if (p->active == 1 || (double)p->active <= s->ret->nmin)
			next.earned_alone += earned;
		next.threads_ns += (__int128)passed_ns * p->active;
	}
	return next;
}

static void sweep_changes(struct sweep *s)
{
	size_t cnt;
	_cleanup_(freep) struct change *changes = collect_changes(s, &cnt);
	struct step now = { .ns = cnt ? changes[0].ns : 0 };

	for (size_t i = 0; i < cnt; ) {
		int64_t ns = changes[i].ns;

		if (now.active > 0)
			s->ret->busy_ns += ns - now.ns;
		now = advance(s, &now, ns);
		while (i < cnt && changes[i].ns == ns)
			now.active += changes[i++].by;
		VEC_ADD(&s->steps, now);
	}
}

/* The sums at ns, which is not before the first step. */
static struct step at(const struct sweep *s, int64_t ns)
{
	size_t after = partition_point(i, s->steps.cnt, s->steps.items[i].ns <= ns);

	return advance(s, &s->steps.items[after - 1], ns);
}

/* ---- which thread earned it ---- */

/* A long slice need not be critical for a function in it to run alone. */
static void add_spot(struct sweep *s, const struct step *from, const struct step *to, uint32_t spot)
{
	s->of_spot[spot] += to->earned_alone - from->earned_alone;
}

static void add_path(struct sweep *s, size_t slice, const struct step *from, const struct step *to,
		      uint32_t path)
{
	size_t p = path == PATH_NONE ? s->paths->items.cnt : path;

	s->of_path[p] += to->earned - from->earned;
	if (s->last_slice_of_path[p] != slice + 1)
		s->slices_of_path[p]++;
	s->last_slice_of_path[p] = slice + 1;
}

static bool is_critical(const struct sweep *s, const struct slice *l, const struct step *from,
			const struct step *to)
{
	int64_t length_ns = l->end_ns - l->start_ns;
	__int128 threads_ns = to->threads_ns - from->threads_ns;

	return threads_ns == length_ns || (double)threads_ns <= s->ret->nmin * (double)length_ns;
}

/* Where the thread was when the slice ended, by a stack: GAPP gives it the whole slice. */
static uint32_t path_at_end(const struct sweep *s, uint64_t tid, int64_t end_ns)
{
	struct path_walk w;

	path_walk_init(&w, s->tl, s->paths, tid, end_ns, sum_saturated(end_ns, 1));
	return path_walk_next(&w) && w.stack ? w.path : PATH_NONE;
}

static void add_slice(struct sweep *s, size_t index, struct critical_thread *thread)
{
	const struct slice *l = &s->slices.items[index];
	struct step from = at(s, l->start_ns), to = at(s, l->end_ns);
	uint32_t path_at_last = path_at_end(s, thread->tid, l->end_ns);
	struct path_walk w;
	bool critical;

	s->of_thread[l->thread] += to.earned - from.earned;
	thread->active_ns += l->end_ns - l->start_ns;
	thread->slices++;
	s->ret->slices++;
	critical = is_critical(s, l, &from, &to);
	thread->critical_slices += critical;
	s->ret->critical_slices += critical;
	for (path_walk_init(&w, s->tl, s->paths, thread->tid, l->start_ns, l->end_ns); path_walk_next(&w); ) {
		to = at(s, w.to_ns);
		add_spot(s, &from, &to, w.spot);
		if (critical)
			add_path(s, index, &from, &to, w.path == PATH_NONE ? path_at_last : w.path);
		from = to;
	}
}

/* ---- results ---- */

static int by_cmetric(const void *pa, const void *pb)
{
	const struct critical_thread *a = pa, *b = pb;

	if (a->cmetric_ns != b->cmetric_ns)
		return a->cmetric_ns > b->cmetric_ns ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

static int by_cmetric_of_path(const void *pa, const void *pb)
{
	const struct critical_path_row *a = pa, *b = pb;

	if (a->cmetric_ns != b->cmetric_ns)
		return a->cmetric_ns > b->cmetric_ns ? -1 : 1;
	return compare_frames(a->frames, a->frame_cnt, b->frames, b->frame_cnt);
}

static int by_cmetric_of_function(const void *pa, const void *pb)
{
	const struct critical_function *a = pa, *b = pb;
	int r;

	if (a->cmetric_ns != b->cmetric_ns)
		return a->cmetric_ns > b->cmetric_ns ? -1 : 1;
	r = strcmp(a->function ? a->function : "", b->function ? b->function : "");
	if (r == 0)
		r = strcmp(a->file ? a->file : "", b->file ? b->file : "");
	return r ? r : (a->line > b->line) - (a->line < b->line);
}

#define SORT(v, compare)								\
	do {										\
		if ((v)->cnt > 1)							\
			qsort((v)->items, (v)->cnt, sizeof(*(v)->items), compare);	\
	} while (0)

static void fill_threads(struct sweep *s)
{
	size_t slice = 0;

	for (uint32_t n = 0; n < s->tl->threads.cnt; n++) {
		const struct thread_line *line = &s->tl->threads.items[n];
		struct critical_thread row = { .tid = line->tid };

		if (line->segments.cnt == 0 || !kind_is_thread(line->kind))
			continue;
		row.name = whole_run_thread_name(s->tl->trace, line->tid);
		for (; slice < s->slices.cnt && s->slices.items[slice].thread == n; slice++)
			add_slice(s, slice, &row);
		row.cmetric_ns = to_ns(s->of_thread[n]);
		VEC_ADD(&s->ret->threads, row);
	}
	SORT(&s->ret->threads, by_cmetric);
}

static void fill_paths(struct sweep *s)
{
	size_t path_cnt = s->paths->items.cnt, spot_cnt = s->paths->spots.cnt;
	struct arena *a = s->ret->arena;

	for (size_t i = 0; i <= path_cnt; i++) {
		struct critical_path_row row = { .cmetric_ns = to_ns(s->of_path[i]),
						 .slices = s->slices_of_path[i] };

		if (row.slices == 0)
			continue;
		row.frames = call_path_frames(s->paths, i < path_cnt ? (uint32_t)i : PATH_NONE, a,
					      &row.frame_cnt);
		VEC_ADD(&s->ret->paths, row);
	}
	SORT(&s->ret->paths, by_cmetric_of_path);
	for (size_t i = 0; i <= spot_cnt; i++) {
		struct critical_function row = { .cmetric_ns = to_ns(s->of_spot[i]) };

		if (s->of_spot[i] == 0)
			continue;
		if (i < spot_cnt) {
			const struct spot *spot = &s->paths->spots.items[i];

			row.function = arena_strdup(a, spot->function);
			row.file = spot->file ? arena_strdup(a, spot->file) : NULL;
			row.line = spot->line;
		}
		VEC_ADD(&s->ret->functions, row);
	}
	SORT(&s->ret->functions, by_cmetric_of_function);
}

/* Threads that could have been active. */
static size_t thread_cnt(const struct timeline *tl)
{
	size_t cnt = 0;

	for (size_t i = 0; i < tl->threads.cnt; i++)
		cnt += tl->threads.items[i].segments.cnt > 0 &&
		       kind_is_thread(tl->threads.items[i].kind);
	return cnt;
}

struct criticality *criticality_new(struct trace *t, double nmin)
{
	_cleanup_(timeline_freep) struct timeline *tl = NULL;
	_cleanup_(call_paths_freep) struct call_paths *paths = NULL;
	struct criticality *ret = xcalloc(1, sizeof(*ret));
	struct sweep s = { .ret = ret };
	int64_t start_ns, end_ns;

	trace_sort(t);
	s.tl = tl = timeline_new(t);
	s.paths = paths = call_paths_new(tl);
	ret->arena = arena_new();
	ret->nmin = nmin < 0 ? (double)thread_cnt(tl) / 2 : nmin;
	whole_run_span(t, &start_ns, &end_ns);
	ret->run_ns = end_ns - start_ns;
	s.of_thread = xcalloc(tl->threads.cnt + 1, sizeof(*s.of_thread));
	s.of_path = xcalloc(paths->items.cnt + 1, sizeof(*s.of_path));
	s.of_spot = xcalloc(paths->spots.cnt + 1, sizeof(*s.of_spot));
	s.slices_of_path = xcalloc(paths->items.cnt + 1, sizeof(*s.slices_of_path));
	s.last_slice_of_path = xcalloc(paths->items.cnt + 1, sizeof(*s.last_slice_of_path));
	collect_slices(&s);
	sweep_changes(&s);
	fill_threads(&s);
	fill_paths(&s);
	VEC_RELEASE(&s.slices);
	VEC_RELEASE(&s.steps);
	free(s.of_thread);
	free(s.of_path);
	free(s.of_spot);
	free(s.slices_of_path);
	free(s.last_slice_of_path);
	return ret;
}

void criticality_free(struct criticality *c)
{
	if (!c)
		return;
	VEC_RELEASE(&c->threads);
	VEC_RELEASE(&c->paths);
	VEC_RELEASE(&c->functions);
	arena_free(c->arena);
	free(c);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay_build.c - turns threads into strands.
 *
 *	1. edges	link each wait to the thread that ended it, and each task to its creator: an event, posted at a mark
 *	2. marks	what happens on a thread at one moment: posts, begins and ends of intervals, tasks picked up
 *	3. strands	each thread's segments, cut at its marks and where its innermost function changes
 *
 * Example: A waits (10, 25], woken by B at 22; B runs (0, 40].
 *	A: WORK 10, AWAIT 0 (+3)	B: WORK 22, POST 0, WORK 18
 */
#include "analysis/causal/replay_build.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/causal/replay_pools.h"
#include "analysis/causal/replay_sync.h"
#include "base/banned.h"
#include "base/saturate.h"

#define NONE UINT32_MAX
#define SLICE_NS 3000000		/* about what Linux gives a thread while others wait */

bool replay_counts(const struct interval *iv, uint32_t name)
{
	return iv->status == INTERVAL_COMPLETED && iv->name == name && !iv->lost && !iv->root_only && iv->end_ns >= iv->start_ns;
}

struct edge {				/* of a segment */
	uint32_t event;			/* NONE: no thread of the run ended it */
	int64_t after_ns;		/* from the post to the end of the wait */
};

struct build {
	const struct timeline *tl;
	const struct trace *t;
	uint32_t interval;
	const struct replay_question *q;
	struct replay_program *p;
	uint64_t touched;		/* steps that the question changes */
	struct edge *edges;		/* by segment */
	bool *inside;			/* by invocation: in the function that the question names, or a call of that function */
	replay_marks marks;
	struct replay_pools pools;
	struct replay_sync sync;
	uint32_t pool_resource;		/* of the first pool */
	uint32_t held_cnt;		/* locks that the question makes faster, held by the thread that is being added */
	int64_t origin_ns;
};

/* ---- edges and marks ---- */

/* The trace covers the thread at that time; if not, what the thread did before its post is not known. */
static bool is_recorded_at(const struct timeline *tl, uint32_t thread, int64_t ns)
{
	const struct thread_line *l = &tl->threads.items[thread];

	return l->segments.cnt && kind_is_thread(l->kind) && tl->segments[l->segments.first].start_ns <= ns &&
	       tl->segments[l->segments.first + l->segments.cnt - 1].end_ns >= ns;
}

static void find_edges(struct build *b)
{
	for (uint32_t i = 0; i < b->tl->threads.cnt; i++) {
		const struct thread_line *l = &b->tl->threads.items[i];

		for (size_t k = l->segments.first; kind_is_thread(l->kind) && k < l->segments.first + l->segments.cnt; k++) {
			const struct segment *s = &b->tl->segments[k];
			const struct wakeup *w;
			uint32_t waker;

			b->edges[k].event = NONE;
			if (b->sync.op_of_segment[k])
				continue;
			w = state_has_waker(s->state) ? timeline_wakeup(b->tl, i, s->start_ns, s->end_ns) : NULL;
			waker = w ? timeline_thread(b->tl, w->waker_tid) : THREAD_NONE;
			if (waker == THREAD_NONE || waker == i || !is_recorded_at(b->tl, waker, w->time_ns))
				continue;
			b->edges[k] = (struct edge){ b->p->event_cnt, s->end_ns - w->time_ns };
			VEC_ADD(&b->marks, (struct replay_mark){ waker, w->time_ns, MARK_POST, b->p->event_cnt++, 0 });
		}
	}
}

static void find_creations(struct build *b)
{
	for (size_t i = 0; i < b->t->creations.cnt; i++) {
		const struct creation *c = &b->t->creations.items[i];
		uint32_t creator = timeline_thread(b->tl, c->tid), thread = timeline_thread(b->tl, c->tid2);

		if (creator == THREAD_NONE || thread == THREAD_NONE || creator == thread || c->time2_ns < c->time_ns ||
		    !is_recorded_at(b->tl, creator, c->time_ns) || !is_recorded_at(b->tl, thread, c->time2_ns))
			continue;
		VEC_ADD(&b->marks, (struct replay_mark){ creator, c->time_ns, MARK_POST, b->p->event_cnt, 0 });
		VEC_ADD(&b->marks, (struct replay_mark){ thread, c->time2_ns, MARK_PICK_UP, b->p->event_cnt++, c->time_ns });
		replay_pools_add(&b->pools, thread, creator);
	}
}

static void find_intervals(struct build *b)
{
	for (size_t i = 0; i < b->t->intervals.cnt; i++) {
		const struct interval *iv = &b->t->intervals.items[i];
		uint32_t start = timeline_thread(b->tl, iv->start_tid), end = timeline_thread(b->tl, iv->end_tid);

		if (!replay_counts(iv, b->interval))
			continue;
		if (start != THREAD_NONE && end != THREAD_NONE) {
			VEC_ADD(&b->marks, (struct replay_mark){ start, iv->start_ns, MARK_BEGIN, b->p->interval_cnt, 0 });
			VEC_ADD(&b->marks, (struct replay_mark){ end, iv->end_ns, MARK_END, b->p->interval_cnt, 0 });
		}
		b->p->interval_cnt++;
	}
}

static void find_sync(struct build *b)
{
	for (uint32_t i = 0; i < b->sync.cnt; i++) {
		const struct sync_op *op = &b->t->sync_ops.items[i];
		const struct replay_sync_op *x = &b->sync.ops[i];
		uint32_t thread = timeline_thread(b->tl, op->tid);

		if (thread == THREAD_NONE || x->use == SYNC_OP_NONE)
			continue;
		if (x->use == SYNC_OP_MEET)
			VEC_ADD(&b->marks, (struct replay_mark){ thread, op->since_ns, MARK_POST, x->index + x->number, 0 });
		VEC_ADD(&b->marks, (struct replay_mark){ thread, op->ns, MARK_SYNC, i, 0 });
	}
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct replay_mark *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* ---- what the question touches ---- */

static bool is_named(const struct build *b, uint32_t invocation)
{
	uint32_t f = b->t->invocations.items[invocation].function;

	return f < b->t->functions.cnt && strcmp(b->t->functions.items[f].name, b->q->name) == 0;
}

/* Marks the calls of the question's function and, unless it asks for the function's own time, what they call.  Callers come first. */
static void find_inside(struct build *b)
{
	bool own = b->q->kind == ASKED_BODY || b->q->kind == ASKED_PC || b->q->kind == ASKED_WAIT;

	if (!b->q->name || b->q->kind == ASKED_DEVICE || b->q->kind == ASKED_CPUS)
		return;
	for (size_t i = 0; i < b->t->invocations.cnt; i++) {
		uint32_t parent = b->tl->parents[i];

		b->inside[i] = is_named(b, (uint32_t)i) || (!own && parent != INVOCATION_NONE && b->inside[parent]);
	}
}

static bool is_inside(const struct build *b, uint32_t innermost)
{
	return innermost != INVOCATION_NONE && b->inside[innermost];
}

/* No thread of the run ended the wait, and what it waited for can be faster. */
static bool is_outside_wait(const struct build *b, size_t segment)
{
	enum trace_state state = b->tl->segments[segment].state;

	return b->edges[segment].event == NONE && !b->sync.op_of_segment[segment] && (state == STATE_IO || state == STATE_SLEEP);
}

static bool is_of_device(const struct build *b, uint32_t thread, const struct segment *s)
{
	const struct wakeup *w = timeline_wakeup(b->tl, thread, s->start_ns, s->end_ns);

	for (size_t i = 0; w && i < b->t->threads.cnt; i++) {
		const struct thread_name *n = &b->t->threads.items[i];

		if (n->tid == w->waker_tid && n->kind == KIND_DISK && n->name && strcmp(n->name, b->q->name) == 0)
			return true;
	}
	return false;
}

/* Whether to leave out recorded time in the run queue: it is the target, or the replay decides which strands wait for the CPUs. */
static bool is_without_runqueue(const struct build *b)
{
	return b->q->kind == ASKED_RUNQUEUE || b->q->kind == ASKED_CPUS;
}

/* Whether the question shortens that stretch. */
static bool is_touched(const struct build *b, uint32_t thread, size_t segment, uint32_t innermost)
{
	const struct segment *s = &b->tl->segments[segment];

	switch (b->q->kind) {
	case ASKED_FUNCTION:
		return is_inside(b, innermost) && (s->state == STATE_RUNNING || is_outside_wait(b, segment));
	case ASKED_BODY:
	case ASKED_PC:
		return is_inside(b, innermost) && s->state == STATE_RUNNING;
	case ASKED_IO:
		return is_outside_wait(b, segment) && (!b->q->name || is_inside(b, innermost));
	case ASKED_DEVICE:
		return is_outside_wait(b, segment) && is_of_device(b, thread, s);
	case ASKED_LOCK:
		return b->held_cnt && (s->state == STATE_RUNNING || is_outside_wait(b, segment));
	case ASKED_RUNQUEUE:
	case ASKED_CPUS:
		return state_is_runqueue(s->state);
	case ASKED_WAIT:
		return is_inside(b, innermost) && state_has_waker(s->state) && !is_outside_wait(b, segment);
	default:
		return false;
	}
}

/* ---- steps ---- */

static void add_step(struct build *b, enum replay_op op, uint32_t index, int64_t ns)
{
	VEC_ADD(&b->p->steps, (struct replay_step){ op, index, ns });
	b->p->strands.items[b->p->strands.cnt - 1].cnt++;
}

static void begin_strand(struct build *b, int64_t start_ns)
{
	VEC_ADD(&b->p->strands, (struct replay_strand){ b->p->steps.cnt, 0, start_ns - b->origin_ns });
}

/* Adds a step of time, unless it is zero; extends the step before if it is of the same kind. */
static void add_time(struct build *b, enum replay_op op, int64_t ns)
{
	struct replay_strand *s = &b->p->strands.items[b->p->strands.cnt - 1];
	struct replay_step *last = s->cnt ? &b->p->steps.items[b->p->steps.cnt - 1] : NULL;

	if (ns <= 0)
		return;
	if (last && last->op == op)
		last->ns = sum_saturated(last->ns, ns);
	else
		add_step(b, op, 0, ns);
}

static int64_t shortened(const struct build *b, int64_t ns)
{
	return b->q->speedup > 0 ? real_saturated((double)ns * (1 - b->q->speedup) + 0.5) : ns;
}

static void note_changed(struct build *b, uint32_t thread, int64_t from_ns, int64_t to_ns)
{
	b->touched++;
	if (b->q->changed)
		VEC_ADD(b->q->changed, (struct replay_stretch){ thread, from_ns, to_ns });
}

/* Adds (from, to] of a segment, which has one innermost function throughout. */
static void add_stretch(struct build *b, uint32_t thread, size_t segment, uint32_t innermost, int64_t from_ns, int64_t to_ns)
{
	const struct segment *s = &b->tl->segments[segment];
	int64_t ns = to_ns - from_ns;

	if (is_touched(b, thread, segment, innermost)) {
		note_changed(b, thread, from_ns, to_ns);
		ns = shortened(b, ns);
	}
	add_time(b, s->state == STATE_RUNNING ? OP_WORK : OP_OFF, ns);
}

static void add_time_of(struct build *b, uint32_t thread, size_t segment, int64_t from_ns, int64_t to_ns)
{
	struct stack_walk w;

	for (stack_walk_init(&w, b->tl, b->tl->threads.items[thread].tid, from_ns, to_ns); stack_walk_next(&w); )
		add_stretch(b, thread, segment, w.innermost, w.from_ns, w.to_ns);
}

static uint32_t innermost_at(const struct build *b, uint32_t thread, const struct segment *s)
{
	struct stack_walk w;

	stack_walk_init(&w, b->tl, b->tl->threads.items[thread].tid, s->start_ns, s->end_ns);
	return stack_walk_next(&w) ? w.innermost : INVOCATION_NONE;
}

/* Adds a wait that a thread of the run ended, and after_ns from then on. */
static void add_wait(struct build *b, uint32_t thread, size_t segment, int64_t after_ns)
{
	const struct segment *s = &b->tl->segments[segment];
	const struct edge *e = &b->edges[segment];

	if (b->q->kind == ASKED_WAIT && is_inside(b, innermost_at(b, thread, s))) {
		note_changed(b, thread, s->start_ns, s->end_ns);
		if (b->q->speedup > 0)
			return;
	}
	if (is_without_runqueue(b) && after_ns > 0) {
		b->touched++;
		after_ns = shortened(b, after_ns);
	}
	add_step(b, OP_AWAIT, e->event, after_ns);
}

static void add_sync(struct build *b, uint32_t number)
{
	const struct replay_sync_op *x = &b->sync.ops[number];
	bool takes = x->op == OP_TAKE || x->op == OP_TAKE_ALL;
	int64_t delay_ns = is_without_runqueue(b) ? shortened(b, x->delay_ns) : x->delay_ns;

	if (x->is_target && takes)
		b->held_cnt++;
	else if (x->is_target && b->held_cnt)
		b->held_cnt--;
	if (x->is_named && b->q->speedup > 0)
		return;
	if (x->use == SYNC_OP_STEP)
		add_step(b, x->op, x->index, takes ? delay_ns : 0);
	for (uint32_t i = 0; x->use == SYNC_OP_MEET && i < x->cnt; i++)
		if (i != x->number)
			add_step(b, OP_AWAIT, x->index + i, delay_ns);
}

static void add_mark(struct build *b, const struct replay_mark *m)
{
	static const enum replay_op ops[] = { [MARK_POST] = OP_POST, [MARK_BEGIN] = OP_BEGIN, [MARK_END] = OP_END };

	if (m->kind == MARK_SYNC)
		add_sync(b, m->index);
	else
		add_step(b, ops[m->kind], m->index, 0);
}

/* The worker continues as a new strand for the task. */
static void begin_task(struct build *b, const struct replay_task *task)
{
	begin_strand(b, b->origin_ns);
	add_step(b, OP_AWAIT, task->event, 0);
	add_step(b, OP_TAKE, b->pool_resource + task->pool, 0);
	add_time(b, OP_OFF, task->delay_ns);
}

static void end_task(struct build *b, const struct replay_task *task)
{
	if (task)
		add_step(b, OP_GIVE, b->pool_resource + task->pool, 0);
}

struct walk {				/* through a thread */
	const struct replay_mark *mark, *mark_end;
	const struct replay_task *task, *task_end, *under_way;
};

/* Adds the marks until then, except those at a task's beginning. */
static void add_marks_until(struct build *b, struct walk *w, int64_t until_ns)
{
	for (; w->mark < w->mark_end && w->mark->ns <= until_ns; w->mark++)
		if (w->mark->kind != MARK_PICK_UP)
			add_mark(b, w->mark);
}

/*
 * A thread may release another one in the call in which it then waits itself: a send wakes the reader, and waits for room.  Its
 * work before its own release comes before the wait; else both would wait for ever.
 */
static void add_wait_with_marks(struct build *b, uint32_t thread, size_t segment, struct walk *w, int64_t at, int64_t end)
{
	int64_t woken = b->tl->segments[segment].end_ns - b->edges[segment].after_ns, later;

	for (; w->mark < w->mark_end && w->mark->ns < end && w->mark->ns <= woken; at = w->mark[-1].ns) {
		add_time(b, OP_OFF, w->mark->ns - at);
		add_marks_until(b, w, w->mark->ns);
	}
	later = w->mark < w->mark_end && w->mark->ns < end ? w->mark->ns : end;
	add_wait(b, thread, segment, later > woken ? later - woken : 0);
	for (at = later; w->mark < w->mark_end && w->mark->ns < end; at = w->mark[-1].ns) {
		add_time(b, OP_OFF, w->mark->ns - at);
		add_marks_until(b, w, w->mark->ns);
	}
	add_time(b, OP_OFF, end - at);
}

static void add_segment(struct build *b, uint32_t thread, size_t segment, struct walk *w, int64_t from_ns, int64_t until_ns)
{
	const struct segment *s = &b->tl->segments[segment];
	int64_t at = from_ns > s->start_ns ? from_ns : s->start_ns, end = until_ns < s->end_ns ? until_ns : s->end_ns;

	add_marks_until(b, w, at);
	if (at >= end)
		return;
	if (b->sync.op_of_segment[segment]) {
		if (b->q->changed && b->sync.ops[b->sync.op_of_segment[segment] - 1].is_named)
			note_changed(b, thread, s->start_ns, s->end_ns);
		return;
	}
	if (b->edges[segment].event != NONE) {
		add_wait_with_marks(b, thread, segment, w, at, end);
		return;
	}
	while (w->mark < w->mark_end && w->mark->ns < end) {
		add_time_of(b, thread, segment, at, w->mark->ns);
		at = w->mark->ns;
		add_marks_until(b, w, at);
	}
	add_time_of(b, thread, segment, at, end);
}

/* Adds the segments in (from, until]; nothing is known of the holes between them. */
static void add_span(struct build *b, uint32_t thread, struct walk *w, int64_t from_ns, int64_t until_ns)
{
	const struct thread_line *l = &b->tl->threads.items[thread];
	size_t k = timeline_segment_before(b->tl, thread, from_ns < INT64_MAX ? from_ns + 1 : from_ns);
	int64_t at = from_ns;

	for (k = k == SEGMENT_NONE ? l->segments.first : k; k < l->segments.first + l->segments.cnt; k++) {
		const struct segment *s = &b->tl->segments[k];

		if (s->start_ns >= until_ns)
			break;
		if (s->end_ns <= from_ns)
			continue;
		if (s->start_ns > at)
			add_time(b, OP_OFF, s->start_ns - at);
		add_segment(b, thread, k, w, from_ns, until_ns);
		at = s->end_ns;
	}
	add_marks_until(b, w, until_ns);
}

static void add_thread(struct build *b, uint32_t thread, struct walk *w)
{
	const struct thread_line *l = &b->tl->threads.items[thread];
	int64_t begin_ns = b->tl->segments[l->segments.first].start_ns;
	int64_t end_ns = b->tl->segments[l->segments.first + l->segments.cnt - 1].end_ns;

	bool has_strand = w->task == w->task_end || w->task->from_ns > begin_ns;

	b->held_cnt = 0;
	if (has_strand) {
		begin_strand(b, begin_ns);
		add_span(b, thread, w, begin_ns, w->task < w->task_end ? w->task->idle_ns : end_ns);
	}
	for (; w->task < w->task_end; w->task++) {
		const struct replay_task *next = w->task + 1 < w->task_end ? w->task + 1 : NULL;

		/* Posts and ends while the worker was idle belong to the previous task; begins do not. */
		while (has_strand && w->mark < w->mark_end && w->mark->ns < w->task->from_ns && w->mark->kind != MARK_BEGIN) {
			if (w->mark->kind != MARK_PICK_UP)
				add_mark(b, w->mark);
			w->mark++;
		}
		has_strand = true;
		end_task(b, w->under_way);
		begin_task(b, w->task);
		w->under_way = w->task;
		add_span(b, thread, w, w->task->from_ns, next ? next->idle_ns : end_ns);
	}
	end_task(b, w->under_way);
}

static void add_threads(struct build *b)
{
	const struct replay_mark *mark = b->marks.items, *end = mark + b->marks.cnt;
	const struct replay_task *task = b->pools.tasks.items, *task_end = task + b->pools.tasks.cnt;

	for (uint32_t i = 0; i < b->tl->threads.cnt; i++) {
		struct walk w = { mark, mark, task, task, NULL };

		while (w.mark_end < end && w.mark_end->thread <= i)
			w.mark_end++;
		while (w.task_end < task_end && w.task_end->thread <= i)
			w.task_end++;
		mark = w.mark_end;
		task = w.task_end;
		if (b->tl->threads.items[i].segments.cnt && kind_is_thread(b->tl->threads.items[i].kind))
			add_thread(b, i, &w);
	}
}

static int64_t first_ns(const struct timeline *tl)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < tl->threads.cnt; i++) {
		const struct thread_line *l = &tl->threads.items[i];

		if (l->segments.cnt && tl->segments[l->segments.first].start_ns < first)
			first = tl->segments[l->segments.first].start_ns;
	}
	return first == INT64_MAX ? 0 : first;
}

static size_t segment_cnt(const struct timeline *tl)
{
	size_t cnt = 0;

	for (size_t i = 0; i < tl->threads.cnt; i++)
		if (tl->threads.items[i].segments.first + tl->threads.items[i].segments.cnt > cnt)
			cnt = tl->threads.items[i].segments.first + tl->threads.items[i].segments.cnt;
	return cnt;
}

uint64_t replay_build(const struct timeline *tl, uint32_t interval, const struct replay_question *q, struct replay_program *ret)
{
	struct build b = {
		.tl = tl, .t = tl->trace, .interval = interval, .q = q, .p = ret, .origin_ns = first_ns(tl),
		.edges = xcalloc(segment_cnt(tl) + 1, sizeof(struct edge)),
		.inside = xcalloc(tl->trace->invocations.cnt + 1, sizeof(bool)),
	};

	*ret = (struct replay_program){ .event_cnt = 0 };
	replay_sync_find(&b.sync, tl, segment_cnt(tl), q, ret);
	b.touched = b.sync.named_cnt;
	find_edges(&b);
	find_creations(&b);
	find_intervals(&b);
	find_sync(&b);
	if (b.marks.cnt)
		qsort(b.marks.items, b.marks.cnt, sizeof(*b.marks.items), by_thread_and_time);
	replay_pools_finish(&b.pools, tl, &b.marks);
	b.pool_resource = (uint32_t)ret->resources.cnt;
	for (size_t i = 0; i < b.pools.units.cnt; i++)
		VEC_ADD(&ret->resources, b.pools.units.items[i]);
	if (q->kind == ASKED_QUEUE && b.pools.busiest != NONE) {
		b.touched++;
		ret->resources.items[b.pool_resource + b.pools.busiest] += q->speedup > 0;
	}
	if (q->kind == ASKED_CPUS && q->speedup > 0) {
		ret->cpu_cnt = (uint32_t)strtoul(q->name, NULL, 10);
		ret->slice_ns = SLICE_NS;
		b.touched += tl->trace->cpu_use.kernel_knows;	/* fewer CPUs change a run that never waited for one */
	}
	find_inside(&b);
	add_threads(&b);
	replay_pools_release(&b.pools);
	replay_sync_release(&b.sync);
	VEC_RELEASE(&b.marks);
	free(b.edges);
	free(b.inside);
	return b.touched;
}

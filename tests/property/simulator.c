/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulator.c - time goes on; segments, invocations, edges and the truth are noted down.
 *
 * In each nanosecond every actor that can performs operations until all are settled: spending
 * time or blocked.  Then the tick is noted in each actor's `past` (which actor, in what function
 * and state) and, if it works for an interval, in the interval's past `own`.  When a wait ends,
 * the ticks that the waker explains are replaced by the waker's own past: this is the whole
 * definition of blame, going forward.  Example: A waits in ticks 20 .. 49 and B, which ran in
 * all of them, wakes it: A's past there becomes "B running", and so does its interval's.
 *
 * An interval's past goes with its task: copied when the task is made, and filled with `queue`
 * until it is picked up, and with what the thread that picks it up did meanwhile.  If that is the thread that left it, its last wait
 * for files in between is why it came back, and is explained as a wait of the interval's own.
 */
#include "tests/property/simulator.h"

#include <string.h>
#include "base/banned.h"

static struct charge_tick *new_past(const struct simulator *s)
{
	return s->o->keep_truth ? xcalloc((size_t)s->o->ticks + 1, sizeof(struct charge_tick)) : NULL;
}

static struct charge_tick *copy_past(const struct simulator *s, const struct charge_tick *past)
{
	struct charge_tick *copy = new_past(s);

	if (copy && past)
		memcpy(copy, past, ((size_t)s->o->ticks + 1) * sizeof(*copy));
	return copy;
}

/* ---- what a trace has ------------------------------------------------------------ */

static void add_segment(struct simulator *s, const struct actor *a, int64_t end_ns)
{
	struct segment seg = {
		.tid = a->tid, .sid = a->sid, .start_ns = a->since_ns, .end_ns = end_ns,
		.state = a->state,
	};

	if (seg.start_ns < seg.end_ns)
		VEC_ADD(&s->p->t->segments, seg);
}

void end_segment(struct simulator *s, struct actor *a, enum trace_state next)
{
	add_segment(s, a, s->now_ns);
	a->since_ns = s->now_ns;
	a->state = next;
}

void call_function(struct simulator *s, struct actor *a, uint32_t function)
{
	struct invocation inv = {
		.tid = a->tid, .sid = a->sid, .function = function, .call_site = CALL_SITE_NONE,
		.start_ns = s->now_ns, .end_ns = s->o->ticks,
		.order = (uint32_t)s->p->t->invocations.cnt,
	};

	a->stack[a->depth++] = s->p->t->invocations.cnt;
	VEC_ADD(&s->p->t->invocations, inv);
}

void return_function(struct simulator *s, struct actor *a)
{
	s->p->t->invocations.items[a->stack[--a->depth]].end_ns = s->now_ns;
}

static uint32_t innermost(const struct simulator *s, const struct actor *a)
{
	return a->depth ? s->p->t->invocations.items[a->stack[a->depth - 1]].function
			: FUNCTION_NONE;
}

/* ---- truth ---------------------------------------------------------------------- */

void note_tick(struct simulator *s, struct actor *a)
{
	uint32_t function = innermost(s, a);
	struct charge_tick tick = {
		a->tid, function, function, a->state, a->state, STATE_QUEUE, false
	};

	if (!s->o->keep_truth)
		return;
	a->plain[s->now_ns] = a->past[s->now_ns] = tick;
	if (a->sid != SID_NONE)
		a->own[s->now_ns] = tick;
}

static void explain(struct simulator *s, struct actor *a, int64_t until_ns)
{
	const struct actor *waker = &s->actors[a->waker];

	for (int64_t ns = a->since_ns; ns < until_ns; ns++) {
		struct charge_tick *own = a->sid != SID_NONE ? &a->own[ns] : NULL;

		if (ns >= a->woken_ns) {
			a->past[ns].state = STATE_WAKEUP;
			if (own)
				own->state = own->wait = STATE_WAKEUP;
			continue;
		}
		a->past[ns] = waker->past[ns];
		if (!own)
			continue;
		own->tid = waker->past[ns].tid;
		own->function = waker->past[ns].function;
		own->state = waker->past[ns].state;
		own->explained = true;
	}
}

void end_wait(struct simulator *s, struct actor *a, int64_t until_ns)
{
	/* In the nanosecond in which the wait began is not within it (vprof-formats(5), WAITS). */
	if (a->woken && a->woken_ns > a->since_ns) {
		struct wakeup w = { a->tid, s->actors[a->waker].tid, a->woken_ns };

		VEC_ADD(&s->p->t->wakeups, w);
		if (s->o->keep_truth)
			explain(s, a, until_ns);
		if (a->state == STATE_IO) {
			a->files_ns = a->since_ns;
			a->files_woken_ns = a->woken_ns;
		}
	}
	add_segment(s, a, until_ns);
	a->since_ns = until_ns;
}

/* ---- intervals ------------------------------------------------------------------ */

void begin_interval(struct simulator *s, struct actor *a)
{
	struct interval iv = {
		.sid = s->p->t->intervals.cnt, .status = INTERVAL_OPEN, .start_tid = a->tid,
		.start_ns = s->now_ns,
	};

	end_segment(s, a, STATE_RUNNING);
	VEC_ADD(&s->p->t->intervals, iv);
	a->sid = iv.sid;
	a->own = new_past(s);
}

void end_interval(struct simulator *s, struct actor *a)
{
	struct interval *iv = &s->p->t->intervals.items[a->sid];

	if (iv->status != INTERVAL_OPEN)
		return;
	iv->status = INTERVAL_COMPLETED;
	iv->end_tid = a->tid;
	iv->end_ns = s->now_ns;
}

void detach(struct simulator *s, struct actor *a)
{
	const struct interval *iv;

	if (a->sid == SID_NONE)
		return;
	end_segment(s, a, STATE_RUNNING);
	iv = &s->p->t->intervals.items[a->sid];
	if (s->p->truths && iv->status == INTERVAL_COMPLETED && iv->end_tid == a->tid &&
	    iv->end_ns == s->now_ns && !s->p->truths[iv->sid])
		s->p->truths[iv->sid] = a->own;
	else
		free(a->own);
	a->own = NULL;
	a->sid = SID_NONE;
}

struct task make_task(struct simulator *s, const struct actor *a)
{
	struct task task = {
		.sid = a->sid, .from = (uint32_t)(a - s->actors), .parent = NOBODY,
		.at_ns = s->now_ns, .own = copy_past(s, a->own),
	};

	return task;
}

void take_task(struct simulator *s, struct actor *a, const struct task *task, bool same_thread)
{
	struct creation c = {
		.tid = s->actors[task->from].tid, .tid2 = a->tid, .time_ns = task->at_ns,
		.time2_ns = s->now_ns, .task = NAME_NONE,
	};

	if (!same_thread)
		VEC_ADD(&s->p->t->creations, c);
	end_segment(s, a, STATE_RUNNING);
	a->sid = task->sid;
	a->parent = task->parent;
	a->own = task->own;
	for (int64_t ns = task->at_ns; a->own && ns < s->now_ns; ns++) {
		struct charge_tick queue = {
			a->tid, a->plain[ns].function, FUNCTION_NONE, STATE_QUEUE, STATE_QUEUE,
			a->plain[ns].state, false
		};

		if (same_thread && ns >= a->files_ns && ns < a->files_woken_ns) {
			queue.tid = a->past[ns].tid;
			queue.function = a->past[ns].function;
			queue.state = a->past[ns].state;
			queue.meanwhile = STATE_QUEUE;
			queue.explained = true;
		}
		a->own[ns] = queue;
	}
}

/* ---- time ----------------------------------------------------------------------- */

static bool can_act(const struct simulator *s, const struct actor *a)
{
	if (a->blocked)
		return a->woken ? a->ready_ns <= s->now_ns : a->until_ns <= s->now_ns;
	return !a->spending || a->until_ns <= s->now_ns;
}

static void act(struct simulator *s, struct actor *a)
{
	if (a->blocked) {
		go_on(s, a);
		return;
	}
	if (a->spending) {
		a->spending = false;
		if (a->state != STATE_RUNNING)
			end_segment(s, a, STATE_RUNNING);
	}
	if (a->op_at == a->op_cnt)
		write_script(s, a);
	perform(s, a, &a->script[a->op_at++]);
}

static void settle(struct simulator *s)
{
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t i = 0; i < s->actor_cnt; i++) {
			while (can_act(s, &s->actors[i])) {
				act(s, &s->actors[i]);
				again = true;
			}
		}
	}
}

static void set_up(struct simulator *s)
{
	static const char *const names[PROGRAM_FUNCTIONS] = {
		"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"
	};

	for (size_t i = 0; i < PROGRAM_FUNCTIONS; i++) {
		struct function f = { .name = names[i], .probed = true };

		VEC_ADD(&s->p->t->functions, f);
	}
	trace_add_string(s->p->t, &s->p->t->interval_names, "req");
	for (uint32_t i = 0; i < LOCKS; i++)
		s->owners[i] = NOBODY;
	for (uint32_t i = 0; i < s->actor_cnt; i++) {
		struct actor *a = &s->actors[i];

		/* Every other one lives in another process. */
		a->tid = (i % 2 ? (uint64_t)1 << 32 : 0) + i + 1;
		a->role = i < ROLE_CNT ? (enum role)i
				       : (enum role)random_below(&s->random, ROLE_CNT);
		a->sid = SID_NONE;
		a->parent = NOBODY;
		a->state = STATE_RUNNING;
		a->plain = new_past(s);
		a->past = new_past(s);
		s->barrier_cnt += a->role == ROLE_BARRIER;
	}
}

static void tear_down(struct simulator *s)
{
	for (uint32_t i = 0; i < s->actor_cnt; i++) {
		add_segment(s, &s->actors[i], s->now_ns);
		free(s->actors[i].plain);
		free(s->actors[i].past);
		free(s->actors[i].own);
	}
	for (size_t pool = 0; pool < POOLS; pool++) {
		for (size_t i = 0; i < s->pools[pool].cnt; i++)
			free(s->pools[pool].items[i].own);
		VEC_RELEASE(&s->pools[pool]);
	}
	for (size_t i = 0; i < s->paused.cnt; i++)
		free(s->paused.items[i].own);
	VEC_RELEASE(&s->paused);
	free(s->actors);
}

struct program *program_run(const struct program_options *o)
{
	struct simulator s = {
		.o = o, .p = xcalloc(1, sizeof(*s.p)), .actor_cnt = o->thread_cnt,
		.random = { o->seed * 2654435761ULL + 12345 },
		.actors = xcalloc(o->thread_cnt, sizeof(*s.actors)),
	};

	s.p->t = trace_new();
	/* No more intervals than one a thread and tick begin. */
	if (o->keep_truth)
		s.p->truths = xcalloc((size_t)o->ticks * o->thread_cnt, sizeof(*s.p->truths));
	set_up(&s);
	for (; s.now_ns < o->ticks; s.now_ns++) {
		settle(&s);
		for (uint32_t i = 0; i < s.actor_cnt; i++)
			note_tick(&s, &s.actors[i]);
	}
	tear_down(&s);
	return s.p;
}

void program_free(struct program *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->truths && i < p->t->intervals.cnt; i++)
		free(p->truths[i]);
	free(p->truths);
	trace_free(p->t);
	free(p);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * random_trace.c - the two generators.
 *
 * Times are small, so that edges often coincide with the ends of segments and with each other:
 * that is where an analysis goes wrong.  Functions f0 .. f5 take turns, some with call sites.
 */
#include "tests/oracle/random_trace.h"

#include <string.h>
#include "trace/peers.h"
#include "base/banned.h"

#define FUNCTIONS 6
#define WORKERS 3
#define TASKS 7

uint32_t random_below(struct random *r, uint32_t limit)
{
	r->state = r->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((r->state >> 33) % limit);
}

static bool chance(struct random *r, uint32_t percent)
{
	return random_below(r, 100) < percent;
}

static void add_names(struct trace *t)
{
	static const char *const names[FUNCTIONS] = { "f0", "f1", "f2", "f3", "f4", "f5" };

	for (size_t i = 0; i < FUNCTIONS; i++)
		VEC_EXTEND(&t->functions)->name = names[i];
	trace_add_string(t, &t->call_sites, "a.c:1");
	trace_add_string(t, &t->call_sites, "b.c:2");
	trace_add_string(t, &t->call_sites, "c.c:3");	/* static calls only: no two labels alike */
	trace_add_string(t, &t->interval_names, "req");
	trace_add_string(t, &t->interval_names, "job");
}

static void add_invocation(struct trace *t, uint64_t tid, uint32_t function, uint32_t site,
			   int64_t start_ns, int64_t end_ns)
{
	struct invocation inv = {
		.tid = tid, .sid = SID_NONE, .function = function, .call_site = site,
		.start_ns = start_ns, .end_ns = end_ns, .order = (uint32_t)t->invocations.cnt,
	};

	t->functions.items[function].probed = true;
	VEC_ADD(&t->invocations, inv);
}

static void nest(struct trace *t, struct random *r, uint64_t tid, int64_t start_ns, int64_t end_ns,
		 int depth)
{
	int64_t at_ns = start_ns;

	while (depth > 0 && at_ns <= end_ns && chance(r, 75)) {
		int64_t from_ns = at_ns + random_below(r, 4);
		int64_t to_ns = from_ns + random_below(r, (uint32_t)(end_ns - start_ns) + 1);
		static const uint32_t sites[] = { CALL_SITE_NONE, CALL_SITE_NONE, 0, 1 };

		if (chance(r, 15)) {		/* spans equal to the one around are common */
			from_ns = start_ns;
			to_ns = end_ns;
		}
		if (from_ns < at_ns || from_ns > end_ns || to_ns > end_ns)
			return;
		add_invocation(t, tid, random_below(r, FUNCTIONS), sites[random_below(r, 4)],
			       from_ns, to_ns);
		nest(t, r, tid, from_ns, to_ns, depth - 1);
		at_ns = to_ns;
	}
}

static void add_any_thread(struct trace *t, struct random *r, uint64_t tid, int64_t end_ns)
{
	static const enum trace_state states[] = {
		STATE_RUNNING, STATE_RUNNING, STATE_RUNNING, STATE_LOCK, STATE_LOCK, STATE_COND,
		STATE_IO, STATE_QUEUE, STATE_JOIN, STATE_SLEEP, STATE_RUNNABLE, STATE_OTHER,
	};
	int64_t at_ns = random_below(r, 5);

	while (at_ns < end_ns) {
		struct segment s = {
			.tid = tid, .start_ns = at_ns, .end_ns = at_ns + random_below(r, 12),
			.state = states[random_below(r, sizeof(states) / sizeof(states[0]))],
			.sid = chance(r, 15) ? SID_NONE : random_below(r, 5),
		};

		VEC_ADD(&t->segments, s);
		if (s.state != STATE_RUNNING && chance(r, 70)) {
			struct wakeup w = {
				.tid = tid, .waker_tid = 1 + random_below(r, 5),
				.time_ns = s.end_ns - (chance(r, 40) ? random_below(r, 5) : 0),
			};

			if (w.time_ns >= 0)
				VEC_ADD(&t->wakeups, w);
		}
		at_ns = s.end_ns + (chance(r, 15) ? random_below(r, 5) : 0);
	}
	nest(t, r, tid, 0, end_ns, 4);
}

static void random_any(struct trace *t, struct random *r)
{
	int64_t end_ns = 20 + random_below(r, 60);
	uint32_t cnt = 1 + random_below(r, 5);

	for (uint64_t tid = 1; tid <= 4; tid++)		/* 5 is an unknown waker */
		if (chance(r, 90))
			add_any_thread(t, r, tid, end_ns);
	for (uint32_t i = 0; i < cnt; i++) {
		struct interval iv = {
			.sid = i, .name = chance(r, 15), .status = INTERVAL_COMPLETED,
			.start_tid = 1 + random_below(r, 4), .end_tid = 1 + random_below(r, 4),
			.start_ns = random_below(r, (uint32_t)end_ns), .lost = chance(r, 5),
		};

		iv.end_ns = iv.start_ns + random_below(r, (uint32_t)(end_ns - iv.start_ns + 3));
		if (chance(r, 10))
			iv.status = chance(r, 50) ? INTERVAL_ABORTED : INTERVAL_OPEN;
		VEC_ADD(&t->intervals, iv);
	}
	for (uint32_t i = random_below(r, 6); i > 0; i--) {
		struct creation c = {
			.tid = 1 + random_below(r, 5), .tid2 = 1 + random_below(r, 4),
			.time_ns = random_below(r, (uint32_t)end_ns), .task = NAME_NONE,
		};

		c.time2_ns = c.time_ns + random_below(r, 15) - (chance(r, 10) ? 2 : 0);
		if (t->segments.cnt && chance(r, 60)) {
			const struct segment *s =
				&t->segments.items[random_below(r, (uint32_t)t->segments.cnt)];

			c.tid2 = s->tid;
			c.time2_ns = s->start_ns;
		}
		VEC_ADD(&t->creations, c);
	}
}

/* ---- a program, tick by tick ----------------------------------------------------- */

struct worker {
	uint64_t tid, sid;		/* sid of its task, or SID_NONE */
	int step, left;			/* of the task, and ticks left in the step */
	bool holds, waits;
	int64_t since_ns, task_ns, lock_ns;	/* begin of its segment, its task, its critical part */
	int64_t ready_ns;		/* woken: runs again from here */
	int64_t queued_ns;		/* began to wait for the lock */
};

enum { STEP_BEFORE, STEP_LOCK, STEP_INSIDE, STEP_AFTER, STEP_DONE };

static void end_segment(struct trace *t, struct worker *w, int64_t now_ns, enum trace_state state)
{
	struct segment s = {
		.tid = w->tid, .sid = w->sid, .start_ns = w->since_ns, .end_ns = now_ns,
		.state = state,
	};

	if (s.start_ns < s.end_ns)
		VEC_ADD(&t->segments, s);
	w->since_ns = now_ns;
}

static void begin_task(struct trace *t, struct worker *w, const struct interval *iv, int64_t now_ns,
		       struct random *r)
{
	struct creation c = {
		.tid = iv->start_tid, .time_ns = iv->start_ns, .tid2 = w->tid, .time2_ns = now_ns,
		.task = NAME_NONE,
	};

	end_segment(t, w, now_ns, STATE_COND);
	VEC_ADD(&t->creations, c);
	w->sid = iv->sid;
	w->task_ns = now_ns;
	w->step = STEP_BEFORE;
	w->left = 1 + (int)random_below(r, 8);
}

static void wake_next(struct trace *t, struct worker *all, const struct worker *from, int64_t now_ns,
		      struct random *r)
{
	struct worker *first = NULL;

	for (int i = 0; i < WORKERS; i++)
		if (all[i].waits && all[i].ready_ns < 0 &&
		    (!first || all[i].queued_ns < first->queued_ns))
			first = &all[i];
	if (first) {
		struct wakeup w = { first->tid, from->tid, now_ns };

		VEC_ADD(&t->wakeups, w);
		first->holds = true;	/* handed over */
		first->ready_ns = now_ns + random_below(r, 3);
		if (first->queued_ns == now_ns) {	/* it did not wait at all */
			first->waits = false;
			first->step = STEP_INSIDE;
		}
	}
}

static bool lock_is_held(const struct worker *all)
{
	for (int i = 0; i < WORKERS; i++)
		if (all[i].holds)
			return true;
	return false;
}

static void next_step(struct trace *t, struct worker *all, struct worker *w, int64_t now_ns,
		      struct random *r)
{
	w->step++;
	w->left = 1 + (int)random_below(r, 9);
	if (w->step == STEP_LOCK) {
		w->lock_ns = now_ns;
		if (lock_is_held(all)) {
			end_segment(t, w, now_ns, STATE_RUNNING);
			w->waits = true;
			w->queued_ns = now_ns;
			w->ready_ns = -1;
			return;
		}
		w->holds = true;
		w->step = STEP_INSIDE;
	} else if (w->step == STEP_AFTER) {
		add_invocation(t, w->tid, 1, CALL_SITE_NONE, w->lock_ns, now_ns);
		w->holds = false;
		wake_next(t, all, w, now_ns, r);
	} else if (w->step == STEP_DONE) {
		add_invocation(t, w->tid, 0, CALL_SITE_NONE, w->task_ns, now_ns);
		end_segment(t, w, now_ns, STATE_RUNNING);
		t->intervals.items[w->sid].end_tid = w->tid;
		t->intervals.items[w->sid].end_ns = now_ns;
		t->intervals.items[w->sid].status = INTERVAL_COMPLETED;
		w->sid = SID_NONE;
	}
}

static void tick(struct trace *t, struct worker *all, struct worker *w, int64_t now_ns,
		 uint32_t *next_task, struct random *r)
{
	if (w->sid == SID_NONE) {
		if (*next_task < t->intervals.cnt &&
		    t->intervals.items[*next_task].start_ns <= now_ns)
			begin_task(t, w, &t->intervals.items[(*next_task)++], now_ns, r);
		return;
	}
	if (w->waits) {
		if (w->ready_ns < 0 || now_ns < w->ready_ns)
			return;
		end_segment(t, w, now_ns, STATE_LOCK);
		w->waits = false;
		w->step = STEP_INSIDE;
	}
	if (--w->left < 0)
		next_step(t, all, w, now_ns, r);
}

static void random_program(struct trace *t, struct random *r)
{
	struct worker workers[WORKERS] = { 0 };
	struct segment producer = { .tid = 1, .sid = SID_NONE, .start_ns = 0 };
	uint32_t next_task = 0;
	int64_t at_ns = 0;

	for (uint32_t i = 0; i < TASKS; i++) {
		struct interval iv = { .sid = i, .status = INTERVAL_OPEN, .start_tid = 1 };

		at_ns += random_below(r, 12);
		iv.start_ns = at_ns;
		VEC_ADD(&t->intervals, iv);
	}
	for (int i = 0; i < WORKERS; i++) {
		workers[i].tid = (uint64_t)i + 2;
		workers[i].sid = SID_NONE;
	}
	for (at_ns = 0; at_ns < RANDOM_TIME_MAX - 1; at_ns++)
		for (int i = 0; i < WORKERS; i++)
			tick(t, workers, &workers[i], at_ns, &next_task, r);
	producer.end_ns = RANDOM_TIME_MAX - 1;
	VEC_ADD(&t->segments, producer);
}

/* many: of peers, which waits for files are for. */
static void random_devices(struct trace *t, struct random *r, bool many)
{
	for (uint64_t tid = 1; tid <= 5; tid++)
		if (chance(r, tid == 5 ? (many ? 80 : 40) : 10))
			VEC_ADD(&t->threads, (struct thread_name){
				.tid = tid, .name = tid < 3 ? "device" : "other",
				.kind = many && chance(r, 70) ? KIND_PEER : 1 + random_below(r, KIND_CNT - 1) });
	for (size_t i = 0; many && i < t->segments.cnt; i++)
		if (t->segments.items[i].state == STATE_LOCK)
			t->segments.items[i].state = STATE_IO;
}

struct trace *random_trace(unsigned int seed, enum random_style style)
{
	struct random r = { seed * 2654435761ULL + style };
	struct trace *t = trace_new();

	add_names(t);
	if (style == RANDOM_ANY)
		random_any(t, &r);
	else
		random_program(t, &r);
	for (uint32_t i = random_below(&r, 8); i > 0; i--) {
		struct call c = { random_below(&r, FUNCTIONS), random_below(&r, FUNCTIONS),
				  chance(&r, 50) ? 2 : CALL_SITE_NONE, false };

		VEC_ADD(&t->calls, c);
	}
	if (style == RANDOM_ANY)
		random_devices(t, &r, seed > RANDOM_SEED_PEERS);
	trace_name_peers(t);
	return t;
}

#define SHUFFLE(r, v)								\
	for (size_t i_ = (v)->cnt; i_ > 1; i_--) {				\
		size_t j_ = random_below(r, (uint32_t)i_);			\
		__typeof__((v)->items[0]) swap_ = (v)->items[i_ - 1];		\
										\
		(v)->items[i_ - 1] = (v)->items[j_];				\
		(v)->items[j_] = swap_;						\
	}

void shuffle_trace(struct trace *t, unsigned int seed)
{
	struct random r = { seed };

	SHUFFLE(&r, &t->intervals);
	SHUFFLE(&r, &t->segments);
	SHUFFLE(&r, &t->invocations);	/* each keeps its order of appearance in .order */
	SHUFFLE(&r, &t->wakeups);
	SHUFFLE(&r, &t->creations);
	SHUFFLE(&r, &t->calls);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shapes.c - the shapes.  Times in ns; thread and interval i have the numbers i + 1 and i.
 *
 * In most of them one quantity grows with n that a walk from piece to piece pays for again in
 * every interval: how many hold a lock before me, how much a thread did that I wait for, how many
 * others an event loop has open.  Those walks take n^2 / 100 and more steps.
 */
#include "tests/bench/shapes.h"

#include "base/banned.h"

#define FUNCTIONS 12
#define HOLD_NS 10

static void interval(struct trace *t, uint64_t tid, int64_t start_ns, uint64_t end_tid,
		     int64_t end_ns)
{
	uint64_t sid = t->intervals.cnt;

	VEC_ADD(&t->intervals, (struct interval) {
		.sid = sid, .status = INTERVAL_COMPLETED, .start_tid = tid,
		.end_tid = end_tid, .start_ns = start_ns, .end_ns = end_ns });
}

static void segment(struct trace *t, uint64_t tid, uint64_t sid, int64_t start_ns, int64_t end_ns,
		    enum trace_state state)
{
	VEC_ADD(&t->segments, (struct segment) { tid, sid, start_ns, end_ns, state, 0 });
}

static void call(struct trace *t, uint64_t tid, uint32_t function, int64_t start_ns, int64_t end_ns)
{
	uint32_t order = (uint32_t)t->invocations.cnt;

	VEC_ADD(&t->invocations, (struct invocation) {
		.tid = tid, .sid = SID_NONE, .function = function % FUNCTIONS,
		.call_site = CALL_SITE_NONE, .start_ns = start_ns, .end_ns = end_ns,
		.order = order });
}

static void wakeup(struct trace *t, uint64_t tid, uint64_t waker_tid, int64_t ns)
{
	VEC_ADD(&t->wakeups, (struct wakeup) { tid, waker_tid, ns });
}

static void creation(struct trace *t, uint64_t tid, int64_t ns, uint64_t tid2, int64_t ns2)
{
	VEC_ADD(&t->creations, (struct creation) { tid, tid2, ns, ns2, NAME_NONE, 0, 0 });
}

/* A request that begins at start_ns, and waits [wait_ns, woken_ns) for the waker's sake. */
static void waiting_request(struct trace *t, uint64_t tid, uint64_t waker, int64_t start_ns,
			    int64_t wait_ns, int64_t woken_ns)
{
	uint64_t sid = t->intervals.cnt;

	interval(t, tid, start_ns, tid, woken_ns + HOLD_NS);
	segment(t, tid, sid, start_ns, wait_ns, STATE_RUNNING);
	segment(t, tid, sid, wait_ns, woken_ns, STATE_LOCK);
	segment(t, tid, sid, woken_ns, woken_ns + HOLD_NS, STATE_RUNNING);
	call(t, tid, (uint32_t)tid, start_ns, woken_ns + HOLD_NS);
	wakeup(t, tid, waker, woken_ns);
}

/* 16 threads serve one request after the other, each 60 calls deep and wide. */
static void make_requests(struct trace *t, size_t n)
{
	for (size_t i = 0; i < n / 62; i++) {
		uint64_t tid = 1 + i % 16;
		int64_t at_ns = (int64_t)(i / 16) * 1000;

		segment(t, tid, t->intervals.cnt, at_ns, at_ns + 900, STATE_RUNNING);
		interval(t, tid, at_ns, tid, at_ns + 900);
		for (uint32_t j = 0; j < 60; j++)
			call(t, tid, j, at_ns + 14 * j, at_ns + 14 * j + 9 + (int64_t)(i * j % 5));
	}
}

/* All threads want one lock at once: each waits for all before it. */
static void make_convoy(struct trace *t, size_t n)
{
	size_t cnt = n / 6;

	segment(t, 1, SID_NONE, 0, (int64_t)cnt, STATE_RUNNING);
	for (size_t i = 1; i < cnt; i++)
		waiting_request(t, i + 1, i, (int64_t)i - 1, (int64_t)i,
				(int64_t)(cnt + i * HOLD_NS - HOLD_NS));
}

/* The same, 2,000 threads at a time. */
static void make_convoys(struct trace *t, size_t n)
{
	for (size_t i = 0; i < n / 6; i++) {
		size_t at = i % 2000;
		int64_t from_ns = (int64_t)(i / 2000) * 2000 * 20;

		if (at == 0)
			segment(t, 1, SID_NONE, from_ns, from_ns + 2000, STATE_RUNNING);
		else
			waiting_request(t, at + 1, at, from_ns + (int64_t)at - 1,
					from_ns + (int64_t)at,
					from_ns + (int64_t)(2000 + at * HOLD_NS - HOLD_NS));
	}
}

/* Thread 1 does many small things; requests that begin at different times wait for its end. */
static void make_flush(struct trace *t, size_t n)
{
	size_t steps = n / 4, cnt = n / 12;

	for (size_t i = 0; i < steps; i++) {
		segment(t, 1, SID_NONE, (int64_t)i * 10, (int64_t)i * 10 + 10,
			i % 2 ? STATE_IO : STATE_RUNNING);
		call(t, 1, (uint32_t)i, (int64_t)i * 10, (int64_t)i * 10 + 7);
	}
	for (size_t i = 0; i < cnt; i++)
		waiting_request(t, i + 2, 1, (int64_t)(i % steps) * 10 + 3,
				(int64_t)(i % steps) * 10 + 5, (int64_t)steps * 10);
}

/* The same, in one long running stretch. */
static void make_long_run(struct trace *t, size_t n)
{
	size_t steps = n / 2, cnt = n / 12;

	segment(t, 1, SID_NONE, 0, (int64_t)steps * 10, STATE_RUNNING);
	for (size_t i = 0; i < steps; i++)
		call(t, 1, (uint32_t)i, (int64_t)i * 10, (int64_t)i * 10 + 7);
	for (size_t i = 0; i < cnt; i++)
		waiting_request(t, i + 2, 1, (int64_t)(i % steps) * 10 + 3,
				(int64_t)(i % steps) * 10 + 5, (int64_t)steps * 10);
}

/* Locks held while waiting for the next: thread i waits for thread i + 1 inside its own wait for
 * it; and as many requests that come in between wait for thread 1. */
static void make_nested(struct trace *t, size_t n)
{
	size_t cnt = n / 12;
	int64_t end_ns = (int64_t)cnt * 30;

	for (size_t i = 0; i < cnt; i++)
		waiting_request(t, i + 1, i + 2, (int64_t)i * 10, (int64_t)i * 10 + 5,
				end_ns - (int64_t)i * HOLD_NS);
	segment(t, cnt + 1, SID_NONE, 0, end_ns, STATE_RUNNING);
	for (size_t i = 0; i < cnt; i++)
		waiting_request(t, cnt + 2 + i, 1, (int64_t)i * 10 + 1, (int64_t)i * 10 + 7,
				end_ns + HOLD_NS);
}

/* One thread has n / 8 requests open and works on each of them twice. */
static void make_loop(struct trace *t, size_t n)
{
	size_t cnt = n / 5;

	for (size_t i = 0; i < 2 * cnt; i++) {
		int64_t at_ns = (int64_t)i * 10;

		segment(t, 1, i % cnt, at_ns, at_ns + 10, STATE_RUNNING);
		call(t, 1, (uint32_t)i, at_ns + 1, at_ns + 8);
		if (i >= cnt)
			interval(t, 1, (int64_t)(i - cnt) * 10, 1, at_ns + 10);
	}
}

/* Each request goes through ten threads of a pipeline. */
static void make_pipeline(struct trace *t, size_t n)
{
	for (size_t i = 0; i < n / 30; i++) {
		int64_t at_ns = (int64_t)i * 10;
		uint64_t sid = t->intervals.cnt;

		interval(t, 1, at_ns, 10, at_ns + 300);
		for (uint64_t stage = 0; stage < 10; stage++, at_ns += 30) {
			segment(t, stage + 1, sid, at_ns, at_ns + 8, STATE_RUNNING);
			call(t, stage + 1, (uint32_t)stage, at_ns, at_ns + 7);
			if (stage > 0)
				creation(t, stage, at_ns - 22, stage + 1, at_ns);
		}
		t->intervals.items[sid].end_ns = at_ns - 22;
	}
}

/* Thread 1 makes all tasks at once; four workers take one after the other, each of two calls. */
static void make_backlog(struct trace *t, size_t n)
{
	size_t cnt = n / 6;

	for (size_t i = 0; i < cnt; i++) {
		int64_t made_ns = (int64_t)i * 2, at_ns = (int64_t)(cnt * 2 + i / 4 * 50);
		uint64_t worker = 2 + i % 4;

		segment(t, 1, i, made_ns, made_ns + 2, STATE_RUNNING);
		creation(t, 1, made_ns + 1, worker, at_ns);
		segment(t, worker, i, at_ns, at_ns + 45, STATE_RUNNING);
		call(t, worker, (uint32_t)i, at_ns, at_ns + 20);
		call(t, worker, (uint32_t)i + 1, at_ns + 20, at_ns + 44);
		interval(t, 1, made_ns, worker, at_ns + 45);
	}
}

/* 1,000 threads meet; the last to come is late. */
static void make_barrier(struct trace *t, size_t n)
{
	for (size_t i = 0; i < n / 6; i++) {
		int64_t from_ns = (int64_t)(i / 1000) * 10000;

		if (i % 1000 == 999)
			segment(t, 1000, SID_NONE, from_ns, from_ns + 9000, STATE_RUNNING);
		else
			waiting_request(t, 1 + i % 1000, 1000, from_ns,
					from_ns + 1 + (int64_t)(i % 1000), from_ns + 9000);
	}
}

/* Recursion 5,000 deep, over and over. */
static void make_deep(struct trace *t, size_t n)
{
	for (size_t i = 0; i < n / 5002; i++) {
		int64_t at_ns = (int64_t)i * 20000;

		segment(t, 1, t->intervals.cnt, at_ns, at_ns + 15000, STATE_RUNNING);
		interval(t, 1, at_ns, 1, at_ns + 15000);
		for (uint32_t j = 0; j < 5000; j++)
			call(t, 1, j / 500, at_ns + j, at_ns + 15000 - j);
	}
}

/* Each interval calls 5 of 3,000 functions, all below its root. */
static void make_siblings(struct trace *t, size_t n)
{
	uint32_t first = (uint32_t)t->functions.cnt, root = 0;

	for (unsigned i = 0; i < 3000; i++)
		VEC_ADD(&t->functions, (struct function){ .name = arena_printf(t->arena, "s%u", i), .probed = true });
	for (size_t i = 0; i < n / 8; i++) {
		int64_t at_ns = (int64_t)i * 100000, from_ns = at_ns;
		uint64_t sid = t->intervals.cnt;

		segment(t, 1, sid, at_ns, at_ns + 50000, STATE_RUNNING);
		interval(t, 1, at_ns, 1, at_ns + 50000);
		call(t, 1, root, at_ns, at_ns + 50000);
		for (size_t k = 0; k < 5; k++) {
			int64_t for_ns = 1000 + (int64_t)((i * 5 + k) * 7919 % 8000);
			struct invocation inv = {
				.tid = 1, .sid = SID_NONE, .function = first + (uint32_t)((i * 5 + k) * 104729 % 3000),
				.call_site = CALL_SITE_NONE, .start_ns = from_ns, .end_ns = from_ns + for_ns,
				.order = (uint32_t)t->invocations.cnt,
			};

			VEC_ADD(&t->invocations, inv);
			from_ns += for_ns;
		}
	}
}

/* Two intervals of n / 8 calls, each inside the one before. */
static void make_well(struct trace *t, size_t n)
{
	int64_t cnt = (int64_t)(n / 8), at_ns = 0;

	for (int i = 0; i < 2; i++, at_ns += 3 * cnt) {
		segment(t, 1, t->intervals.cnt, at_ns, at_ns + 2 * cnt + 2 + i, STATE_RUNNING);
		interval(t, 1, at_ns, 1, at_ns + 2 * cnt + 2 + i);
		for (int64_t k = 0; k < cnt; k++)
			call(t, 1, (uint32_t)(k % 7), at_ns + k, at_ns + 2 * cnt + 1 - k);
	}
}

const struct shape shapes[] = {
	{ "requests", "16 threads, 60 calls a request", make_requests },
	{ "convoy", "n/6 threads queue for one lock", make_convoy },
	{ "convoys", "2,000 threads queue for one lock, again and again", make_convoys },
	{ "flush", "n/12 requests wait for a thread of n/4 segments", make_flush },
	{ "long-run", "n/12 requests wait for a segment of n/2 calls", make_long_run },
	{ "nested", "n/12 locks, each held while waiting for the next", make_nested },
	{ "loop", "an event loop with n/5 requests open", make_loop },
	{ "pipeline", "10 threads work on each request in turn", make_pipeline },
	{ "backlog", "n/6 tasks made at once, four workers", make_backlog },
	{ "barrier", "1,000 threads wait for the last", make_barrier },
	{ "deep", "recursion 5,000 deep", make_deep },
	{ "siblings", "3,000 functions below one, 5 of them a request", make_siblings },
	{ "well", "n/8 calls inside each other", make_well },
};
const size_t shape_cnt = sizeof(shapes) / sizeof(shapes[0]);

struct trace *shape_new(const struct shape *s, size_t n)
{
	struct trace *t = trace_new();
	static const char *const names[FUNCTIONS] = {
		"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11"
	};

	for (size_t i = 0; i < FUNCTIONS; i++)
		VEC_ADD(&t->functions, (struct function) { .name = names[i], .probed = true });
	trace_add_string(t, &t->interval_names, "req");
	s->make(t, n);
	return t;
}

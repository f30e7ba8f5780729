/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_nested_waits.c - waits inside waits, and handlers of signals that interrupt them: answers worked out by hand, and random threads
 * that know what they did at each ns.
 */
#include "base/alloc.h"
#include "tests/unit/raw_trace.h"
#include "tests/unit/tuples_check.h"

/* A mutex inside a home-made lock: one wait, the latest waker. */
static void test_nested_waits(void **state)
{
	(void)state;
	assert_tuples(READ({ 2, EVENT_PAUSE, { 1 } },
			   { 3, EVENT_PAUSE, { 1 } },
			   { 1, EVENT_WAIT, { 20, 60, WAIT_LOCK, 9, waker_serial(2), 30 } },
			   { 1, EVENT_WAIT, { 25, 50, WAIT_COND, 8, waker_serial(3), 40 } },
			   { 1, EVENT_WAIT, { 60, 60, WAIT_LOCK, 8, waker_serial(3), 60 } }),
		"vprof-tuples 1\n"
		"segment 11 - 20 60 lock\n"
		"segment 12 - 1 30 running\n"
		"segment 13 - 1 40 running\n"
		"wakeup 11 13 40\n");
}

/* The handler of a signal that interrupts a wait works for an interval, and waits itself: the thread ran then, and its calls count. */
static void test_handler_in_wait(void **state)
{
	(void)state;
	assert_tuples(READ({ 2, EVENT_PAUSE, { 1 } },
			   { 1, EVENT_NONE, { 2, 29, 41 } },
			   { 1, EVENT_BEGIN, { 30, 1, 7, 0 } },
			   { 1, EVENT_WAIT, { 33, 36, WAIT_SLEEP, 8, 0, 0 } },
			   { 1, EVENT_END, { 40, 1, 7 } },
			   { 1, EVENT_BEGIN, { 50, 1, 7, 0 } },
			   { 1, EVENT_END, { 60, 1, 7 } },
			   { 1, EVENT_WAIT, { 20, 80, WAIT_IO, 9, waker_serial(2), 75 } }),
		"vprof-tuples 1\n"
		"interval 1 request 11 30 11 40\n"
		"interval 2 request 11 50 11 60\n"
		"segment 11 - 20 30 io\n"
		"segment 11 1 30 33 running\n"
		"segment 11 1 33 36 sleep\n"
		"segment 11 1 36 40 running\n"
		"segment 11 - 40 50 io\n"
		"segment 11 2 50 60 running\n"
		"segment 11 - 60 80 io\n"
		"segment 12 - 1 75 running\n"
		"invocation 11 1 hold 29 41\n"
		"wakeup 11 12 75\n");
}

/* An interval that is taken up within a wait, and goes on after it, is one that was waited for. */
static void test_taken_up_in_wait(void **state)
{
	(void)state;
	assert_tuples(READ({ 2, EVENT_BEGIN, { 10, 1, 7, 0 } },
			   { 2, EVENT_PAUSE, { 15 } },
			   { 1, EVENT_RESUME, { 30, 1, 7 } },
			   { 1, EVENT_WAIT, { 20, 40, WAIT_COND, 9, waker_serial(2), 15 } },
			   { 1, EVENT_END, { 60, 1, 7 } }),
		"vprof-tuples 1\n"
		"interval 1 request 12 10 11 60\n"
		"segment 11 - 20 40 cond\n"
		"segment 11 1 40 60 running\n"
		"segment 12 1 10 15 running\n"
		"creation 12 15 11 30\n"
		"thread 11 thread - open\n");
}

/* ---- random threads ---- */

enum { NS = 400, THREADS = 300, HANDLERS = 2 };	/* one inside the other */

struct truth {				/* at each ns, of thread 1 */
	uint64_t key[NS];		/* of the interval, 0: none */
	bool waits[NS];
};

struct story {
	struct truth truth;
	VEC(struct rec) recs;
	unsigned seed;
	uint64_t keys;			/* of the intervals so far */
	size_t handlers;
};

static uint64_t random_below(struct story *s, uint64_t below)
{
	return (uint64_t)rand_r(&s->seed) % below;
}

static void paint(struct story *s, uint64_t from, uint64_t until, uint64_t key, bool waits)
{
	for (uint64_t ns = from; ns < until; ns++) {
		s->truth.key[ns] = key;
		s->truth.waits[ns] = waits;
	}
}

static void tell_wait(struct story *s, uint64_t from, uint64_t until, uint64_t key, unsigned depth);

/* An interval from..until, with some waits in it. */
static void tell_interval(struct story *s, uint64_t from, uint64_t until, unsigned depth)
{
	uint64_t key = ++s->keys, at = from + 1;

	paint(s, from, until, key, false);
	VEC_ADD(&s->recs, (struct rec){ 1, EVENT_BEGIN, { from, depth + 1, key, 0 } });
	while (at + 4 < until) {
		uint64_t end = at + 2 + random_below(s, until - at - 3);

		tell_wait(s, at, end, key, depth);
		at = end + 1 + random_below(s, 20);
	}
	VEC_ADD(&s->recs, (struct rec){ 1, EVENT_END, { until, depth + 1, key } });
}

/* Its record is written when it is over. */
static void tell_wait(struct story *s, uint64_t from, uint64_t until, uint64_t key, unsigned depth)
{
	uint64_t at = from + 1;

	paint(s, from, until, key, true);
	while (depth < HANDLERS && at + 8 < until && random_below(s, 3)) {
		uint64_t begin = at + random_below(s, until - at - 7), end = begin + 2 + random_below(s, until - begin - 4);

		tell_interval(s, begin, end, depth + 1);
		paint(s, end, until, key, true);
		s->handlers++;
		at = end + 1;
	}
	VEC_ADD(&s->recs, (struct rec){ 1, EVENT_WAIT, { from, until, WAIT_SLEEP, 8, 0, 0 } });
}

static uint64_t sid_of_key(const struct trace *t, const struct story *s, uint64_t key)
{
	uint64_t begin = 0;

	for (size_t i = 0; i < s->recs.cnt; i++)
		if (s->recs.items[i].kind == EVENT_BEGIN && s->recs.items[i].words[2] == key)
			begin = s->recs.items[i].words[0];
	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (t->intervals.items[i].start_ns == (int64_t)begin)
			return t->intervals.items[i].sid;
	return SID_NONE;
}

static void assert_is_true(const struct trace *t, const struct story *s, unsigned seed)
{
	bool seen[NS] = { false };

	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *g = &t->segments.items[i];

		for (int64_t ns = g->start_ns; ns < g->end_ns; ns++) {
			uint64_t key = s->truth.key[ns], sid = key ? sid_of_key(t, s, key) : SID_NONE;

			if (seen[ns] || g->sid != sid || (g->state != STATE_RUNNING) != s->truth.waits[ns])
				fail_msg("seed %u, ns %ld: sid %lu state %d, not key %lu %s", seed, (long)ns, (unsigned long)g->sid, g->state,
					 (unsigned long)key, s->truth.waits[ns] ? "waits" : "runs");
			seen[ns] = true;
		}
	}
	for (int ns = 5; ns < NS - 5; ns++)
		assert_true(seen[ns]);
}

static void test_random_handlers(void **state)
{
	size_t handlers = 0;

	(void)state;
	for (unsigned seed = 1; seed <= THREADS; seed++) {
		struct story s = { .seed = seed };
		struct trace *t;

		VEC_ADD(&s.recs, (struct rec){ 1, EVENT_PAUSE, { 1 } });
		if (seed % 2)
			tell_interval(&s, 5, NS - 5, 0);
		else
			tell_wait(&s, 5, NS - 5, 0, 0);
		t = read_recs(s.recs.items, s.recs.cnt, NULL);
		assert_is_true(t, &s, seed);
		handlers += s.handlers;
		trace_free(t);
		unlink(path);
		VEC_RELEASE(&s.recs);
	}
	assert_true(handlers > THREADS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested_waits),
		cmocka_unit_test(test_handler_in_wait),
		cmocka_unit_test(test_taken_up_in_wait),
		cmocka_unit_test(test_random_handlers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

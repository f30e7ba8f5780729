/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_left.c - what a thread works on while it polls: answers worked out by hand, and random loops that know it themselves.
 */
#include "tests/oracle/random_trace.h"
#include "tests/unit/raw_trace.h"
#include "tests/unit/tuples_check.h"

#define B(ns, key) { 1, EVENT_BEGIN, { ns, 1, key, 0 } }
#define E(ns, key) { 1, EVENT_END, { ns, 1, key } }
#define RETURNS(ns, key) { 1, EVENT_HANDED, { ns, 1, key } }
/* Of thread 2, or nobody: object 7 has a writer in the run, so only the word says that it is a poll. */
#define POLL(from, to) { 1, EVENT_WAIT, { from, to, wait_word(WAIT_IO, 3) | WAIT_POLLS, 7, 0, 0 } }
#define READS(from, to) { 1, EVENT_WAIT, { from, to, wait_word(WAIT_IO, 3), 7, 0, 0 } }

/* "from-to sid" for each stretch of thread 11 that belongs to an interval; frees t. */
static void assert_works(struct trace *t, const char *expected)
{
	char text[2000] = "";
	size_t len = 0;
	int64_t from_ns = 0, end_ns = 0;
	uint64_t sid = SID_NONE;

	for (size_t i = 0; i <= t->segments.cnt; i++) {
		const struct segment *s = i < t->segments.cnt ? &t->segments.items[i] : NULL;

		if (s && s->tid != 11)
			continue;
		if (s && s->sid == sid && s->start_ns == end_ns) {
			end_ns = s->end_ns;
			continue;
		}
		if (sid != SID_NONE)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%ld-%ld %lu\n", (long)from_ns, (long)end_ns, (unsigned long)sid);
		if (s) {
			from_ns = s->start_ns;
			end_ns = s->end_ns;
			sid = s->sid;
		}
	}
	assert_string_equal(text, expected);
	trace_free(t);
	unlink(path);
}

/* The head of replay_left.c. */
static void test_other_begins(void **state)
{
	(void)state;
	assert_works(READ(B(10, 7), RETURNS(12, 7), POLL(15, 40), B(42, 8), RETURNS(44, 8), POLL(50, 70), E(75, 7), POLL(80, 90), E(95, 8)),
		     "10-15 1\n42-50 2\n70-75 1\n90-95 2\n");
}

/* Both come in one turn; that the other one ends is a proof, too.  The turn in which both end is shared at the first END. */
static void test_other_ends(void **state)
{
	(void)state;
	assert_works(READ(B(10, 7), RETURNS(11, 7), B(12, 8), RETURNS(13, 8), POLL(15, 40), E(45, 8), E(47, 7)),
		     "10-12 1\n12-15 2\n40-45 2\n45-47 1\n");
}

/* A thread per connection: one after the other, and what it polls for in between is the request's. */
static void test_own_poll(void **state)
{
	(void)state;
	assert_works(READ(B(10, 7), RETURNS(12, 7), POLL(15, 40), POLL(45, 50), E(60, 7), POLL(62, 80), B(82, 7), RETURNS(83, 7), POLL(85, 90),
			  E(95, 7)), "10-60 1\n82-95 2\n");
}

/* A function that begins and ends it is still running: its polls, and what begins inside, are its own. */
static void test_in_frame(void **state)
{
	(void)state;
	assert_works(READ({ 1, EVENT_BEGIN, { 10, 1, 7, BEGIN_IN_FRAME } }, POLL(15, 40), { 1, EVENT_BEGIN, { 42, 1, 8, BEGIN_IN_FRAME } },
			  POLL(50, 70), E(75, 8), E(80, 7)), "10-42 1\n42-75 2\n75-80 1\n");
}

/* The function that began it polls itself, and begins another before it returns.  Known from the second one on, so the first is short. */
static void test_before_return(void **state)
{
	(void)state;
	assert_works(READ(B(1, 6), RETURNS(2, 6), E(4, 6), B(10, 7), POLL(15, 40), B(42, 8), E(45, 8), RETURNS(50, 7), E(60, 7)),
		     "1-4 1\n10-42 2\n42-45 3\n45-60 2\n");
}

/* A read that blocks the loop is the request's, whoever comes next. */
static void test_own_read(void **state)
{
	(void)state;
	assert_works(READ(B(10, 7), RETURNS(12, 7), READS(15, 40), B(42, 8), RETURNS(44, 8), POLL(50, 70), E(75, 8), E(80, 7)),
		     "10-42 1\n42-50 2\n70-75 2\n75-80 1\n");
}

/* 8 was alone, but this thread is a loop: the poll that a client without an interval ended was not for 8. */
static void test_known_loop(void **state)
{
	(void)state;
	assert_works(READ(B(10, 6), RETURNS(11, 6), POLL(12, 14), B(15, 7), RETURNS(16, 7), POLL(17, 20), E(21, 6), E(22, 7),
			  B(30, 8), RETURNS(31, 8), POLL(35, 50), POLL(55, 70), E(75, 8)),
		     "10-12 1\n15-17 2\n20-21 1\n21-22 2\n30-35 3\n70-75 3\n");
}

/* LEAVE says when it is left, and RESUME that it is not: a poll in between is its own. */
static void test_said(void **state)
{
	(void)state;
	assert_works(READ(B(10, 7), { 1, EVENT_LEAVE, { 12, 1, 7 } }, POLL(15, 40), { 1, EVENT_RESUME, { 42, 1, 7 } }, POLL(45, 50), B(52, 8),
			  { 1, EVENT_LEAVE, { 53, 1, 8 } }, POLL(55, 60), { 1, EVENT_RESUME, { 62, 1, 8 } }, E(65, 8), E(70, 7)),
		     "10-12 1\n42-52 1\n52-53 2\n53-62 1\n62-65 2\n");
}

/* Another interval's name is no proof: it may be a part of this one. */
static void test_other_name(void **state)
{
	(void)state;
	assert_works(READ(B(10, 7), RETURNS(12, 7), POLL(15, 40), { 1, EVENT_BEGIN, { 42, 2, 8, 0 } }, { 1, EVENT_END, { 45, 2, 8 } }, E(60, 7)),
		     "10-42 1\n42-45 2\n45-60 1\n");
}

/* Its connection's interval is around it: what is nobody's request is the connection's. */
static void test_around(void **state)
{
	(void)state;
	assert_works(READ({ 1, EVENT_BEGIN, { 5, 2, 1, 0 } }, B(10, 7), RETURNS(12, 7), POLL(15, 40), B(42, 8), RETURNS(44, 8), POLL(50, 70),
			  E(75, 7), E(80, 8), { 1, EVENT_END, { 90, 2, 1 } }), "5-10 1\n10-15 2\n15-42 1\n42-50 3\n50-70 1\n70-75 2\n75-80 3\n80-90 1\n");
}

/* It begins once more while it lies aside: one interval, taken up in that turn. */
static void test_again(void **state)
{
	(void)state;
	assert_works(READ(B(10, 7), RETURNS(12, 7), POLL(15, 40), B(42, 8), RETURNS(44, 8), POLL(50, 60),
			  { 1, EVENT_BEGIN, { 65, 1, 7, BEGIN_AGAIN } }, RETURNS(66, 7), E(68, 7), POLL(70, 80), E(85, 8), E(90, 7)), "10-15 1\n42-50 2\n60-70 1\n80-85 2\n85-90 1\n");
}

/* A coroutine carries the interval: it is on a stack of its own, which does not poll. */
static void test_coroutine(void **state)
{
	struct trace *t;

	(void)state;
	second_stack = 2;
	t = READ({ 2, EVENT_BEGIN, { 10, 1, 7, 0 } }, { 2, EVENT_HANDED, { 12, 1, 7 } }, POLL(15, 40), B(42, 8), RETURNS(44, 8), E(46, 8),
		 POLL(50, 60), { 2, EVENT_END, { 65, 1, 7 } });
	second_stack = -1;
	for (size_t i = 0; i < t->segments.cnt; i++)
		assert_true(t->segments.items[i].state != STATE_IO || t->segments.items[i].sid == SID_NONE);
	assert_int_equal(t->intervals.cnt, 2);
	trace_free(t);
	unlink(path);
}

/* ---- random loops ---- */

enum { NS = 6000, OPEN = 12, LOOPS = 300 };

static struct random dice;
static uint64_t truth[NS];		/* by ns: on what the thread works */
static uint64_t open_keys[OPEN], open_sids[OPEN], began_cnt, next_key;
static size_t open_cnt;
static int64_t now;

static void emit(enum trace_event kind, uint64_t key)
{
	put_rec(&(struct rec){ 1, kind, { (uint64_t)now, 1, key, 0 } });
}

static void work(uint64_t sid)
{
	for (uint32_t n = 1 + random_below(&dice, 5); n; n--)
		truth[now++] = sid;
}

static void begin_one(bool says_return)
{
	open_keys[open_cnt] = ++next_key;
	open_sids[open_cnt++] = ++began_cnt;
	emit(EVENT_BEGIN, next_key);
	work(began_cnt);
	if (says_return)
		emit(EVENT_HANDED, next_key);
	work(began_cnt);
}

static void end_one(size_t at)
{
	work(open_sids[at]);
	emit(EVENT_END, open_keys[at]);
	open_cnt--;
	memmove(&open_keys[at], &open_keys[at + 1], (open_cnt - at) * sizeof(open_keys[0]));
	memmove(&open_sids[at], &open_sids[at + 1], (open_cnt - at) * sizeof(open_sids[0]));
}

static void poll_once(void)
{
	int64_t from = now;

	work(SID_NONE);
	put_rec(&(struct rec)POLL((uint64_t)from, (uint64_t)now));
}

/* The events of a turn, in the order in which a loop's effects can be distinguished: requests go on and end, others without an interval are
 * served, new ones begin. */
static void turn(bool says_return)
{
	uint32_t ends = random_below(&dice, 3), begins = random_below(&dice, 3);

	if (random_below(&dice, 4) == 0) {
		work(SID_NONE);
		return;
	}
	for (; ends && open_cnt; ends--)
		end_one(random_below(&dice, (uint32_t)open_cnt));
	if (random_below(&dice, 3) == 0 && ends == 0 && now && truth[now - 1] != SID_NONE)
		work(SID_NONE);
	for (; begins && open_cnt < OPEN; begins--)
		begin_one(says_return);
}

static void test_random_loops(void **state)
{
	size_t aside = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= LOOPS; seed++) {
		bool says_return = seed % 2;
		struct trace *t;

		dice.state = seed;
		open_cnt = began_cnt = 0;
		now = 1;
		memset(truth, 0, sizeof(truth));
		begin_trace();
		begin_one(says_return);		/* two at once: it is seen to be a loop before it matters */
		begin_one(says_return);
		poll_once();
		end_one(0);
		while (now < NS / 2) {
			turn(says_return);
			poll_once();
		}
		while (open_cnt)
			end_one(open_cnt - 1);
		t = read_trace(NULL);
		assert_int_equal(t->intervals.cnt, began_cnt);
		for (size_t i = 0; i < t->segments.cnt; i++) {
			const struct segment *s = &t->segments.items[i];

			for (int64_t ns = s->start_ns; ns < s->end_ns; ns++) {
				if (s->sid != truth[ns])
					fail_msg("seed %u, ns %ld: %lu, not %lu", seed, (long)ns, (unsigned long)s->sid, (unsigned long)truth[ns]);
				aside += truth[ns] == SID_NONE;
			}
		}
		trace_free(t);
		unlink(path);
	}
	assert_true(aside > (size_t)LOOPS * NS / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_begins),
		cmocka_unit_test(test_other_ends),
		cmocka_unit_test(test_own_poll),
		cmocka_unit_test(test_in_frame),
		cmocka_unit_test(test_before_return),
		cmocka_unit_test(test_own_read),
		cmocka_unit_test(test_known_loop),
		cmocka_unit_test(test_said),
		cmocka_unit_test(test_other_name),
		cmocka_unit_test(test_around),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_coroutine),
		cmocka_unit_test(test_random_loops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

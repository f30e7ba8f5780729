/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_nesting.c - intervals that begin inside themselves, starts and ends without a partner, ends that take an interval
 * over: the answers are worked out by hand.
 *
 * Labels: 1 is "request", 2 is "query".  AGAIN is what the runtime says where a thread has the interval on its stack.
 */
#include "tests/unit/raw_trace.h"
#include "tests/unit/tuples_check.h"

enum { AGAIN = BEGIN_AGAIN, FRAME = BEGIN_IN_FRAME };

#define B(thread, ns, label, key, marks) { thread, EVENT_BEGIN, { ns, label, key, marks } }
#define E(thread, ns, label, key) { thread, EVENT_END, { ns, label, key } }

/* Only the intervals, as "start-end name", "-" for no end, "!" for aborted; frees t. */
static void assert_intervals(struct trace *t, const char *expected)
{
	char text[2000] = "";
	size_t len = 0;

	for (size_t i = 0; i < t->intervals.cnt; i++) {
		const struct interval *v = &t->intervals.items[i];
		const char *name = t->interval_names.items[v->name];

		if (v->status == INTERVAL_OPEN)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%ld- %s\n", (long)v->start_ns, name);
		else
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%ld-%ld %s%s\n", (long)v->start_ns,
						(long)v->end_ns, name, v->status == INTERVAL_ABORTED ? "!" : "");
	}
	assert_string_equal(text, expected);
	trace_free(t);
	unlink(path);
}

static void assert_pairing(const struct trace *t, uint64_t starts, uint64_t nested, uint64_t unended, uint64_t unmatched)
{
	const struct pairing *c = trace_pairing(t, 0);

	assert_non_null(c);
	assert_int_equal(c->starts, starts);
	assert_int_equal(c->nested, nested);
	assert_int_equal(c->unended, unended);
	assert_int_equal(c->unmatched_ends, unmatched);
}

/* Three levels deep, then once more without: 10..70 and 80..90.  The thread works on the outer one throughout. */
static void test_three_levels(void **state)
{
	struct trace *t = read_recs(RECS(B(1, 10, 1, 7, 0), B(1, 20, 1, 7, AGAIN), B(1, 30, 1, 7, AGAIN),
		E(1, 40, 1, 7), E(1, 50, 1, 7), B(1, 55, 1, 7, AGAIN), E(1, 60, 1, 7), E(1, 70, 1, 7),
		B(1, 80, 1, 7, 0), E(1, 90, 1, 7)), NULL);

	(void)state;
	assert_pairing(t, 5, 3, 0, 0);
	assert_trace_is(t,
		"vprof-tuples 1\n"
		"interval 1 request 11 10 11 70\n"
		"interval 5 request 11 80 11 90\n"
		"segment 11 1 10 70 running\n"
		"segment 11 - 70 80 running\n"
		"segment 11 5 80 90 running\n");
	trace_free(t);
	unlink(path);
}

/* The end of 10 is missing: what follows is not nested, though it seems so. */
static void test_missing_end(void **state)
{
	struct trace *t = read_recs(RECS(B(1, 10, 1, 7, 0), B(1, 20, 1, 7, AGAIN), E(1, 30, 1, 7),
		B(1, 40, 1, 7, AGAIN), B(1, 45, 1, 7, AGAIN), E(1, 50, 1, 7), E(1, 60, 1, 7),
		B(1, 70, 1, 7, AGAIN), B(1, 80, 1, 7, AGAIN), E(1, 90, 1, 7)), NULL);

	(void)state;
	assert_pairing(t, 6, 1, 2, 0);
	assert_true(trace_pairing(t, 0)->start.key == 7 && trace_pairing(t, 0)->start.tid == 11);
	assert_intervals(t, "10-20 request!\n20-30 request\n40-60 request\n70-80 request!\n80-90 request\n");
}

/* A function that begins and ends it is still in there: what is inside is not its own interval. */
static void test_under_way(void **state)
{
	struct trace *t = read_recs(RECS(B(1, 10, 1, 7, FRAME), B(1, 20, 1, 7, AGAIN | FRAME), E(1, 30, 1, 7),
		B(1, 40, 1, 7, AGAIN | FRAME), E(1, 50, 1, 7)), NULL);

	(void)state;
	assert_pairing(t, 3, 2, 1, 0);
	assert_intervals(t, "10- request\n");
}

/* 20 was left by longjmp: the END at 50 is that of 10's own frame.  Then 60 itself is left. */
static void test_unwound(void **state)
{
	struct trace *t = read_recs(RECS(B(1, 10, 1, 7, FRAME), B(1, 20, 1, 7, AGAIN | FRAME),
		{ 1, EVENT_UNWOUND, { 50, 1, 7, 0 } }, E(1, 50, 1, 7),
		B(1, 60, 1, 7, FRAME), { 1, EVENT_UNWOUND, { 70, 1, 7, 1 } },
		B(1, 70, 1, 7, FRAME), E(1, 80, 1, 7)), NULL);

	(void)state;
	assert_pairing(t, 4, 1, 2, 0);
	assert_intervals(t, "10-50 request\n60-70 request!\n70-80 request\n");
}

/* VPROF_ABORT of the inner one leaves the outer one alone; of the outer one, not. */
static void test_inner_aborted(void **state)
{
	(void)state;
	assert_intervals(read_recs(RECS(B(1, 10, 1, 7, 0), B(1, 20, 1, 7, AGAIN), { 1, EVENT_DROP, { 30, 1, 7 } },
		E(1, 40, 1, 7), B(1, 50, 1, 7, 0), B(1, 60, 1, 7, AGAIN), E(1, 65, 1, 7),
		{ 1, EVENT_DROP, { 70, 1, 7 } }), NULL), "10-40 request\n50-70 request!\n");
}

/* Intervals that the program aborts are counted separately, with an example; so are starts inside another interval. */
static void test_aborted(void **state)
{
	struct trace *t = read_recs(RECS(B(1, 10, 1, 7, 0), { 1, EVENT_DROP, { 20, 1, 7 } }, B(2, 30, 1, 8, 0),
		B(2, 35, 1, 8, AGAIN), E(2, 40, 1, 8), E(2, 45, 1, 8), B(2, 50, 1, 9, 0), { 1, EVENT_DROP, { 60, 1, 9 } }), NULL);
	const struct pairing *c = trace_pairing(t, 0);

	(void)state;
	assert_pairing(t, 4, 1, 0, 0);
	assert_int_equal(c->aborted, 2);
	assert_true(c->given_up.known && c->given_up.key == 7 && c->given_up.tid == 11);
	assert_true(c->inner.known && c->inner.key == 8 && c->inner.tid == 12);
	assert_intervals(t, "10-20 request!\n30-45 request\n50-60 request!\n");
}

/* A thread's stack has 16 of them.  The first of 18 to begin are missed where it ends them itself, not where others do. */
static void test_lost_sight(void **state)
{
	struct rec recs[40];
	size_t cnt = 0;
	struct trace *t;

	(void)state;
	for (uint64_t i = 0; i < 18; i++)
		recs[cnt++] = (struct rec)B(1, 10 + i, 1, i, 0);
	recs[cnt++] = (struct rec){ 2, EVENT_RESUME, { 40, 1, 0 } };
	recs[cnt++] = (struct rec)E(2, 50, 1, 0);
	recs[cnt++] = (struct rec)E(1, 60, 1, 1);
	t = read_recs(recs, cnt, NULL);
	assert_int_equal(t->losses.full.items[TABLE_INTERVALS].dropped, 1);
	assert_int_equal(t->losses.full.items[TABLE_INTERVALS].size, 16);
	recs[cnt - 1] = (struct rec)E(2, 60, 1, 1);
	trace_free(t);
	t = read_recs(recs, cnt, NULL);
	assert_int_equal(t->losses.full.items[TABLE_INTERVALS].dropped, 0);
	trace_free(t);
}

/* Two threads have key 7 at the same time: neither is inside the other. */
static void test_same_key_elsewhere(void **state)
{
	struct trace *t = read_recs(RECS(B(1, 10, 1, 7, 0), B(2, 20, 1, 7, 0), B(3, 25, 1, 7, 0), B(1, 30, 1, 7, AGAIN),
		E(1, 40, 1, 7), E(1, 50, 1, 7), E(3, 55, 1, 7), E(2, 60, 1, 7), B(1, 70, 1, 7, 0), E(1, 80, 1, 7)), NULL);

	(void)state;
	assert_pairing(t, 5, 1, 0, 0);
	assert_intervals(t, "10-50 request\n20-60 request\n25-55 request\n70-80 request\n");
}

/* Thread 2 takes it over while it is nested: 1 begins twice, 2 ends both. */
static void test_handed_over(void **state)
{
	struct trace *t = read_recs(RECS(B(1, 10, 1, 7, 0), B(1, 20, 1, 7, AGAIN), { 1, EVENT_PAUSE, { 25 } },
		{ 2, EVENT_RESUME, { 40, 1, 7 } }, B(2, 45, 1, 7, AGAIN), E(2, 50, 1, 7), E(2, 60, 1, 7),
		E(2, 70, 1, 7)), NULL);

	(void)state;
	assert_pairing(t, 3, 2, 0, 0);
	assert_trace_is(t,
		"vprof-tuples 1\n"
		"interval 1 request 11 10 12 70\n"
		"segment 11 1 10 25 running\n"
		"segment 12 1 40 70 running\n"
		"creation 11 25 12 40\n"
		"thread 12 thread - open\n");
	trace_free(t);
	unlink(path);
}

/* request > query > request > query: each name nests by itself. */
static void test_two_names(void **state)
{
	struct trace *t = read_recs(RECS(B(1, 10, 1, 7, 0), B(1, 20, 2, 8, 0), B(1, 30, 1, 7, AGAIN),
		B(1, 40, 2, 8, AGAIN), E(1, 50, 2, 8), E(1, 60, 1, 7), E(1, 70, 2, 8), E(1, 80, 1, 7)), NULL);

	(void)state;
	assert_int_equal(trace_pairing(t, 1)->nested, 1);
	assert_intervals(t, "10-80 request\n20-70 query\n");
}

/* nested = inner: whatever has another one inside does not count. */
static void test_inner_counts(void **state)
{
	static const char *const names[] = { "request" };
	const struct reader_options o = { .inner = names, .inner_cnt = 1 };
	struct trace *t = read_recs(RECS(B(1, 10, 1, 7, 0), B(1, 20, 1, 7, AGAIN), E(1, 30, 1, 7),
		B(1, 40, 1, 7, AGAIN), E(1, 50, 1, 7), E(1, 60, 1, 7), B(1, 70, 1, 7, 0), E(1, 80, 1, 7),
		B(1, 85, 2, 8, 0), B(1, 86, 2, 8, AGAIN), E(1, 87, 2, 8), E(1, 89, 2, 8)), &o);

	(void)state;
	assert_pairing(t, 4, 2, 0, 0);
	assert_intervals(t, "20-30 request\n40-50 request\n70-80 request\n85-89 query\n");
}

/* start: key = x, end: key = x + 1.  The examples are of one thread. */
static void test_keys_differ(void **state)
{
	struct trace *t = read_recs(RECS(B(2, 5, 1, 90, 0), B(1, 10, 1, 64, 0), E(1, 20, 1, 65), B(1, 30, 1, 64, AGAIN),
		E(1, 40, 1, 65), E(2, 50, 1, 91)), NULL);
	const struct pairing *c = trace_pairing(t, 0);

	(void)state;
	assert_pairing(t, 3, 1, 3, 3);
	assert_true(c->start.key == 64 && c->end.key == 65 && c->start.tid == 11 && c->end.tid == 11);
	assert_intervals(t, "5- request\n10- request\n");
}

/* A million starts without an end are one interval that is open. */
static void test_many_unended(void **state)
{
	enum { CNT = 4000 };
	struct trace *t;

	(void)state;
	begin_trace();
	for (uint64_t i = 0; i < CNT; i++)
		put_rec(&(struct rec)B(1, 10 + i, 1, 7, i ? AGAIN : 0));
	t = read_trace(NULL);
	assert_pairing(t, CNT, CNT - 1, CNT, 0);
	assert_intervals(t, "10- request\n");
}

/* start = enqueue on thread 1, which returns at 20; end = reply at return on thread 2, which it enters at 50. */
static void test_finish(void **state)
{
	struct trace *t = read_recs(RECS(B(1, 10, 1, 7, 0), { 1, EVENT_HANDED, { 20, 1, 7 } }, B(1, 30, 1, 8, 0),
		{ 1, EVENT_HANDED, { 40, 1, 8 } }, { 2, EVENT_FINISH, { 50, 1, 7 } }, E(2, 70, 1, 7),
		{ 2, EVENT_FINISH, { 80, 1, 8 } }, E(2, 90, 1, 8)), NULL);

	(void)state;
	assert_trace_is(t,
		"vprof-tuples 1\n"
		"interval 1 request 11 10 12 70\n"
		"interval 2 request 11 30 12 90\n"
		"segment 11 1 10 30 running\n"
		"segment 11 2 30 40 running\n"
		"segment 12 1 50 70 running\n"
		"segment 12 - 70 80 running\n"
		"segment 12 2 80 90 running\n"
		"creation 11 20 12 50\n"
		"creation 11 40 12 80\n"
		"thread 12 thread - open\n");
	trace_free(t);
	unlink(path);
}

/* It answers for 8 while it works on 7, and goes on with 7; nothing is known of 9. */
static void test_finish_amid(void **state)
{
	struct trace *t = read_recs(RECS(B(1, 5, 1, 8, 0), { 1, EVENT_PAUSE, { 8 } }, B(2, 10, 1, 7, 0),
		{ 2, EVENT_FINISH, { 20, 1, 8 } }, E(2, 30, 1, 8), { 2, EVENT_FINISH, { 40, 1, 9 } }, E(2, 45, 1, 9),
		E(2, 50, 1, 7)), NULL);

	(void)state;
	assert_pairing(t, 2, 0, 0, 1);
	assert_trace_is(t,
		"vprof-tuples 1\n"
		"interval 1 request 11 5 12 30\n"
		"interval 2 request 12 10 12 50\n"
		"segment 11 1 5 8 running\n"
		"segment 12 2 10 20 running\n"
		"segment 12 1 20 30 running\n"
		"segment 12 2 30 50 running\n"
		"creation 11 8 12 20\n"
		"thread 12 thread - open\n");
	trace_free(t);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_levels), cmocka_unit_test(test_missing_end),
		cmocka_unit_test(test_under_way), cmocka_unit_test(test_unwound),
		cmocka_unit_test(test_inner_aborted), cmocka_unit_test(test_aborted), cmocka_unit_test(test_lost_sight),
		cmocka_unit_test(test_same_key_elsewhere),
		cmocka_unit_test(test_handed_over), cmocka_unit_test(test_two_names),
		cmocka_unit_test(test_inner_counts), cmocka_unit_test(test_keys_differ),
		cmocka_unit_test(test_many_unended), cmocka_unit_test(test_finish), cmocka_unit_test(test_finish_amid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

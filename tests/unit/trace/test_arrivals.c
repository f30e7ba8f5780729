/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_arrivals.c - when the requests arrived that intervals are about (trace/kernel/arrivals.h): by hand, and of random loops whose
 * intervals are known to belong to their reads.
 */
#include "analysis/analyze.h"
#include "analysis/path/critical_path.h"
#include "tests/unit/trace/kernel_side.h"

static void exchange(uint32_t receiver, uint32_t sender, int64_t start_ns, int64_t read_ns, int64_t sent_ns)
{
	VEC_ADD(&k.exchanges, (struct kernel_exchange){
		.connection = (uint32_t)k.exchanges.cnt + 1, .port = 80, .flags = EXCHANGE_ARRIVAL, .receiver = receiver,
		.sender = sender, .bytes_in = 10, .bytes_out = 20, .start_ns = start_ns, .first_read_ns = read_ns,
		.last_read_ns = read_ns, .first_send_ns = sent_ns, .last_send_ns = sent_ns });
}

static void arrivals_begin(void)
{
	begin(1, 1000000);
	k.has_exchanges = k.for_arrivals = true;
}

static struct trace *arrivals_end(const char *tuples)
{
	struct trace *t = merged(tuples);

	kernel_release(&k);
	assert_true(t->from_arrival);
	return t;
}

static const struct interval *interval_of(const struct trace *t, uint64_t sid)
{
	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (t->intervals.items[i].sid == sid)
			return &t->intervals.items[i];
	fail();
	return NULL;
}

/* start: where it begins now; begun: where the program began it, 0: its arrival is not known. */
static void assert_begins(const struct trace *t, uint64_t sid, int64_t start_ns, int64_t begun_ns)
{
	assert_int_equal(interval_of(t, sid)->start_ns, start_ns);
	assert_int_equal(interval_of(t, sid)->begun_ns, begun_ns);
}

static void assert_path(const struct trace *t, uint64_t sid, const char *expected)
{
	struct timeline *tl = timeline_new(t);
	pieces path = { NULL, 0, 0 };
	char text[400] = "";

	assert_int_equal(critical_path(tl, interval_of(t, sid), &path), 0);
	for (size_t i = 0; i < path.cnt; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s %lld", *text ? ", " : "",
			 trace_state_name(path.items[i].wait), (long long)(path.items[i].end_ns - path.items[i].start_ns));
	assert_string_equal(text, expected);
	VEC_RELEASE(&path);
	timeline_free(tl);
}

/* The thread saves from 5 to 38; a request comes at 10, is read at 40, and its interval begins at 42. */
static void test_read_then_begin(void **state)
{
	struct analyze_options o = { .interval = NULL };
	struct findings *f = NULL;
	struct trace *t;

	(void)state;
	arrivals_begin();
	exchange(7, 7, 10, 40, 60);
	t = arrivals_end("interval 1 r 7 42 7 58\n"
			 "segment 7 - 0 42 running\nsegment 7 1 42 58 running\nsegment 7 - 58 70 running\n"
			 "invocation 7 - loop 0 70\ninvocation 7 - save 5 38\ninvocation 7 1 handle 41 59\n");
	assert_begins(t, 1, 10, 42);
	assert_path(t, 1, "arrived 30, running 2, running 16");
	assert_int_equal(analyze(t, &o, &f), 0);
	assert_true(f->before.exact);
	assert_int_equal(f->before.cnt, 1);
	assert_int_equal(f->before.unknown_cnt, 0);
	assert_int_equal(f->before.p99_ns, 32);
	assert_int_equal(f->interval.max_ns, 48);
	findings_free(f);
	trace_free(t);
}

/* 100 requests arrive 10 after a save began, which takes 30 or 50 of each 100: it is what varies. */
static void test_blames(void **state)
{
	struct analyze_options o = { .interval = NULL };
	char text[40000] = "invocation 7 - loop 0 20000\n", *at = text + strlen(text);
	struct findings *f = NULL;
	struct trace *t;

	(void)state;
	arrivals_begin();
	for (int i = 0; i < 100; i++) {
		int ns = 100 + i * 100, read_ns = ns + (i % 2 ? 40 : 20);

		exchange(7, 7, ns, read_ns, ns + 60);
		at += sprintf(at, "interval %d r 7 %d 7 %d\nsegment 7 - %d %d running\nsegment 7 %d %d %d running\nsegment 7 - %d %d running\n"
			      "invocation 7 - save %d %d\n", i + 1, read_ns, read_ns + 5, ns - 20, read_ns, i + 1, read_ns, read_ns + 5,
			      read_ns + 5, ns + 80, ns - 10, read_ns);
	}
	t = arrivals_end(text);
	assert_int_equal(analyze(t, &o, &f), 0);
	assert_int_equal(f->interval.cnt, 100);
	assert_true(f->interval.mean_ns == 35);
	assert_true(f->before.mean_ns == 30 && f->before.sd_ns == 10);
	assert_string_equal(f->before.by.items[0].function, "save");
	assert_true(f->before.by.items[0].share > .999);
	assert_true(f->causes.cnt > 0 && f->causes.items[0].known);
	assert_string_equal(f->causes.items[0].function, "save");
	assert_true(f->causes.items[0].share > .99);
	assert_int_equal(f->causes.items[0].how, HOW_QUEUE);
	assert_false(findings_hidden_before_start(f));
	findings_free(f);
	trace_free(t);
}

/* Which read an interval is about: each thread has one of the orders of arrivals.h. */
static void test_orders(void **state)
{
	struct trace *t;

	(void)state;
	arrivals_begin();
	exchange(1, 1, 10, 20, 90);	/* of no interval, and answered later */
	exchange(1, 1, 15, 30, 91);
	exchange(2, 2, 10, 20, 90);	/* two, then two */
	exchange(2, 2, 15, 30, 91);
	exchange(3, 3, 10, 20, 90);	/* two in one */
	exchange(4, 4, 10, 20, 90);	/* three for two */
	exchange(4, 4, 11, 21, 90);
	exchange(4, 4, 12, 22, 90);
	exchange(5, 5, 10, 55, 57);	/* read inside; the second arrives inside, too */
	exchange(5, 5, 62, 75, 80);
	exchange(6, 6, 10, 20, 30);	/* answered before anything begins */
	exchange(8, 8, 25, 45, 90);	/* read after the end: the next one's */
	exchange(9, 9, 10, 20, 90);	/* its arrival was not seen */
	k.exchanges.items[k.exchanges.cnt - 1].flags = 0;
	t = arrivals_end("interval 10 r 1 40 1 50\n"
			 "interval 20 r 2 40 2 50\ninterval 21 r 2 51 2 60\n"
			 "interval 30 r 3 40 3 50\ninterval 31 r 3 51 3 60\n"
			 "interval 40 r 4 40 4 50\ninterval 41 r 4 51 4 60\n"
			 "interval 50 r 5 50 5 58\ninterval 51 r 5 60 5 79\n"
			 "interval 60 r 6 40 6 50\n"
			 "interval 80 r 8 30 8 40\ninterval 81 r 8 50 8 60\n"
			 "interval 90 r 9 40 9 50\n");
	assert_begins(t, 10, 15, 40);
	assert_begins(t, 20, 10, 40);
	assert_begins(t, 21, 15, 51);
	assert_begins(t, 30, 10, 40);
	assert_begins(t, 31, 51, 0);
	assert_begins(t, 40, 40, 0);
	assert_begins(t, 41, 51, 0);
	assert_begins(t, 50, 10, 50);
	assert_begins(t, 51, 60, 60);
	assert_begins(t, 60, 40, 0);
	assert_begins(t, 80, 30, 0);
	assert_begins(t, 81, 25, 50);
	assert_begins(t, 90, 40, 0);
	trace_free(t);
}

/* 7 reads and wakes 8 at 44, which begins the interval at 50: in the socket, 7 has it, handed over, 8 has it. */
static void test_handed_over(void **state)
{
	struct trace *t;

	(void)state;
	arrivals_begin();
	exchange(7, 8, 10, 40, 90);
	k.exchanges.items[0].last_read_ns = 43;
	t = arrivals_end("interval 1 r 8 50 8 80\n"
			 "segment 7 - 0 100 running\nsegment 8 - 0 44 cond\nsegment 8 - 44 50 running\nsegment 8 1 50 80 running\n"
			 "wakeup 8 7 44\n");
	assert_begins(t, 1, 10, 50);
	assert_int_equal(interval_of(t, 1)->start_tid, 7);
	assert_path(t, 1, "arrived 30, running 3, handed-over 1, running 6, running 30");
	trace_free(t);
}

/* 7 reads two, at 20 and 30, works for the first until 60, and begins the second at 65, which arrived at 15. */
static void test_behind_another(void **state)
{
	struct trace *t;

	(void)state;
	arrivals_begin();
	exchange(7, 7, 10, 20, 90);
	exchange(7, 7, 15, 30, 91);
	t = arrivals_end("interval 1 r 7 40 7 60\ninterval 2 r 7 65 7 80\n"
			 "segment 7 - 0 40 running\nsegment 7 1 40 60 running\nsegment 7 - 60 65 running\nsegment 7 2 65 80 running\n"
			 "invocation 7 1 handle 40 60\n");
	assert_path(t, 1, "arrived 10, running 20, running 20");
	assert_path(t, 2, "arrived 5, arrived 20, arrived 20, running 5, running 15");
	trace_free(t);
}

/* Requests wake an idle thread that gets a CPU 10 or 90 later: what varies is the run queue, not what it waited in. */
static void test_without_cpu(void **state)
{
	struct analyze_options o = { .interval = NULL };
	char text[60000] = "invocation 7 - loop 0 90000\n", *at = text + strlen(text);
	struct findings *f = NULL;
	struct trace *t;

	(void)state;
	arrivals_begin();
	life(KERNEL_SEEN, 7, 0, "server");
	life(KERNEL_SEEN, 9, 0, "client");
	for (int i = 0, done_ns = 0; i < 200; i++) {
		int ns = 1000 + i * 300, in_ns = ns + (i % 3 ? 10 : 90);

		off(7, ns - 150, in_ns, POLL, ns, WAKER_TASK, 9);
		exchange(7, 7, ns, in_ns + 5, in_ns + 20);
		at += sprintf(at, "interval %d r 7 %d 7 %d\nsegment 7 - %d %d running\nsegment 7 %d %d %d running\n", i + 1, in_ns + 6,
			      in_ns + 18, done_ns, in_ns + 6, i + 1, in_ns + 6, in_ns + 18);
		done_ns = in_ns + 18;
	}
	t = arrivals_end(text);
	assert_begins(t, 1, 1000, 1096);
	assert_int_equal(analyze(t, &o, &f), 0);
	assert_true(f->causes.cnt > 0 && f->causes.items[0].known && f->causes.items[0].share > .99);
	assert_int_equal(f->causes.items[0].how, HOW_RUNQUEUE);
	findings_free(f);
	trace_free(t);
}

/* Intervals of two names on one thread: each name finds its reads by itself. */
static void test_names(void **state)
{
	struct trace *t;

	(void)state;
	arrivals_begin();
	exchange(7, 7, 10, 20, 90);
	t = arrivals_end("interval 1 outer 7 40 7 80\ninterval 2 inner 7 50 7 70\n");
	assert_begins(t, 1, 10, 40);
	assert_begins(t, 2, 10, 50);
	trace_free(t);
}

/* ---- random loops, each of whose intervals is known to be about one of its reads ---- */

enum { LOOPS = 300, INTERVALS_MAX = LOOPS * 4 };

struct expected {
	int64_t start_ns, begun_ns;
};

static struct expected expected[INTERVALS_MAX + 1];
static char tuples[INTERVALS_MAX * 120];
static size_t tuples_len;
static int interval_cnt;

static int64_t some(int64_t max)
{
	return 1 + rand() % max;
}

static void interval(int64_t start_ns, int64_t end_ns, int64_t arrival_ns)
{
	bool is_known = arrival_ns >= 0;

	expected[++interval_cnt] = (struct expected){ is_known && arrival_ns < start_ns ? arrival_ns : start_ns, is_known ? start_ns : 0 };
	tuples_len += (size_t)sprintf(tuples + tuples_len, "interval %d r 7 %lld 7 %lld\nsegment 7 %d %lld %lld running\n", interval_cnt,
				      (long long)start_ns, (long long)end_ns, interval_cnt, (long long)start_ns, (long long)end_ns);
}

/* Reads cnt requests, then begins and ends begins intervals; known: this number of first intervals are about the reads, in turn. */
static int64_t reads_then_begins(int64_t ns, int cnt, int begins, int known)
{
	int64_t arrivals[4] = { 0 };

	for (int i = 0; i < cnt; i++) {
		arrivals[i] = ns - some(50);
		ns += some(20);
		exchange(7, 7, arrivals[i], ns, ns + 1000);
	}
	for (int i = 0; i < begins; i++) {
		int64_t start_ns = ns + some(20);

		ns = start_ns + some(20);
		interval(start_ns, ns, i < known ? arrivals[begins == 1 ? cnt - 1 : i] : -1);
	}
	return ns;
}

static int64_t begin_then_read(int64_t ns)
{
	int64_t start_ns = ns + some(20), read_ns = start_ns + some(20), arrival_ns = read_ns - some(60);

	exchange(7, 7, arrival_ns, read_ns, read_ns + some(5));
	interval(start_ns, read_ns + some(20) + 6, arrival_ns);
	return read_ns + 30;
}

static void test_random(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		int64_t ns = 1000;
		struct trace *t;

		srand(seed);
		tuples_len = 0;
		interval_cnt = 0;
		arrivals_begin();
		for (int i = 0; i < LOOPS; i++) {
			int cnt = 1 + rand() % 4, kind = seed % 4 ? rand() % 3 : 3;	/* a loop reads before it begins, or inside */

			ns = kind == 0 ? reads_then_begins(ns, cnt, 1, 1) : kind == 1 ? reads_then_begins(ns, cnt, cnt, cnt) :
			     kind == 2 ? reads_then_begins(ns, 1, cnt, 1) : begin_then_read(ns);
			ns += 100;
		}
		t = arrivals_end(tuples);
		for (int i = 1; i <= interval_cnt; i++) {
			int64_t sum_ns = 0;
			struct timeline *tl = NULL;
			pieces path = { NULL, 0, 0 };

			assert_begins(t, (uint64_t)i, expected[i].start_ns, expected[i].begun_ns);
			if (i % 50)
				continue;
			tl = timeline_new(t);
			assert_int_equal(critical_path(tl, interval_of(t, (uint64_t)i), &path), 0);
			for (size_t at = 0; at < path.cnt; at++)
				sum_ns += path.items[at].end_ns - path.items[at].start_ns;
			assert_int_equal(sum_ns, interval_of(t, (uint64_t)i)->end_ns - expected[i].start_ns);
			VEC_RELEASE(&path);
			timeline_free(tl);
		}
		trace_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_then_begin),
		cmocka_unit_test(test_blames),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_handed_over),
		cmocka_unit_test(test_behind_another),
		cmocka_unit_test(test_without_cpu),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_requests.c - which request on a socket owns a thread's time (trace/kernel/requests.h): by hand, and of random ones
 * against the definition, nanosecond by nanosecond.
 */
#include "analysis/analyze.h"
#include "analysis/path/critical_path.h"
#include "tests/unit/trace/kernel_side.h"

enum { EPOLL_WAIT = 232 };

static void exchange(uint32_t connection, uint32_t receiver, uint32_t sender, int64_t start_ns, int64_t read_ns, int64_t sent_ns)
{
	VEC_ADD(&k.exchanges, (struct kernel_exchange){
		.connection = connection, .port = 80, .flags = EXCHANGE_ARRIVAL, .receiver = receiver, .sender = sender,
		.bytes_in = 10, .bytes_out = 20, .start_ns = start_ns, .first_read_ns = read_ns, .last_read_ns = read_ns,
		.first_send_ns = sent_ns, .last_send_ns = sent_ns });
}

static void stack(uint32_t tid, int64_t ns, enum kernel_stack_reason reason, const char *text)
{
	for (size_t i = 0; i < k.texts.cnt; i++)
		if (strcmp(k.texts.items[i], text) == 0) {
			VEC_ADD(&k.stacks, (struct kernel_stack){ tid, (uint32_t)i, ns, reason });
			return;
		}
	VEC_ADD(&k.texts, text);
	VEC_ADD(&k.stacks, (struct kernel_stack){ tid, (uint32_t)k.texts.cnt - 1, ns, reason });
}

static void look_begins(int64_t end_ns)
{
	begin(1, end_ns);
	k.has_exchanges = true;
	VEC_ADD(&k.system, "read");
	VEC_ADD(&k.system, "epoll_wait");
	VEC_ADD(&k.system, "fdatasync");
	VEC_ADD(&k.system, "syscall");
	VEC_ADD(&k.system, "inner");
	VEC_ADD(&k.system, "__libc_start_main");
}

/* "arrived 4, running 6": states and lengths of a request's path, those alike joined. */
static void assert_path(struct trace *t, size_t interval, const char *expected)
{
	struct timeline *tl = timeline_new(t);
	pieces path = { NULL, 0, 0 };
	char text[400] = "";

	assert_true(interval < t->intervals.cnt);
	assert_int_equal(critical_path(tl, &t->intervals.items[interval], &path), 0);
	for (size_t i = 0; i < path.cnt; ) {
		enum trace_state wait = path.items[i].wait;
		int64_t ns = 0;

		for (; i < path.cnt && path.items[i].wait == wait; i++)
			ns += path.items[i].end_ns - path.items[i].start_ns;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s %lld", *text ? ", " : "", trace_state_name(wait),
			 (long long)ns);
	}
	assert_string_equal(text, expected);
	VEC_RELEASE(&path);
	timeline_free(tl);
}

static const char *function_at(const struct trace *t, uint64_t tid, int64_t ns)
{
	const char *name = "";

	for (size_t i = 0; i < t->invocations.cnt; i++) {
		const struct invocation *v = &t->invocations.items[i];

		if (v->tid == tid && v->start_ns < ns && ns <= v->end_ns)
			name = t->functions.items[v->function].name;
	}
	return name;
}

/* One thread, one request at a time: it waits for it, reads, waits for a disk, answers. */
static void test_same_thread(void **state)
{
	struct trace *t;

	(void)state;
	look_begins(100);
	life(KERNEL_SEEN, 7, 1, "server");
	off(7, 5, 14, EPOLL_WAIT, 11, WAKER_TASK, 0);
	stack(7, 5, STACK_OUT, "_start;__libc_start_main;main;loop;epoll_wait;inner");
	off(7, 20, 26, PREAD, 25, WAKER_DISK, DISK)->flags |= OFF_IOWAIT;
	stack(7, 20, STACK_OUT, "_start;__libc_start_main;main;loop;handle;[server];fdatasync;syscall");
	exchange(1, 7, 7, 10, 15, 30);
	t = look_ends();
	assert_int_equal(t->intervals.cnt, 1);
	assert_string_equal(t->interval_names.items[0], "port 80");
	assert_path(t, 0, "arrived 5, running 5, io 5, wakeup 1, running 4");
	assert_string_equal(function_at(t, 7, 22), "fdatasync");
	assert_string_equal(function_at(t, 7, 10), "epoll_wait");
	assert_string_equal(function_at(t, 7, 12), "");		/* woken: the idle function does nothing to the request */
	trace_free(t);
}

/* Requests arrive, and wake an idle thread that gets a CPU after 10 or after 90: the run queue's doing, not the loop's.  One that is
 * preempted in the loop itself is another matter. */
static void test_idle_is_not_blamed(void **state)
{
	struct analyze_options o = { .interval = NULL };
	struct findings *f = NULL;
	struct trace *t;

	(void)state;
	look_begins(100000);
	life(KERNEL_SEEN, 7, 1, "server");
	life(KERNEL_SEEN, 9, 0, "client");
	for (int64_t i = 0; i < 200; i++) {
		int64_t at_ns = 1000 + i * 300, in_ns = at_ns + (i % 3 ? 10 : 90);

		off(7, at_ns - 150, in_ns, EPOLL_WAIT, at_ns, WAKER_TASK, 9);
		stack(7, at_ns - 150, STACK_OUT, "main;loop;epoll_wait");
		exchange(1, 7, 7, at_ns, in_ns + 5, in_ns + 20);
	}
	t = look_ends();
	assert_int_equal(analyze(t, &o, &f), 0);
	assert_true(f->causes.cnt > 0 && f->causes.items[0].share > .99);
	assert_null(f->causes.items[0].function);
	assert_int_equal(f->causes.items[0].how, HOW_RUNQUEUE);
	assert_true(f->causes.items[0].known);
	findings_free(f);
	trace_free(t);
}

/* The example of request_turns.c: read at 10 and at 20, both answered in the end; the reader is seen at 28, not at 31. */
static void test_batch(void **state)
{
	struct trace *t;

	(void)state;
	look_begins(100);
	life(KERNEL_SEEN, 7, 1, "server");
	off(7, 2, 8, EPOLL_WAIT, 7, WAKER_TASK, 0);
	stack(7, 2, STACK_OUT, "main;loop;epoll_wait");
	stack(7, 11, STACK_SAMPLE, "main;loop;on_readable;take;read");
	stack(7, 28, STACK_SAMPLE, "main;loop;on_readable;sort");
	stack(7, 31, STACK_SAMPLE, "main;loop;flush");
	exchange(1, 7, 7, 6, 10, 40);
	exchange(2, 7, 7, 9, 20, 42);
	t = look_ends();
	assert_int_equal(t->intervals.cnt, 2);
	assert_path(t, 0, "arrived 4, running 10, busy 11, running 9");	/* 6..10..20..31..40 */
	assert_path(t, 1, "arrived 1, busy 10, running 22");		/* 9..10..20..42 */
	for (size_t i = 0; i < t->functions.cnt; i++) {		/* those around the wait for requests, and no others */
		const char *name = t->functions.items[i].name;

		assert_int_equal(t->functions.items[i].is_loop, strcmp(name, "main") == 0 || strcmp(name, "loop") == 0);
	}
	trace_free(t);
}

/* Read by 7, which wakes 8 as it has passed it on; 8 answers.  The next one waits until 8 has done with the first. */
static void test_handed_over(void **state)
{
	struct trace *t;

	(void)state;
	look_begins(100);
	life(KERNEL_SEEN, 7, 1, "reader");
	life(KERNEL_SEEN, 8, 1, "worker");
	off(7, 2, 12, EPOLL_WAIT, 10, WAKER_TASK, 0);
	off(8, 2, 19, FUTEX, 16, WAKER_TASK, 7);
	exchange(1, 7, 8, 10, 14, 30);
	exchange(2, 7, 8, 20, 22, 40);
	t = look_ends();
	assert_path(t, 0, "arrived 4, handed-over 2, runnable 3, running 11");
	assert_path(t, 1, "arrived 2, handed-over 8, running 10");
	trace_free(t);
}

/* In the middle of a request the thread waits where it waits without one. */
static void test_parked(void **state)
{
	struct trace *t;

	(void)state;
	look_begins(100);
	life(KERNEL_SEEN, 7, 1, "proxy");
	off(7, 2, 9, EPOLL_WAIT, 8, WAKER_TASK, 0);
	stack(7, 2, STACK_OUT, "main;loop;epoll_wait");
	off(7, 15, 35, EPOLL_WAIT, 33, WAKER_TASK, 0);
	stack(7, 15, STACK_OUT, "main;loop;epoll_wait");
	exchange(1, 7, 7, 8, 10, 40);
	t = look_ends();
	assert_path(t, 0, "arrived 2, running 5, parked 20, running 5");
	trace_free(t);
}

/* Exchanges that came one after the other, of these sizes; how many hold several requests. */
static uint64_t bursts_of(const uint32_t *sizes, size_t cnt)
{
	struct trace *t;
	uint64_t several;

	look_begins(100000);
	life(KERNEL_SEEN, 7, 1, "server");
	for (size_t i = 0; i < cnt; i++) {
		exchange(1, 7, 7, 10 + (int64_t)i * 20, 12 + (int64_t)i * 20, 18 + (int64_t)i * 20);
		k.exchanges.items[i].bytes_in = sizes[i];
	}
	t = look_ends();
	several = t->look.several;
	trace_free(t);
	return several;
}

/* HTTP/2 with requests of 23 bytes; what is no burst: one size, sizes that are no multiples, too few multiples of another. */
static void test_bursts(void **state)
{
	uint32_t sizes[100];

	(void)state;
	for (size_t i = 0; i < 100; i++)
		sizes[i] = 23 * (uint32_t)(1 + i % 10);
	assert_int_equal(bursts_of(sizes, 100), 90);
	sizes[55] = 24;
	assert_int_equal(bursts_of(sizes, 100), 89);
	for (size_t i = 0; i < 6; i++)
		sizes[10 * i + 5] = 24;
	assert_int_equal(bursts_of(sizes, 100), 0);
	for (size_t i = 0; i < 100; i++)
		sizes[i] = 20 + (uint32_t)i % 10;
	assert_int_equal(bursts_of(sizes, 100), 0);
	for (size_t i = 0; i < 100; i++)
		sizes[i] = i % 3 ? 20 : 40;		/* GET and SET, perhaps */
	assert_int_equal(bursts_of(sizes, 100), 0);
	for (size_t i = 0; i < 100; i++)
		sizes[i] = 23;
	assert_int_equal(bursts_of(sizes, 100), 0);
	for (size_t i = 0; i < 100; i++)
		sizes[i] = 1 + (uint32_t)i % 10;	/* a shell's lines */
	assert_int_equal(bursts_of(sizes, 100), 0);
}

/* No interval: the first bytes came before anybody looked. */
static void test_begun_before(void **state)
{
	struct trace *t;

	(void)state;
	look_begins(100);
	life(KERNEL_SEEN, 7, 1, "server");
	exchange(1, 7, 7, 10, 10, 20);
	k.exchanges.items[0].flags = 0;
	exchange(1, 7, 7, 30, 32, 40);
	t = look_ends();
	assert_int_equal(t->intervals.cnt, 1);
	assert_int_equal(t->intervals.items[0].start_ns, 30);
	assert_int_equal(t->look.unseen_arrivals, 1);
	trace_free(t);
}

/* ---- random turns of one thread ---- */

enum { EXCHANGES_MAX = 8, TIME_MAX = 120 };

struct turn_of {
	int64_t read_ns, sent_ns;
};

/* The owner of the nanosecond that ends at ns: 0 none, else 1 + the exchange; -1: several.  The exchange read last owns it, until
 * it is answered or an answer was sent; then all that are not answered yet own it. */
static int owner_at(const struct turn_of *x, size_t cnt, int64_t ns)
{
	int64_t latest_ns = -1, at_ns = ns - 1;
	int latest = -1, active = 0, one = -1;
	bool answered = false;

	for (size_t i = 0; i < cnt; i++) {
		if (x[i].read_ns <= at_ns && x[i].read_ns > latest_ns) {
			latest = (int)i;
			latest_ns = x[i].read_ns;
		}
		if (x[i].read_ns <= at_ns && at_ns < x[i].sent_ns) {
			active++;
			one = (int)i;
		}
	}
	for (size_t i = 0; i < cnt; i++)
		answered = answered || (x[i].read_ns <= at_ns && x[i].sent_ns > latest_ns && x[i].sent_ns <= at_ns);
	if (active < 2)
		return active ? one + 1 : 0;
	return answered ? -1 : latest + 1;
}

static void check_turns(const struct turn_of *x, size_t cnt)
{
	uint64_t sid_of[EXCHANGES_MAX];
	struct trace *t;

	look_begins(TIME_MAX + 10);
	life(KERNEL_SEEN, 7, 1, "server");
	stack(7, TIME_MAX + 5, STACK_SAMPLE, "main;reader;read");	/* so that the reader is known */
	for (size_t i = 0; i < cnt; i++)
		exchange((uint32_t)i + 1, 7, 7, x[i].read_ns - 1, x[i].read_ns, x[i].sent_ns);
	t = look_ends();
	assert_int_equal(t->intervals.cnt, cnt);
	for (size_t i = 0; i < t->intervals.cnt; i++)
		for (size_t j = 0; j < cnt; j++)
			if (t->intervals.items[i].start_ns == x[j].read_ns - 1)
				sid_of[j] = t->intervals.items[i].sid;
	for (size_t i = 0; i < t->segments.cnt; i++) {
		const struct segment *g = &t->segments.items[i];

		for (int64_t ns = g->start_ns + 1; ns <= g->end_ns && ns <= TIME_MAX; ns++) {
			int owner = owner_at(x, cnt, ns);

			if (g->sid != (owner < 0 ? SID_SHARED : owner == 0 ? SID_NONE : sid_of[owner - 1]))
				fail_msg("at %lld: %d expected, SID %llu is there", (long long)ns, owner, (unsigned long long)g->sid);
		}
	}
	for (size_t i = 0; i < t->intervals.cnt; i++) {
		struct timeline *tl = timeline_new(t);
		pieces path = { NULL, 0, 0 };

		assert_int_equal(critical_path(tl, &t->intervals.items[i], &path), 0);
		for (size_t j = 0; j < path.cnt; j++)
			for (int64_t ns = path.items[j].start_ns + 1; ns <= path.items[j].end_ns; ns++) {
				int owner = owner_at(x, cnt, ns);
				bool own = owner < 0 || (owner > 0 && sid_of[owner - 1] == t->intervals.items[i].sid);
				bool is_read = ns > t->intervals.items[i].start_ns + 1;

				assert_int_equal(path.items[j].wait, is_read && own ? STATE_RUNNING :
						 owner ? STATE_BUSY : STATE_ARRIVED);
			}
		VEC_RELEASE(&path);
		timeline_free(tl);
	}
	trace_free(t);
}

static void test_random(void **state)
{
	(void)state;
	srand(5);
	for (int round = 0; round < 3000; round++) {
		struct turn_of x[EXCHANGES_MAX];
		size_t cnt = (size_t)rand() % EXCHANGES_MAX + 1;
		bool used[TIME_MAX + 2] = { false };

		for (size_t i = 0; i < cnt; i++) {
			do
				x[i].read_ns = rand() % (TIME_MAX / 2) + 3;
			while (used[x[i].read_ns]);
			used[x[i].read_ns] = true;
			do
				x[i].sent_ns = x[i].read_ns + rand() % 50 + 1;
			while (used[x[i].sent_ns]);
			used[x[i].sent_ns] = true;
		}
		check_turns(x, cnt);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_thread), cmocka_unit_test(test_idle_is_not_blamed), cmocka_unit_test(test_bursts), cmocka_unit_test(test_batch), cmocka_unit_test(test_handed_over),
		cmocka_unit_test(test_parked), cmocka_unit_test(test_begun_before), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

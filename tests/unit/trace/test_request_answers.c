/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_request_answers.c - requests that an event loop puts aside for the answers of other servers (trace/kernel/request_answers.c): by
 * hand, and of random loops, which know what each request waited for.
 */
#include "analysis/path/critical_path.h"
#include "tests/unit/trace/kernel_side.h"

enum { EPOLL_WAIT = 232, LOOP = 7, SERVERS = 3 };

static const char *const server_names[SERVERS] = { "10.0.0.1:1", "10.0.0.2:2", "10.0.0.3:3" };

static void loop_begins(int64_t end_ns)
{
	begin(1, end_ns);
	k.has_exchanges = true;
	life(KERNEL_SEEN, LOOP, 1, "proxy");
	VEC_ADD(&k.texts, "main;loop;epoll_wait");
	VEC_ADD(&k.system, "epoll_wait");
	for (int i = 0; i < SERVERS; i++)
		VEC_ADD(&k.upstream_names, server_names[i]);
}

static void polls(int64_t out_ns, int64_t in_ns, int64_t woken_ns)
{
	off(LOOP, out_ns, in_ns, EPOLL_WAIT, woken_ns, WAKER_SOFTIRQ, 3);
	VEC_ADD(&k.stacks, (struct kernel_stack){ LOOP, 0, out_ns, STACK_OUT });
}

static void answered_by(uint32_t server, uint32_t connection, int64_t sent_ns, int64_t arrival_ns, int64_t ns, bool after_wait)
{
	VEC_ADD(&k.upstreams, (struct kernel_upstream){ .tid = LOOP, .name = server, .connection = connection, .after_wait = after_wait,
							.sent_ns = sent_ns, .arrival_ns = arrival_ns, .ns = ns });
}

static void exchange(uint32_t connection, int64_t start_ns, int64_t read_ns, int64_t send_ns)
{
	VEC_ADD(&k.exchanges, (struct kernel_exchange){
		.connection = connection, .port = 80, .flags = EXCHANGE_ARRIVAL, .receiver = LOOP, .sender = LOOP, .bytes_in = 10,
		.bytes_out = 20, .start_ns = start_ns, .first_read_ns = read_ns, .last_read_ns = read_ns, .first_send_ns = send_ns,
		.last_send_ns = send_ns });
}

static const struct interval *interval_from(const struct trace *t, int64_t start_ns)
{
	for (size_t i = 0; i < t->intervals.cnt; i++)
		if (t->intervals.items[i].start_ns == start_ns)
			return &t->intervals.items[i];
	fail_msg("no interval begins at %lld", (long long)start_ns);
	return NULL;
}

static uint64_t peer_named(const struct trace *t, const char *name)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].kind == KIND_PEER && strcmp(t->threads.items[i].name, name) == 0)
			return t->threads.items[i].tid;
	return UINT64_MAX;
}

/* What the interval's path has: of waits for each server, and of its thread's own running. */
static void sum_path(const struct trace *t, const struct interval *iv, int64_t *ret_waits, int64_t *ret_running_ns)
{
	struct timeline *tl = timeline_new(t);
	pieces path = { NULL, 0, 0 };

	*ret_running_ns = 0;
	assert_int_equal(critical_path(tl, iv, &path), 0);
	for (int s = 0; s < SERVERS; s++)
		ret_waits[s] = 0;
	for (size_t i = 0; i < path.cnt; i++) {
		const struct piece *p = &path.items[i];

		for (int s = 0; s < SERVERS; s++)
			if (p->taken_up_tid && p->taken_up_tid == peer_named(t, server_names[s]))
				ret_waits[s] += p->end_ns - p->start_ns;
		if (p->state == STATE_RUNNING)
			*ret_running_ns += p->end_ns - p->start_ns;
	}
	VEC_RELEASE(&path);
	timeline_free(tl);
}

/*
 *	X arrives at 100, is read at 102, asks server 0 at 110; put aside.  Y arrives at 248, is read at 250, and asks server 2 at 318.
 *	Server 0's answer arrives at 300, meanwhile, and is read at 322; X asks server 1 at 330, whose answer arrives at 398.
 *	read at 402; X is answered at 410, Y at 500.
 */
static void test_one_after_the_other(void **state)
{
	int64_t waits[SERVERS], running_ns;
	struct trace *t;

	(void)state;
	loop_begins(600);
	polls(10, 101, 100);
	exchange(1, 100, 102, 410);
	polls(112, 249, 248);
	exchange(2, 248, 250, 500);
	answered_by(0, 1, 110, 300, 322, false);
	polls(332, 400, 398);
	answered_by(1, 1, 330, 398, 402, true);
	polls(412, 480, 479);
	answered_by(2, 2, 318, 479, 482, true);
	polls(510, 590, 589);
	t = look_ends();
	sum_path(t, interval_from(t, 100), waits, &running_ns);
	assert_int_equal(waits[0], 190);
	assert_int_equal(waits[1], 68);
	assert_int_equal(waits[2], 0);
	assert_int_equal(running_ns, (110 - 102) + (330 - 322) + (410 - 400));	/* on the way from the poll it works for both */
	sum_path(t, interval_from(t, 248), waits, &running_ns);
	assert_int_equal(waits[0], 0);
	assert_int_equal(waits[1], 0);
	assert_int_equal(waits[2], 479 - 318);
	trace_free(t);
}

/* Both are asked at once: the later answer is what the request waited for. */
static void test_at_once(void **state)
{
	int64_t waits[SERVERS], running_ns;
	struct trace *t;

	(void)state;
	loop_begins(600);
	polls(10, 101, 100);
	exchange(1, 100, 102, 410);
	polls(112, 200, 199);
	answered_by(0, 1, 108, 199, 202, true);
	polls(205, 400, 398);
	answered_by(1, 1, 110, 398, 402, true);
	polls(412, 590, 589);
	t = look_ends();
	sum_path(t, interval_from(t, 100), waits, &running_ns);
	assert_int_equal(waits[0], 0);
	assert_int_equal(waits[1], 288);
	trace_free(t);
}

/* The thread waits for the answer itself: the wait is its own, in the function that waits. */
static void test_not_put_aside(void **state)
{
	int64_t waits[SERVERS], running_ns;
	struct trace *t;

	(void)state;
	loop_begins(600);
	VEC_ADD(&k.texts, "main;loop;handle;recv");
	VEC_ADD(&k.system, "recv");
	polls(10, 101, 100);
	exchange(1, 100, 102, 410);
	off(LOOP, 112, 400, EPOLL_WAIT, 398, WAKER_SOFTIRQ, 3);
	VEC_ADD(&k.stacks, (struct kernel_stack){ LOOP, 1, 112, STACK_OUT });
	answered_by(0, 1, 110, 398, 402, true);
	polls(412, 590, 589);
	t = look_ends();
	sum_path(t, interval_from(t, 100), waits, &running_ns);
	assert_int_equal(waits[0], 0);
	trace_free(t);
}

/* ---- random loops ---- */

enum { REQUESTS = 12, ASKS_MAX = 3, IDLE = -1 };

struct simulated {			/* a request */
	int64_t event_ns;		/* it arrives, or an answer does; INT64_MAX: nothing will */
	int64_t start_ns, read_ns, sent_ns;
	int64_t waits[SERVERS], running_ns;
	int server, asks;		/* server: that it waits for, or IDLE before it is read */
};

static struct simulated *next_event(struct simulated *all)
{
	struct simulated *next = &all[0];

	for (int i = 1; i < REQUESTS; i++)
		if (all[i].event_ns < next->event_ns)
			next = &all[i];
	return next->event_ns == INT64_MAX ? NULL : next;
}

/* The loop handles the event from at_ns on; returns until when. */
static int64_t handle(struct simulated *r, uint32_t connection, int64_t at_ns, bool after_wait)
{
	int64_t end_ns = at_ns + 2 + rand() % 20;

	if (r->server == IDLE) {
		r->read_ns = at_ns;
	} else {
		r->waits[r->server] += r->event_ns - r->sent_ns;
		answered_by((uint32_t)r->server, connection, r->sent_ns, r->event_ns, at_ns, after_wait);
	}
	r->running_ns += end_ns - at_ns;
	if (r->asks-- > 0) {
		r->server = rand() % SERVERS;
		r->sent_ns = end_ns;
		r->event_ns = end_ns + 30 + rand() % 200;
	} else {
		r->event_ns = INT64_MAX;
		exchange(connection, r->start_ns, r->read_ns, end_ns);
	}
	return end_ns + 1;
}

static void test_random(void **state)
{
	(void)state;
	srand(11);
	for (int round = 0; round < 200; round++) {
		struct simulated all[REQUESTS], *r;
		int64_t at_ns = 20;
		struct trace *t;

		loop_begins(100000);
		polls(5, at_ns, at_ns - 1);
		for (int i = 0; i < REQUESTS; i++) {
			int64_t start_ns = 60 + rand() % 600 * 3 + i % 3;

			all[i] = (struct simulated){ .event_ns = start_ns, .start_ns = start_ns, .server = IDLE, .asks = rand() % (ASKS_MAX + 1) };
		}
		while ((r = next_event(all))) {
			bool waits = r->event_ns > at_ns + 5;

			if (waits)
				polls(at_ns, r->event_ns + 1, r->event_ns);
			at_ns = handle(r, (uint32_t)(r - all) + 1, waits ? r->event_ns + 2 : at_ns > r->event_ns ? at_ns : r->event_ns + 1, waits);
		}
		polls(at_ns + 1, at_ns + 50, at_ns + 49);
		t = look_ends();
		assert_int_equal(t->intervals.cnt, REQUESTS);
		for (int i = 0; i < REQUESTS; i++) {
			int64_t waits[SERVERS], running_ns;
			const struct interval *iv = NULL;

			for (size_t j = 0; j < t->intervals.cnt; j++)
				if (t->requests.items[j].connection == (uint32_t)i + 1)
					iv = &t->intervals.items[j];
			assert_non_null(iv);
			sum_path(t, iv, waits, &running_ns);
			for (int s = 0; s < SERVERS; s++)
				assert_int_equal(waits[s], all[i].waits[s]);
			assert_true(llabs(running_ns - all[i].running_ns) <= 3 * (ASKS_MAX + 1));
		}
		trace_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_after_the_other), cmocka_unit_test(test_at_once), cmocka_unit_test(test_not_put_aside),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

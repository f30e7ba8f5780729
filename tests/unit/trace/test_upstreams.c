/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_upstreams.c - which server a wait was for (trace/kernel/upstreams.h): by hand, and of random ones against the definition. */
#include "analysis/analyze.h"
#include "tests/unit/trace/kernel_side.h"

enum { EPOLL_WAIT = 232, RECVFROM = 45 };

static void read_from(uint32_t tid, int64_t ns, uint32_t name)
{
	VEC_ADD(&k.upstreams, (struct kernel_upstream){ .tid = tid, .name = name, .ns = ns, .after_wait = true });
}

static void look_begins(int64_t end_ns)
{
	begin(1, end_ns);
	k.has_exchanges = true;
	VEC_ADD(&k.upstream_names, "127.0.0.1:5432");
	VEC_ADD(&k.upstream_names, "[::1]:53");
	VEC_ADD(&k.paths, "/run/db.sock");
}

static const struct thread_name *thread_of(const struct trace *t, uint64_t tid)
{
	for (size_t i = 0; i < t->threads.cnt; i++)
		if (t->threads.items[i].tid == tid)
			return &t->threads.items[i];
	return NULL;
}

/* The name of the peer that woke the thread then; "": no peer did. */
static const char *peer_at(const struct trace *t, uint64_t tid, int64_t ns)
{
	for (size_t i = 0; i < t->wakeups.cnt; i++) {
		const struct wakeup *w = &t->wakeups.items[i];
		const struct thread_name *waker = thread_of(t, w->waker_tid);

		if (w->tid == tid && w->time_ns == ns)
			return waker && waker->kind == KIND_PEER ? waker->name : "";
	}
	return "no wake-up";
}

static void test_waits(void **state)
{
	struct trace *t;

	(void)state;
	look_begins(400);
	life(KERNEL_SEEN, 7, 1, "proxy");
	life(KERNEL_SEEN, 8, 1, "helper");
	off(7, 10, 30, EPOLL_WAIT, 28, WAKER_SOFTIRQ, 3);
	read_from(7, 33, 0);
	off(7, 40, 60, EPOLL_WAIT, 58, WAKER_TASK, 99);		/* a process of the machine that is not of the run */
	preempted(7, 62, 64);
	read_from(7, 66, 1);
	off(7, 70, 90, RECVFROM, 88, WAKER_SOFTIRQ, 3);
	read_from(7, 92, EXCHANGE_PATH);
	off(7, 100, 120, EPOLL_WAIT, 118, WAKER_TASK, 8)->flags |= OFF_TASK_WAKER;
	read_from(7, 122, 0);					/* the helper ended that wait */
	off(7, 130, 150, FUTEX, 148, WAKER_TASK, 99);
	read_from(7, 152, 0);					/* no wait for files */
	off(7, 160, 180, EPOLL_WAIT, 178, WAKER_SOFTIRQ, 3);
	read_from(7, 182, EXCHANGE_PATH + 5);			/* a path that the file does not have */
	off(7, 190, 210, EPOLL_WAIT, 208, WAKER_SOFTIRQ, 3);	/* nothing is read after it */
	off(7, 220, 240, EPOLL_WAIT, 238, WAKER_SOFTIRQ, 3);
	read_from(7, 250, 0);
	off(8, 5, 110, EPOLL_WAIT, 108, WAKER_SOFTIRQ, 3);
	t = look_ends();
	assert_string_equal(peer_at(t, 7, 28), "127.0.0.1:5432");
	assert_string_equal(peer_at(t, 7, 58), "[::1]:53");
	assert_string_equal(peer_at(t, 7, 88), "/run/db.sock");
	assert_string_equal(peer_at(t, 7, 118), "");
	assert_string_equal(peer_at(t, 7, 148), "");
	assert_string_equal(peer_at(t, 7, 178), "");
	assert_string_equal(peer_at(t, 7, 208), "");
	assert_string_equal(peer_at(t, 7, 238), "127.0.0.1:5432");
	assert_string_equal(peer_at(t, 8, 108), "");
	trace_free(t);
}

/*
 * Findings of 40 requests, each parked at one of two servers; reads: what they answered is seen to be read.  The the loop serves others meanwhile: the latencies differ by that server's time.
 *
 *	request i at 1000 i: read, parked until the server answers (100 or 500 later), answered 10 later
 */
static struct findings *parked_findings(bool reads)
{
	struct analyze_options o = { .interval = "port 80" };
	struct findings *f = NULL;
	struct trace *t;

	look_begins(40 * 1000 + 1000);
	life(KERNEL_SEEN, 7, 1, "proxy");
	VEC_ADD(&k.texts, "main;loop;epoll_wait");
	VEC_ADD(&k.system, "epoll_wait");
	for (int i = 0; i < 40; i++) {
		int64_t at_ns = 1000 * (i + 1), server_ns = i % 4 ? 100 : 500;

		off(7, at_ns - (i % 5 + 1) * 90, at_ns + 2, EPOLL_WAIT, at_ns + 1, WAKER_SOFTIRQ, 3);
		VEC_ADD(&k.stacks, (struct kernel_stack){ 7, 0, at_ns - (i % 5 + 1) * 90, STACK_OUT });
		off(7, at_ns + 10, at_ns + 10 + server_ns, EPOLL_WAIT, at_ns + 8 + server_ns, WAKER_SOFTIRQ, 3);
		VEC_ADD(&k.stacks, (struct kernel_stack){ 7, 0, at_ns + 10, STACK_OUT });
		if (reads)
			read_from(7, at_ns + 12 + server_ns, i % 4 ? 1 : 0);
		VEC_ADD(&k.exchanges, (struct kernel_exchange){
			.connection = (uint32_t)i + 1, .port = 80, .flags = EXCHANGE_ARRIVAL, .receiver = 7, .sender = 7, .bytes_in = 10,
			.bytes_out = 20, .start_ns = at_ns, .first_read_ns = at_ns + 3, .last_read_ns = at_ns + 3,
			.first_send_ns = at_ns + 20 + server_ns, .last_send_ns = at_ns + 20 + server_ns });
	}
	t = look_ends();
	assert_int_equal(analyze(t, &o, &f), 0);
	trace_free(t);
	return f;
}

static void test_cause(void **state)
{
	_cleanup_(findings_freep) struct findings *f = parked_findings(true);
	double slow_share = 0;

	(void)state;
	for (size_t i = 0; i < f->causes.cnt; i++)
		if (f->causes.items[i].peer && strcmp(f->causes.items[i].peer, "127.0.0.1:5432") == 0)
			slow_share = f->causes.items[i].share;
	/* T = 20 + s; s is 500 in 10 of 40, else 100.  X, the slow server's part, is 498 or 0 and Y, the other's, 0 or 98, both
	 * less the 2 from the wake-up on: Cov(X,T)/Var(T) = 498/400. */
	assert_float_equal(slow_share, 498. / 400, .01);
	assert_string_equal(f->causes.items[0].peer, "127.0.0.1:5432");
}

/* Without that nobody is known to have had them, and the function in which the loop waits for anything is not blamed. */
static void test_nobody(void **state)
{
	_cleanup_(findings_freep) struct findings *f = parked_findings(false);

	(void)state;
	assert_false(f->causes.items[0].known);
	assert_float_equal(f->causes.items[0].share, 1, .01);
	assert_null(f->causes.items[0].function);
}

/* The definition: of the thread's waits that began before the read the last, if it is one for files, and the last wake-up in it until then. */
static const char *defined_peer(const struct trace *t, uint64_t tid, int64_t woken_ns)
{
	static char name[80];
	const struct kernel_upstream *of = NULL;

	for (size_t u = 0; u < k.upstreams.cnt; u++) {
		const struct segment *wait = NULL;

		for (size_t i = 0; i < t->segments.cnt; i++) {
			const struct segment *s = &t->segments.items[i];

			if (s->tid == tid && s->start_ns < k.upstreams.items[u].ns && s->state != STATE_RUNNING && s->state != STATE_RUNNABLE &&
			    (!wait || s->start_ns > wait->start_ns))
				wait = s;
		}
		if (k.upstreams.items[u].tid == tid && wait && wait->state == STATE_IO && woken_ns >= wait->start_ns && woken_ns <= wait->end_ns)
			of = &k.upstreams.items[u];
	}
	snprintf(name, sizeof(name), "%s", of ? k.upstream_names.items[of->name] : "");
	return name;
}

static void test_random(void **state)
{
	(void)state;
	srand(7);
	for (int round = 0; round < 300; round++) {
		struct trace *t = trace_new();

		look_begins(4000);
		for (uint32_t tid = 7; tid < 10; tid++) {
			int64_t ns = 2 + rand() % 30;

			life(KERNEL_SEEN, tid, 1, "proxy");
			for (int i = 0; i < 20; i++) {
				int64_t in_ns = ns + 5 + rand() % 40, woken_ns = in_ns - rand() % 3;

				if (rand() % 4 == 0)
					preempted(tid, ns, in_ns);
				else
					off(tid, ns, in_ns, rand() % 3 ? EPOLL_WAIT : FUTEX, woken_ns, WAKER_SOFTIRQ, 3);
				if (rand() % 2)
					read_from(tid, in_ns + 1 + rand() % 3, (uint32_t)rand() % 2);
				ns = in_ns + 5 + rand() % 20;
			}
		}
		kernel_sort(&k);
		kernel_merge(t, &k);
		for (size_t i = 0; i < t->wakeups.cnt; i++) {
			const struct wakeup *w = &t->wakeups.items[i];
			const struct thread_name *waker = thread_of(t, w->waker_tid);

			assert_string_equal(waker && waker->kind == KIND_PEER ? waker->name : "", defined_peer(t, w->tid, w->time_ns));
		}
		kernel_release(&k);
		trace_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits), cmocka_unit_test(test_cause), cmocka_unit_test(test_nobody), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_runtime.c - records the scenarios of target.c; what each leaves is known beforehand.
 *
 * A loaded machine makes waits longer, never shorter: lengths have a lower bound from the
 * scenario (HOLD_USEC less what the waiter needs to arrive) and a generous upper one.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/runtime/record.h"
#include "tests/runtime/scenarios.h"
#include "tests/unit/cmocka_all.h"

#ifndef TARGET
#define TARGET "tests/runtime/target"
#endif
#define HOLD_NS (HOLD_USEC * 1000LL)
#define SLACK_NS 2000000000LL		/* a very loaded machine */

/* Segments of a thread tile its life; invocations of a thread nest. */
static void check_sound(const struct trace *t)
{
	for (size_t i = 1; i < t->segments.cnt; i++) {
		const struct segment *a = &t->segments.items[i - 1], *b = a + 1;

		assert_true(a->start_ns < a->end_ns);
		if (a->tid == b->tid)
			assert_int_equal(a->end_ns, b->start_ns);
	}
	for (size_t i = 1; i < t->invocations.cnt; i++) {
		const struct invocation *a = &t->invocations.items[i - 1], *b = a + 1;

		if (a->tid == b->tid && b->start_ns < a->end_ns)
			assert_true(b->end_ns <= a->end_ns);
	}
}

/* arena_bytes 0: default. */
static struct recorded record_well_in(const char *scenario, size_t arena_bytes)
{
	struct recorded r = record(TARGET, scenario, 2, arena_bytes);

	assert_int_equal(r.exit_status, 0);
	assert_int_equal(r.stats.lost_records, 0);
	assert_int_equal(r.t->losses.records, 0);
	check_sound(r.t);
	return r;
}

static struct recorded record_well(const char *scenario)
{
	return record_well_in(scenario, 0);
}

static bool inside(const struct invocation *inner, const struct invocation *outer)
{
	return inner->tid == outer->tid && outer->start_ns <= inner->start_ns &&
	       inner->end_ns <= outer->end_ns;
}

static void test_calls(void **state)
{
	struct recorded r = record_well("calls");
	const struct invocation *root = find_call(r.t, "root", 0);

	(void)state;
	assert_int_equal(count_calls(r.t, "root"), 1);
	assert_int_equal(count_calls(r.t, "outer"), 1);
	assert_int_equal(count_calls(r.t, "inner"), 1);
	assert_int_equal(count_calls(r.t, "leaf"), 3);
	assert_true(inside(find_call(r.t, "outer", 0), root));
	assert_true(inside(find_call(r.t, "inner", 0), find_call(r.t, "outer", 0)));
	assert_true(inside(find_call(r.t, "leaf", 1), find_call(r.t, "inner", 0)));
	assert_true(find_call(r.t, "leaf", 2)->start_ns >= find_call(r.t, "outer", 0)->end_ns);
	assert_int_equal(r.t->intervals.cnt, 1);
	assert_int_equal(r.t->intervals.items[0].status, INTERVAL_COMPLETED);
	assert_string_equal(r.t->interval_names.items[0], "request");
	assert_int_equal(find_call(r.t, "leaf", 0)->sid, 1);
	assert_true(find_call(r.t, "leaf", 2)->sid == SID_NONE);
	assert_int_equal(r.t->works.cnt, 1);
	assert_int_equal(r.t->works.items[0].value, 42);
	assert_int_equal(r.stats.begins, 1);
	assert_int_equal(r.stats.functions, 12);
	recorded_release(&r);
}

/* Level 1: only inside intervals; level 0: nothing. */
static void test_levels(void **state)
{
	struct recorded r = record(TARGET, "calls", 1, 0);

	(void)state;
	assert_int_equal(count_calls(r.t, "root"), 0);
	assert_int_equal(count_calls(r.t, "outer"), 1);
	assert_int_equal(count_calls(r.t, "leaf"), 2);
	recorded_release(&r);
	r = record(TARGET, "calls", 0, 0);
	assert_int_equal(r.t->invocations.cnt, 0);
	assert_int_equal(r.t->intervals.cnt, 1);
	recorded_release(&r);
}

static void test_longjmp(void **state)
{
	struct recorded r = record_well("longjmp");
	const struct invocation *landed = find_call(r.t, "landed", 0);

	(void)state;
	assert_int_equal(count_calls(r.t, "jumper"), 3);
	assert_int_equal(count_calls(r.t, "landed"), 1);
	for (size_t i = 0; i < 3; i++) {
		assert_true(find_call(r.t, "jumper", i)->end_ns <= landed->start_ns);
		assert_true(inside(find_call(r.t, "jumper", i), find_call(r.t, "root", 0)));
	}
	assert_true(inside(landed, find_call(r.t, "root", 0)));
	assert_true(inside(find_call(r.t, "leaf", 0), landed));
	recorded_release(&r);
}

/* A call that longjmp() left ends before the next one from the same place, and takes no room any more. */
static void test_landings(void **state)
{
	struct recorded r = record_well("landings");

	(void)state;
#ifndef __x86_64__
	skip();
#endif
	assert_int_equal(count_calls(r.t, "jumper"), LANDINGS);
	for (size_t i = 1; i < LANDINGS; i++)
		assert_true(find_call(r.t, "jumper", i - 1)->end_ns <= find_call(r.t, "jumper", i)->start_ns);
	assert_int_equal(count_calls(r.t, "leaf"), 1);
	recorded_release(&r);
	r = record_well_in("landings of signals", 256 << 20);
	assert_int_equal(count_calls(r.t, "handler"), 2 * LANDINGS);
	assert_int_equal(count_calls(r.t, "deep"), 1000 * 101);
	recorded_release(&r);
}

static void test_deep(void **state)
{
	struct recorded r = record_well("deep");

	(void)state;
	assert_true(count_calls(r.t, "deep") >= 100);
	assert_int_equal(count_calls(r.t, "leaf"), 1);
	recorded_release(&r);
}

static void check_signals(const char *scenario)
{
	/* Room for all of it: on a busy machine the drainer may be late. */
	struct recorded r = record_well_in(scenario, 256 << 20);
	size_t handled = (size_t)r.t->works.items[0].value;

	assert_true(handled > 10);
	assert_int_equal(count_calls(r.t, "handler"), handled);
	assert_int_equal(count_calls(r.t, "inner"), 1000000);
	assert_int_equal(count_calls(r.t, "leaf"), 2000000 + handled);
	assert_int_equal(count_calls(r.t, "root"), 1);
	recorded_release(&r);
}

static void test_signals(void **state)
{
	(void)state;
	check_signals("signals");
	check_signals("altstack");
}

static void test_fork(void **state)
{
	struct recorded r = record_well("fork");
	uint64_t parent = find_call(r.t, "outer", 0)->tid;
	size_t in_child = 0;

	(void)state;
	assert_int_equal(count_calls(r.t, "leaf"), 100 + 2 * 400 + 2);
	assert_int_equal(count_calls(r.t, "inner"), 401);
	for (size_t i = 0; i < r.t->invocations.cnt; i++)
		in_child += r.t->invocations.items[i].tid != parent;
	assert_int_equal(in_child, 600);
	assert_int_equal(r.t->creations.cnt, 1);
	assert_int_equal(r.t->creations.items[0].tid, parent);
	assert_int_equal(r.t->threads.cnt, 2);
	assert_int_equal(r.stats.processes, 2);
	recorded_release(&r);
}

/* Both processes' records are there, each in its own thread. */
static void test_other_forks(void **state)
{
	struct recorded r = record_well("other forks");
	uint64_t parent = find_call(r.t, "root", 0)->tid;
	size_t in_child = 0;

	(void)state;
	for (size_t i = 0; i < r.t->invocations.cnt; i++)
		in_child += r.t->invocations.items[i].tid != parent;
	assert_int_equal(count_calls(r.t, "leaf"), 600);
	assert_int_equal(in_child, 300);
	assert_int_equal(r.stats.processes, 4);
	recorded_release(&r);
}

/* The first thread's end is not that of the process: the other's chunks are its own. */
static void test_outlived(void **state)
{
	struct recorded r = record_well("outlived");

	(void)state;
	assert_int_equal(count_calls(r.t, "leaf"), 5001);
	assert_int_equal(count_calls(r.t, "root"), 1);
	assert_int_equal(count_calls(r.t, "worker"), 1);
	assert_int_equal(r.t->threads.cnt, 2);
	recorded_release(&r);
}

static void test_exec(void **state)
{
	struct recorded r = record_well("exec");

	(void)state;
	assert_int_equal(count_calls(r.t, "outer"), 2);
	assert_int_equal(count_calls(r.t, "leaf"), 2 + 3);
	assert_int_equal(count_calls(r.t, "root"), 1);
	assert_int_equal(r.t->threads.cnt, 2);	/* the second image has its own number */
	assert_true(r.t->threads.items[1].tid == r.t->threads.items[0].tid + (1ULL << 32));
	recorded_release(&r);
}

/* SIGKILL: every closed call, and the two that were open. */
static void test_killed(void **state)
{
	struct recorded r = record(TARGET, "killed", 2, 0);

	(void)state;
	assert_int_equal(r.exit_status, 128 + 9);
	assert_int_equal(count_calls(r.t, "leaf"), 100000);
	assert_int_equal(count_calls(r.t, "root"), 1);
	assert_int_equal(count_calls(r.t, "outer"), 1);
	assert_int_equal(r.t->intervals.items[0].status, INTERVAL_COMPLETED);
	check_sound(r.t);
	recorded_release(&r);
}

/* Every record is in the trace or counted; the interval says that it is not whole. */
static void test_flood(void **state)
{
	struct recorded r = record(TARGET, "flood", 2, 1);
	uint64_t sum = count_calls(r.t, "leaf") + r.t->losses.records;

	(void)state;
	assert_int_equal(r.exit_status, 0);
	assert_true(r.t->losses.records > 0);
	assert_true(sum >= 1000000 && sum <= 1000000 + 5);
	assert_true(r.t->intervals.cnt == 0 || r.t->intervals.items[0].lost);
	recorded_release(&r);
}

static void test_plugin(void **state)
{
	struct recorded r = record_well("plugin");
	size_t sleeps = 0;

	(void)state;
	assert_int_equal(count_calls(r.t, "child"), 6);
	for (size_t i = 0; i < r.t->segments.cnt; i++)
		sleeps += r.t->segments.items[i].state == STATE_SLEEP;
	assert_int_equal(sleeps, 6);
	recorded_release(&r);
}

static void test_threads(void **state)
{
	struct recorded r = record_well("churn");

	(void)state;
	assert_int_equal(count_calls(r.t, "worker"), 2000);
	assert_int_equal(count_calls(r.t, "leaf"), 2000);
	assert_int_equal(r.t->creations.cnt, 2000);
	assert_int_equal(r.t->threads.cnt, 2001);
	recorded_release(&r);
	r = record_well("crowd");
	assert_int_equal(count_calls(r.t, "leaf"), 8 * 20000);
	assert_int_equal(r.t->threads.cnt, 9);
	assert_int_equal(r.t->creations.cnt, 8);
	recorded_release(&r);
}

/* waiter() blocks in state until holder() lets go, in one request. */
static void check_wait(const char *scenario, enum trace_state state)
{
	struct recorded r = record_well(scenario);
	const struct invocation *waiter = find_call(r.t, "waiter", 0);
	const struct invocation *holder = find_call(r.t, "holder", 0);
	const struct segment *wait = NULL;
	const struct wakeup *wakeup = NULL;

	print_message("%s\n", scenario);
	for (size_t i = 0; i < r.t->segments.cnt; i++) {
		const struct segment *s = &r.t->segments.items[i];

		if (s->tid == waiter->tid && s->state == state && s->sid == 1) {
			assert_null(wait);
			wait = s;
		}
	}
	assert_non_null(wait);
	assert_true(waiter->start_ns <= wait->start_ns && wait->end_ns <= waiter->end_ns);
	assert_true(wait->end_ns - wait->start_ns <= holder->end_ns - holder->start_ns + SLACK_NS);
	/* The holder held on for HOLD_NS from its start; the waiter came in between. */
	assert_true(wait->end_ns - holder->start_ns >= HOLD_NS);
	for (size_t i = 0; i < r.t->wakeups.cnt; i++)
		if (r.t->wakeups.items[i].tid == waiter->tid &&
		    r.t->wakeups.items[i].time_ns > wait->start_ns &&
		    r.t->wakeups.items[i].time_ns <= wait->end_ns)
			wakeup = &r.t->wakeups.items[i];
	assert_non_null(wakeup);
	assert_int_equal(wakeup->waker_tid, holder->tid);
	assert_true(wakeup->time_ns - holder->start_ns >= HOLD_NS);
	recorded_release(&r);
}

static void test_waits(void **state)
{
	(void)state;
	check_wait("mutex", STATE_LOCK);
	check_wait("cond", STATE_COND);
	check_wait("barrier", STATE_COND);
	check_wait("sem", STATE_LOCK);
	check_wait("rwlock", STATE_LOCK);
	check_wait("spin", STATE_LOCK);
	check_wait("join", STATE_JOIN);
	check_wait("home-made", STATE_LOCK);
	check_wait("never-spins", STATE_LOCK);
	check_wait("processes", STATE_LOCK);
}

/*
 * A call that may wait and only takes its time is no wait, preempted or not: the function that called it ran.  Only where the thread
 * gave up its CPU for another reason before the call (a page that had to be read) is it unknown.
 */
static void test_copies(void **state)
{
	struct recorded r = record_well("copies");
	const struct invocation *waiter = find_call(r.t, "waiter", 0);
	size_t waits = 0;
	uint64_t waited_ns = 0;

	(void)state;
	for (size_t i = 0; i < r.t->segments.cnt; i++) {
		const struct segment *s = &r.t->segments.items[i];

		if (s->tid != waiter->tid || s->state != STATE_IO)
			continue;
		waits++;
		if (s->start_ns >= waiter->start_ns && s->end_ns <= waiter->end_ns)
			waited_ns += s->end_ns - s->start_ns;
	}
	assert_in_range(waited_ns, HOLD_NS / 2, HOLD_NS + SLACK_NS);
	assert_int_equal(r.t->works.cnt, 1);
	assert_in_range(waits, 1, 1 + r.t->works.items[0].value);
	recorded_release(&r);
}

/* For a thread that is not recorded, then for one that is: the only one with a name. */
static void test_strangers(void **state)
{
	struct recorded r = record_well("strangers");
	const struct trace *t = r.t;
	const struct invocation *waiter = find_call(t, "waiter", 0), *holder = find_call(t, "holder", 0);
	size_t waits = 0, wakeups = 0;

	(void)state;
	for (size_t i = 0; i < t->segments.cnt; i++)
		waits += t->segments.items[i].tid == waiter->tid && t->segments.items[i].state == STATE_IO;
	for (size_t i = 0; i < t->wakeups.cnt; i++)
		if (t->wakeups.items[i].tid == waiter->tid && t->wakeups.items[i].time_ns <= waiter->end_ns &&
		    t->wakeups.items[i].waker_tid != TID_NOBODY) {
			wakeups++;
			assert_int_equal(t->wakeups.items[i].waker_tid, holder->tid);
		}
	assert_in_range(t->works.items[0].value, 1, STRANGERS);
	assert_in_range(waits, t->works.items[0].value + 1, t->works.items[1].value + 1);
	assert_int_equal(wakeups, 1);
	recorded_release(&r);
}

static void test_handover(void **state)
{
	struct recorded r = record_well("handover");
	const struct trace *t = r.t;
	uint64_t boss = find_call(t, "root", 0)->tid, worker = find_call(t, "worker", 0)->tid;
	size_t handed = 0;

	(void)state;
	assert_int_equal(t->intervals.cnt, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct interval *v = &t->intervals.items[i];

		assert_int_equal(v->sid, i + 1);
		assert_int_equal(v->status, INTERVAL_COMPLETED);
		assert_int_equal(v->start_tid, boss);
		assert_int_equal(v->end_tid, worker);
		assert_true(v->end_ns - v->start_ns >= 3 * HOLD_NS / 4);
	}
	/* Thread creation, and for each task ENQUEUE -> DEQUEUE and PAUSE -> RESUME. */
	for (size_t i = 0; i < t->creations.cnt; i++)
		handed += t->creations.items[i].tid == boss && t->creations.items[i].tid2 == worker;
	assert_int_equal(handed, 7);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(find_call(t, "leaf", i)->sid, i + 1);
	recorded_release(&r);
}

static void test_nested(void **state)
{
	struct recorded r = record(TARGET, "nested", 1, 0);
	static const uint64_t sids[] = { 1, 2, 1, 1 };

	(void)state;
	assert_int_equal(count_calls(r.t, "leaf"), 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(find_call(r.t, "leaf", i)->sid, sids[i]);
	assert_int_equal(r.t->intervals.cnt, 3);
	assert_int_equal(r.t->intervals.items[2].status, INTERVAL_ABORTED);
	recorded_release(&r);
}

static void test_registers(void **state)
{
	struct recorded r = record_well("registers");

	(void)state;
	assert_int_equal(count_calls(r.t, "leaf"), 5000);
	recorded_release(&r);
}

/* A handler comes after each instruction of a probe, and has probes itself. */
static void check_steps(void)
{
	struct recorded r = record_well("steps");
	size_t steps = (size_t)r.t->works.items[0].value;

	assert_int_equal(count_calls(r.t, "handler"), steps);
	assert_int_equal(count_calls(r.t, "leaf"), steps);
	assert_int_equal(count_calls(r.t, "deep"), steps ? 6 : 0);
	recorded_release(&r);
}

/* It leaves by longjmp().  The interrupted calls have ended before anything else begins; a call that had been written
 * and was not popped appears twice. */
static void check_steps_left(void)
{
	struct recorded r = record_well("steps left");
	size_t steps = (size_t)r.t->works.items[0].value, deep_cnt = count_calls(r.t, "deep");

	assert_int_equal(count_calls(r.t, "inner"), steps);
	assert_int_equal(count_calls(r.t, "leaf"), 2 * steps);
	assert_true(deep_cnt >= steps / 3 && deep_cnt <= steps + 6);
	for (size_t i = 0; i < deep_cnt; i++)
		for (size_t j = 0; j < steps; j++)
			assert_false(inside(find_call(r.t, "inner", j), find_call(r.t, "deep", i)));
	recorded_release(&r);
}

/* A signal that comes while a probe is in the runtime: its handler sees where the program was, too. */
static void test_steps(void **state)
{
	struct recorded r = record_well("unwinding");

	(void)state;
	recorded_release(&r);
	check_steps();
	check_steps_left();
}

static void test_semantics(void **state)
{
	struct recorded r = record_well("semantics");

	(void)state;
	recorded_release(&r);
	r = record_well("cancel");
	assert_int_equal(count_calls(r.t, "worker"), 3);
	recorded_release(&r);
	r = record_well("mixed");
	assert_int_equal(r.t->intervals.cnt, 1200);
	recorded_release(&r);
}

/* Outside `vprof record` the programs do the same and see nothing wrong. */
static void test_absent(void **state)
{
	static const char *const scenarios[] = { "calls", "longjmp", "fork", "exec", "plugin",
		"mutex", "cond", "join", "handover", "semantics", "cancel", "mixed", "copies", "strangers" };
	char command[128];

	(void)state;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		snprintf(command, sizeof(command), "%s %s", TARGET, scenarios[i]);
		assert_int_equal(system(command), 0);
		snprintf(command, sizeof(command), "VPROF_ARENA=/etc/passwd %s %s", TARGET,
			 scenarios[i]);
		assert_int_equal(system(command), 0);
	}
}

/*
 * Root's servers run as another user.  A process that has the arena's name may open it; others cannot
 * find it, and nothing of it stays behind.
 */
static void test_other_user(void **state)
{
	struct drainer_options o = { .trace_path = "other.trace", .arena_bytes = 1 };
	char path[128], *end;
	struct drainer *d;
	int status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(drainer_open(&o, &d, NULL), 0);
	snprintf(path, sizeof(path), "%s", strchr(drainer_env(d), '=') + 1);
	end = strrchr(path, '/');
	pid = fork();
	if (!pid) {
		int opened;

		if (setgid(65534) || setuid(65534))
			_exit(1);
		opened = open(path, O_RDWR) >= 0;
		*end = '\0';
		_exit(!opened || open(path, O_RDONLY | O_DIRECTORY) >= 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(drainer_close(d, NULL, NULL), 0);
	assert_int_not_equal(access(path, F_OK), 0);
	*end = '\0';
	assert_int_not_equal(access(path, F_OK), 0);
	unlink("other.trace");
}

static void test_idle(void **state)
{
	struct recorded r = record_well("idle");

	(void)state;
	assert_int_equal(r.t->threads.cnt, 0);
	assert_int_equal(r.stats.functions, 12);
	recorded_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls), cmocka_unit_test(test_levels),
		cmocka_unit_test(test_longjmp), cmocka_unit_test(test_landings), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_signals), cmocka_unit_test(test_fork),
		cmocka_unit_test(test_other_forks), cmocka_unit_test(test_outlived), cmocka_unit_test(test_exec), cmocka_unit_test(test_killed),
		cmocka_unit_test(test_flood), cmocka_unit_test(test_plugin),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_waits),
		cmocka_unit_test(test_copies), cmocka_unit_test(test_strangers), cmocka_unit_test(test_handover),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_registers), cmocka_unit_test(test_steps), cmocka_unit_test(test_semantics),
		cmocka_unit_test(test_absent), cmocka_unit_test(test_idle),
		cmocka_unit_test(test_other_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clocks.c - time that does not go evenly: stopped for a while, another CLOCK_MONOTONIC, a CLOCK_REALTIME
 * that is set.
 *
 * No other process's clock is set for it: what the recorder asks is answered here.  SOAK_SET_CLOCK=1 sets the
 * machine's, an hour on and back, for those whose machine it is (root).
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "base/banned.h"
#include "tests/soak/soak.h"

static volatile int64_t real_clock_off_s;	/* how wrong the clock is for this process */

/* Instead of the C library's, for the recorder in this program. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	long r = syscall(SYS_clock_gettime, clock, ret);

	if (clock == CLOCK_REALTIME)
		ret->tv_sec += real_clock_off_s;
	return (int)r;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Every interval is whole, in order, and lay between from and until. */
static void expect_times(const struct ordeal *o, int64_t from_ns, int64_t until_ns)
{
	CHECK(o->status == 0 && o->counts->ended, "the program ended with %d", o->status);
	if (!CHECK(o->readable, "the trace cannot be read: %s", o->diag.text))
		return;
	CHECK(recorded_leafs(o, 0) == counted_leafs(o) && o->t->intervals.cnt == (size_t)o->n,
	      "%zu intervals of %ld", o->t->intervals.cnt, o->n);
	for (size_t i = 0; i < o->t->intervals.cnt; i++) {
		const struct interval *iv = &o->t->intervals.items[i];

		CHECK(iv->status == INTERVAL_COMPLETED && iv->end_ns - iv->start_ns >= 1000000 &&
		      iv->start_ns >= from_ns && iv->end_ns <= until_ns,
		      "interval %zu lasted from %lld to %lld; the run from %lld to %lld", i,
		      (long long)iv->start_ns, (long long)iv->end_ns, (long long)from_ns,
		      (long long)until_ns);
	}
}

static bool stop_for_a_while(struct ordeal *o)
{
	while (!o->counts->cell_cnt && is_recording(o))
		wait_ns(100000);
	wait_ns(rand_r(&o->random) % 20000000);
	kill(o->recorder, SIGSTOP);
	if (o->random % 3)
		kill(o->victim, SIGSTOP);
	wait_ns(200000000);
	kill(o->victim, SIGCONT);
	kill(o->recorder, SIGCONT);
	return false;
}

void soak_stopped(long n)
{
	for (long i = 0; i < n && all_held(); i++) {
		struct ordeal o = { .program = "steady", .n = 60, .meanwhile = stop_for_a_while,
				    .random = (unsigned int)i + 5 };
		int64_t from_ns = now_ns();

		progress("stopped, %ld of %ld", i + 1, n);
		ordeal_run(&o);
		expect_times(&o, from_ns, now_ns());
		ordeal_release(&o);
	}
}

static void enter_other_time(void)
{
	int fd;

	if (unshare(CLONE_NEWTIME))
		return;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "monotonic 864000 0\n", 19) != 19)
		_exit(98);
	close(fd);
}

void soak_other_monotonic(long n)
{
	struct ordeal o = { .program = "steady", .n = n, .in_victim = enter_other_time };
	int64_t from_ns = now_ns();

	ordeal_run(&o);
	expect_times(&o, from_ns, now_ns());
	ordeal_release(&o);
}

static void jump(int number)
{
	(void)number;
	real_clock_off_s = real_clock_off_s > 0 ? -300000000 : real_clock_off_s + 3600 * 24 * 4000;
}

static void jump_often(void)
{
	struct itimerval often = { { 0, 7000 }, { 0, 7000 } };

	signal(SIGALRM, jump);
	setitimer(ITIMER_REAL, &often, NULL);
}

static void end_jumps(void)
{
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_REAL, &never, NULL);
}

static bool set_clock(struct ordeal *o)
{
	struct timespec t;

	(void)o;
	for (int i = 0; i < 10; i++) {
		wait_ns(10000000);
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_sec += i % 2 ? -3600 : 3600;
		CHECK(!clock_settime(CLOCK_REALTIME, &t), "the clock cannot be set");
	}
	return false;
}

void soak_clock_set(long n)
{
	struct ordeal o = { .program = "steady", .n = n, .in_recorder = jump_often,
			    .in_victim = end_jumps };
	int64_t from_ns = now_ns();

	if (getenv("SOAK_SET_CLOCK"))
		o.meanwhile = set_clock;
	ordeal_run(&o);
	expect_times(&o, from_ns, now_ns());
	ordeal_release(&o);
}

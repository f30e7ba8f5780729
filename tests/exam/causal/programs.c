/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * programs.c - the programs of make exam-causal.  Each has a part that can really be made faster while the program runs: by how
 * many per mille stands in a file in memory (EXAM_REALLY) that the exam writes.
 *
 *	programs NAME			NAME as in the table below; says "exclusive" if it runs ahead of all others (EXAM_FIRST)
 *	programs spin			10 ms of computing, 30 times: the slowest by the fastest, and loops a microsecond
 *
 * CPU work is a number of loops (EXAM_LOOPS a microsecond) where the machine does not change its speed, else CPU time by the
 * thread's clock.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <vprof.h>
#include "programs.h"

enum { PAGE = 4096 };

static const volatile uint32_t *really;	/* per mille */
static double loops_per_us;
static pthread_barrier_t gate;

static long cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void loop(long cnt)
{
	for (volatile long i = 0; i < cnt; i++)
		;
}

NOINLINE void work(long us)
{
	long until = cpu_us() + us;

	if (loops_per_us > 0) {
		loop((long)((double)us * loops_per_us));
		return;
	}
	while (cpu_us() < until)
		loop(2000);		/* ticks come in user mode only */
}

NOINLINE void sleep_us(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	if (us > 0)
		nanosleep(&t, NULL);
}

long left(long amount)
{
	return really ? amount * (1000 - (long)*really) / 1000 : amount;
}

void part(void *(*run)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, run, arg))
		abort();
	pthread_detach(t);
}

/* The target of a "really faster" block: it takes no time, so nothing is virtually faster. */
NOINLINE void nothing(void)
{
	__asm__ volatile ("");
}

/* ---- 4 ms beside 2 ms ---- */

NOINLINE void critical(void)
{
	work(left(4000));
}

NOINLINE void beside(void)
{
	work(2000);
}

static void *run_beside(void *arg)
{
	for (;;) {
		beside();
		pthread_barrier_wait(&gate);
	}
	return arg;
}

static void meet(void)
{
	pthread_barrier_init(&gate, NULL, 2);
	part(run_beside, NULL);
	for (long i = 1;; i++) {
		VPROF_BEGIN("item", i);
		critical();
		pthread_barrier_wait(&gate);
		VPROF_END("item", i);
	}
}

/* The same, where the shorter part is made faster: of no use. */
NOINLINE void shorter(void)
{
	work(left(2000));
}

static void *run_shorter(void *arg)
{
	for (;;) {
		shorter();
		pthread_barrier_wait(&gate);
	}
	return arg;
}

NOINLINE void longer(void)
{
	work(4000);
}

static void meet_longer(void)
{
	pthread_barrier_init(&gate, NULL, 2);
	part(run_shorter, NULL);
	for (long i = 1;; i++) {
		VPROF_BEGIN("item", i);
		longer();
		pthread_barrier_wait(&gate);
		VPROF_END("item", i);
	}
}

/* ---- two processes, by pipes ---- */

static void pass(int fd)
{
	char c = 'x';

	if (write(fd, &c, 1) != 1)
		exit(0);
}

static void await(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		exit(0);
}

static void fork_child(void (*child)(int in, int out), int *ret_in, int *ret_out)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		abort();
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		child(to[0], from[1]);
		_exit(0);
	}
	*ret_in = from[0];
	*ret_out = to[1];
}

static void child_beside(int in, int out)
{
	for (;;) {
		await(in);
		beside();
		pass(out);
	}
}

static void child_critical(int in, int out)
{
	for (;;) {
		await(in);
		critical();
		pass(out);
	}
}

static void processes(void (*child)(int, int), void (*own)(void))
{
	int in, out;

	fork_child(child, &in, &out);
	for (long i = 1;; i++) {
		VPROF_BEGIN("item", i);
		pass(out);
		own();
		await(in);
		VPROF_END("item", i);
	}
}

static void parent_first(void)
{
	processes(child_beside, critical);
}

static void child_first(void)
{
	processes(child_critical, beside);
}

/* ---- threads that live once ---- */

NOINLINE void once(void)
{
	work(left(2000));
}

static void *run_once(void *arg)
{
	once();
	return arg;
}

static void short_threads(void)
{
	for (long i = 1;; i++) {
		pthread_t t;

		VPROF_BEGIN("item", i);
		if (pthread_create(&t, NULL, run_once, NULL))
			abort();
		work(1000);
		pthread_join(t, NULL);
		VPROF_END("item", i);
	}
}

/* ---- four threads with 3 ms each on two CPUs, a barrier ---- */

static int crowd_of_one;		/* the first one is made faster; else the other three */

NOINLINE void fast_share(void)
{
	work(left(3000));
}

static void *run_share(void *arg)
{
	int is_first = (intptr_t)arg == 0;

	for (long i = 1;; i++) {
		if (is_first)
			VPROF_BEGIN("item", i);
		if (is_first == crowd_of_one)
			fast_share();
		else
			work(3000);
		pthread_barrier_wait(&gate);
		if (is_first)
			VPROF_END("item", i);
	}
	return arg;
}

static void crowd(int of_one)
{
	cpu_set_t two;

	CPU_ZERO(&two);
	CPU_SET(0, &two);
	CPU_SET(1, &two);
	if (sched_setaffinity(0, sizeof(two), &two))
		exit(77);
	crowd_of_one = of_one;
	pthread_barrier_init(&gate, NULL, 4);
	for (intptr_t i = 1; i < 4; i++)
		part(run_share, (void *)i);
	run_share(NULL);
}

static void crowd_one(void)
{
	crowd(1);
}

static void crowd_three(void)
{
	crowd(0);
}

/* ---- a pipe to another process, and a socket back ---- */

NOINLINE void serve(void)
{
	work(left(1000));
}

static void child_serve(int in, int out)
{
	char c;

	while (read(in, &c, 1) == 1) {
		serve();
		if (send(out, &c, 1, MSG_NOSIGNAL) != 1)
			return;
	}
}

/* The client computes 0.4 ms, and then has the answer to what it asked before: 1.0 ms of serve() are the limit. */
static void peers(void)
{
	int ask[2], answer[2];
	char c = 'x';

	if (pipe(ask) || socketpair(AF_UNIX, SOCK_STREAM, 0, answer))
		abort();
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		child_serve(ask[0], answer[1]);
		_exit(0);
	}
	pass(ask[1]);
	for (long i = 1;; i++) {
		VPROF_BEGIN("item", i);
		pass(ask[1]);
		work(400);
		if (recv(answer[0], &c, 1, 0) != 1)
			exit(0);
		VPROF_END("item", i);
	}
}

/* ---- which ---- */

static const struct {
	const char *name;
	void (*run)(void);
} programs[] = {
	{ "a", meet }, { "b", meet_longer }, { "processes", parent_first }, { "child", child_first }, { "threads", short_threads },
	{ "c", two_holders }, { "c3", three_holders }, { "d", disk_reads }, { "faults", page_faults }, { "f", disk_writes },
	{ "e", open_loop }, { "clock", open_loop_by_clock },
	{ "crowd1", crowd_one }, { "crowd3", crowd_three }, { "shared", shared_lock }, { "peers", peers }, { "rwlock", readers },
};

static void spin(void)
{
	long least = 1L << 60, most = 0, cnt = 10000000;

	for (int i = -1; i < 30; i++) {
		long us, from = cpu_us();

		loop(cnt);
		us = cpu_us() - from;
		if (i < 0) {
			cnt = (long)((double)cnt * 10000 / (double)(us > 0 ? us : 1));
			continue;
		}
		least = us < least ? us : least;
		most = us > most ? us : most;
	}
	printf("%.3f %.1f\n", (double)most / (double)least, (double)cnt / (double)least);
}

static const volatile uint32_t *map_really(void)
{
	const char *path = getenv("EXAM_REALLY");
	int fd = path ? open(path, O_RDONLY) : -1;
	void *p = fd >= 0 ? mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

	return p == MAP_FAILED ? NULL : p;
}

int main(int argc, char **argv)
{
	struct sched_param first = { .sched_priority = 1 };
	const char *loops = getenv("EXAM_LOOPS");

	if (argc == 2 && strcmp(argv[1], "spin") == 0) {
		spin();
		return 0;
	}
	really = map_really();
	loops_per_us = loops ? strtod(loops, NULL) : 0;
	fprintf(stderr, "%s\n", !getenv("EXAM_FIRST") || sched_setscheduler(0, SCHED_RR, &first) ? "shared" : "exclusive");
	prctl(PR_SET_TIMERSLACK, 1);
	nothing();
	for (size_t i = 0; argc == 2 && i < sizeof(programs) / sizeof(programs[0]); i++)
		if (strcmp(programs[i].name, argv[1]) == 0)
			programs[i].run();
	return 2;
}

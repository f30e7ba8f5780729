/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waits.c - runs the cases, and says what is true of each wait:
 *
 *	waits ROUNDS LOG [CASE]...		ROUNDS waits of each case, and one before that warms up
 *	waits --waker CASE ROUNDS FD		the other side of a CASE_EXEC
 *
 *	CASE CLASS WAITER_TID START_NS END_NS WAKER_TID		(0: nobody of the run; -1: its own time-out)
 *
 * The threads take turns by a word in memory and short sleeps, outside what is timed.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/waits/waits.h"

struct waits_shared *shared;
static int shared_fd, rounds;
static FILE *truth;

void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "waits: not so: %s (%s)\n", what, strerror(errno));
	_exit(1);
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

struct timespec in_ms(int clock, long ms)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

int own_tid(void)
{
	return (int)syscall(SYS_gettid);
}

int memory_file(void)
{
	return shared_fd;
}

void hold(void)
{
	usleep(HOLD_USEC);
}

static void wait_for_step(int step)
{
	while (shared->step < step)
		usleep(30);
}

static void be_waker(const struct wait_case *c)
{
	for (int i = 0; i < rounds; i++) {
		wait_for_step(3 * i);
		shared->waker_tid = own_tid();
		if (c->take)
			c->take();
		shared->step = 3 * i + 1;
		hold();
		if (c->wake)
			c->wake();
		wait_for_step(3 * i + 2);
		shared->step = 3 * i + 3;
	}
}

static void *waker_thread(void *c)
{
	be_waker(c);
	return NULL;
}

/* The interval. */
__attribute__((noinline)) static void request(const struct wait_case *c, int i)
{
	long long start, end;

	start = now_ns();
	c->wait();
	end = now_ns();
	if (i)				/* the first warms up */
		fprintf(truth, "%s %s %d %lld %lld %d\n", c->name, c->wait_class, own_tid(), start, end,
			c->flags & CASE_TIME_OUT ? -1 : c->flags & CASE_ALONE ? 0 : shared->waker_tid);
}

static void be_waiter(const struct wait_case *c, int has_waker)
{
	for (int i = 0; i < rounds; i++) {
		if (has_waker)
			wait_for_step(3 * i + 1);
		if (c->prepare)
			c->prepare();
		request(c, i);
		if (c->after)
			c->after();
		shared->step = 3 * i + 2;
		if (has_waker)
			wait_for_step(3 * i + 3);
	}
}

static void map_shared(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0);
	MUST(shared != MAP_FAILED);
}

static void start_other_program(const struct wait_case *c)
{
	char rounds_text[16], fd_text[16];

	snprintf(rounds_text, sizeof(rounds_text), "%d", rounds);
	snprintf(fd_text, sizeof(fd_text), "%d", shared_fd);
	execl("/proc/self/exe", "waits", "--waker", c->name, rounds_text, fd_text, NULL);
	MUST(0);
}

static void run_case(const struct wait_case *c)
{
	int has_waker = c->take || c->wake, is_process = c->flags & (CASE_PROCESS | CASE_EXEC), status;
	pthread_t thread;
	pid_t pid = 0;

	shared->step = 0;
	if (c->setup)
		c->setup();
	fflush(truth);
	if (is_process) {
		pid = fork();
		if (!pid && c->flags & CASE_EXEC)
			start_other_program(c);
		if (!pid) {
			be_waker(c);
			_exit(0);
		}
	} else if (has_waker) {
		MUST(!pthread_create(&thread, NULL, waker_thread, (void *)c));
	}
	be_waiter(c, has_waker);
	if (is_process)
		MUST(waitpid(pid, &status, 0) == pid && !status);
	else if (has_waker)
		MUST(!pthread_join(thread, NULL));
}

static int is_wanted(const struct wait_case *c, char **names)
{
	if (!*names)
		return 1;
	for (; *names; names++)
		if (!strcmp(*names, c->name))
			return 1;
	return 0;
}

static int be_other_program(char **argv)
{
	rounds = atoi(argv[1]);
	shared_fd = atoi(argv[2]);
	map_shared();
	if (shared == shared->at)
		map_shared();		/* where the first one is not */
	MUST(shared != shared->at);
	for (const struct wait_case *c = process_cases; c->name; c++)
		if (!strcmp(c->name, argv[0]))
			be_waker(c);
	return 0;
}

int main(int argc, char **argv)
{
	const struct wait_case *const lists[] = { lock_cases, cond_cases, c11_cases, file_cases,
		special_cases, system_cases, cxx_cases, own_cases, process_cases };

	if (argc == 5 && !strcmp(argv[1], "--waker"))
		return be_other_program(argv + 2);
	if (argc < 3)
		return 2;
	rounds = atoi(argv[1]) + 1;
	truth = fopen(argv[2], "w");
	MUST(truth);
	shared_fd = memfd_create("waits", 0);
	MUST(shared_fd >= 0 && !ftruncate(shared_fd, sizeof(*shared)));
	map_shared();
	shared->at = shared;
	for (unsigned int l = 0; l < sizeof(lists) / sizeof(lists[0]); l++)
		for (const struct wait_case *c = lists[l]; c->name; c++)
			if (is_wanted(c, argv + 3))
				run_case(c);
	return fclose(truth) ? 1 : 0;
}

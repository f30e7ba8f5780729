/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * target_sampling.c - intervals that go from thread to thread and from process to process, under keys
 * that the next one has again.  Each makes the same calls: test_sampling.c counts them.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include "tests/runtime/probes.h"
#include "tests/runtime/scenarios.h"

enum { PAIRS = 3, ROUNDS = 100, LOTS = 40000, FORKS = 40, MARKS = 200 };

/* Only intervals, one leaf each. */
void run_lots(void)
{
	for (int i = 0; i < LOTS; i++) {
		EVENT(BEGIN, REQUEST, 7, 0);
		call_leaf();
		EVENT(END, REQUEST, 7, 0);
	}
}

static __attribute__((noinline)) void let_go(void)
{
	PROBE(holder);			/* the tests record it always */
	__asm__ __volatile__("");
}

struct pair {
	int number;
	atomic_int turn;		/* even: the boss's */
};

static unsigned long long key_of(const struct pair *p, int round)
{
	return (unsigned long long)(p->number * 2 + round % 2);
}

static void wait_for_turn(struct pair *p, int turn)
{
	while (atomic_load(&p->turn) != turn)
		usleep(20);
}

/* An interval's second half: inner 1, leaf 2, holder 1. */
static void *finish_rounds(void *arg)
{
	struct pair *p = arg;

	for (int i = 0; i < ROUNDS; i++) {
		wait_for_turn(p, 2 * i + 1);
		EVENT(RESUME, REQUEST, key_of(p, i), 0);
		call_inner();
		let_go();
		EVENT(END, REQUEST, key_of(p, i), 0);
		atomic_store(&p->turn, 2 * i + 2);
	}
	return NULL;
}

/* Its first half: leaf 1. */
static void *begin_rounds(void *arg)
{
	struct pair *p = arg;

	for (int i = 0; i < ROUNDS; i++) {
		wait_for_turn(p, 2 * i);
		EVENT(BEGIN, REQUEST, key_of(p, i), 0);
		call_leaf();
		EVENT(PAUSE, NULL, 0, 0);
		atomic_store(&p->turn, 2 * i + 1);
	}
	return NULL;
}

void run_relay(void)
{
	static struct pair pairs[PAIRS];
	pthread_t t[2 * PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		pairs[i].number = i;
		CHECK(!vprof_w_pthread_create(&t[2 * i], NULL, begin_rounds, &pairs[i]));
		CHECK(!vprof_w_pthread_create(&t[2 * i + 1], NULL, finish_rounds, &pairs[i]));
	}
	for (int i = 0; i < 2 * PAIRS; i++)
		CHECK(!pthread_join(t[i], NULL));
}

/* The child goes on with the parent's interval (inner 1, leaf 2), ends every second of them, and has
 * one of its own under the same key (leaf 1). */
static void work_in_child(int round)
{
	EVENT(RESUME, REQUEST, 9, 0);
	call_inner();
	if (round % 2)
		EVENT(END, REQUEST, 9, 0);
	EVENT(BEGIN, REQUEST, 9, 0);
	call_leaf();
	EVENT(END, REQUEST, 9, 0);
}

void run_relay_forks(void)
{
	for (int i = 0; i < FORKS; i++) {
		int status;
		pid_t pid;

		EVENT(BEGIN, REQUEST, 9, 0);
		pid = fork();
		if (!pid) {
			work_in_child(i);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		if (i % 2 == 0)
			EVENT(END, REQUEST, 9, 0);
		else
			EVENT(PAUSE, NULL, 0, 0);
	}
}

/* A query inside a request: leaf 2 in the one, inner 1 and leaf 2 in the other. */
void run_sampled_nested(void)
{
	for (int i = 0; i < MARKS; i++) {
		EVENT(BEGIN, REQUEST, 1, 0);
		call_leaf();
		EVENT(BEGIN, QUERY, 1, 0);
		call_inner();
		EVENT(END, QUERY, 1, 0);
		call_leaf();
		EVENT(END, REQUEST, 1, 0);
	}
}

/* Begun under one mark, resumed under another: the same where the alias is known. */
void run_marks(void)
{
	for (int i = 0; i < MARKS; i++) {
		EVENT(BEGIN, QUERY, 5, 0);
		EVENT(PAUSE, NULL, 0, 0);
		EVENT(RESUME, REQUEST, 5, 0);
		call_leaf();
		EVENT(END, REQUEST, 5, 0);
	}
}

enum { OWN = -1 };			/* the key that stands for the thread */

/* One leaf each; how often its probe is dormant in between, or in them.  Not any more where there are two threads. */
static int count_quiet(unsigned int intervals)
{
	int cnt = 0;

	for (unsigned int i = 0; i < intervals; i++) {
		EVENT(BEGIN, REQUEST, 7, 0);
		cnt += !vprof_sites[SITE_leaf].gate;
		call_leaf();
		EVENT(END, REQUEST, 7, 0);
		cnt += !vprof_sites[SITE_leaf].gate;
	}
	return cnt;
}

static void *count_more(void *arg)
{
	CHECK(count_quiet(MARKS) == 0);
	return arg;
}

void run_quiet(void)
{
	pthread_t t;
	int status, cnt = count_quiet(LOTS);
	pid_t pid;

	CHECK(cnt > 2 * LOTS * 7 / 8 && cnt < 2 * LOTS);
	pid = fork();
	if (!pid) {
		CHECK(count_quiet(MARKS) > 2 * MARKS * 3 / 4);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(!vprof_w_pthread_create(&t, NULL, count_more, NULL));
	CHECK(!pthread_join(t, NULL));
	CHECK(count_quiet(MARKS) == 0);
}

static void exit_at_once(int signal)
{
	(void)signal;
	exit(0);
}

/* Ends in the middle of whatever it does, also of making its probes dormant: exit() unloads them. */
static void end_somewhere(unsigned int us)
{
	struct itimerval timer = { { 0, 0 }, { 0, (suseconds_t)us } };

	signal(SIGALRM, exit_at_once);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (;;) {
		EVENT(BEGIN, QUERY, 7, 0);
		EVENT(END, QUERY, 7, 0);
	}
}

void run_quiet_ends(void)
{
	for (unsigned int i = 0; i < MARKS; i++) {
		int status;
		pid_t pid = fork();

		if (!pid)
			end_somewhere(100 + i * 7);
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	}
}

/* inner 1, leaf 2; of every second the same once more in an interval that begins here, and ends. */
static __attribute__((noinline)) void handle(int i, unsigned long long key)
{
	PROBE(worker);
	call_inner();
	if (i % 2)
		EVENT(BEGIN, REQUEST, key, 0);
	call_inner();
	if (i % 2)
		EVENT(END, REQUEST, key, 0);
}

static void run_messages(unsigned long long key)
{
	for (int i = 0; i < 2 * MARKS; i++) {
		EVENT(RESUME, REQUEST, key, 0);
		handle(i, key);
		EVENT(PAUSE, NULL, 0, 0);
	}
}

/* Gone on with before they begin, if at all. */
void run_early(void)
{
	run_messages((unsigned long long)OWN);
}

/* ... and others could begin them as well. */
void run_early_keys(void)
{
	run_messages(3);
}

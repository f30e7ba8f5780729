/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * victim.c - programs that are recorded while bad things happen to them.
 *
 *	victim NAME COUNTS N	COUNTS: the file of a struct counts; N: how much
 *
 * The probes are those of tests/runtime/.  Exit status 0: the program itself saw nothing wrong.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/runtime/probes.h"
#include "tests/soak/counts.h"

static struct counts *counts;

static __attribute__((noinline)) void leaf(void)
{
	PROBE(leaf);
	__asm__ __volatile__("");
}

static struct cell *new_cell(void)
{
	struct cell *c = &counts->cells[__atomic_fetch_add(&counts->cell_cnt, 1, __ATOMIC_RELAXED) % CELLS];

	c->tid = (uint32_t)syscall(SYS_gettid);
	return c;
}

/* A pause that leaves no record. */
static void rest(long ns)
{
#if defined(__x86_64__)
	struct timespec t = { 0, ns };
	long r = SYS_nanosleep;

	__asm__ __volatile__("syscall" : "+a"(r) : "D"(&t), "S"(NULL) : "rcx", "r11", "memory");
#else
	(void)ns;
#endif
}

static void end_as_told(void)
{
	if (counts->how == 1)
		*(volatile int *)(intptr_t)(counts->how - 1) = 0;
	if (counts->how == 2)
		abort();
}

/* ---- Killed at any moment, counting ---- */

static void *count_forever(void *arg)
{
	struct cell *c = new_cell();
	unsigned int seed = c->tid;

	(void)arg;
	leaf();
	c->leafs++;
	__atomic_fetch_add(&counts->working, 1, __ATOMIC_RELEASE);
	for (;;) {
		EVENT(BEGIN, REQUEST, c->tid, 0);
		c->begins++;
		for (int left = rand_r(&seed) % 100; left >= 0; left--) {
			leaf();
			c->leafs++;
			end_as_told();
		}
		EVENT(END, REQUEST, c->tid, 0);
		c->ends++;
		if (rand_r(&seed) % 16 == 0)
			rest(50000);
	}
	return NULL;
}

static int run_kill(long n)
{
	pthread_t t;

	for (long i = 1; i < n; i++)
		if (pthread_create(&t, NULL, count_forever, NULL))
			return 1;
	count_forever(NULL);
	return 0;
}

/* ---- So much, then the end ---- */

static void count_leafs(struct cell *c, long n)
{
	for (long i = 0; i < n; i++) {
		leaf();
		c->leafs++;
	}
}

/* In one request, as fast as can be. */
static int run_flood(long n)
{
	struct cell *c = new_cell();

	EVENT(BEGIN, REQUEST, 1, 0);
	c->begins++;
	count_leafs(c, n);
	EVENT(END, REQUEST, 1, 0);
	c->ends++;
	return 0;
}

/* Requests of 1 ms, n of them, whatever becomes of the recorder. */
static int run_steady(long n)
{
	struct cell *c = new_cell();

	for (long i = 0; i < n; i++) {
		EVENT(BEGIN, REQUEST, i, 0);
		c->begins++;
		count_leafs(c, 100);
		rest(1000000);
		EVENT(END, REQUEST, i, 0);
		c->ends++;
	}
	return 0;
}

/* ---- Threads ---- */

static uint32_t all_there;

static void *leaf_and_stay(void *arg)
{
	leaf();
	__atomic_fetch_add(&counts->leafs, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->threads, 1, __ATOMIC_RELAXED);
	/* Asleep, not looking every now and then: 10,000 that do leave no time for others to be made. */
	while (!__atomic_load_n(&all_there, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &all_there, FUTEX_WAIT, 0, NULL, NULL, 0);
	leaf();
	__atomic_fetch_add(&counts->leafs, 1, __ATOMIC_RELAXED);
	return arg;
}

static int run_live(long n)
{
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));
	pthread_attr_t small;
	long made = 0;
	int bad = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	while (made < n && !pthread_create(&threads[made], &small, leaf_and_stay, &all_there))
		made++;
	while (counts->threads < (uint64_t)made)
		rest(1000000);
	__atomic_store_n(&all_there, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &all_there, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	for (long i = 0; i < made; i++) {
		void *result = NULL;		/* what each was given */

		bad |= pthread_join(threads[i], &result) || result != &all_there;
	}
	free(threads);
	return bad || made < n;
}

static void *leaf_and_go(void *arg)
{
	leaf();
	__atomic_fetch_add(&counts->leafs, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->threads, 1, __ATOMIC_RELAXED);
	return arg;
}

static int run_short(long n)
{
	for (long i = 0; i < n; i += 4) {
		pthread_t threads[4];
		int made = 0;

		while (made < 4 && !pthread_create(&threads[made], NULL, leaf_and_go, NULL))
			made++;
		for (int k = 0; k < made; k++)
			if (pthread_join(threads[k], NULL))
				return 1;
		if (made < 4)
			return 1;
	}
	return 0;
}

/* ---- Processes: a tree of n levels, three children each ---- */

static int grow(long levels)
{
	pid_t children[3];
	int bad = 0, status;

	for (int i = 0; i < 50; i++)
		leaf();
	__atomic_fetch_add(&counts->leafs, 50, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->threads, 1, __ATOMIC_RELAXED);
	if (!levels)
		return 0;
	for (int i = 0; i < 3; i++) {
		children[i] = fork();
		if (!children[i])
			_exit(grow(levels - 1));
	}
	for (int i = 0; i < 3; i++)
		bad |= children[i] < 0 || waitpid(children[i], &status, 0) != children[i] || status;
	leaf();
	__atomic_fetch_add(&counts->leafs, 1, __ATOMIC_RELAXED);
	return bad;
}

/* ---- A storm of signals whose handler records ---- */

static struct cell *storm_cell;
static pthread_t storm_goal;		/* the sender goes on as the program ends */

static void on_signal(int number)
{
	PROBE(handler);
	(void)number;
	leaf();
	/* One signal may interrupt the handler of the other. */
	__atomic_fetch_add(&storm_cell->handled, 1, __ATOMIC_RELAXED);
}

static void *send_signals(void *arg)
{
	for (;;) {
		pthread_kill(storm_goal, SIGUSR1);
		rest(1000);
	}
	return arg;
}

static int run_storm(long n)
{
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	pthread_t sender;
	sigset_t both;

	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGALRM);
	storm_cell = new_cell();
	storm_goal = pthread_self();
	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGUSR1, &act, NULL);
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	if (pthread_create(&sender, NULL, send_signals, NULL))
		return 1;
	pthread_sigmask(SIG_UNBLOCK, &both, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	count_leafs(storm_cell, n);
	setitimer(ITIMER_REAL, &never, NULL);
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	return storm_cell->handled == 0;
}

/* ---- With little of everything: what the program can have is what it would have unrecorded ---- */

static int run_files(long n)
{
	struct cell *c = new_cell();
	int fd, last = -1;

	(void)n;
	leaf();
	c->leafs++;
	fd = open("/dev/null", O_RDONLY);
	counts->first_fd = fd;
	for (; fd >= 0; fd = open("/dev/null", O_RDONLY))
		last = fd;
	counts->threads = (uint64_t)(last + 1);
	leaf();
	c->leafs++;
	return 0;
}

static int run_memory(long n)
{
	struct cell *c = new_cell();
	void *all = NULL;

	(void)n;
	for (int i = 0; i < 1000; i++) {
		void **some = malloc(4096);

		leaf();
		c->leafs++;
		if (!some)
			return 3;
		*some = all;
		all = some;
	}
	while (all) {
		void *next = *(void **)all;

		free(all);
		all = next;
	}
	return 0;
}

/* In user mode, so that ticks come; the next may be due at any moment. */
static void burn_us(long us)
{
	struct timespec t;
	long until = 0, now;

	do {
		for (volatile int i = 0; i < 20000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * 1000000 + t.tv_nsec / 1000;
		until = until ? until : now + us;
	} while (now < until);
}

enum { EXECUTED = 7 };

/* Each burns a different time before it executes a program. */
static int run_execs(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			usleep(1);	/* a wait: ticks begin in it, if they ever do */
			leaf();
			burn_us(1000 + i * 37 % 2000);
			execl("/proc/self/exe", "victim", (char *)NULL);
			_exit(126);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 3;
		counts->leafs += WIFEXITED(status) && WEXITSTATUS(status) == EXECUTED;
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(long n);
} programs[] = {
	{ "kill", run_kill }, { "flood", run_flood }, { "steady", run_steady }, { "live", run_live },
	{ "short", run_short }, { "tree", grow }, { "storm", run_storm }, { "files", run_files },
	{ "memory", run_memory }, { "execs", run_execs },
};

int main(int argc, char **argv)
{
	int fd = argc == 4 ? open(argv[2], O_RDWR | O_CLOEXEC) : -1, status;

	if (argc == 1) {		/* run_execs() */
		burn_us(500);
		return EXECUTED;
	}
	if (fd < 0)
		return 2;
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (counts == MAP_FAILED)
		return 2;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!strcmp(programs[i].name, argv[1])) {
			status = programs[i].run(strtol(argv[3], NULL, 10));
			counts->ended = status == 0;
			return status;
		}
	return 2;
}

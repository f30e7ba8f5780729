/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * leaf.c - the time that a tool adds to an empty function.
 *
 *	leaf THREADS SLICES [CALLS]	calls a slice: default 10000
 *
 * A slice of plain calls, of the rdtsc pair's, of the tool's, of plain ones again...; between them a rest in which
 * whoever empties the tool's buffers can keep up.  Processor time.  Slices take turns at four places that the loop
 * may have in a line of the cache: a call of nothing takes 1.4 or 2.2 ns as it lies.  A thread's values are the means
 * over these places of the medians of what a call took more than a plain one.  Prints for all threads together
 *
 *	PLAIN_NS RDTSC_PAIR_NS TOOL_NS FAULTS CALLS
 *
 * the medians over threads, and the page faults of the tool's slices.
 *
 *	leaf --syscalls CALLS		prints how many system calls the thread made in CALLS calls
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "leaf.h"

enum { THREADS_MAX = 64, WARM_UP = 8, PLACES = 4 };

struct result {
	double plain, pair, tool;
	long faults;
};

static long slices, calls = 10000;
static struct result results[THREADS_MAX];
static pthread_barrier_t barrier;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

#define SLICE(place)									\
	static double slice_##place(void (*leaf)(void))					\
	{										\
		double start = now_ns();						\
											\
		__asm__ __volatile__(".p2align 6\n.skip " #place ", 0x90");		\
		for (long i = 0; i < calls; i++)					\
			leaf();								\
		return (now_ns() - start) / (double)calls;				\
	}

SLICE(64)
SLICE(16)
SLICE(32)
SLICE(48)

static double (*const slice[PLACES])(void (*leaf)(void)) = { slice_64, slice_16, slice_32, slice_48 };

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, long cnt)
{
	qsort(values, (size_t)cnt, sizeof(*values), compare);
	return cnt % 2 ? values[cnt / 2] : (values[cnt / 2] + values[cnt / 2 - 1]) / 2;
}

/* The center of a thread's slices, which take turns at the places. */
static double center(const double *values)
{
	double *own = calloc((size_t)slices, sizeof(double)), sum = 0;

	for (long place = 0; place < PLACES; place++) {
		long cnt = 0;

		for (long i = place; i < slices; i += PLACES)
			own[cnt++] = values[i];
		sum += median(own, cnt);
	}
	free(own);
	return sum / PLACES;
}

static void *run(void *arg)
{
	struct result *r = arg;
	double *plain = calloc((size_t)slices, sizeof(double));
	double *pair = calloc((size_t)slices, sizeof(double)), *tool = calloc((size_t)slices, sizeof(double));
	struct timespec rest = { 0, 300000 };
	double before, after;

	pthread_barrier_wait(&barrier);
	for (long i = -WARM_UP; i < slices; i++) {
		double (*slice_here)(void (*leaf)(void)) = slice[(i + WARM_UP) % PLACES];
		bool pair_first = (i + WARM_UP) / PLACES % 2;
		double values[2];
		long seen;

		before = slice_here(plain_leaf);
		if (pair_first)
			values[0] = slice_here(rdtsc_leaf);
		seen = faults();
		values[1] = slice_here(tool_leaf);
		seen = faults() - seen;
		if (!pair_first)
			values[0] = slice_here(rdtsc_leaf);
		after = slice_here(plain_leaf);
		nanosleep(&rest, NULL);
		if (i < 0)
			continue;
		plain[i] = (before + after) / 2;
		pair[i] = values[0] - plain[i];
		tool[i] = values[1] - plain[i];
		r->faults += seen;
	}
	r->plain = center(plain);
	r->pair = center(pair);
	r->tool = center(tool);
	return NULL;
}

static volatile long syscall_cnt;

static void on_syscall(int number)
{
	(void)number;
	syscall_cnt++;
}

/* From here on each system call of this thread, except those that end it, raises a signal instead. */
static int forbid_syscalls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void *count_syscalls(void *arg)
{
	long n = *(long *)arg;

	for (int i = 0; i < 1000; i++)
		tool_leaf();
	signal(SIGSYS, on_syscall);
	if (forbid_syscalls()) {
		perror("seccomp");
		exit(99);
	}
	syscall(SYS_getppid);			/* so that a count of 0 means something */
	for (long i = 0; i < n; i++)
		tool_leaf();
	*(long *)arg = syscall_cnt - 1;
	return NULL;
}

static int print_syscalls(long n)
{
	pthread_t t;

	if (pthread_create(&t, NULL, count_syscalls, &n) || pthread_join(t, NULL))
		return 99;
	printf("%ld\n", n);
	return n < 0 ? 99 : 0;
}

int main(int argc, char **argv)
{
	double values[3][THREADS_MAX];
	pthread_t threads[THREADS_MAX];
	long cnt = argc > 2 ? strtol(argv[1], NULL, 10) : 0, all_faults = 0;

	if (argc == 3 && !strcmp(argv[1], "--syscalls"))
		return print_syscalls(strtol(argv[2], NULL, 10));
	slices = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	if (argc > 3)
		calls = strtol(argv[3], NULL, 10);
	if (cnt < 1 || cnt > THREADS_MAX || slices < PLACES || calls < 1) {
		fprintf(stderr, "usage: leaf THREADS SLICES [CALLS]; SLICES: at least %d\n", PLACES);
		return 2;
	}
	pthread_barrier_init(&barrier, NULL, (unsigned int)cnt);
	for (long i = 0; i < cnt; i++)
		if (pthread_create(&threads[i], NULL, run, &results[i]))
			return 99;
	for (long i = 0; i < cnt; i++)
		pthread_join(threads[i], NULL);
	for (long i = 0; i < cnt; i++) {
		values[0][i] = results[i].plain;
		values[1][i] = results[i].pair;
		values[2][i] = results[i].tool;
		all_faults += results[i].faults;
	}
	printf("%.3f %.3f %.3f %ld %ld\n", median(values[0], cnt), median(values[1], cnt),
	       median(values[2], cnt), all_faults, cnt * slices * calls);
	return 0;
}

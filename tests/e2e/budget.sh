#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof record --sample auto on few processors: recording stays within a part of their time, whatever the latencies are.
. "${srcdir:-.}/tests/e2e/lib.sh"

# 16 threads that have work for three processors, until they have had 3 s of them: a request is 5,000 calls of 30 ns, and a millisecond that it waits.  So
# it takes 1 ms and more, of which 5 % are 50 us and more: half of all requests, or all, could have 90 us of probes.
# 5 % of 150 us of processor time are 7.5, and recording a request takes some 300 us: one request in 40.
cat >busy.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <vprof.h>

enum { THREADS = 16, CALLS = 5000 };

static long cnt;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

__attribute__((noinline)) unsigned tiny(unsigned i)
{
	for (int k = 0; k < 16; k++)
		i = i * 2654435761u + 1;
	return i;
}

__attribute__((noinline)) unsigned request(long key)
{
	unsigned sum = 0;

	VPROF_BEGIN("request", key);
	for (unsigned k = 0; k < CALLS; k++)
		sum += tiny(k);
	usleep(1000);
	VPROF_END("request", key);
	return sum;
}

static void *work(void *arg)
{
	while (now(CLOCK_PROCESS_CPUTIME_ID) < 3) {
		request((long)arg);
		__atomic_fetch_add(&cnt, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%ld %g\n", cnt, now(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
END
expect 0 "$VPROF" build --functions tiny -- cc -O2 -o busy busy.c -lpthread

# In full, part of the processor time that this is at 57 ns a call, part of all: "CNT SHARE PART".
record_busy()
{
	expect 0 "$VPROF" record --sample "$1" -- ./busy
	sed -n 's/.*: \([0-9]*\) intervals\{0,1\} of .* recorded in full.*/\1/p' "$work/.err" >full
	grep '^[0-9]* [0-9.]*$' "$work/.out" | paste -d' ' full - |
		awk '{ print $1, $1 * 5000 * 57e-9 / $3, $1 / $2 }' >spent
}

# Three times the budget: what a call takes differs from machine to machine, and the first look comes after 0.1 s.
record_busy auto
awk '{ exit !($1 >= 30 && $2 < 0.15) }' spent && pass || fail "auto: in full, of the processors, of all: $(cat spent)"
read -r _ _ part <spent
record_busy auto=0.4
awk -v small="$part" '{ exit !($2 < 1.2 && $3 > 2 * small) }' spent && pass ||
	fail "auto=0.4: in full, of the processors, of all: $(cat spent), $part of all at 0.05"
expect 2 "$VPROF" record --sample auto=2 -- ./busy
says "or auto=0.1, not 'auto=2'"
finish

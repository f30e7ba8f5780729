#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Threads that wait where no wrapper sees it: that time does not count as running, and computing time still does.
. "${srcdir:-.}/tests/e2e/lib.sh"

# Built without vprof: rest() makes its system call by an instruction of its own.
cat >rest.c <<'END'
#include <sys/syscall.h>
#include <time.h>

void rest(long ns)
{
	struct timespec t = { 0, ns };
#ifdef __x86_64__
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "0"(SYS_nanosleep), "D"(&t), "S"(0) : "rcx", "r11", "memory");
#else
	long syscall(long, ...);

	syscall(SYS_nanosleep, &t, 0);
#endif
}
END
# The kernel's own account of what a thread did from here to there, as a program of any load would keep it: names and ns.
cat >account.h <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct account { long wall, ran, queued; };

static inline long clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static inline __attribute__((always_inline)) struct account account_now(void)
{
	char text[96] = "", *at = text;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY);
	struct account a = { clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_THREAD_CPUTIME_ID), 0 };

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		exit(9);
	close(fd);
	strtol(at, &at, 10);
	a.queued = strtol(at, &at, 10);
	return a;
}

static inline __attribute__((always_inline)) void account_add(struct account *sum, struct account from)
{
	struct account to = account_now();

	sum->wall += to.wall - from.wall;
	sum->ran += to.ran - from.ran;
	sum->queued += to.queued - from.queued;
}

static inline __attribute__((always_inline)) void account_say(const char *name, struct account a)
{
	printf("account %s %ld %ld %ld\n", name, a.wall, a.ran, a.queued);
}
END
# doze() rests, grind() computes, each for 1 to 8 ms; with an argument each order has a thread of its own.
cat >orders.c <<'END'
#include "account.h"

void rest(long ns);

static volatile unsigned long sink;
static struct account ground, dozed;

__attribute__((noinline)) void grind(unsigned i)
{
	struct timespec t, now;
	long took;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	do {
		for (int k = 0; k < 1000; k++)
			sink += (unsigned long)k;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		took = (now.tv_sec - t.tv_sec) * 1000000000L + now.tv_nsec - t.tv_nsec;
	} while (took < 1000000L * (1 + i % 3));
}

__attribute__((noinline)) void doze(unsigned i) { rest(1000000L * (i % 4 ? 2 : 8)); }

__attribute__((noinline)) void order(unsigned i)
{
	struct account begin = account_now();

	grind(i);
	account_add(&ground, begin);
	begin = account_now();
	doze(i);
	account_add(&dozed, begin);
}

static void *all(void *arg)
{
	order((unsigned)(unsigned long)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	(void)argv;
	for (unsigned long i = 0; i < 120; i++) {
		pthread_t t;

		if (argc < 2) {
			order((unsigned)i);
			continue;
		}
		pthread_create(&t, NULL, all, (void *)i);
		pthread_join(t, NULL);
	}
	account_say("grind", ground);
	account_say("doze", dozed);
	return 0;
}
END
# Two threads write to one stream; its lock, inside the C library, is held while the one below it is slow.
cat >stream.c <<'END'
#define _GNU_SOURCE
#include "account.h"

static FILE *out;
static struct account said;

static ssize_t slow_write(void *cookie, const char *data, size_t size)
{
	struct timespec t = { 0, 4000000 };

	(void)cookie;
	(void)data;
	nanosleep(&t, NULL);
	return (ssize_t)size;
}

__attribute__((noinline)) void say(int i) { fprintf(out, "line %d\n", i); }

static void *other(void *arg)
{
	for (int i = 0; i < 60; i++)
		say(i);
	return arg;
}

static void say_all(void)
{
	struct account begin = account_now();

	for (int i = 0; i < 60; i++)
		say(i);
	account_add(&said, begin);
}

int main(void)
{
	cookie_io_functions_t io = { .write = slow_write };
	pthread_t t;

	out = fopencookie(NULL, "w", io);
	setvbuf(out, NULL, _IONBF, 0);
	pthread_create(&t, NULL, other, NULL);
	say_all();
	pthread_join(t, NULL);
	account_say("say", said);
	return 0;
}
END

# account FUNCTIONS: sets wall, ran, queued and slept, in us, as the program itself has them from the kernel
account()
{
	eval "$(awk -v names="$1" '$1 == "account" && $2 ~ "^(" names ")$" { w += $3; r += $4; q += $5 }
		END { printf "wall=%d ran=%d queued=%d slept=%d\n", w / 1000, r / 1000, q / 1000, (w - r - q) / 1000 }' "$work/said")"
}

# holds WHAT VALUE LOW HIGH
holds()
{
	if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then
		pass
	else
		fail "$1: $2 us, not $3 to $4 (of $wall: ran $ran, in the run queue $queued, slept $slept)"
	fi
}

cc -O1 -c rest.c
expect 0 "$VPROF" annotate --start order --end order
expect 0 "$VPROF" build --functions all -- cc -O1 -pthread -o orders orders.c rest.o
for way in alone each; do
	expect 0 "$VPROF" record -o "$way" -- ./orders $([ "$way" = alone ] || echo 1)
	cp "$work/.out" said
	expect 0 "$VPROF" export --format tuples "$way"
	cp "$work/.out" tuples
	account "grind|doze"
	holds "$way: running" "$(told "grind|doze" running)" $((ran * 8 / 10 - wall / 20)) $((ran + wall / 20))
	holds "$way: off" "$(told "grind|doze" other)" $((slept * 8 / 10)) $((slept + queued * 3 / 4 + wall / 20))
	account doze
	holds "$way: doze is running" "$(told doze running)" 0 $((ran + wall / 4))
	holds "$way: doze is off" "$(told doze other)" $((slept * 6 / 10)) "$wall"
	account grind
	# In a short thread a wait for a CPU looks as a sleep does: there was no look in between.  It was off for as long as it waited.
	[ "$way" = alone ] && queued=$((queued / 2))
	holds "$way: grind is off" "$(told grind other)" 0 $((slept + queued + wall / 10))
	expect 0 "$VPROF" show variance-tree "$way" --format json
	says '"code": "off-cpu-unknown"' '"wait": "other"'
done

mkdir saying && cd saying && mv ../stream.c ../account.h . || exit 99
expect 0 "$VPROF" init
expect 0 "$VPROF" annotate --start say --end say
expect 0 "$VPROF" build --functions all -- cc -O1 -pthread -o stream stream.c
expect 0 "$VPROF" record -o said -- ./stream
cp "$work/.out" "$work/said.first"
expect 0 "$VPROF" export --format tuples said
cp "$work/.out" "$work/tuples"
cp "$work/said.first" "$work/said"
account say
holds "say is running (two threads, of which one has this account)" "$(told say running)" 0 $((2 * ran + wall / 5))
finish

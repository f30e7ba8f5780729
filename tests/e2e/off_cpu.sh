#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Threads that wait where no wrapper sees it: their time is not told as running, and what does compute stays so.
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
# doze() rests, grind() computes, each for 1 to 8 ms; with an argument each order has a thread of its own.
cat >orders.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <time.h>

void rest(long ns);

static volatile unsigned long sink;

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

__attribute__((noinline)) void order(unsigned i) { grind(i); doze(i); }

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
	puts("closed");
	return 0;
}
END
# Two threads write to one stream; its lock, inside the C library, is held while the one below it is slow.
cat >stream.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static FILE *out;

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

int main(void)
{
	cookie_io_functions_t io = { .write = slow_write };
	pthread_t t;

	out = fopencookie(NULL, "w", io);
	setvbuf(out, NULL, _IONBF, 0);
	pthread_create(&t, NULL, other, NULL);
	for (int i = 0; i < 60; i++)
		say(i);
	pthread_join(t, NULL);
	puts("said");
	return 0;
}
END

# part FUNCTION STATE: of the time of the function's calls, how many percent are in segments of that state
part()
{
	awk -v function_name="$1" -v state="$2" '
		$1 == "segment" { n++; tid[n] = $2; from[n] = $4; to[n] = $5; of[n] = $6 }
		$1 == "invocation" && $4 ~ "^" function_name "(@|$)" { m++; in_tid[m] = $2; in_from[m] = $5; in_to[m] = $6 }
		END {
			for (k = 1; k <= m; k++) {
				all += in_to[k] - in_from[k]
				for (i = 1; i <= n; i++) {
					if (tid[i] != in_tid[k] || of[i] != state || to[i] <= in_from[k] || from[i] >= in_to[k])
						continue
					sum += (to[i] < in_to[k] ? to[i] : in_to[k]) - (from[i] > in_from[k] ? from[i] : in_from[k])
				}
			}
			printf "%d\n", all ? 100 * sum / all : -1
		}' "$work/tuples"
}

# is FUNCTION STATE LOW HIGH
is()
{
	percent=$(part "$1" "$2")
	if [ "$percent" -ge "$3" ] && [ "$percent" -le "$4" ]; then
		pass
	else
		fail "of $1's time $percent % is $2, not $3 to $4"
	fi
}

cc -O1 -c rest.c
expect 0 "$VPROF" annotate --start order --end order
expect 0 "$VPROF" build --functions all -- cc -O1 -pthread -o orders orders.c rest.o
for way in alone each; do
	expect 0 "$VPROF" record -o "$way" -- ./orders $([ "$way" = alone ] || echo 1)
	expect 0 "$VPROF" export --format tuples "$way"
	cp "$work/.out" tuples
	is doze running 0 40
	is doze other 40 100
	is grind other 0 50
	expect 0 "$VPROF" show variance-tree "$way" --format json
	says '"code": "off-cpu-unknown"' '"wait": "other"'
done

mkdir saying && cd saying && mv ../stream.c . || exit 99
expect 0 "$VPROF" init
expect 0 "$VPROF" annotate --start say --end say
expect 0 "$VPROF" build --functions all -- cc -O1 -pthread -o stream stream.c
expect 0 "$VPROF" record -o said -- ./stream
expect 0 "$VPROF" export --format tuples said
cp "$work/.out" "$work/tuples"
is say running 0 40
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# System calls by an instruction of the program's own: those that wait are waits, with a waker.  Every call has its usual effect, with and
# without a recording, and without the runtime.
. "${srcdir:-.}/tests/e2e/lib.sh"
[ "$(uname -m)" = x86_64 ] || exit 77

# Each kind of answer takes 0.3 ms, every fourth time 6 ms.  What is asked in other ways must not change.
cat >parked.c <<'END'
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define OWN __attribute__((noinline))
static int asked, answered, ends[2];
static double kept[8];

/* Names for the operands, a blank and a line's end in the template. */
static inline long call3(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile ("syscall\n\t" : [result] "=a" (result) : "[result]" (number), "D" (a), "S" (b), "d" (c)
			  : "%rcx", "%r11", "cc", "memory");
	return result;
}
static inline long call6(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = 0;
	register long r9 __asm__("r9") = 0;

	asm volatile(" syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "memory", "rcx", "r11");
	return number;
}
/* Not that instruction alone. */
static inline long call_after(long number)
{
	long result;

	__asm__ volatile("nop\n\tsyscall" : "=a"(result) : "0"(number) : "rcx", "r11", "memory");
	return result;
}
OWN static void work(int i) { struct timespec t = { 0, i % 4 ? 300000 : 6000000 }; nanosleep(&t, NULL); }
OWN static void reply_word(int i)
{
	work(i);
	__atomic_store_n(&answered, i + 1, __ATOMIC_SEQ_CST);
	call3(SYS_futex, (long)&answered, FUTEX_WAKE_PRIVATE, 1);
}
OWN static void reply_pipe(int i) { work(i); if (call3(SYS_write, ends[1], (long)"x", 1) != 1) abort(); }
OWN static void park(int i) { while (__atomic_load_n(&answered, __ATOMIC_SEQ_CST) != i + 1) call6(SYS_futex, (long)&answered, FUTEX_WAIT_PRIVATE, i, 0); }
OWN static void drain(void) { char c; if (call3(SYS_read, ends[0], (long)&c, 1) != 1 || c != 'x') abort(); }
OWN static void doze(void) { struct timespec t = { 0, 500000 }; call6(SYS_futex, (long)&asked, FUTEX_WAIT_PRIVATE, asked, (long)&t); }
OWN static void ask(void) { __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST); call3(SYS_futex, (long)&asked, FUTEX_WAKE_PRIVATE, 2); }
OWN static void request(int pipes, int i) { ask(); if (pipes) drain(); else park(i); }
static void *answer(void *pipes)
{
	for (int i = 0; i < 60; i++) {
		while (__atomic_load_n(&asked, __ATOMIC_SEQ_CST) <= i)
			call6(SYS_futex, (long)&asked, FUTEX_WAIT_PRIVATE, i, 0);
		if (*(int *)pipes) reply_pipe(i); else reply_word(i);
	}
	return NULL;
}
/* Values in registers of every sort live through a call. */
static int registers_live(long seed)
{
	double a = (double)seed + 0.5, b = a * 3, c = b - 7, d = c / 3;
	long x = seed * 7, y = x ^ 99, z = y + seed;

	if (call6(SYS_futex, (long)&answered, FUTEX_WAIT_PRIVATE, answered + 1, 0) != -EAGAIN)
		return 0;
	kept[0] = a, kept[1] = b, kept[2] = c, kept[3] = d;
	return z == ((seed * 7) ^ 99) + seed && kept[1] == ((double)seed + 0.5) * 3 && kept[3] == (((double)seed + 0.5) * 3 - 7) / 3;
}
int main(int argc, char **argv)
{
	int pipes = argc > 1 && atoi(argv[1]), status = 0;
	pthread_t t;
	long child;

	if (pipe(ends) || !registers_live(argc) || call3(SYS_getpid, 0, 0, 0) != getpid() || call_after(SYS_getpid) != getpid())
		return 3;
	errno = 77;
	if (call3(SYS_read, -1, 0, 0) != -EBADF || call3(SYS_futex, 8, FUTEX_WAKE, 1) != -EFAULT || errno != 77)
		return 4;
	child = call3(SYS_fork, 0, 0, 0);
	if (!child)
		call3(SYS_exit_group, 5, 0, 0);
	if (waitpid((pid_t)child, &status, 0) != child || WEXITSTATUS(status) != 5)
		return 5;
	if (pthread_create(&t, NULL, answer, &pipes))
		return 6;
	for (int i = 0; i < 60; i++)
		request(pipes, i);
	if (pthread_join(t, NULL))
		return 7;
	doze();
	puts("all as it was");
	return 0;
}
END
printf '[interval "request"]\nstart = request\nend = request\n' >vprof.conf

# named FUNCTION CLASS WAKER
named()
{
	"$VPROF" sql --format csv "SELECT cast(100 * sum(b.mean_ns) / (SELECT mean_ns FROM node WHERE id = 0 AND finding = b.finding) AS INTEGER)
		FROM node b JOIN node w ON w.finding = b.finding AND w.id = b.parent WHERE b.finding = (SELECT max(finding) FROM node)
		AND b.kind = 'blame' AND b.function = '$3' AND w.wait = '$2' AND w.function = '$1'" 2>&1 | tail -1 >part.out
	[ "$(cat part.out)" -ge 40 ] 2>/dev/null && pass || fail "$build: of its time $(cat part.out) % is a $2 wait of $1 for $3"
}

for build in "gcc -O2" "gcc -O0 -fno-pie -no-pie" "gcc -O1 -static" "clang -O2" "clang -O0 -fPIC"; do
	command -v "${build%% *}" >/dev/null || continue
	# shellcheck disable=SC2086
	expect 0 "$VPROF" build --functions request,park,drain,reply_word,reply_pipe,work -- $build -Wall -Werror -pthread parked.c -o parked
	expect 0 ./parked
	says 'all as it was'
	expect 0 "$VPROF" record -- ./parked
	says 'all as it was'
	named park cond work
	expect 0 "$VPROF" record -- ./parked 1
	named drain io work
done
# Linked without us, and without a runtime at all.
expect 0 "$VPROF" build --functions request -- gcc -O2 -pthread -c parked.c
expect 0 gcc -pthread parked.o -o bare
expect 0 ./bare
expect 0 "$VPROF" record -- ./bare
"$VPROF" export --format tuples | grep -q ' cond$' && pass || fail "preloaded: no wait"
# Other syntaxes of the assembler's are left alone.
expect 0 "$VPROF" build --functions all -- gcc -O1 -masm=intel -pthread parked.c -o intel
expect 0 ./intel
finish

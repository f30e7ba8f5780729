#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Waits that reach the C library in unusual ways: pointers from dlsym(), old symbol versions, a stream's lock, a futex that is moved to
# another queue.  A thread that waits there does not count as running, whether or not the reason is known.
. "${srcdir:-.}/tests/e2e/lib.sh"
[ "$(uname -m)" = x86_64 ] || exit 77

# In 40 rounds one thread is in stay(), and the other one lets it go after 5 ms.
cat >ways.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct old_cond { long words[6]; };
int old_wait(struct old_cond *, pthread_mutex_t *);
int old_signal(struct old_cond *);
__asm__(".symver old_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver old_signal, pthread_cond_signal@GLIBC_2.2.5");

enum { ROUNDS = 40 };
static const char *way;
static int first, second, turn;
static struct old_cond old;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static FILE *out;
static int (*lock)(pthread_mutex_t *), (*unlock)(pthread_mutex_t *);
static int (*doze)(const struct timespec *, struct timespec *);
static const struct timespec pause_ = { 0, 5000000 };

static int is(const char *name) { return strcmp(way, name) == 0; }
static void futex(int *word, int op, int value, long more, int *other, int third)
{
	syscall(SYS_futex, word, op, value, more, other, third);
}

__attribute__((noinline)) void stay(int i)
{
	if (is("requeue")) {
		while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) <= i)
			futex(&first, FUTEX_WAIT_PRIVATE, i, 0, NULL, 0);
	} else if (is("old")) {
		pthread_mutex_lock(&mutex);
		while (turn <= i)
			old_wait(&old, &mutex);
		pthread_mutex_unlock(&mutex);
	} else if (is("flockfile")) {
		flockfile(out);
		funlockfile(out);
	} else if (is("fputs")) {
		fputs("x", out);
	} else if (is("asleep")) {
		doze(&pause_, NULL);
	} else {
		lock(&mutex);
		unlock(&mutex);
	}
}

static void *visit(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&both);
		stay(i);
		pthread_barrier_wait(&both);
	}
	return arg;
}

static void hold(void)
{
	if (is("flockfile") || is("fputs"))
		flockfile(out);
	else if (is("found") || is("versioned"))
		lock(&mutex);
}

static void let_go(int i)
{
	if (is("flockfile") || is("fputs")) {
		funlockfile(out);
	} else if (is("found") || is("versioned")) {
		unlock(&mutex);
	} else if (is("old")) {
		pthread_mutex_lock(&mutex);
		turn = i + 1;
		old_signal(&old);
		pthread_mutex_unlock(&mutex);
	} else if (is("requeue")) {
		futex(&first, FUTEX_CMP_REQUEUE_PRIVATE, 0, 1, &second, i);
		nanosleep(&pause_, NULL);
		__atomic_store_n(&turn, i + 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&first, i + 1, __ATOMIC_SEQ_CST);
		futex(&second, FUTEX_WAKE_PRIVATE, 1, 0, NULL, 0);
		futex(&first, FUTEX_WAKE_PRIVATE, 1, 0, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	pthread_t t;

	way = argc > 1 ? argv[1] : "found";
	out = fopen("/dev/null", "w");
	lock = dlsym(RTLD_DEFAULT, "pthread_mutex_lock");
	unlock = dlsym(RTLD_DEFAULT, "pthread_mutex_unlock");
	if (is("versioned")) {
		lock = dlvsym(RTLD_DEFAULT, "pthread_mutex_lock", "GLIBC_2.2.5");
		unlock = dlvsym(RTLD_DEFAULT, "pthread_mutex_unlock", "GLIBC_2.2.5");
	}
	doze = dlsym(RTLD_NEXT, "nanosleep");
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&t, NULL, visit, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		hold();
		pthread_barrier_wait(&both);
		if (!is("asleep"))
			nanosleep(&pause_, NULL);
		let_go(i);
		pthread_barrier_wait(&both);
	}
	pthread_join(t, NULL);
	puts("all were let go");
	return 0;
}
END
printf '[interval "stay"]\nstart = stay\nend = stay\n' >vprof.conf
expect 0 "$VPROF" build --functions stay -- cc -O1 -pthread -o ways ways.c
for way in requeue found versioned asleep old flockfile fputs; do
	expect 0 "$VPROF" record -o "$way" -- ./ways "$way"
	says "all were let go"
	"$VPROF" export --format tuples "$way" >tuples 2>"$work/.err" || fail "export"
	ran=$(told stay running) all=0
	for state in running lock cond io queue join sleep other runnable; do
		all=$((all + $(told stay "$state")))
	done
	[ "$all" -ge 180000 ] && pass || fail "$way: stay took $all us, not 40 times 5 ms"
	[ $((3 * ran)) -le "$all" ] && pass || fail "$way: of $all us stay is told to run for $ran"
	echo "$way: $ran of $all"
done
finish

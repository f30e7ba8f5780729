#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# record --stacks -p of a program that hangs: its threads have waited since before the recording, and none comes back during it.  Their
# places are reported all the same: with little on the stack, with more than a page, and with more than is copied.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
cat >hang.c <<'END'
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned sink;

APART static void shallow(void) { pthread_mutex_lock(&mutex); sink++; }
APART static void middle(void)
{
	char room[6000];

	memset(room, 1, sizeof(room));
	shallow();
	sink += room[sink % 100];
}
APART static void deep(void)
{
	char room[30000];

	memset(room, 1, sizeof(room));
	shallow();
	sink += room[sink % 100];
}

static void *run(void *function)
{
	((void (*)(void))function)();
	return function;
}

int main(void)
{
	pthread_t threads[3], more;
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 2000; i++)
		pthread_create(&more, &small, run, (void *)shallow);
	pthread_create(&threads[0], NULL, run, (void *)shallow);
	pthread_create(&threads[1], NULL, run, (void *)middle);
	pthread_create(&threads[2], NULL, run, (void *)deep);
	return pthread_join(threads[0], NULL);
}
END
gcc -O1 -g -fomit-frame-pointer hang.c -o hang -lpthread || exit 99
./hang &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
until [ "$(grep -ls '^State:	S' /proc/$server/task/*/status | wc -l)" = 2004 ]; do sleep 0.05; done
for which in user both; do
	expect 3 "$VPROF" record --kernel=require --stacks=$which --samples 0 -p $server -- sleep 1
	expect 0 "$VPROF" show samples --format folded
	for line in '^hang;[^[]*;run;shallow;[^[]*lock.*;\[lock\]' '^hang;[^[]*;run;middle;shallow;.*;\[lock\]' \
		'^hang;\[deeper\];.*shallow;.*;\[lock\]' '^hang;_start;.*;main;.*futex.*;\[lock\]'; do
		[ "$(grep "$line" "$work/.out" | awk '{ n += $NF } END { print n + 0 }')" -ge 900 ] && pass || {
			fail "$which: no second in $line"
			cat "$work/.out"
		}
	done
	ran=$(grep '^hang;' "$work/.out" | grep -v '\[lock\]' | awk '{ n += $NF } END { print n + 0 }')
	[ "$ran" -lt 50 ] && pass || fail "$which: threads that hang ran for $ran ms"
done
finish

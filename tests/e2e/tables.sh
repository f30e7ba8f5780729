#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# More functions, names and nested calls than the recorder once had room for; and a message where there is no room.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >many.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vprof.h>

static volatile unsigned sink;

static inline __attribute__((always_inline)) void spin(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i;
}

/* A scope of each line: as many functions.  Outside all intervals they are known, and not recorded. */
static void scopes(unsigned cnt)
{
	for (unsigned i = 1; i <= cnt; i++) {
		struct vprof_mark_site *site = calloc(1, sizeof(*site));
		struct vprof_mark_span span = { 0 };

		site->line = i;
		site->name = "some scope";
		site->file = "scopes.c";
		if (vprof_mark_scope_in)
			vprof_mark_scope_in(site, &span, __builtin_frame_address(0), __builtin_return_address(0));
		vprof_mark_leave_(&span);
	}
}

/* Names of half a MiB: 64 MiB of them have room, less what others take. */
static void long_names(unsigned cnt)
{
	for (unsigned i = 1; i <= cnt; i++) {
		struct vprof_mark_site *site = calloc(1, sizeof(*site));
		struct vprof_mark_span span = { 0 };
		char *name = calloc(1, (1 << 19) + 1);

		memset(name, 'a' + i % 26, 1 << 19);
		snprintf(name, 9, "%08u", i);
		name[8] = '_';
		site->line = i;
		site->name = name;
		site->file = "long.c";
		if (vprof_mark_scope_in)
			vprof_mark_scope_in(site, &span, __builtin_frame_address(0), __builtin_return_address(0));
		vprof_mark_leave_(&span);
	}
}

/* Home-made locks, each asked for while the ones before are. */
static void locks(unsigned cnt)
{
	static char objects[64];

	for (unsigned i = 0; i < cnt; i++)
		VPROF_ACQUIRE(&objects[i]);
	for (unsigned i = cnt; i-- > 0; )
		VPROF_ACQUIRED(&objects[i]);
	for (unsigned i = 0; i < cnt; i++)
		VPROF_RELEASE(&objects[i]);
}

static void names(unsigned cnt)
{
	for (unsigned i = 1; i <= cnt; i++) {
		struct vprof_mark_label *label = calloc(1, sizeof(*label));
		char name[32];

		snprintf(name, sizeof(name), "work-%u", i);
		label->name = strdup(name);
		if (vprof_mark)
			vprof_mark(15, label, i, 0);
	}
}

__attribute__((noinline)) static void culprit(unsigned i)
{
	VPROF_SCOPE("hot part");
	spin(i % 5 * 200000);
}

static void request(unsigned i)
{
	VPROF_BEGIN("request", i);
	culprit(i);
	VPROF_WORK("items", i % 5);
	VPROF_END("request", i);
}

__attribute__((noinline)) static void down(unsigned depth)
{
	if (depth)
		down(depth - 1);
	sink++;
}

static void inside(unsigned depth)
{
	VPROF_BEGIN("inside", depth);
	if (depth)
		inside(depth - 1);
	VPROF_END("inside", depth);
}

/* Begun here, and ended by another thread that this one says nothing of. */
static void *answer(void *arg)
{
	unsigned cnt = *(unsigned *)arg;

	for (unsigned i = 0; i < cnt; i++) {
		VPROF_RESUME("handed", i);
		spin(100);
		VPROF_END("handed", i);
	}
	return arg;
}

static void hand_over(unsigned cnt)
{
	pthread_t t;

	for (unsigned i = 0; i < cnt; i++)
		VPROF_BEGIN("handed", i);
	pthread_create(&t, 0, answer, &cnt);
	pthread_join(t, 0);
}

/* All are there at once, however late the scheduler starts the last one; prints how many there are. */
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static unsigned arrived;

static void *visit(void *arg)
{
	__atomic_fetch_add(&arrived, 1, __ATOMIC_RELEASE);
	pthread_mutex_lock(&door);
	pthread_mutex_unlock(&door);
	return arg;
}

static void crowd(unsigned cnt)
{
	pthread_t *t = calloc(cnt + 1, sizeof(*t));
	pthread_attr_t a;
	unsigned made = 0;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 32768);
	pthread_mutex_lock(&door);
	while (made < cnt && !pthread_create(&t[made], &a, visit, 0))
		made++;
	while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < made)
		usleep(1000);
	pthread_mutex_unlock(&door);
	for (unsigned i = 0; i < made; i++)
		pthread_join(t[i], 0);
	printf("%u were there\n", made);
}

/* So many kinds of intervals, each i % 7 + 1 times. */
static void kinds(unsigned cnt)
{
	struct vprof_mark_label *labels = calloc(cnt, sizeof(*labels));
	char name[32];

	for (unsigned i = 0; i < cnt; i++) {
		snprintf(name, sizeof(name), "kind-%u", i);
		labels[i].name = strdup(name);
		for (unsigned k = 0; k <= i % 7 && vprof_mark; k++) {
			vprof_mark(1, &labels[i], k, 0);
			vprof_mark(2, &labels[i], k, 0);
		}
	}
}

int main(int argc, char **argv)
{
	unsigned cnt = argc > 2 ? (unsigned)atoi(argv[2]) : 0;

	if (argc > 1 && !strcmp(argv[1], "scopes"))
		scopes(cnt);
	if (argc > 1 && !strcmp(argv[1], "long"))
		long_names(cnt);
	if (argc > 1 && !strcmp(argv[1], "locks"))
		locks(cnt);
	if (argc > 1 && !strcmp(argv[1], "kinds"))
		kinds(cnt);
	VPROF_BEGIN("setup", 0);
	if (argc > 1 && !strcmp(argv[1], "names"))
		names(cnt);
	if (argc > 1 && !strcmp(argv[1], "down"))
		down(cnt);
	VPROF_END("setup", 0);
	for (unsigned i = 0; i < 300; i++)
		request(i);
	if (argc > 1 && !strcmp(argv[1], "inside"))
		inside(cnt);
	if (argc > 1 && !strcmp(argv[1], "handed"))
		hand_over(cnt);
	if (argc > 1 && !strcmp(argv[1], "crowd"))
		crowd(cnt);
	return 0;
}
END
expect 0 "$VPROF" build --functions down -- cc -O1 -pthread -o many many.c

# same_answer ARGUMENT...: with as many, 'hot part' is what it is without, and nothing was lost
same_answer()
{
	expect 0 "$VPROF" record -- ./many "$@"
	culprit "hot part"
	grep -q "table-full\|no number\|there is room for" "$work/.out" "$work/.err" && fail "a full table with $*" || pass
}

same_answer scopes 1000
same_answer scopes 70000
same_answer names 6000
# the last name is whole, and no other has it
[ "$("$VPROF" export --format tuples | grep -c "work-6000")" = 1 ] && pass || fail "the last name"

# Kinds of intervals: each has its results, however many are written at once.
same_answer kinds 200
expect 0 "$VPROF" sql "SELECT count(*) AS kinds FROM finding WHERE run = (SELECT max(number) FROM run)" --format csv
grep -qx 202 "$work/.out" && pass || fail "results of $(tail -n 1 "$work/.out") kinds, not 202"
for kind in 0 62 63 64 65 127 128 199; do
	expect 0 "$VPROF" show summary --interval kind-$kind --format json
	grep -q "\"count\": $((kind % 7 + 1)),"  "$work/.out" && pass || fail "kind-$kind: $(grep '"count"' "$work/.out")"
done

# More calls inside each other than a thread's stack of them has room for; more intervals.
same_answer down 100
expect 0 "$VPROF" record -- ./many down 500
says "there is room for 127 calls open at once on a thread, and 374 calls were deeper" "Not all was recorded"
culprit "hot part" "may cause"
same_answer inside 10
# A thread that hands its intervals to others misses none of them.
same_answer handed 200
expect 0 "$VPROF" record -- ./many inside 20
says "there is room for 16 intervals open at once on a thread, and 5 times a thread lost sight"
same_answer locks 8
expect 0 "$VPROF" record -- ./many locks 11
says "there is room for 8 listed locks asked for at once on a thread, and 3 times the outermost one was forgotten" "may cause"
same_answer crowd 200
expect 0 "$VPROF" record -- ./many crowd 12400
if grep -q '^12400 were there' "$work/.out"; then
	says "Not all was recorded"
	culprit "hot part" "may cause"
	expect 0 "$VPROF" show warnings
	says "there is room for 12288 threads at the same time, and " "a thread had no room"
else
	echo "not tried here: so many threads"
fi
same_answer long 100
expect 0 "$VPROF" record -- ./many long 140
says "bytes for names, and " "these functions have a number in place of their name"
"$VPROF" show summary --format json >summary.json || fail "show"
grep -q '"table-full"' summary.json && pass || fail "no code"

finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Intervals that begin inside themselves: the outermost counts, through functions that call each other, longjmp,
# exceptions and macros, and where threads have the same key.  An end that another thread calls works for the interval.
. "${srcdir:-.}/tests/e2e/lib.sh"

# Counts completed intervals: all; those with one call each of first and last; those that began and ended on one thread.
summary()
{
	"$VPROF" export --format tuples 2>export.err | awk '
		$1 == "interval" && $6 != "-" && $8 != "aborted" { sids[$2] = 1; cnt++; same += $4 == $6 }
		$1 == "invocation" { split($4, f, "@"); calls[$3 " " f[1]]++ }
		END { for (s in sids) whole += calls[s " first"] == 1 && calls[s " last"] == 1
			print cnt + 0, "whole", whole + 0, "same", same + 0 }'
}

# is WANTED WHAT
is()
{
	got=$(summary)
	[ "$got" = "$1" ] && pass || fail "$2: '$got' instead of '$1'"
}

# page() shows a page that includes others, up to three levels; include() calls page() again.  30 of 300 jump out of the
# second level, and 6 out of all.
cat >pages.c <<'EOF'
#include <setjmp.h>
#define NI __attribute__((noinline))
struct page { int id, level; jmp_buf *back; };
static jmp_buf out;
NI void first(void) { __asm__ volatile(""); }
NI void last(void) { __asm__ volatile(""); }
NI void page(struct page *p);
NI void include(struct page *p)
{
	struct page sub = { p->id, p->level + 1, p->back };

	page(&sub);
	__asm__ volatile("");
}
NI void page(struct page *p)
{
	jmp_buf back;

	if (p->level == 0) {
		first();
		p->back = &back;
	}
	if (p->level == 1 && p->id % 10 == 5)
		longjmp(*p->back, 1);
	if (p->level == 2 && p->id % 50 == 8)
		longjmp(out, 1);
	if (p->level > 0 || !setjmp(back))
		if (p->level < p->id % 3 + (p->id % 10 == 5))
			include(p);
	if (p->level == 0)
		last();
}
int main(void)
{
	for (volatile int i = 0; i < 300; i++) {
		struct page p = { i, 0, 0 };

		if (!setjmp(out))
			page(&p);
	}
	return 0;
}
EOF
# id % 50 == 8 and two levels deep (id % 3 == 2): 8, 158
expect 0 "$VPROF" annotate --name page --start page --end page --key 'arg0->id'
expect 0 "$VPROF" build --functions all -- gcc -O1 -o pages pages.c
expect 0 "$VPROF" record -- ./pages
is "298 whole 298 same 298" "functions that call each other"

# The thread as key: the next start finds the frame of the one that was left.
rm -r vprof.conf vprof.data pages
expect 0 "$VPROF" annotate --name page --start page --end page
expect 0 "$VPROF" build --functions all -- gcc -O2 -o pages pages.c
expect 0 "$VPROF" record -- ./pages
is "298 whole 298 same 298" "the thread as key"

# Only intervals without another inside: one per page, except for the 32 that jump.
sed -i '/^\[interval/a nested = inner' vprof.conf
expect 0 "$VPROF" analyze
set -- $(summary)
[ "$1" = 268 ] && pass || fail "$1 innermost ones instead of 268"
expect 2 sh -c 'sed "s/nested = inner/nested = each/" vprof.conf >other.conf; mv other.conf vprof.conf; exec "$VPROF" analyze'
says "nested wants outer or inner, not 'each'"

# With a lot for each interval: those in full have all their functions.
rm -r vprof.conf
expect 0 "$VPROF" annotate --name page --start page --end page
expect 0 "$VPROF" record --sample 1/2 -- ./pages
set -- $(summary)
[ "$1" -gt 90 ] && [ "$1" = "$3" ] && pass || fail "in full: $*"

# A macro each, key 0 in four threads that are in it at the same time, twice.
rm -r vprof.conf vprof.data
cat >jobs.c <<'EOF'
#include <pthread.h>
#include <vprof.h>
#define NI __attribute__((noinline))
static pthread_barrier_t all;
NI void first(void) { __asm__ volatile(""); }
NI void last(void) { __asm__ volatile(""); }
static void *work(void *arg)
{
	for (int i = 0; i < 50; i++) {
		VPROF_BEGIN("job", 0);
		first();
		pthread_barrier_wait(&all);
		VPROF_BEGIN("job", 0);
		pthread_barrier_wait(&all);
		if (i % 2)
			VPROF_END("job", 0);
		else
			VPROF_ABORT("job", 0);
		last();
		VPROF_END("job", 0);
		pthread_barrier_wait(&all);
	}
	return arg;
}
int main(void)
{
	pthread_t t[4];

	pthread_barrier_init(&all, 0, 4);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return 0;
}
EOF
expect 0 "$VPROF" build --functions all -- gcc -O1 -pthread -o jobs jobs.c
expect 0 "$VPROF" record -- ./jobs
is "200 whole 200 same 200" "one key in four threads"

# Exceptions out of the inner one, caught by the outer one.
rm -r vprof.data
cat >throws.cc <<'EOF'
#define NI __attribute__((noinline))
NI void first() { __asm__ volatile(""); }
NI void last() { __asm__ volatile(""); }
NI void serve(int id, int level)
{
	if (level == 0)
		first();
	try {
		if (level < 2)
			serve(id, level + 1);
	} catch (int) {
		if (level == 1 && id % 4 == 0)
			throw;
	}
	if (level == 0)
		last();
	else if (id % 2 == 0)
		throw id;
}
int main() { for (int i = 0; i < 200; i++) serve(i, 0); }
EOF
expect 0 "$VPROF" annotate --name serve --start serve --end serve
expect 0 "$VPROF" build --functions all -- g++ -O2 -o throws throws.cc
expect 0 "$VPROF" record -- ./throws
is "200 whole 200 same 200" "exceptions"

# put() on one thread, answer() on another; nothing says that answer() works for the request.
rm -r vprof.conf vprof.data
cat >answers.c <<'EOF'
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#define NI __attribute__((noinline))
struct request { int id; };
static struct request *slot;
static sem_t put_in, done;
NI void put(struct request *r) { slot = r; sem_post(&put_in); }
NI void pause_us(long us) { struct timespec t = { 0, us * 1000 }; nanosleep(&t, 0); }
NI void answer(struct request *r) { pause_us(r->id % 7 == 0 ? 9000 : 100); }
static void *work(void *arg)
{
	for (int i = 0; i < 140; i++) {
		sem_wait(&put_in);
		answer(slot);
		sem_post(&done);
	}
	return arg;
}
int main(void)
{
	pthread_t t;

	pthread_create(&t, 0, work, 0);
	for (int i = 0; i < 140; i++) {
		struct request r = { i };

		put(&r);
		sem_wait(&done);
	}
	pthread_join(t, 0);
	return 0;
}
EOF
expect 0 "$VPROF" annotate --name request --start put --end answer --key arg0
expect 0 "$VPROF" build --functions all -- gcc -O1 -pthread -o answers answers.c
expect 0 "$VPROF" record -- ./answers
says ": it sleeps."
grep -q "waits for its thread\|^▶ Not known" "$work/.err" && fail "the answer counts as a queue wait" || pass
"$VPROF" export --format tuples | awk '
	$1 == "interval" { end[$2] = $5 " " $7 }
	$1 == "invocation" && $4 ~ /^answer/ { of[$3]++ }
	$1 == "segment" && $6 == "sleep" && $3 in end { slept += $5 - $4 }
	END { for (s in end) own += of[s] == 1; exit !(own == 140 && slept > 20 * 9000000) }' && pass ||
	fail "not every answer() is its interval's own"

# The end computes another key: said first of all, with an example of one thread.  Three of 403 ends are right.
rm -r vprof.conf vprof.data
cat >keys.c <<'EOF'
#define NI __attribute__((noinline))
static char objects[4][16];
NI int serve(char *c, int shift) { __asm__ volatile("" : : : "memory"); return *c + shift; }
int main(void) { for (int i = 0; i < 403; i++) serve(objects[i < 400 ? i % 3 : 3], i < 400); return 0; }
EOF
expect 0 "$VPROF" annotate --name serve --start 'serve key=arg0' --end 'serve key=arg0+arg1'
expect 0 "$VPROF" build --functions all -- gcc -O1 -o keys keys.c
expect 0 "$VPROF" record -- ./keys
cp "$work/.err" record.err
expect 0 "$VPROF" show factors
for said in record.err "$work/.err"; do
	grep -m 1 "warning:" "$said" | grep -q "400 of 403 starts of 'serve' have no end .* 400 ends have no start: \
key 0x[0-9a-f]* ([0-9]*) was started and not ended, key 0x[0-9a-f]* ([0-9]*) was ended by the same thread" && pass ||
		fail "not the first warning: $(cat "$said")"
done

# No interval complete, or many left out: the message counts them, with an example and a remedy.
rm -r vprof.conf vprof.data
cat >loose.c <<'EOF'
#include <stdlib.h>
#include <string.h>
#include <vprof.h>
__attribute__((noinline)) void spin(long n) { for (volatile long i = 0; i < n * 1000; i++) ; }
static int is(const char *a, const char *b) { return !strcmp(a, b); }
int main(int argc, char **argv)
{
	const char *how = argv[1];

	for (long i = 0; i < 60; i++) {
		if (!is(how, "ends"))
			VPROF_BEGIN("order", i);
		spin(1 + i % 3);
		if (is(how, "keys") || is(how, "ends"))
			VPROF_END("order", i + 4096);
		else if (is(how, "aborts") || (is(how, "beside") && i % 4 == 0))
			VPROF_ABORT("order", i);
		else if (!is(how, "starts"))
			VPROF_END("order", i);
	}
	for (long i = 0; i < 60 && is(how, "beside"); i++) {
		VPROF_BEGIN("audit", 1);
		VPROF_BEGIN("audit", 1);
		spin(1 + i % 3);
		VPROF_END("audit", 1);
		VPROF_END("audit", 1);
	}
	return argc > 2;
}
EOF
expect 0 "$VPROF" build --functions spin -- gcc -O1 -o loose loose.c

# loose HOW TEXT...: without a completed interval, at record and in a view
loose()
{
	how=$1
	shift
	expect 3 "$VPROF" record -- ./loose "$how"
	says "no 'order' interval completed" "$@"
	expect 3 "$VPROF" show variance-tree
	says "$@"
}
loose keys "60 of 60 starts of 'order' have no end" "60 ends have no start: key 0 was started and not ended, key 0x1000 (4096) was \
ended by the same thread" "Give start and end keys of the same value"
loose starts "60 of 60 starts of 'order' have no end" ": key 0 was started and not ended" "Name every place where it ends"
loose ends "'order' never started, and ended 60 times: key 0x1000 (4096) was ended" "Name the place where it starts"
loose aborts "(60 aborted by VPROF_ABORT): key 0 was aborted" "VPROF_END in place of VPROF_ABORT"
"$VPROF" show summary --format json >json 2>"$work/.err"
grep -q '"aborted": 60' json && grep -q '"unmatched_ends": 0' json && pass || fail "$(grep -A 9 dropped json)"

# One kind has all its intervals, of another a quarter is aborted.
expect 0 "$VPROF" record -- ./loose beside
cp "$work/.err" record.err
expect 0 "$VPROF" show warnings
says "60 of 120 starts of 'audit' were inside another one of the same key, as that of key 1" \
	"other-intervals  the answer is not about 'order': 15 of 60 starts of 'order' have no end"
grep -q "run .* 60 intervals of 'audit'" record.err && grep -q "60 of 120 starts of 'audit'" record.err && pass || fail "$(cat record.err)"
expect 0 "$VPROF" show summary --interval audit
says "60 starts inside another one"
expect 0 "$VPROF" show factors --interval order
says "15 of 60 starts of 'order' have no end"
finish

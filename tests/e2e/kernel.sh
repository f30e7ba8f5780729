#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# record --kernel, if permitted: waits outside the listed primitives have a cause.  If not permitted, one line says so, and =require is an
# error.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir project && cd project || exit 99
cat >server.c <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned sink;
/* No primitive that vprof knows: the system call itself, in more than the one instruction that the instrumenter would know. */
#define OWN_NANOSLEEP(t, r) __asm__ volatile("mov $35, %%eax\n\tsyscall" : "=a"(r) : "D"(t), "S"(0L) : "rcx", "r11", "memory")
void doze(unsigned id)
{
	struct timespec t = { 0, (id % 4) * 1000000L };
	long r;
	if (t.tv_nsec) OWN_NANOSLEEP(&t, r);
	sink++;
}
void compute(unsigned id) { for (unsigned i = 0; i < 20000; i++) sink += i * id; }
void handle(unsigned id) { doze(id); compute(id); sink++; }
int main(void)
{
	for (unsigned id = 1; id <= 200; id++)
		handle(id);
	return system("sleep 0.01");
}
END
printf 'server: server.c\n\t$(CC) -O1 -g -o $@ server.c\n' >Makefile
printf '[interval "request"]\n\tstart = handle\n\tend = handle\n' >vprof.conf
expect 0 "$VPROF" build -- make
expect 2 "$VPROF" record --kernel=sometimes -- ./server
says "--kernel is auto, require or off, not 'sometimes'"
expect 2 "$VPROF" record --stacks -- ./server
says "off without --kernel"
expect 2 "$VPROF" record --kernel --stacks=some -- ./server
says "--stacks is user, kernel, both or off, not 'some'"
expect 2 "$VPROF" record --kernel --stacks --samples=often -- ./server
says "a number a second from 0 to 10000, not 'often'"
expect 0 "$VPROF" record -- ./server
[ ! -e vprof.data/runs/001/kernel.vpk ] && pass || fail "recorded the kernel's side without being asked"
expect 0 "$VPROF" show factors
says "doze"
if grep -q "sleep wait" "$work/.out" 2>/dev/null; then fail "knew of a sleep that only the kernel sees"; fi

expect 0 "$VPROF" doctor
says "vprof record --kernel"

# A user without permission: the same results as ever, and a line; or an error.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && chmod 755 "$work" &&
   setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'test -x "$VPROF"' 2>/dev/null; then
	mkdir ../other && cp -r server vprof.conf ../other && chown -R 65534:65534 ../other
	cd ../other || exit 99
	expect 4 setpriv --reuid=65534 --regid=65534 --clear-groups "$VPROF" record --kernel=require -- ./server
	says "kernel recorder" "→"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$VPROF" record --kernel -- ./server >.out 2>.err
	if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
		[ "$(grep -c "recording when threads are off the CPU, not why" .err)" = 1 ] && pass ||
			{ fail "did not say that it knows less"; cat .err; }
		expect 0 "$VPROF" show variance-tree --by cause --format json
		says '"kernel-reduced"' '"cause": "other"'
		expect 0 "$VPROF" show factors
		says "recorded without the right to know why"
		expect 0 "$VPROF" export --format tuples
		awk '$1 == "segment" && $6 == "other" && $3 != "-" { n++ } END { exit !(n > 140 && n <= 150) }' \
			"$work/.out" && pass || fail "the 150 sleeps are not there as other waits"
		grep -q "^thread [0-9]* thread sleep$" "$work/.out" && pass || fail "the started process is not there"
	else
		[ "$(grep -c "going on without it" .err)" = 1 ] && pass || fail "did not say that it goes on without"
		[ ! -e vprof.data/runs/002/kernel.vpk ] && pass || fail "a kernel's trace without permission"
	fi
	cd ../project || exit 99
fi

"$VPROF" record --kernel=require -- true >"$work/.out" 2>"$work/.err"
if ! [ -s vprof.data/runs/002/kernel.vpk ]; then
	echo "the rest needs the kernel recorder:" && cat "$work/.err"
	if grep -q "verifier refused" "$work/.err"; then fail "this kernel takes it, or we have to change it"; fi
	[ "$failed" = 0 ] && exit 77
	finish
fi

# The sleep is a wait, in doze, that a timer ended; all that the process did is accounted for.
expect 0 "$VPROF" record --kernel -- ./server
expect 0 "$VPROF" show variance-tree --format json
says '"wait": "sleep"'
expect 0 "$VPROF" show factors --all
says "doze › sleep wait"
expect 0 "$VPROF" export --format tuples
cp "$work/.out" tuples
grep -q ' timer timer$' tuples && pass || fail "no timer among the threads"
grep -q '^thread [0-9]* thread sleep$' tuples && pass || fail "the process that was started is not there"
awk '$1 == "segment" && $6 == "sleep" && $3 != "-" { n++ } END { exit !(n > 140 && n <= 150) }' tuples && pass ||
	fail "the 150 sleeps are not there"
awk '$1 == "segment" { if (t == $2 && $4 < e) exit 1; t = $2; e = $5 }' tuples && pass || fail "segments overlap"
expect 0 "$VPROF" import --from tuples tuples

# The same, by cause: three quarters slept, and what is left is the way back to the CPU and the rest.
expect 0 "$VPROF" show variance-tree 3 --by cause
says "(the interval)" "─ sleep" "of own" "doze"
expect 0 "$VPROF" show variance-tree 3 --by cause --format csv
awk -F, '$1 == "doze" && NR > 1 { v += $6 } $1 == "doze" && $3 == "sleep" && !$4 { n++ } END { exit !(v > 0 && n == 1) }' \
	"$work/.out" && pass || fail "doze has no sleep by cause"
awk -F, '$1 == "doze" && $4 != "" && ($3 == "sleep" || $4 == "sleep") { n++ } END { exit !n }' "$work/.out" && pass ||
	fail "doze's sleep has no covariance with another cause"
expect 0 "$VPROF" show variance-tree 3 --by cause --format json
says '"schema": "vprof.variance-by-cause/1"' '"covariances"'
expect 2 "$VPROF" show variance-tree --by colour
expect 2 "$VPROF" show factors --by cause

# In a quiet program vprof itself wakes up seldom, for that takes a CPU from another thread: 20 times a second its main thread and the one
# that takes records out.  The recorder's threads, of which two more attach and write, wait until whoever runs is done.
cat >awakenings.sh <<'END'
cnt() { cat /proc/$PPID/task/*/status | awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }'; }
sleep 1
before=$(cnt) since=$(cut -d' ' -f1 /proc/uptime)
sleep 1
awk '{ sub(/.*\) /, ""); n += $39 == 3 } END { print n + 0 }' /proc/$PPID/task/*/stat		# SCHED_BATCH
echo "$(($(cnt) - before)) $since $(cut -d' ' -f1 /proc/uptime)"
END
expect 3 "$VPROF" record --kernel=require -- sh awakenings.sh
awk 'NR == 1 { batch = $1 } END { n = $1 / ($3 - $2); exit !(batch == 3 && n > 10 && n < 80) }' "$work/.out" && pass ||
	fail "threads that are batch jobs; awakenings, from when to when in seconds: $(cat "$work/.out")"

# Another thread on the same CPU: the run queue, and nothing else.
cat >busy.c <<'END'
static volatile unsigned sink;
static void compute(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i; }
void work(unsigned id) { compute(3000000 + id); }
int main(void) { for (unsigned id = 1; id <= 60; id++) work(id); return 0; }
END
printf 'busy: busy.c\n\t$(CC) -O1 -g -o $@ busy.c\n' >Makefile
printf '[interval "request"]\n\tstart = work\n\tend = work\n' >vprof.conf
expect 0 "$VPROF" build -- make busy
taskset -c 0 sh -c 'while :; do :; done' &
rival=$!
expect 0 "$VPROF" record --kernel=require -- taskset -c 0 ./busy
kill $rival
expect 0 "$VPROF" show variance-tree --by cause --format csv
awk -F, 'NR == 2 { exit !($1 == "" && $3 == "runnable" && $7 > 0.8) }' "$work/.out" && pass || {
	fail "the run queue is not the cause"
	cat "$work/.out"
}

# Stacks of a program without probes, optimised and without frame pointers: which functions wait, wake and run.
cat >nested.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
static volatile unsigned sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
APART static void doze(long ms) { struct timespec t = { 0, ms * 1000000 }; nanosleep(&t, NULL); sink++; }
APART static void burn(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i * i; }
APART static void hold(void)
{
	pthread_mutex_lock(&lock);
	doze(5);
	pthread_mutex_unlock(&lock);
	sink++;
}
APART static void want(void) { pthread_mutex_lock(&lock); sink++; pthread_mutex_unlock(&lock); sink++; }
APART static void outer(char c)
{
	char room[600];

	memset(room, c, sizeof(room));
	burn(3000000);
	doze(2);
	sink += room[3];
}
static void *holder(void *arg) { for (int i = 0; i < 60; i++) { hold(); usleep(100); } return arg; }
int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, holder, NULL);
	for (int i = 0; i < 60; i++) {
		outer((char)i);
		want();
	}
	return pthread_join(t, NULL);
}
END
gcc -O2 -g -fomit-frame-pointer nested.c -o nested -lpthread || exit 99
# A sample stands for two periods at most.  On a busy machine they come late, and then some of what ran is in no stack: a second and a third
# recording are as good.
for _ in 1 2 3; do
	expect 3 "$VPROF" record --kernel=require --stacks -- ./nested
	expect 0 "$VPROF" show samples --format folded
	cp "$work/.out" folded
	awk '{ all += $NF } /^nested;\[unknown\]/ { none += $NF } END { exit !(all && none * 20 <= all) }' folded && break
done
for line in 'main;outer;doze;.*nanosleep.*;\[other\]' 'main;outer;burn' 'main;want;.*;\[lock\]' \
	'start_thread;holder;hold;doze;.*;\[other\]'; do
	grep -q "$line [0-9]*\$" folded && pass || { fail "no sample in $line"; cat folded; }
done
grep -q "\[deeper\]\|;.*;\[unknown\]" folded && { fail "a stack has no end"; cat folded; } || pass
awk '{ all += $NF } /^nested;\[unknown\]/ { none += $NF } END { exit !(all && none * 20 <= all) }' folded && pass ||
	{ fail "much is in no stack"; cat folded; }
awk '/;burn [0-9]*$/ { n += $NF } /;outer [0-9]*$/ { m += $NF } END { exit !(n > 50 && n > 10 * m) }' folded && pass ||
	{ fail "burn does not run most"; cat folded; }
expect 0 "$VPROF" show samples --format csv
grep -q '^want,nested.c,18,lock,' "$work/.out" && pass || { fail "want has no line"; cat "$work/.out"; }
expect 0 "$VPROF" show wait-graph --group=none --format json
tr -d ' \n' <"$work/.out" | grep -q '"main","want",[^]]*\].*"holder","hold",[^]]*unlock' && pass || {
	fail "no edge from want to hold"
	cat "$work/.out"
}
expect 0 "$VPROF" show criticality
says "burn" "nested.c"
expect 0 "$VPROF" export --format tuples
cp "$work/.out" tuples
expect 3 "$VPROF" import --from tuples tuples
expect 0 "$VPROF" show samples --format folded
cmp -s "$work/.out" folded && pass || fail "an import of the export has other samples"
expect 3 "$VPROF" record --kernel=require --stacks=both --samples 0 -- ./nested
expect 0 "$VPROF" show samples --format folded
grep -q 'main;want;.*futex_wait.*_\[k\];\[lock\]' "$work/.out" && pass || { fail "no kernel's stack"; cat "$work/.out"; }
grep -q '^nested;.*;burn [0-9]*$' "$work/.out" && fail "samples that nobody wanted" || pass

# Stacks that look alike: the same place in the C library and the same depth, six callers; two whose return address stands
# where the other's still does, so that only the frame pointer tells them apart; one that is deeper than what is copied at
# first.  The program says which thread waits, which one wakes the other before, and from when to when.  (A sleep that is over before it
# begins is no wait, on a busy machine, and has no stack: one in a hundred may be missing.  Real waits have one.)
cat >alike.c <<'END'
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
static volatile unsigned sink, small = 64, large = 128;
static sem_t posted;
APART static void doze(void)
{
	struct timespec t = { 0, 200000 };

	sem_post(&posted);
	nanosleep(&t, NULL);
	sink++;
}
#define CALLER(name) APART static void name(void) { doze(); sink += __LINE__; }
CALLER(one) CALLER(two) CALLER(three) CALLER(four) CALLER(five) CALLER(six)
APART static void pad(unsigned bytes) { char *p = alloca(bytes); sink += p == NULL; doze(); sink++; }
APART static void narrow(void) { char *p = alloca(small); sink += p == NULL; pad(large); sink++; }
APART static void wide(void) { char *p = alloca(large); sink += p == NULL; pad(small); sink++; }
APART static void dive(unsigned n)
{
	char room[700];

	memset(room, (int)n, sizeof(room));
	if (n)
		dive(n - 1);
	else
		doze();
	sink += room[n];
}
APART static void deep(void) { dive(9); sink++; }
static void *waiter(void *arg) { for (;;) sem_wait(&posted); return arg; }
static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}
int main(void)
{
	static void (*const all[])(void) = { one, two, three, four, five, six, narrow, wide, deep };
	static const char *const names[] = { "one", "two", "three", "four", "five", "six", "narrow", "wide", "deep" };
	unsigned last = 9, which, random = 1;
	long long began_ns;
	pthread_t t;

	sem_init(&posted, 0, 0);
	pthread_create(&t, NULL, waiter, NULL);
	for (unsigned i = 0; i < 1500; i++) {
		random = random * 1103515245 + 12345;
		which = i % 3 ? (random >> 16) % 9 : 6 + i / 3 % 2;
		if (which == last)
			continue;
		began_ns = now_ns();
		all[which]();
		printf("%s %lld %lld\n", names[which], began_ns, now_ns());
		last = which;
		if (i % 300 < 3)	/* what it was in is known by then, also on a busy machine */
			usleep(100000);
	}
	return 0;
}
END
gcc -O2 -g -fomit-frame-pointer alike.c -o alike -lpthread || exit 99
expect 3 "$VPROF" record --kernel=require --stacks --samples 0 -- ./alike
cp "$work/.out" steps
expect 0 "$VPROF" export --format tuples
main=$(awk '$1 == "thread" && $4 == "alike" { print $2; exit }' "$work/.out")
awk -v main="$main" '$1 == "stack" && /;doze[;@]/ { print }
	$1 == "segment" && $6 == "sleep" && $2 == main { print $1, $2, $4, $5 }' "$work/.out" | sort -n -k3 >stacks
[ "$(grep -c ';deep[;@].*nanosleep' stacks)" -gt 0 ] && pass || fail "no stack deeper than what is copied at first"
awk '
	FILENAME == "steps" { name[++steps] = $1 == "deep" ? "dive" : $1; begin[steps] = $2; end[steps] = $3; at = 1; next }
	{ while (at < steps && $3 > end[at]) at++
	  inside = $3 >= begin[at] }
	$1 == "segment" { if (inside) { lacks[$3] = name[at]; waits++ } next }
	{ who = ""; n = split($5, f, ";")
	  for (i = 1; i <= n; i++) { sub(/@.*/, "", f[i]); if (f[i] ~ /^(one|two|three|four|five|six|narrow|wide|dive)$/) who = f[i] }
	  if (!inside || who != name[at]) { wrong++; print (inside ? name[at] : "nothing") " did what is of " $0 }
	  if (/sem_post/) wakers++; else delete lacks[$3] }
	END { for (at in lacks) { wrong++; print "no stack of " lacks[at] " at " at }
	  print waits " waits of " steps ", " wakers " wakers"; exit wrong || waits < 0.99 * steps || wakers < steps / 10 }' steps stacks &&
	pass || fail "another stack than the real one"

# A stack with a page in the middle that was never touched is known as far as it goes; once the page is there, all of it.
cat >hollow.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#define APART __attribute__((noinline, noclone))
static volatile unsigned sink;
APART static void doze(void)
{
	struct timespec t = { 0, 50000 };

	nanosleep(&t, NULL);
	sink++;
}
APART static void hollow(int fills)
{
	char room[8200];		/* a page of it is never touched, and all is within 16 KiB of the stack's end, thread-local data included */

	if (fills)
		memset(room, fills, sizeof(room));
	sink += room == (char *)&sink;
	for (int i = 0; i < 1500; i++)
		doze();
	sink += fills ? room[fills] : 0;
}
static void *thread(void *arg)
{
	struct rusage r;

	hollow(0);
	hollow(1);
	getrusage(RUSAGE_THREAD, &r);
	printf("%ld\n", r.ru_nvcsw);	/* some sleeps end before they are waits, on a busy machine */
	return arg;
}
int main(void)
{
	pthread_t t;

	return pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL);
}
END
gcc -O2 -g -fomit-frame-pointer -Wno-maybe-uninitialized hollow.c -o hollow -lpthread || exit 99
expect 3 "$VPROF" record --kernel=require --stacks --samples 0 -- ./hollow
waited=$(tail -1 "$work/.out")			# as the kernel counted them
expect 0 "$VPROF" export --format tuples
awk '$1 == "stack" && /;doze[;@].*nanosleep/' "$work/.out" | sort -n -k3 >stacks
awk -v waited="$waited" '{ line[NR] = $0 }
	END {
		for (i = 1; i <= 1000; i++)
			short += line[i] ~ /\[deeper\];hollow/
		for (i = NR - 500; i <= NR; i++)
			whole += line[i] ~ /start_thread[;@].*thread[;@].*hollow[;@]/
		print NR " stacks of " waited " waits, " short " of 1000 fall short first, " whole " of 501 do not later"
		exit waited < 1600 || NR < 0.99 * waited || short < 990 || whole < 501
	}' stacks && pass || { fail "stacks with a page that was never touched"; head -2 stacks; tail -2 stacks; }

# A process that runs already, and what came from it before and while it is recorded.
cat >tree.sh <<'END'
sleep 30 & echo $! >child
sh -c 'sleep 30 & echo $! >grandchild; wait' &
while [ ! -e go ]; do sleep 0.05; done
touch gone
exec sleep 30
END
sh tree.sh &
victim=$!
wait_until test -s grandchild
expect 3 "$VPROF" record -p $victim -- sh -c 'touch go; sleep 0.5'
kill $victim "$(cat child)" "$(cat grandchild)"
expect 0 "$VPROF" export --format tuples
for thread in $victim "$(cat child)" "$(cat grandchild)"; do
	grep -q "^thread $thread thread sleep$" "$work/.out" && pass || { fail "no thread $thread"; grep "^thread" "$work/.out"; }
done
grep -q "^thread [0-9]* thread touch$" "$work/.out" && pass || fail "what it started meanwhile is not there"
expect 4 "$VPROF" record --kernel=off -p $$ -- ./server
expect 4 "$VPROF" record -p 4194304 -- true
says "process 4194304 cannot be recorded: there is no such process"

# The file's content is not trusted.
run=$(ls vprof.data/runs | sed -n 3p)
size=$(stat -c %s "vprof.data/runs/$run/kernel.vpk")
truncate -s $((size - 5)) "vprof.data/runs/$run/kernel.vpk"
printf '[interval "request"]\n\tstart = handle\n\tend = handle\n' >vprof.conf
expect 0 "$VPROF" analyze 3
printf 'nonsense' >"vprof.data/runs/$run/kernel.vpk"
expect 0 "$VPROF" analyze 3
says "kernel.vpk) is damaged, and left out" "3: 200 intervals of 'request'"
finish

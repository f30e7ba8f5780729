#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof record -p, --attach: a program that was built with vprof and is already running, started with or without it.
. "${srcdir:-.}/tests/e2e/lib.sh"

# A server that forks: parent and two children serve until a file says stop.  Each prints how many file
# descriptors, threads and signal handlers it has.
cat >server.c <<'END'
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vprof.h>

static volatile unsigned sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) void small(unsigned i) { sink += i; }
__attribute__((noinline)) void pause_sometimes(unsigned i) { if (i % 20 == 0) usleep(2000); }

__attribute__((noinline)) void request(unsigned i)
{
	VPROF_BEGIN("request", getpid());
	for (unsigned k = 0; k < 50; k++)
		small(k);
	pause_sometimes(i);
	VPROF_END("request", getpid());
}

static void *work(void *arg)
{
	for (unsigned i = 0; access("stop", F_OK); i++) {
		pthread_mutex_lock(&lock);
		request(i);
		pthread_mutex_unlock(&lock);
		usleep(200);
	}
	return arg;
}

static int count(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void tell(const char *when)
{
	char line[256], handlers[256] = "";
	FILE *f = fopen("/proc/self/status", "r");

	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "SigCgt", 6) || !strncmp(line, "SigBlk", 6))
			strcat(handlers, line);
	fclose(f);
	printf("%s: %d files, %d threads, %s", when, count("/proc/self/fd"), count("/proc/self/task"), handlers);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	pid_t children[2] = { 0, 0 };

	for (int i = 0; i < 2 && argc > 1; i++)
		if (!(children[i] = fork())) {
			work(NULL);
			_exit(0);
		}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	usleep(100000);
	tell("before");
	while (access("measure", F_OK))
		usleep(10000);
	tell("after");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++)
		if (children[i])
			waitpid(children[i], NULL, 0);
	puts(argv[0]);
	return 3;
}
END
expect 0 "$VPROF" build --functions all -- cc -O1 -o server server.c -lpthread

sleep 60 &
stranger=$!
expect 4 "$VPROF" record --kernel=off -p $stranger --duration 1s
says "cannot be recorded: neither it nor what it started was built with vprof"
kill $stranger
# one whose children come and go: it is there, whatever becomes of them
sh -c 'for i in 1 2 3 4 5 6 7 8; do (while [ ! -e over ]; do /bin/true; done) & done; wait' &
stranger=$!
sleep 0.2
for i in 1 2 3; do
	expect 4 "$VPROF" record --kernel=off -p $stranger --duration 1s
	says "cannot be recorded: neither it nor what it started was built with vprof"
done
touch over
wait $stranger
expect 2 "$VPROF" record --duration 1s -- true
says "--duration needs -p or --attach"
expect 2 "$VPROF" record -p $$ --duration soon
expect 4 "$VPROF" record -p 4194304 --duration 1s
expect 4 "$VPROF" record --kernel=off -p 4194304 --duration 1s
says "there is no such process"

# whole RUN: every interval has its calls
whole()
{
	"$VPROF" export --format tuples "$1" >"$1.tuples" && awk '
		$1 == "interval" && $6 != "-" && $8 != "aborted" { full[$2] = 1; cnt++ }
		$1 == "invocation" && $4 ~ /^small/ && $3 != "-" { calls[$3]++ }
		END {
			for (sid in full) wrong += calls[sid] != 50
			print cnt + 0 " intervals, " wrong + 0 " not whole"
			exit cnt < 20 || wrong
		}' "$1.tuples" >verdict && pass || fail "run $1: $(cat verdict)"
}

# ---- started without vprof; recorded twice; unharmed ----
./server >out &
server=$!
sleep 0.5
expect 0 "$VPROF" record -o first -p $server --duration 1.5s
says "pause_sometimes"
whole first
expect 0 "$VPROF" record -o second -p $server --duration 1s
says "pause_sometimes"
whole second
# while COMMAND runs
expect 0 "$VPROF" record -o third -p $server -- sleep 1
whole third
# Control-C
"$VPROF" record -o fourth -p $server 2>err &
recorder=$!
wait_until grep -q '/dev/shm/vprof-[^ ]*$' /proc/$server/maps
sleep 0.5
expect 4 "$VPROF" record --kernel=off -p $server --duration 1s
says "another vprof record is at it"
kill -INT $(ps -o pid= --ppid $recorder)
wait $recorder && pass || fail "Control-C: $(cat err)"
whole fourth
# the recorder is killed: the program goes on, and can be recorded again
"$VPROF" record -o killed -p $server 2>err &
recorder=$!
wait_until grep -q '/dev/shm/vprof-[^ ]*$' /proc/$server/maps
arena=$(sed -n 's|.* \(/dev/shm/vprof-[^ ]*\)$|\1|p' /proc/$server/maps | tail -1)
[ -e "$arena" ] && pass || fail "no arena in its memory"
kill -9 $recorder
wait $recorder 2>/dev/null
expect 0 "$VPROF" record -o again -p $server --duration 1s
whole again
[ -e "$arena" ] && fail "the arena of a killed recorder is left" || pass
[ "$(cat /proc/$server/maps | grep -c 'vprof-.*deleted')" -le 6 ] && pass || fail "$(grep vprof- /proc/$server/maps)"
# memory of arenas that are gone is given back
kb=$(awk '/^[0-9a-f]+-/ { ours = /vprof-.*deleted/ } ours && /^Rss:/ { kb += $2 } END { print kb + 0 }' /proc/$server/smaps)
[ "$kb" -lt 40000 ] && pass || fail "$kb kB of old arenas are still there"
touch measure
sleep 0.5
touch stop
wait $server
status=$?
[ $status = 3 ] && pass || fail "the program ended with $status"
grep -A1 '^before' out | cut -d: -f2- >before
grep -A1 '^after' out | cut -d: -f2- >after
[ -s before ] && cmp -s before after && pass || fail "traces are left: $(cat out)"
rm -f measure stop

# ---- a fork server, and a run's processes ----
./server forks >out &
server=$!
sleep 0.5
expect 0 "$VPROF" record -o tree -p $server --duration 1.5s
whole tree
[ "$(awk '$1 == "interval" { print $4 }' tree.tuples | sort -u | wc -l)" -ge 4 ] && pass || fail "not all processes"
expect 0 "$VPROF" record -o same --attach tree --duration 1s
whole same
touch measure stop
wait $server
rm -f measure stop
expect 4 "$VPROF" record --attach tree --duration 1s
says "no process of run" "still runs"

# ---- started by vprof record, whose command ends before the server does ----
expect 0 "$VPROF" record -o daemon -- sh -c './server >out & echo $! >pid; sleep 1'
server=$(cat pid)
expect 0 "$VPROF" record -o later --attach daemon --duration 1s
whole later
touch measure stop
wait_until test ! -d /proc/$server
grep -q server out && pass || fail "the server did not end"

# ---- a thread that was cancelled and comes to no point of cancellation: the recording is none ----
cat >cancelled.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <vprof.h>

static int stop;

static void *work(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		VPROF_BEGIN("request", 1);
		for (volatile int i = 0; i < 20000; i++)
			;
		VPROF_END("request", 1);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;
	void *result;
	char byte;

	pthread_create(&thread, NULL, work, NULL);
	pthread_cancel(thread);
	puts("ready");
	fflush(stdout);
	if (read(0, &byte, 1) < 0)
		return 1;
	stop = 1;
	pthread_join(thread, &result);
	puts(result == PTHREAD_CANCELED ? "cancelled" : "went on");
	return 0;
}
END
expect 0 "$VPROF" build --functions all -- cc -O1 -o cancelled cancelled.c -lpthread
mkfifo input
sleep 60 >input &
writer=$!
./cancelled <input >out &
server=$!
wait_until grep -q ready out
expect 0 "$VPROF" record -o cancelled -p $server --duration 1s
says "intervals of 'request'"
kill $writer
wait $server
grep -q "went on" out && pass || fail "it was cancelled by the recording"
finish

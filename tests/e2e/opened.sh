#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A thread that has been in a call since before the recording appears under that function's name.  keeper() took the lock of each request
# long before, and sleeps 4 ms of every 20 with it.  Recorded by -p, after --delay, after a pause, and with frame pointers (-O0), requests
# wait because of keeper.  Without a probe it appears under its symbol.  starter() is also open at first, but returns: later calls of its
# thread do not belong to it.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || { echo "stacks are looked up on x86_64 only"; exit 77; }

cat >shop.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define OWN_FRAME __attribute__((noinline))
static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned sold;
OWN_FRAME void keeper(void)
{
	for (;;) {
		usleep(16000);
		pthread_mutex_lock(&till);
		usleep(4000);
		pthread_mutex_unlock(&till);
	}
}
OWN_FRAME void starter(void) { for (int i = 0; i < 50; i++) usleep(20000); }
OWN_FRAME void later(void) { usleep(3000); }
static OWN_FRAME void between(void) { later(); sold++; }		/* no probe */
static OWN_FRAME void *run_keeper(void *arg) { keeper(); return arg; }
static OWN_FRAME void *run_starter(void *arg)
{
	starter();
	for (;;)
		between();
	return arg;
}
OWN_FRAME void sale(unsigned i) { pthread_mutex_lock(&till); sold += i; pthread_mutex_unlock(&till); }
int main(int argc, char **argv)
{
	pthread_t t;

	pthread_create(&t, NULL, run_keeper, NULL);
	pthread_create(&t, NULL, run_starter, NULL);
	for (unsigned i = 0, ms = argc > 1 ? (unsigned)atoi(argv[1]) : 0; i < ms; i++) {
		sale(i);
		usleep(700);
	}
	return 0;
}
C

# nothing_under_starter RUN: whether nothing of RUN stands under starter, which calls nothing.  On a busy machine few calls may come after it.
nothing_under_starter()
{
	machine_is_busy && least=1 || least=10
	"$VPROF" export --format tuples "$1" 2>/dev/null | awk -v least=$least '
		$1 != "invocation" { next }
		$4 == "starter" { from[$2] = $5; to[$2] = $6; seen = 1 }
		$4 == "later" { n++; at[n] = $2; start[n] = $5 }
		END { for (i = 1; i <= n; i++) if (start[i] >= from[at[i]] && start[i] < to[at[i]]) bad++
		      exit !(seen && n >= least && !bad) }'
}

# because NAME RUN: RUN's sentence names NAME
because()
{
	"$VPROF" show causes "$2" --format json 2>.err | python3 -c '
import json, re, sys
from causes import causes_of, is_busy, tells
o = json.load(sys.stdin)
first = causes_of(o)[0]["function"] or ""
sys.exit(not (re.fullmatch(sys.argv[1], first) and tells(o, first, " cause" if is_busy() else " causes")))' "$1" && pass || { fail "the cause of $2 is not $1"; "$VPROF" show causes "$2"; cat .err; }
}

expect 0 "$VPROF" annotate --start sale --end sale --key arg0
expect 0 "$VPROF" build --functions sale,keeper,starter,later -- gcc -O2 -pthread -o shop shop.c

./shop 4000 &
sleep 0.1
"$VPROF" record -o attached --duration 1600ms -p $! >.out 2>.err
case $? in
4)	grep -q "debugger's permissions" .err && { cat .err; kill $!; exit 77; } ;;
esac
because keeper attached
nothing_under_starter attached && pass || fail "attached: calls stand under starter"
kill $!
wait

expect 0 "$VPROF" record -o delayed --delay 300ms -- ./shop 2500
because keeper delayed
nothing_under_starter delayed && pass || fail "delayed: calls stand under starter"

expect 0 "$VPROF" build --functions sale,keeper,starter,later -- gcc -O0 -pthread -o shop shop.c
"$VPROF" record -o paused -- ./shop 1800 >.out 2>.err &
sleep 0.4
"$VPROF" record --pause paused
sleep 0.1
"$VPROF" record --resume paused
wait
because keeper paused
./shop 1200 &
sleep 0.2
expect 0 "$VPROF" record -o pointers --duration 600ms -p $!
because keeper pointers
wait

expect 0 "$VPROF" build --functions sale -- gcc -O2 -pthread -o shop shop.c
./shop 1200 &
sleep 0.2
expect 0 "$VPROF" record -o unprobed --duration 600ms -p $!
because "(run_)?keeper" unprobed
"$VPROF" export --format tuples unprobed 2>/dev/null | awk '$1 == "invocation" && $4 ~ /main/ && $3 != "-" { bad = 1 } END { exit bad }' &&
	pass || fail "a thread's name stands above its requests"
wait
finish

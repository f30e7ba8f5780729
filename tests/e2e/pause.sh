#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof record --delay, --start-paused, --pause, --resume: no interval is shown incomplete, and the program notices
# nothing.
. "${srcdir:-.}/tests/e2e/lib.sh"

# Requests begin on one thread and end on another; each has 100 calls.  One, of key 99, is open nearly all the time.
cp "$top/tests/e2e/turns.h" .
cat >server.c <<'END'
#define SLOW_ONE_IN 20
#define SLOW_US 1000
#include <fcntl.h>
#include "turns.h"

static void *idle(void *arg)
{
	while (access("stop", F_OK)) {
		VPROF_BEGIN("request", 99);
		for (unsigned k = 0; k < 100; k++)
			small(k);
		usleep(300000);
		VPROF_END("request", 99);
	}
	return arg;
}

/* So that the test need not guess how long a busy machine takes. */
static void tell_progress(long served)
{
	static int fd = -1;
	char text[32];

	if (fd < 0)
		fd = open("progress.new", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (pwrite(fd, text, (size_t)snprintf(text, sizeof(text), "%-20ld\n", served), 0) > 0 && !served)
		rename("progress.new", "progress");
}

int main(void)
{
	pthread_t worker, idler;
	long i = 0;

	pthread_create(&idler, NULL, idle, NULL);
	pthread_create(&worker, NULL, work, NULL);
	for (; access("stop", F_OK); i++) {
		if (i % 10 == 0)
			tell_progress(i);
		pass_turn(2 * i);
		begin(i);
		take_turn(2 * i + 1);
		if (i % 10 == 0)
			usleep(1000);
	}
	pass_turn(2 * i);
	over = 1;
	take_turn(2 * i + 1);
	pthread_join(worker, NULL);
	pthread_join(idler, NULL);
	printf("served %ld\n", i);
	return 0;
}
END
expect 0 "$VPROF" build --functions all -- cc -O1 -o server server.c -lpthread

# now: CLOCK_MONOTONIC in ns, to 10 ms (what the kernel says of this process' age and its own)
now()
{
	awk '{ printf "%.0f\n", $1 * 1e9 }' /proc/uptime
}

# serve SECONDS: serves for SECONDS, and until 60 more requests were served
serve()
{
	wait_until test -s progress
	target=$(($(cat progress) + 60))
	sleep "$1"
	wait_until eval '[ "$(cat progress)" -ge $target ]'
}

# whole RUN: every interval has its calls on both threads, all completed ones but key 99's
whole()
{
	"$VPROF" export --format tuples "$1" >"$1.tuples" && awk '
		$1 == "interval" && $6 != "-" && $8 != "aborted" { full[$2] = 1; cnt++ }
		$1 == "invocation" && $4 ~ /^small/ && $3 != "-" { calls[$3]++ }
		END {
			for (sid in full) wrong += calls[sid] != 100
			print cnt + 0 " intervals, " wrong + 0 " not whole"
			exit cnt < 20 || wrong
		}' "$1.tuples" >verdict && pass || fail "run $1: $(cat verdict)"
}

# between RUN FROM UNTIL: how many intervals of it were under way then
between()
{
	awk -v from="$2" -v until="$3" '$1 == "interval" && $6 != "-" && $8 != "aborted" && $5 < until && $7 > from { cnt++ }
		END { print cnt + 0 }' "$1.tuples"
}

# start RUN OPTION...: the server in the background, its recorder is $recorder
start()
{
	run=$1
	shift
	rm -f stop progress
	"$VPROF" record -o "$run" "$@" -- ./server >out 2>err &
	recorder=$!
	i=0
	while ! "$VPROF" show runs --format json 2>/dev/null | grep -q "\"name\": \"$run\"" && [ $i -lt 200 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	serve 0.7
}

# end: the server's status and words are what they would have been
end()
{
	touch stop
	wait $recorder && pass || fail "the recorder ended with $?: $(cat err)"
	grep -q '^served [1-9]' out && pass || fail "the program said '$(cat out)'"
}

expect 2 "$VPROF" record --delay soon -- ./server
says "--delay is a time with its unit, not 'soon'"
expect 2 "$VPROF" record --delay 1s --kernel=require -- ./server
says "the kernel's side cannot be paused: --kernel and --delay do not go together"
expect 3 "$VPROF" record --pause 77
says "no runs yet"

# ---- paused from the start, then twice on and off, once by signal ----
start paused --start-paused
a=$(now)
sleep 0.3
expect 0 "$VPROF" record --resume paused
b=$(now)
serve 0.7
c=$(now)
expect 0 "$VPROF" record --pause paused
d=$(now)
expect 0 "$VPROF" record --pause paused
sleep 0.7
e=$(now)
kill -USR2 $recorder
i=0
while [ "$(grep -c 'recording again' err)" -lt 2 ] && [ $i -lt 200 ]; do
	sleep 0.05
	i=$((i + 1))
done
f=$(now)
serve 0.7
end
grep -q "run 1: paused; vprof record --resume 1 goes on" err && pass || fail "nobody said that it is paused: $(cat err)"
"$VPROF" show warnings paused >warnings 2>&1
grep -q "under way when the recording was paused" warnings && pass || fail "nobody said what is left out: $(cat warnings)"
whole paused
tenth=100000000
[ "$(between paused 0 "$a")" = 0 ] && pass || fail "$(between paused 0 "$a") intervals before it was to record"
[ "$(between paused $((d + tenth)) $((e - tenth)))" = 0 ] && pass || fail "intervals in the pause"
[ "$(between paused $((b + tenth)) $((c - tenth)))" -ge 20 ] && pass || fail "too few intervals between the pauses"
[ "$(between paused $((f + tenth)) $((f + 1000 * tenth)))" -ge 20 ] && pass || fail "too few intervals after the pause"
# No part of the pause counts as running time.
awk -v from=$((d + tenth)) -v until=$((e - tenth)) '$1 == "segment" && $4 < until && $5 > from { bad++ }
	END { print bad + 0; exit bad > 0 }' paused.tuples >verdict && pass || fail "$(cat verdict) segments in the pause"
# No record is missing for lack of room, and every cut interval is counted: at most one of each key a pause, and
# one that began as the threads learnt of it.
expect 0 "$VPROF" show summary paused --format json
grep -q '"losses"' .out && fail "losses" || pass
cut=$(awk '$1 == "interval" && $8 == "aborted"' paused.tuples | wc -l)
[ "$cut" -ge 1 ] && [ "$cut" -le 10 ] && pass || fail "$cut intervals were cut"
said=$(sed -n 's/.* \([0-9]*\) intervals* that w[a-z]* under way when the recording was paused.*/\1/p' warnings)
[ "$said" = "$cut" ] && pass || fail "'$said' intervals are said to be cut, $cut are"

# ---- --delay ends by itself ----
start delayed --delay 1s
sleep 0.6
serve 0.7
end
whole delayed
[ -z "$(grep 'paused' err)" ] && pass || fail "a delay is no pause in the middle: $(cat err)"

# ---- one that ends in a pause, and one whose recorder is killed in it ----
start last
expect 0 "$VPROF" record --pause last
sleep 0.3
end
whole last
start killed
serve 0.5
expect 0 "$VPROF" record --pause killed
sleep 0.3
kill -9 $recorder
wait $recorder 2>/dev/null
touch stop
expect 0 "$VPROF" analyze killed
whole killed
expect 2 "$VPROF" record --resume killed
says "no vprof is recording run"

# ---- a flight recorder's pauses outlive the parts that were deleted ----
start ring --keep 2s
serve 0.5
expect 0 "$VPROF" record --pause ring
d=$(now)
sleep 0.6
e=$(now)
expect 0 "$VPROF" record --resume ring
serve 0.7
end
whole ring
[ "$(between ring $((d + tenth)) $((e - tenth)))" = 0 ] && pass || fail "ring: intervals in the pause"

# ---- a process that runs already: attached while paused, recorded later ----
rm -f stop progress
./server >out 2>/dev/null &
server=$!
serve 0.1
"$VPROF" record -o attached -p $server --delay 700ms --duration 2s 2>err && pass || fail "attached: $(cat err)"
touch stop
wait $server && pass || fail "the server ended with $?"
whole attached
finish

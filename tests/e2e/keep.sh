#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof record --keep: the last seconds, or bytes; snapshots on request; no interval at the cut is shown incomplete.
. "${srcdir:-.}/tests/e2e/lib.sh"

# Requests begin on one thread and end on another, until the time is over; one in 100 is slow.  The first
# one is open all the time until the last second; a helper thread that does nearly nothing holds its first
# records back until the end.
cp "$top/tests/e2e/turns.h" .
cat >server.c <<'END'
#include <stdlib.h>
#define SLOW_ONE_IN 100
#define SLOW_US 2000
#include "turns.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void *help(void *seconds)
{
	VPROF_BEGIN("request", 99);
	for (unsigned k = 0; k < 100; k++)
		small(k);
	for (double until = now() + *(double *)seconds - 0.3; now() < until && access("stop", F_OK);)
		usleep(10000);
	VPROF_END("request", 99);
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, until = now() + seconds;
	pthread_t worker, helper;
	long i = 0;

	pthread_create(&helper, NULL, help, &seconds);
	pthread_create(&worker, NULL, work, NULL);
	for (; now() < until && (i % 10 || access("stop", F_OK)); i++) {
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
	pthread_join(helper, NULL);
	puts("served");
	return 0;
}
END
expect 0 "$VPROF" build --functions all -- cc -O1 -o server server.c -lpthread

# whole RUN SECONDS: every interval has its calls on both threads, and none began earlier than SECONDS
# before the last end
whole()
{
	"$VPROF" export --format tuples "$1" >"$1.tuples" && awk -v seconds="$2" '
		$1 == "interval" && $6 != "-" && $8 != "aborted" { start[$2] = $5; if ($7 > last) last = $7; cnt++ }
		$1 == "invocation" && $4 ~ /^small/ && $3 != "-" { calls[$3]++ }
		END {
			for (sid in start) {
				wrong += calls[sid] != 100
				early += start[sid] < last - seconds * 1e9
			}
			print cnt + 0 " intervals, " wrong + 0 " not whole, " early + 0 " too early"
			exit cnt < 20 || wrong || early
		}' "$1.tuples" >verdict && pass || fail "run $1: $(cat verdict)"
	rm -f verdict
}

expect 2 "$VPROF" record --keep 10q -- ./server
says "--keep is a time with its unit, or a size from 1M on, not '10q'"
expect 2 "$VPROF" record --keep 1s --kernel=require -- ./server
says "--kernel and --keep do not go together"

# ---- the last second of three ----
expect 0 "$VPROF" record -o last --keep 1s -- ./server 3
says "served"
# If others use the CPUs, the wait for a CPU may come first.
grep -q "waited for a CPU for" "$work/.err" || says "pause_sometimes"
expect 0 "$VPROF" show factors last
says "pause_sometimes"
expect 0 "$VPROF" show warnings last
says "that had begun before what was kept of the run"
whole last 1.001
ls vprof.data/runs/001/ >parts
[ "$(grep -c '^trace.vpt.' parts)" -le 11 ] && grep -q '^trace.vpt.0000[12]' parts && pass || fail "parts: $(cat parts)"
grep -q '^trace.vpt.000001' parts && fail "the first part is still there" || pass
# the interval that was open since the beginning is not listed
grep -c '^interval' last.tuples | { read -r n; [ "$n" -gt 20 ]; } && pass || fail "too few intervals"
expect 0 "$VPROF" show intervals last --format csv
awk -F, 'NR > 1 && $5 > 500000000 { bad = 1 } END { exit bad }' "$work/.out" && pass || fail "an interval longer than any"
# names of threads and functions that were written in parts that are gone
expect 0 "$VPROF" show wait-graph last
says "server"
grep -q "function-[0-9]" last.tuples && fail "functions without names" || pass

# ---- a snapshot of a run that goes on, by command and by signal ----
"$VPROF" record -o ring --keep 3s -- ./server 120 >out 2>err &
recorder=$!
sleep 4
expect 0 "$VPROF" record --snapshot ring -o first
says "intervals of 'request'"
whole first 3.001
sleep 0.7
kill -USR1 $recorder
wait_until grep -q "a snapshot of run 2; vprof analyze 4" err
touch stop
wait $recorder && pass || fail "the recorder of ring ended with $?"
rm stop
grep -q "run 4: a snapshot of run 2; vprof analyze 4" err && pass || fail "no word of the snapshot: $(cat err)"
expect 0 "$VPROF" analyze 4
whole 4 3.001
whole ring 3.001
expect 2 "$VPROF" record --snapshot ring
says "no vprof is recording run 2" "vprof show runs"
expect 0 "$VPROF" show runs --format json
says '"source": "snapshot of 2"'

# ---- a snapshot of a recording that keeps all ----
"$VPROF" record -o all -- ./server 120 >out 2>err &
sleep 1.5
expect 0 "$VPROF" record --snapshot all -o upto
touch stop
wait $!
rm stop
whole upto 10
whole all 10
a=$(grep -c '^interval' upto.tuples)
b=$(grep -c '^interval' all.tuples)
[ "$a" -lt "$b" ] && pass || fail "a snapshot with $a intervals of $b"

# ---- what consists of parts can be merged ----
expect 0 "$VPROF" merge -o both ring last
c=$(cat ring.tuples last.tuples | grep -c '^interval.*completed')
expect 0 "$VPROF" export --format tuples both
[ "$(grep -c '^interval.*completed' "$work/.out")" = "$c" ] && pass || fail "a merged run without its parts"

# ---- bytes ----
expect 0 "$VPROF" record -o bytes --keep 1M --keep 1h -- ./server 1
size=$(du -sbc vprof.data/runs/008/trace.vpt* | tail -1 | cut -f1)
[ "$size" -le 1300000 ] && pass || fail "$size bytes of 1 MiB"
whole bytes 10

# ---- the recorder is killed: the parts that are there are read ----
"$VPROF" record -o killed --keep 1s -- ./server 120 >out 2>err &
sleep 2.5
kill -9 $!
wait $! 2>/dev/null
expect 0 "$VPROF" analyze killed
expect 0 "$VPROF" show warnings killed
says "the recording was cut off"
touch stop
whole killed 1.2
finish

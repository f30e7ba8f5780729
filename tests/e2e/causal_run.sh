#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof causal -- COMMAND: refused targets, the options, an experiment of a few seconds, Control-C.  The size of a gain on a busy
# machine does not matter: the test checks that the printed results are stored, and that they match their schema.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >work.c <<'END'
#include <stdlib.h>
#include <vprof.h>
static volatile unsigned long sink;
__attribute__((noinline)) void slow(void) { for (int i = 0; i < 2000000; i++) sink++; }
__attribute__((noinline)) void never(void) { sink--; }
static void request(void) { VPROF_BEGIN("request", 1); slow(); VPROF_END("request", 1); }
int main(int argc, char **argv)
{
	for (int i = 0, n = atoi(argv[1]); i < n; i++)
		request();
	if (argc > 2)
		never();
	return 0;
}
END
expect 4 "$VPROF" causal --target slow -- ./work 1000000
says "the last build has no function of that name"
expect 0 "$VPROF" build --functions all -- ${CC:-gcc} -O1 -g work.c -o work
expect 4 "$VPROF" causal --target wait:slow --target runqueue -- ./work 10
says "target wait:slow: a wait cannot be made faster" "target runqueue:" "nothing to ask"
expect 4 "$VPROF" causal --target nosuch --format json -- ./work 10
says '"refused": [' '"target": "nosuch"' '"experiments": []'
"$VPROF" causal --target slow --speedups 50 --for 4s --seed 7 -o measured --format json -- ./work 1000000000 >measured.json 2>measured.err
status=$?
case $status in
0 | 3) pass ;;
4) grep -q "perf\|permitted\|refuse" measured.err && { cat measured.err; exit 77; }; fail "causal: $(cat measured.err)" ;;
*) fail "causal ended with $status: $(cat measured.err)" ;;
esac
if [ $status = 0 ]; then
	for key in '"target": "slow"' '"kind": "function"' '"speedup": 0.5' '"ended": "' '"replayed": false' '"p_value"'; do
		grep -qF "$key" measured.json && pass || fail "measured.json has no $key"
	done
	"$VPROF" show causal measured --format json >again.json 2>.err && cmp -s measured.json again.json && pass ||
		fail "show causal prints another document: $(diff measured.json again.json | head -5; cat .err)"
	expect 0 "$VPROF" show causal measured
	says "change of the" "rounds"
else
	for key in '"experiments": [' '"ended": "'; do
		grep -qF "$key" measured.json && pass || fail "measured.json has no $key"
	done
fi

# pc:FUNCTION needs no probe: other threads would pause for the code that all the time is spent in, and not for code that never
# runs; what is nowhere is refused.
expect 4 "$VPROF" causal --target pc:nosuch -- ./work 1000000000
says "target pc:nosuch: no program or library of the run has a function nosuch"
"$VPROF" causal --target pc:slow --target pc:never --speedups 50 --for 5s -o by_ticks --format json -- ./work 1000000000 >ticks.json 2>ticks.err
status=$?
if grep -q "no perf events" ticks.err; then
	echo "no perf events here: pc: is not tested"
elif [ $status = 0 ]; then
	python3 - ticks.json <<'END' && pass || fail "ticks do not tell pc:slow from pc:never: $(cat ticks.json)"
import json, sys
delays = {x["target"]: x["delay_ns"] for x in json.load(open(sys.argv[1]))["experiments"]}
sys.exit(not (delays["pc:slow"] > 0 and delays["pc:never"] == 0))
END
else
	[ $status = 3 ] && pass || fail "pc: ended with $status: $(cat ticks.err)"
fi

# Control-C: what there is, is kept.
timeout -k 30 -s INT --preserve-status 3 "$VPROF" causal --target slow --speedups 50 -o stopped -- ./work 1000000000 >stopped.out 2>stopped.err
status=$?
case $status in 0 | 3) pass ;; *) fail "Control-C ended it with $status: $(cat stopped.err)" ;; esac
expect 0 "$VPROF" show runs
says stopped
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a program may do during a pause and in the target: wait for a peer at 100 %, leave with longjmp(), fork, execute programs with a
# tick pending, start threads that live for 0.1 ms.  No call fails with EINTR, and no errno changes.
. "${srcdir:-.}/tests/e2e/lib.sh"
ROUNDS=$OLDPWD/tests/e2e/causal/run_rounds

cp "$top/tests/e2e/causal/manners.c" . || exit 99
printf '[interval "item"]\nstart = item\nend = item@return\n' >vprof.conf
expect 0 "$VPROF" build --functions target,item,burn -- ${REAL_CC:-cc} -O1 -D_GNU_SOURCE manners.c -o manners -lpthread
expect 0 timeout 20 ./manners 50
says "eintr 0 bad 0"
# It ends by itself, and is started again; 100 % throughout.
expect 0 timeout 120 "$ROUNDS" target 3 1000 ./manners 500
says "exit 0" "eintr 0 bad 0" "ticks 1"
grep -q "^ended 0 rounds 3" "$work/.out" && pass || fail "rounds are missing: $(cat "$work/.out")"
[ "$(awk '$1 == "speed" && $2 == 1000 { print ($10 > 10) }' "$work/.out")" = 1 ] && pass || fail "the target was never met"
# Filters that end the program for a call of the ticks: before the experiment, and with ticks under way.
for at in start ticks; do
	expect 0 timeout 120 "$ROUNDS" target 2 1000 ./manners 1500 $at
	grep -q "no filters here" "$work/.out" && break
	says "exit 0" "ended 0 rounds 2" "eintr 0 bad 0"
done
# One that is held up while a block is over makes the round again: a part of it had nothing faster.
"$ROUNDS" target 4 1000 ./manners 100000 >"$work/.out" 2>&1 &
pid=$!
wait_until pgrep -f '^./manners 100000'
for i in 1 2 3; do
	sleep 1.5
	kill -STOP $pid
	sleep 3.5
	kill -CONT $pid
done
wait $pid
says "ended 0 rounds 4" "eintr 0 bad 0"
grep -q "lost [1-9]" "$work/.out" && pass || fail "no round was made again: $(cat "$work/.out")"
# A killed recorder delays no thread: the program ends in its own time.
runs()
{
	pgrep -f '^./manners 800' >/dev/null
}
over()
{
	! runs
}
"$ROUNDS" target 1000 1000 ./manners 800 >"$work/.out" 2>&1 &
pid=$!
wait_until runs
sleep 2
runs && pass || fail "the program did not run: $(cat "$work/.out")"
kill -KILL $pid
wait_until over
over && pass || fail "the program hangs without its recorder"
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Virtual speedups of programs whose real speedups are known, through probes, runtime, drainer and reader.
#
# barrier.c: 4 ms beside 2 ms.  Half of the 4 ms gains half, and more than half gains no more: with a debt that is paid only once, 100 %
# would gain 97 %.  The 2 ms gain nothing.  lock.c: 1 ms asleep with a mutex; the threads that wait for it gain as well.
. "${srcdir:-.}/tests/e2e/lib.sh"
ROUNDS=$OLDPWD/tests/e2e/causal/run_rounds

# build PROGRAM INTERVAL FUNCTIONS
build()
{
	mkdir -p "$work/$1" && cd "$work/$1" && cp "$top/tests/e2e/causal/$1.c" . || exit 99
	printf '[interval "%s"]\nstart = %s\nend = %s@return\n' "$2" "$2" "$2" >vprof.conf
	expect 0 "$VPROF" build --functions "$3" -- ${REAL_CC:-cc} -O1 -D_GNU_SOURCE "$1.c" -o "$1" -lpthread
}

# gain SPEED LOW HIGH: of the median, in points
gain()
{
	awk -v speed="$1" -v low="$2" -v high="$3" '
		$1 == "speed" && $2 == speed { found = 1; gain = $8; cnt = $4 }
		END { exit !(found && cnt >= 20 && gain >= low && gain <= high) }' "$work/.out" && pass || {
		fail "gain at $1 is not between $2 and $3"
		cat "$work/.out"
	}
}

build barrier meet meet,long_work,short_work
expect 0 "$ROUNDS" long_work 3 500,1000 ./barrier
if grep -q "^shared" "$work/.out"; then
	echo "not permitted to run ahead of other programs (SCHED_RR): nothing to measure"
	exit 77
fi
says "ended 0 rounds 3 lost 0 starts 1 ticks 1"
gain 500 40 56
gain 1000 40 62
expect 0 "$ROUNDS" short_work 2 750 ./barrier
gain 750 -12 12
# By ticks: work() has no probe, so long_work is the innermost call.
expect 0 "$ROUNDS" body:long_work 2 500 ./barrier
gain 500 35 60
expect 3 "$ROUNDS" wait:long_work 2 750 ./barrier
says "a wait cannot be made faster"
expect 3 "$ROUNDS" nobody 2 750 ./barrier
says "no function of that name"

# A process that was there before goes on, with nothing left of the experiment: no events, no closed gates.
./barrier >/dev/null &
pid=$!
wait_until grep -q libvprof /proc/$pid/maps
sleep 0.3
expect 0 "$ROUNDS" long_work 2 500 -p $pid
says "ended 0 rounds 2" "ticks 1"
gain 500 40 56
sleep 0.5
kill -0 $pid && ! ls -l /proc/$pid/fd | grep -q perf_event && pass || fail "something is left: $(ls -l /proc/$pid/fd)"
expect 0 "$ROUNDS" long_work 2 500 -p $pid
gain 500 40 56
kill $pid

build lock item item,hold
expect 0 "$ROUNDS" hold 2 500,1000 ./lock
gain 500 38 54
gain 1000 60 78
expect 0 "$ROUNDS" io@hold 2 500 ./lock
gain 500 38 54
# The lock is held while hold() goes on, and not longer: by the variable's name, and by that of the function that takes it.
for target in lock:m lock:item; do
	expect 0 "$ROUNDS" $target 3 500,1000 ./lock
	gain 500 38 54
	gain 1000 60 78
done
expect 0 "$ROUNDS" lock:other 2 750 ./lock	# is held as well, and no thread waits for it
gain 750 -12 12
expect 4 "$ROUNDS" lock:nosuch 2 500 ./lock
says "target lock:nosuch: no probed function is called nosuch, and no variable in a program or library of the run"
finish

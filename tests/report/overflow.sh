#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Times near 2^63: one of them is a time like any other, sums of them stay at 2^63 - 1, and later times are refused.
. "${srcdir:-.}/tests/e2e/lib.sh"
max=9223372036854775807

# Five threads wait for each other all the time that there is, then run for 1 ns; one more waits for an unknown waker.
{
	echo 'vprof-tuples 1'
	for t in 1 2 3 4 5 6; do
		echo "segment $t $t 0 $((max - 1)) lock"
		echo "segment $t $t $((max - 1)) $max running"
		echo "invocation $t $t serve 0 $max"
		[ $t = 6 ] || echo "wakeup $t $((t % 5 + 1)) $((max - 1))"
		echo "interval $t request $t 0 $t $max"
		echo "work $t rows $max"
	done
	echo 'interval 7 query 6 1 6 4611686018427387905'
	echo 'interval 8 query 6 2 6 10'
} >late.tuples
# All wait for an unknown thread: sums of their waits are of one edge.
sed '/wakeup/d' late.tuples >unknown.tuples
# Four threads run and wait for a processor all the time.
{
	echo 'vprof-tuples 1'
	for t in 1 2 3 4; do
		echo "segment $t - 0 $((max / 2)) running"
		echo "segment $t - $((max / 2)) $max runnable"
		echo "thread $t thread worker"
		echo "segment 1$t - 0 $max io"
		echo "wakeup 1$t $t $((t * 1000))"
	done
} >busy.tuples

[ "$(views | wc -w)" -ge 16 ] || fail "views lists too few"
run=0
for file in late unknown busy; do
	run=$((run + 1))
	"$VPROF" import --from tuples $file.tuples >out 2>&1
	for view in $(views) "variance-tree --by cause" "wait-graph --slow" "wait-graph --group none" "wait-graph --threshold 1" \
		"wait-graph --prefilter 1e300" "criticality --nmin 1" "samples --period $max"; do
		for format in text json; do
			# shellcheck disable=SC2086
			"$VPROF" show ${view%% *} $run $(echo "$view" | cut -s -d' ' -f2-) --format $format >out 2>&1
			status=$?
			[ $status -le 3 ] || fail "show $view --format $format of $file ends with $status: $(tail -n 3 out)"
			# A sum that overflowed would show as a negative time.
			! grep -E -- '(^|[ ",:])-[0-9]*(ns|us|ms|s| min| h| d|e\+1[0-9]|[0-9]{17})' out || fail "show $view: below zero"
		done
	done
done

# The largest number there is, not one that has gone round.
expect 0 "$VPROF" show wait-graph 1 --group none --format json
says "\"weight_ns\": $max"
expect 0 "$VPROF" show wait-graph 2 --group none
says '100 % of all waiting has no known waker'

# A sum cannot hold more than one interval of that length: they are left out, and a warning says so.
expect 3 "$VPROF" show warnings 1
says '6 intervals were left out' 'or it is too long for exact sums'

# A number beyond that limit is not accepted as a time.
for time in 9223372036854775808 18446744073709551615 18446744073709551616 99999999999999999999; do
	printf 'vprof-tuples 1\nsegment 1 - 0 1 running\nsegment 1 - 1 %s running\n' $time >over.tuples
	expect 5 "$VPROF" import --from tuples over.tuples
	says "over.tuples:3: expected whole nanoseconds as END_NS"
done
switch='sched:sched_switch: prev_comm=w prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=w next_pid=2 next_prio=120'
for time in 1152921505.0 9223372036.854775808 18446744073.709551616 99999999999999999999.5; do
	printf 'w 1/1 [000] 1.5: %s\nw 1/1 [000] %s: %s\n' "$switch" $time "$switch" >over.perf
	expect 5 "$VPROF" import --from perf over.perf
	says 'over.perf:2: '
done
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# show wait-graph, criticality and samples from outside: every format, option and user error.
. "${srcdir:-.}/tests/e2e/lib.sh"

# lines LINE...: each stands in the last command's output, whole
lines()
{
	for text; do
		grep -qxF -e "$text" .out && pass || { fail "no line '$text'"; sed 's/^/  out: /' .out | head -20; }
	done
}

# wPerf's figure 1, and a request so that there is something slow.
cat >figure.tuples <<'END'
vprof-tuples 1
thread 1 thread A
thread 2 thread B
thread 9 disk sda
segment 1 - 0 2 running
segment 1 - 2 10 cond
segment 1 - 10 12 running
segment 1 - 12 20 cond
segment 2 - 0 5 running
segment 2 - 5 10 io
segment 2 - 10 15 running
segment 2 - 15 20 io
segment 9 - 0 5 queue
segment 9 - 5 10 running
segment 9 - 10 15 queue
segment 9 - 15 20 running
wakeup 1 2 10
wakeup 1 2 20
wakeup 2 9 10
wakeup 2 9 20
wakeup 9 2 5
wakeup 9 2 15
invocation 1 - funA 0 20
invocation 2 - funB 0 5
invocation 2 - sync 5 10
invocation 2 - a;b<c> 10 15
invocation 2 - sync 15 20
END

# No interval began: import says so, and these views work all the same.
expect 3 "$VPROF" import --from tuples figure.tuples -o figure
for view in wait-graph criticality samples; do
	for format in text json csv; do
		expect 0 "$VPROF" show $view figure --format $format
	done
	expect 0 "$VPROF" show $view --format json
	says "\"schema\": \"vprof.$view/1\"" '"run": 1' '"warnings": []'
done

expect 0 "$VPROF" show wait-graph figure
says '▶ The knot: B (2) and sda wait for each other; B (2) for sda 100 % of the run, in sync (io).'
says 'B (2)      sda     20 ns  100.0 %   10 ns  sync (io)'
says 'A (1)      B (2)   16 ns  80.0 %   16 ns  funA (cond)  sync'
expect 0 env LC_ALL=C "$VPROF" show wait-graph figure
says '> The knot: B (2)'
expect 0 "$VPROF" show wait-graph figure --format csv
lines 'from,from_name,to,to_name,weight_ns,direct_ns,typical_ns,waits,knot' '2,B,9,sda,20,10,,2,1' \
	'1,A,2,B,16,16,,2,0' '9,sda,2,B,10,10,,2,1'
expect 0 "$VPROF" show wait-graph figure --format dot
says 'digraph' 'v1 -> v2 [label="20 ns", color=red' 'v0 -> v1 [label="16 ns"' 'label="sda", shape=cylinder'
expect 0 "$VPROF" show wait-graph figure --threshold 0.9 --format dot
says 'v0 -> v1 [label="16 ns", style=dashed'
expect 0 "$VPROF" show wait-graph figure --prefilter 0.7
says 'No knot: all long waits end at sda, which waits for no thread: its own work is the limit'
expect 0 "$VPROF" show wait-graph figure --prefilter 0.9 --format json
says '"prefiltered": true' '"sink": true' '"prefilter_ns": 18' '"threshold_ns": 4'
expect 0 "$VPROF" show wait-graph figure --prefilter 2
says 'No knot: no thread waits long for a known one. B (2) runs 50 % of its time.' '3 more edges (--all)'
expect 0 "$VPROF" show wait-graph figure --prefilter 2 --all
says 'A (1)      B (2)'

expect 0 "$VPROF" show criticality figure
says '▶ While few threads are active (at most 1 of 2), they are mostly in a;b<c>: its part of the busy time is 30 % (3 ns).'
expect 0 "$VPROF" show criticality figure --nmin 2 --format csv
lines 'path,cmetric_ns,slices' 'funA,2,2' 'a:b<c>,4,1'
expect 0 "$VPROF" show criticality figure --format json
says '"nmin": 1.0' '"busy_ns": 10' '"cmetric_ns": 8' '"critical_slices": 0'
expect 0 "$VPROF" show criticality figure --nmin 1.5
says 'busy 10 ns of 20 ns' '4 slices, 2 critical (nmin 1.5)'

expect 0 "$VPROF" show samples figure --period 5
says "▶ 75 % of the threads' time is off the processor; most of it, 50 % of all, in funA (waiting for a thread)."
says 'cpu 25 %, io 25 %, lock 50 %'
expect 0 "$VPROF" show samples figure --period 5 --format csv
lines 'function,file,line,type,samples,time_ns' 'funA,,,lock,4,16' 'sync,,,io,2,10'
expect 0 "$VPROF" show samples figure --period 5 --format folded
lines 'A;funA;[lock] 4' 'B;sync;[io] 2' 'B;funB 1' 'B;a:b<c> 1'
expect 0 "$VPROF" show samples figure
says 'use a shorter --period'
expect 0 "$VPROF" show samples figure --format json
says '"period_ns": 1000000' '"rows": []'

# A client without records hides no knot, and is the end where there is none; the thread that wants a processor most is named.
expect 3 "$VPROF" import --from tuples "$top/tests/golden/whole_outside.tuples" -o outside
expect 0 "$VPROF" show wait-graph outside
says '▶ The knot: server (1) and sda wait for each other; sda for server (1) 60 % of the run. Besides, server (1) waits for thread 77 (not recorded) 60 % of the run.'
says 'outside: thread 77 (not recorded) (what that waits for is unknown)'
cat >ends.tuples <<'END'
vprof-tuples 1
segment 1 - 0 5 running
segment 1 - 5 9 runnable
segment 1 - 9 10 io
wakeup 1 77 10
END
expect 3 "$VPROF" import --from tuples ends.tuples -o ends
expect 0 "$VPROF" show wait-graph ends
says '▶ No knot: all long waits end at thread 77 (not recorded), and what that waits for is unknown. thread 1 runs 50 % of its time, and has no processor 40 % of it.'

# If most of the waiting has no known waker, that is said first, with the remedy.
cat >alone.tuples <<'END'
vprof-tuples 1
segment 1 - 0 5 running
segment 1 - 5 20 lock
wakeup 1 1 20
segment 2 - 0 20 running
END
expect 3 "$VPROF" import --from tuples alone.tuples -o alone
expect 0 "$VPROF" show wait-graph alone
says '▶ 100 % of all waiting has no known waker (list the releasing function under [sync] release; vprof record --kernel tells more); no knot' 'waits without a known waker: 100 % of all waiting'
expect 0 "$VPROF" show wait-graph alone --format json
if grep -q '"from": 1' .out 2>/dev/null && grep -A1 '"from": 1' .out | grep -q '"to": 1'; then fail "an edge to itself"; fi

expect 0 "$VPROF" show samples ends --period 1 --format folded
says '[unknown] 5' '[unknown];[io] 1'
expect 0 "$VPROF" show criticality ends
says '▶ While few threads are active (at most 1 of 1), they are mostly in unknown: its part of the busy time is 100 %' 'vprof build --functions all would name it'

# Seven ends: the view lists five, or all with --all.
{
	echo 'vprof-tuples 1'
	for i in 1 2 3 4 5 6 7; do
		echo "segment $i - 0 10 running"
		echo "segment $i - 10 20 cond"
		echo "segment 10$i - 0 20 running"
		echo "wakeup $i 10$i 20"
	done
} >seven.tuples
expect 3 "$VPROF" import --from tuples seven.tuples -o seven
expect 0 "$VPROF" show wait-graph seven
says '… and 2 more knots and sinks (--all)'
[ "$(grep -c '^sink: ' .out)" = 5 ] && pass || fail "not five sinks"
expect 0 "$VPROF" show wait-graph seven --all
[ "$(grep -c '^sink: ' .out)" = 7 ] && pass || fail "not all seven sinks"

# Two alike, and the knot that they make; slow requests and typical ones.
cat >alike.tuples <<'END'
vprof-tuples 1
interval 1 req 1 0 1 10
interval 2 req 2 0 2 10
interval 3 req 1 20 1 90
segment 1 1 0 10 running
segment 2 2 0 8 running
segment 2 2 8 10 lock
segment 1 3 20 80 lock
segment 1 3 80 90 running
segment 2 - 10 80 running
segment 2 - 80 90 lock
wakeup 1 2 80
wakeup 2 1 10
wakeup 2 1 90
invocation 1 - get 0 90
invocation 2 - get 0 90
END
expect 0 "$VPROF" import --from tuples alike.tuples -o alike
expect 0 "$VPROF" show wait-graph
says '▶ The knot: thread 1 and 1 more wait for each other 40 % of the run, in get (lock).'
expect 0 "$VPROF" show wait-graph --group none
says '▶ The knot: thread 1 and thread 2 wait for each other; thread 1 for thread 2 67 % of the run'
expect 0 "$VPROF" show wait-graph --format json
says '"kind": "group"'
expect 0 "$VPROF" show wait-graph --group none --slow
says "▶ In a slow 'req' thread 1 waits for thread 2 60 ns, in a typical one 0 ns, in get (lock)." 'waits for thread 2 60 ns'
says '1 slow interval, on average 70 ns, against 2 typical, 10 ns'
expect 0 "$VPROF" show wait-graph --group none --slow --format csv
lines '1,,2,,60,60,0,1,1'
expect 0 "$VPROF" show wait-graph --group none --slow --quantile 0.1 --format json
says '"interval_name": "req"' '"count": 3' '"latency_ns": 90' '"typical_ns"'
expect 0 "$VPROF" show wait-graph --slow --interval req

# Mistakes.
expect 3 "$VPROF" show wait-graph figure --slow
says 'no interval was completed'
expect 2 "$VPROF" show wait-graph --slow --interval nine
says "no interval 'nine'"
expect 2 "$VPROF" show wait-graph --group some
says "auto or none, not 'some'"
# vprof.conf's threshold, unless the command line has one
printf '[iterate]\n\tthreshold = 0.9\n' >vprof.conf
expect 0 "$VPROF" show wait-graph figure --format json
cp "$work/.out" from_conf
rm vprof.conf
expect 0 "$VPROF" show wait-graph figure --threshold 0.9 --format json
cmp -s "$work/.out" from_conf && pass || fail "the threshold of vprof.conf: $(grep threshold_ns from_conf)"
printf '[iterate]\n\tk = 2\n' >vprof.conf
expect 0 "$VPROF" show wait-graph figure --format json
says '"threshold_ns": 4'
printf '[iterate]\n\tthreshold = 0.9\n' >vprof.conf
expect 0 "$VPROF" show wait-graph figure --threshold 0.2 --format json
says '"threshold_ns": 4'
rm vprof.conf
expect 2 "$VPROF" show wait-graph --threshold -1
says '--threshold is a fraction' 'show wait-graph --threshold 0.2'
expect 2 "$VPROF" show wait-graph --prefilter -0.1
says '--prefilter is a fraction'
expect 2 "$VPROF" show samples --period 0
says "above 0, not '0'"
expect 2 "$VPROF" show samples --period 1ms
expect 2 "$VPROF" show criticality --nmin -2
says 'number of threads, not -2'
expect 2 "$VPROF" show criticality --format folded
says 'cannot be printed' '--format csv'
expect 2 "$VPROF" show samples --format dot
says '--format folded'
expect 2 "$VPROF" show wait-graph nine
says "no run 'nine'"

# Nothing at all in it.
printf 'vprof-tuples 1\n' >empty.tuples
expect 3 "$VPROF" import --from tuples empty.tuples -o empty
expect 0 "$VPROF" show wait-graph empty
expect 0 "$VPROF" show criticality empty
says 'No thread was ever active'
expect 0 "$VPROF" show samples empty
expect 0 "$VPROF" show samples empty --format folded

# A run imported from an export shows the same.
expect 0 "$VPROF" export --format tuples figure
cp .out again.tuples
expect 3 "$VPROF" import --from tuples again.tuples -o again
for view in wait-graph criticality samples; do
	"$VPROF" show $view figure --format csv >one.csv
	"$VPROF" show $view again --format csv >two.csv
	[ -s one.csv ] && cmp -s one.csv two.csv && pass || fail "$view differs after a round trip"
done
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof causal --predict and show causal from outside: a trace with answers computed by hand, every format, every user error.
. "${srcdir:-.}/tests/e2e/lib.sh"

# Three tasks of 30 at 0, 10, 20 and one worker, which takes 5 to wake: 35, 55, 75.
cat >queue.tuples <<'END'
vprof-tuples 1
interval 1 req 1 0 2 35
interval 2 req 1 10 2 65
interval 3 req 1 20 2 95
segment 1 - 0 100 running
segment 2 - 0 5 cond
segment 2 1 5 35 running
segment 2 2 35 65 running
segment 2 3 65 95 running
creation 1 0 2 5
creation 1 10 2 35
creation 1 20 2 65
invocation 2 1 serve 5 35
invocation 2 2 serve 35 65
invocation 2 3 serve 65 95
END
expect 0 "$VPROF" import --from tuples queue.tuples -o queue
expect 3 "$VPROF" show causal queue
says "run 1 has no causal experiments" "vprof causal --predict 1"
expect 3 "$VPROF" show causal queue --format json
says '"experiments": []' '"schema": "vprof.causal/1"'

expect 0 "$VPROF" causal --predict
says "Hypothesis, by a replay of the trace:" "of req by" "queue *" "* at most: what would then be waited for instead is not in the trace"
expect 0 "$VPROF" causal --predict queue --target serve --target queue --speedups 50 --format json
says '"target": "queue"' '"predicted": {' '"mean": 0.33333333' '"mean": 0.54545454' '"best": {' '"kind": "queue"' '"ended": "narrow"' '"replayed": true'
expect 0 "$VPROF" show causal --format csv
says 'target,kind,speedup,rounds' 'queue,queue,1,0,3,0,mean,,,,,,0.33333333333333' 'serve,function,0.5,0,3,0,mean,,,,,,0.5454545454545'
expect 0 "$VPROF" show causal queue --target serve
says "Making serve 50 % faster would lower the mean of req by 55 %"
expect 0 "$VPROF" show causal queue --format svg
says '<svg xmlns=' '>serve</text>' '</svg>'
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/.out" 2>/dev/null && pass || fail "the SVG is no XML"
expect 0 "$VPROF" causal --predict=queue --target serve --metric p99 --speedups 10,100
says "lower the p99 of req"
expect 2 "$VPROF" show causal queue --target nosuch
says "no experiment with the target 'nosuch'"
expect 0 "$VPROF" causal --predict queue --target serve --speedups 33.31,33.34 --format json	# one speed: they are per mille
[ "$(grep -c '"kind": "function"' .out)" = 1 ] && pass || fail "33.31 and 33.34 are two: $(cat .out)"
says '"speedup": 0.333'
expect 2 "$VPROF" show causal queue --metric p95
says "not 'p95'"

# Two threads on one CPU: with two, 100 instead of 155.
cat >cpus.tuples <<'END'
vprof-tuples 1
interval 1 req 1 0 1 95
interval 2 req 2 0 2 60
segment 1 1 0 20 running
segment 1 1 20 25 sleep
segment 1 1 25 60 runnable
segment 1 1 60 95 running
segment 2 2 0 20 runnable
segment 2 2 20 60 running
END
expect 0 "$VPROF" import --from tuples cpus.tuples -o cpus
expect 0 "$VPROF" causal --predict cpus --target cpus:2
says "With 2 CPUs, which no other program uses, the run would lower the mean of req by at most 35 %"
expect 0 "$VPROF" causal --predict cpus --target cpus:2 --target cpus:1 --format json
says '"kind": "cpus"' '"target": "cpus:2"' '"upper_bound": true'
for bad in cpus: cpus:0 cpus:-1 cpus:2x cpus:9999999; do
	expect 2 "$VPROF" causal --predict cpus --target "$bad"
	says "names nothing"
done

# Targets without an answer are refused with the reason.
expect 4 "$VPROF" causal --predict queue --target lock:m --target nosuch --target io --target disk:sda --target runqueue --target wait:serve --target cpus:2
says "lock:m: the trace does not say which thread holds which lock when" "nosuch: no function of that name is in the trace" \
	"io: the trace has no wait for anything outside" "disk:sda: no wait for a disk of that name" \
	"runqueue: the trace does not say when threads waited for a CPU" "cpus:2: the trace does not say when threads waited for a CPU" "wait:serve: the trace has no wait in it"
expect 4 "$VPROF" causal --predict queue --target lock:m --format json
says '"refused": [' '"instead": "an experiment: vprof causal --target lock:NAME'

# Mistakes.
expect 2 "$VPROF" causal --predict queue --target io@
says "names nothing"
for bad in 0 101 50,x "" 50,,60 -5; do
	expect 2 "$VPROF" causal --predict queue --speedups "$bad"
	says "per cent from 1 to 100"
done
expect 2 "$VPROF" causal --predict queue --metric p95
expect 2 "$VPROF" causal --predict queue --format xml
expect 2 "$VPROF" causal --predict queue --currency gold
expect 2 "$VPROF" causal --predict queue --for never
expect 2 "$VPROF" causal --predict queue 1
expect 2 "$VPROF" causal --predict nosuch
expect 2 "$VPROF" causal --predict queue -- true
says "runs nothing"
for option in "--for 2m" "--seed 7" "--currency auto" --kernel --virtual-clock "-o name" "-p 1"; do
	expect 2 "$VPROF" causal --predict queue $option
	says "--predict runs nothing, so ${option%% *} has no meaning"
done
expect 2 "$VPROF" causal queue
says "causal takes RUN only with --predict, and a command after --: not 'queue'"
expect 3 "$VPROF" causal --predict queue --interval nosuch
says "no completed interval 'nosuch'"
"$VPROF" import --from tuples "$top/tests/golden/nothing_completed.tuples" -o nothing >.out 2>&1
expect 3 "$VPROF" causal --predict nothing
says "no completed interval"

# A lock's holder that sleeps, and a larger function for which no thread waits: the answer is the sleep.
cat >holder.tuples <<'END'
vprof-tuples 1
interval 1 req 1 0 1 100
interval 2 req 1 100 1 300
segment 1 1 0 10 running
segment 1 1 10 80 lock
segment 1 1 80 100 running
segment 1 2 100 110 running
segment 1 2 110 260 lock
segment 1 2 260 300 running
segment 2 - 0 10 running
segment 2 - 10 80 sleep
segment 2 - 80 110 running
segment 2 - 110 260 sleep
segment 2 - 260 300 running
wakeup 1 2 80
wakeup 1 2 260
invocation 1 1 take 5 80
invocation 1 2 take 105 260
invocation 2 - flush 0 80
invocation 2 - flush 100 260
invocation 3 - large 0 300
segment 3 - 0 300 running
END
expect 0 "$VPROF" import --from tuples holder.tuples -o holder
expect 0 "$VPROF" causal --predict holder --speedups 50
says "io@flush" "wait:take *"
expect 0 "$VPROF" causal --predict holder --speedups 50 --target large --target io@flush
says "Making io@flush 50 % faster would lower the mean of req by 37 %"

# A lock of which all takings are known: 1 asks when 2 has had it for 30, and waits for the other 60.
cat >locked.tuples <<'END'
vprof-tuples 1
interval 1 req 1 0 1 100
segment 1 1 0 30 running
segment 1 1 30 90 lock
segment 1 1 90 100 running
segment 2 - 0 100 running
wakeup 1 2 90
invocation 1 1 take 5 95
invocation 2 - hold 0 92
order 2 0 m take
order 2 90 m give
order 1 90 m take 30
order 1 95 m give
END
expect 0 "$VPROF" import --from tuples locked.tuples -o locked
expect 0 "$VPROF" causal --predict locked --target wait:m --format json
says '"target": "wait:m"' '"function": null' '"mean": 0.6'
expect 0 "$VPROF" causal --predict locked --target wait:m
says "If the lock m did not exist, that would lower the mean of req by at most 60 %"
expect 0 "$VPROF" causal --predict locked --target lock:m --speedups 50
says "Making lock:m 50 % faster would lower the mean of req by"

# Measured experiments, by hand: predictions do not take their place; of the throughput a point's line goes upwards.
python3 -c 'import sqlite3, sys
d = sqlite3.connect("vprof.data/vprof.db")
d.execute("UPDATE causal SET replayed = 0")
d.execute("UPDATE experiment SET rounds = 9")
d.execute("UPDATE experiment_metric SET value = 1, gain = .5, ci95_low = .4, ci95_high = .6, p_value = .01")
d.commit()' || fail "vprof.db cannot be changed"
expect 0 "$VPROF" causal --predict holder --target large
says "has measured experiments: this prediction is printed, not stored"
expect 0 "$VPROF" show causal holder --metric throughput --format svg
says "50 % faster: +50.0 % (+40.0 to +60.0)"
expect 0 "$VPROF" show causal holder --metric mean --format svg
says "50 % faster: -50.0 % (-60.0 to -40.0)"
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof export: every format, read back by the test's own small reader (tests/e2e/read_export.py): the numbers are those of show and of
# the trace.  Names are hostile.
. "${srcdir:-.}/tests/e2e/lib.sh"

# 300 intervals on two threads: handle calls a function with a hostile name and g; every third waits for a lock that thread 9 holds.
awk 'BEGIN {
	print "vprof-tuples 1\ncall handle evil;\"<b>&\ncall handle g"
	for (i = 1; i <= 300; i++) {
		a = 1000 + i * 7919 % 997; w = i % 3 ? 0 : 2000 + i * 31 % 700; g = 400 + i * 104729 % 513
		at = i * 10000; e = at + a + w + g; t = 1 + i % 2
		print "interval " i " req;1 " t " " at " " t " " e
		print "segment " t " " i " " at " " at + a " running"
		if (w) {
			print "segment " t " " i " " at + a " " at + a + w " lock\nwakeup " t " 9 " at + a + w
			print "segment 9 - " at " " at + a + w " running\ninvocation 9 - hold " at " " at + a + w
		}
		print "segment " t " " i " " at + a + w " " e " running\ninvocation " t " " i " handle " at " " e
		print "invocation " t " " i " evil;\"<b>& " at " " at + a + w "\ninvocation " t " " i " g " at + a + w " " e
	}
}' >run.tuples
expect 0 "$VPROF" import --from tuples run.tuples -o run
"$VPROF" show variance-tree run --format json >tree.json 2>.err || fail "$(cat .err)"
"$VPROF" show summary run --format json >summary.json 2>.err || fail "$(cat .err)"
"$VPROF" show tail run --format json >tail.json 2>.err || fail "$(cat .err)"
"$VPROF" show intervals run --all --format json >intervals.json 2>.err || fail "$(cat .err)"

check()		# WHAT FILE [ARGUMENT]: as the reader says
{
	python3 "$top/tests/e2e/read_export.py" "$@" >.out 2>&1 && pass || fail "$*: $(cat .out)"
}
for metric in variance tail mean; do
	expect 0 "$VPROF" export --format folded --metric $metric run -o $metric.folded
	check folded $metric.folded $metric
done
# What offsets others has no line; the format has no comments, so that is said on standard error.
awk 'BEGIN { print "vprof-tuples 1"
	for (i = 1; i <= 40; i++) { at = i * 10000; a = 1000 + 50 * i; b = 900 - 20 * i; e = at + a + b
		print "interval " i " req 1 " at " 1 " e "\nsegment 1 " i " " at " " e " running"
		print "invocation 1 " i " slow " at " " at + a "\ninvocation 1 " i " less " at + a " " e } }' >offset.tuples
expect 0 "$VPROF" import --from tuples offset.tuples -o offset
expect 0 "$VPROF" export --format folded offset
says "stacks below 0, which offset others and are left out: 1"
printf 'req;slow 1666667\n' | cmp -s - .out && pass || fail "folded: $(cat .out)"
expect 0 "$VPROF" export --format pprof run -o run.pb.gz
check pprof run.pb.gz
expect 0 "$VPROF" export --format hgrm run -o run.hgrm
check hgrm run.hgrm
for which in SLOWEST:200 SLOWEST:7 SAMPLE:20 all; do
	for format in csv chrome-trace perfetto otlp; do
		expect 0 "$VPROF" export --format $format --intervals $which run -o out.$format
		check $format out.$format $which
	done
done
expect 0 "$VPROF" export --format csv run -o out.csv
says '200 of 300 intervals are written'
check csv out.csv SLOWEST:200
"$VPROF" export --format csv --intervals SAMPLE:20 run >a.csv 2>.err
"$VPROF" export --format csv --intervals SAMPLE:20 run >b.csv 2>.err
cmp -s a.csv b.csv && pass || fail 'a sample is another one each time'
for view in tree latency; do
	expect 0 "$VPROF" export --format svg --view $view run -o $view.svg
	check svg $view.svg
done
# The same pictures as show draws; each edge above the prefilter is an arc with its weight.
expect 0 "$VPROF" export --format svg --view wait-graph run -o wait-graph.svg
check svg wait-graph.svg
"$VPROF" show wait-graph run --format svg >shown.svg 2>.err
cmp -s shown.svg wait-graph.svg && pass || fail "show wait-graph draws something else"
"$VPROF" show wait-graph run --format json >waits.json 2>.err
python3 - waits.json wait-graph.svg <<'P' && pass || fail "the arcs are not the edges"
import json, sys, xml.etree.ElementTree as ET
svg = "{http://www.w3.org/2000/svg}"
edges = [e for e in json.load(open(sys.argv[1]))["edges"] if not e["prefiltered"]]
arcs = [p for p in ET.parse(sys.argv[2]).getroot().iter(svg + "path") if p.find(svg + "title") is not None]
assert edges and len(arcs) == len(edges), (len(arcs), len(edges))
most = max(e["weight_ns"] for e in edges)
assert sorted(round(1 + 5 * e["weight_ns"] / most, 2) for e in edges) == sorted(float(a.get("stroke-width")) for a in arcs)
P

expect 0 "$VPROF" export run
head -1 .out | grep -q '^vprof-tuples 1' && pass || fail 'tuples are not the default any more'

# A request that a format cannot serve is refused with a message, and nothing is written.
expect 2 "$VPROF" export --format nosuch run
expect 2 "$VPROF" export --format folded --metric p99 run
expect 2 "$VPROF" export --format csv --metric mean run
says '--metric is for --format folded'
expect 2 "$VPROF" export --format hgrm --intervals all run
says '--intervals is for --format chrome-trace, perfetto, otlp, csv'
expect 2 "$VPROF" export --interval r run
says '--format tuples has no --interval'
expect 2 "$VPROF" export --format svg --view nosuch run
expect 2 "$VPROF" export --format svg --view wait-graph --interval req run
says '--view wait-graph has no --interval'
expect 3 "$VPROF" export --format svg --view causal run
[ ! -s .out ] && pass || fail "something is written of experiments that were not made"
for which in SLOWEST SLOWEST:0 SLOWEST:x SLOWEST:-1 SAMPLE: slowest:3 ALL ''; do
	expect 2 "$VPROF" export --format csv --intervals "$which" run
	[ ! -s .out ] && pass || fail "--intervals '$which' writes"
done
"$VPROF" import --from tuples "$top/tests/golden/nothing_completed.tuples" -o nothing >.out 2>&1
for format in folded csv chrome-trace svg hgrm pprof; do
	expect 3 "$VPROF" export --format $format nothing
done
# Waits around calls and across their ends, nested functions, recursion, device threads: everything nests and adds up.
for golden in nested_waits recursion chain_of_locks queue holder_waits_for_disk equal_spans root_only; do
	"$VPROF" import --from tuples "$top/tests/golden/$golden.tuples" -o $golden >.out 2>&1
	"$VPROF" show intervals $golden --all --format json >intervals.json 2>.err
	for format in csv chrome-trace perfetto otlp; do
		expect 0 "$VPROF" export --format $format --intervals all $golden -o out.$format
		check $format out.$format all
	done
done

# Two threads wait for what thread 2 does in flush, each with an arrow.  Meanwhile 2 did something for interval 5 inside of it, and
# thread 1 woke itself last.
cat >arrows.tuples <<'T'
vprof-tuples 1
interval 1 req 1 1000 1 9000
segment 1 1 1000 2000 running
segment 1 1 2000 8000 lock
segment 1 1 8000 9000 running
invocation 1 1 append 1500 8500
interval 2 req 2 1000 2 8500
segment 2 2 1000 3000 running
interval 5 req 2 3000 2 4000
segment 2 5 3000 4000 running
segment 2 2 4000 8500 running
invocation 2 2 flush 1200 8200
invocation 2 5 append 3100 3900
interval 4 req 3 1000 3 9100
segment 3 4 1000 2500 running
segment 3 4 2500 8050 lock
segment 3 4 8050 9100 running
invocation 3 4 append 1500 8600
wakeup 1 2 7900
wakeup 1 1 7950
wakeup 3 2 8040
call flush append
T
expect 0 "$VPROF" import --from tuples arrows.tuples -o arrows
"$VPROF" show intervals arrows --all --format json >intervals.json 2>.err || fail "$(cat .err)"
for format in chrome-trace perfetto otlp; do
	expect 0 "$VPROF" export --format $format arrows -o out.$format
	check $format out.$format all 2
done
# A clock of centuries: a date ends where its number does.
awk 'BEGIN { print "vprof-tuples 1\ninterval 1 r 1 0 1 10\nsegment 1 1 0 10 running"
	print "interval 2 r 1 9100000000000000000 1 9100000000000000500\nsegment 1 2 9100000000000000000 9100000000000000500 running" }' >far.tuples
expect 0 "$VPROF" import --from tuples far.tuples -o far
expect 0 "$VPROF" export --format otlp far
grep -q 'UnixNano":"9223372036854775807"' .out && ! grep -q 'Nano":"-' .out && pass || fail "dates: $(cat .out)"
# A trace without the intervals that the results have: csv names them.
expect 0 "$VPROF" import --from tuples arrows.tuples -o less
cp vprof.data/runs/"$(ls vprof.data/runs | tail -2 | head -1)"/* vprof.data/runs/"$(ls vprof.data/runs | tail -1)"
expect 0 "$VPROF" export --format csv less
says "2 intervals are not in the run's trace and left out, the first with SID"
# Exports of causal experiments come last: the run has the experiments from here on.
expect 0 "$VPROF" causal --predict run
expect 0 "$VPROF" export --format svg --view causal run -o causal.svg
"$VPROF" show causal run --format svg >shown.svg 2>.err
cmp -s shown.svg causal.svg && grep -q '<circle\|class="predicted"' causal.svg && pass || fail "show causal draws something else"

finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# digest: of runs whose intervals have weights (record --sample auto), each with rates of its own, the sums of the digests are those of
# the merged traces, bit for bit, in any order, nesting and windows.
. "${srcdir:-.}/tests/e2e/lib.sh"
cat >server.c <<'END'
#include <stdlib.h>
#include <vprof.h>

static volatile unsigned sink;

__attribute__((noinline)) static void spin(unsigned cnt) { for (unsigned i = 0; i < cnt; i++) sink += i; }
__attribute__((noinline)) static void parse(unsigned i) { spin(100 + i * 7919 % 977); }
__attribute__((noinline)) static void reply(unsigned i) { spin(200 + i * 104729 % 1013); }

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < (argc > 1 ? (unsigned)atoi(argv[1]) : 0); i++) {
		VPROF_BEGIN("request", i);
		parse(i);
		if (i % 3)
			reply(i);
		VPROF_END("request", i);
	}
	return 0;
}
END
expect 0 "$VPROF" build --functions all -- gcc -O1 -o server server.c
expect 0 "$VPROF" record --sample auto=0.01 -o w1 -- ./server 150000
expect 0 "$VPROF" record --sample auto=0.2 -o w2 -- ./server 100000
expect 0 "$VPROF" record --sample auto=0.03 -o w3 -- ./server 100000
expect 0 "$VPROF" record -o w4 -- ./server 2000
for i in 1 2 3 4; do
	expect 0 "$VPROF" export --format digest w$i -o $i.vpd
	expect 0 "$VPROF" export --format digest --window 20ms w$i -o $i.cut.vpd
done

# The first has weights: it stands for more intervals than it recorded.
"$VPROF" export --format digest-tsv --table vprof_window 1.vpd >1.rows
awk -F'\t' '{ exit !($17 > 2 * $18 && $18 > 100 && $19 >= 1) }' 1.rows && pass || fail "no weights: $(cut -f17-19 1.rows)"

expect 0 "$VPROF" merge w1 w2 w3 w4 -o traces
expect 0 "$VPROF" merge w3 w1 -o some
expect 0 "$VPROF" merge w4 some w2 -o nested_traces
expect 0 "$VPROF" merge 1.vpd 2.vpd 3.vpd 4.vpd -o at_once
expect 0 "$VPROF" merge 4.vpd 2.vpd -o 42.vpd
expect 0 "$VPROF" merge 3.vpd 42.vpd w1 -o nested
expect 0 "$VPROF" merge 4.cut.vpd 1.cut.vpd 2.vpd 3.cut.vpd -o windows
expect 0 "$VPROF" merge --window all 4.cut.vpd 1.cut.vpd 2.cut.vpd 3.cut.vpd -o added_up
cat >same.py <<'END'
import json, os, subprocess, sys
def show(view, run):
    return json.loads(subprocess.run([os.environ["VPROF"], "show", view, run, "--format", "json", "--all"], capture_output=True, text=True, check=True).stdout)
def found(run):
    tree = show("variance-tree", run)
    for n in tree["nodes"]: n.pop("ci95")
    pick = "kind", "function", "wait", "share", "variance_share", "mean_ns", "because_of", "call_sites"
    return tree["nodes"], tree["covariances"], tree["interval"]["count"], tree["interval"]["mean_ns"], tree["interval"]["variance_ns2"], \
        sorted(str([f[k] for k in pick]) for f in show("factors", run)["factors"] if f["kind"] != "pair")
traces, other = found("traces"), found(sys.argv[1])
assert len(traces[0]) > 4 and len(traces[1]) > 1 and len(traces[5]) > 2, traces
for a, b in zip(traces, other):
    assert a == b, (a, b)
END
for run in nested_traces at_once nested windows added_up; do
	python3 same.py $run 2>err && pass || fail "$run differs from the merged traces: $(tail -n 1 err | cut -c1-2000)"
done
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# diff --by host: digests and merged runs are compared host by host, whatever was merged with what.
. "${srcdir:-.}/tests/e2e/lib.sh"

# host NAME MACHINE SCALE SEED: a run of 60 intervals, recorded by that host, as run NAME.SEED
cat >draw.py <<'P'
import random, sys
scale, seed = float(sys.argv[1]), int(sys.argv[2])
r, at = random.Random(seed), 0
print("vprof-tuples 1")
for i in range(60):
    a, b = int(1000 * scale * r.lognormvariate(0, .5)) + 1, int(500 * r.lognormvariate(0, .3)) + 1
    print(f"interval {i} request 1 {at} 1 {at + a + b}\nsegment 1 {i} {at} {at + a + b} running")
    print(f"invocation 1 {i} A {at} {at + a}\ninvocation 1 {i} B {at + a} {at + a + b}")
    at += a + b + 10
print("call A B")
P
host()
{
	python3 draw.py "$3" "$4" >t.tuples
	"$VPROF" import --from tuples t.tuples -o "$1.$4" >.imported 2>&1 || fail "import: $(cat .imported)"
	dir=$(ls -d vprof.data/runs/* | tail -1)
	printf 'machine %s\nboot %s\nhost %s\n' "$2" "$2" "$1" >"$dir/recorded-by"
	"$VPROF" export --format digest "$1.$4" -o "$1.$4.vpd" 2>/dev/null || fail "export of $1"
}
for i in 1 2 3 4 5 6; do
	host new-$i a$i 2 $((10 + i))
	host old-$i b$i 1 $((20 + i))
done
expect 0 "$VPROF" merge new-*.vpd -o canary
expect 0 "$VPROF" merge old-*.vpd -o baseline
for i in new old; do
	for k in 1 2 3 4 5 6; do
		expect 0 "$VPROF" import --from digest $i-$k.*.vpd -o $i$k
	done
done

# A host with one run is that run: the same figures as of the single ones.
expect 0 "$VPROF" diff --by host baseline canary
says "6 hosts" "head is worse"
"$VPROF" diff --by host baseline canary --format json >by_host.json
"$VPROF" diff old1,old2,old3,old4,old5,old6 new1,new2,new3,new4,new5,new6 --format json >by_run.json 2>/dev/null
python3 - <<'P' && pass || fail "hosts are not what their runs are"
import json
a, b = json.load(open("by_host.json")), json.load(open("by_run.json"))
assert a["by"] == "host" and b["by"] == "run" and a["base"]["hosts"] == [f"old-{i}" for i in range(1, 7)], a["base"]
assert not a["within_these_runs_only"] and not a["paired"] and a["metrics"] == b["metrics"] and a["causes"] == b["causes"]
assert {m["name"]: m["verdict"] for m in a["metrics"]}["var"] == "worse"
assert a["causes"][0]["function"] == "A" and abs(sum(c["delta_ns2"] for c in a["causes"]) - a["metrics"][6]["head_ns"] + a["metrics"][6]["base_ns"]) < 1e-6 * a["metrics"][6]["head_ns"]
P
# Digests as they are, where there is no data directory either; and beside runs.
"$VPROF" merge new-*.vpd -o canary.vpd 2>/dev/null
mkdir elsewhere
(cd elsewhere && "$VPROF" diff --by host ../old-1.21.vpd,../old-2.22.vpd,../old-3.23.vpd,../old-4.24.vpd,../old-5.25.vpd,../old-6.26.vpd \
	../canary.vpd --format json >../files.json) && [ -z "$(ls elsewhere)" ] && pass || fail "digests as files, without a data directory"
"$VPROF" diff --by host old-1.21,old-2.22.vpd,old-3.23.vpd,old4,old5,old6 canary.vpd --format json >beside.json
python3 - <<'P' && pass || fail "files are not what their runs are"
import json
a, b, c = (json.load(open(name + ".json")) for name in ("by_host", "files", "beside"))
assert a["metrics"] == b["metrics"] == c["metrics"] and a["causes"] == b["causes"] and a["base"]["hosts"] == b["base"]["hosts"]
assert b["base"]["runs"] == [] and b["base"]["intervals"] == 360 and len(c["base"]["runs"]) == 4
P
expect 2 "$VPROF" diff old-1.21.vpd canary.vpd
says "'old-1.21.vpd' is a digest" "--by host"
expect 2 "$VPROF" diff --by host canary.vpd,new-1.11.vpd baseline
says "twice"
expect 5 "$VPROF" diff --by host no.vpd baseline
says "no.vpd"
expect 2 "$VPROF" show summary canary.vpd
says "vprof import --from digest canary.vpd"
# However it was merged, and of traces as of digests.
expect 0 "$VPROF" merge old-1.21.vpd old-2.22.vpd -o some.vpd
expect 0 "$VPROF" merge some.vpd old-6.26.vpd old-5.25.vpd old-4.24.vpd old-3.23.vpd -o nested
expect 0 "$VPROF" merge new-1.11 new-2.12 new-3.13 new-4.14 new-5.15 new-6.16 -o traces
"$VPROF" diff --by host nested traces --format json >other.json
python3 - <<'P' && pass || fail "it matters how they were merged"
import json
a, b = json.load(open("by_host.json")), json.load(open("other.json"))
assert a["metrics"] == b["metrics"] and a["causes"] == b["causes"]
P
# The host is the block of confidence intervals, of digests as of traces; one digest of one window a host is enough.
for run in canary traces; do "$VPROF" show variance-tree $run --format json >tree.$run 2>/dev/null; done
"$VPROF" show variance-tree new-1.11 --format json >tree.one 2>/dev/null
python3 - <<'P' && pass || fail "confidence intervals over hosts"
import json
a, b, one = (json.load(open("tree." + n))["nodes"] for n in ("canary", "traces", "one"))
assert len(a) == len(b) == 3 and a[1]["ci95"][0] < a[1]["share"], a
assert all(abs(x["ci95"][k] - y["ci95"][k]) < 1e-9 for x, y in zip(a, b) for k in (0, 1)), (a, b)
assert a[1]["ci95"] != one[1]["ci95"]
P
expect 1 "$VPROF" diff --by host baseline canary --gate 'var>+10%'
expect 0 "$VPROF" diff --by host baseline canary --gate 'var<-10%'

# Two runs of one host are one unit; a container is of its machine.
host old-1 b1 1 31
expect 0 "$VPROF" merge baseline old-1.31.vpd -o more
"$VPROF" diff --by host more canary --format json >more.json
grep -q '"intervals": 420' more.json && python3 -c 'import json; assert len(json.load(open("more.json"))["base"]["hosts"]) == 6' && pass ||
	fail "a second run of a host is another host"

# Fewer than five hosts: of these hosts; the same hosts before and after are compared with themselves.
expect 0 "$VPROF" merge new-1.11.vpd new-2.12.vpd new-3.13.vpd new-4.14.vpd -o four
expect 0 "$VPROF" merge new-1.11 new-2.12 -o pair
expect 0 "$VPROF" show warnings pair
says "these are 2 hosts: the confidence intervals hold for these"
expect 3 "$VPROF" diff --by host baseline four --gate 'var>+10%'
says "of these hosts only" "a verdict needs 5 hosts a side" "fewer than 5 hosts"
"$VPROF" diff --by host baseline four --format json 2>/dev/null | grep -q '"code": "few-hosts"' && pass || fail "no warning of few hosts in JSON"
for i in 1 2 3 4 5 6; do host old-$i b$i 1.1 $((40 + i)); done
expect 0 "$VPROF" merge old-1.41.vpd old-2.42.vpd old-3.43.vpd old-4.44.vpd old-5.45.vpd old-6.46.vpd -o after
expect 0 "$VPROF" diff --by host baseline after
says "each host compared with itself"

# Hosts of one name are two if their machines are; of unknown hosts nothing is said.
host web c1 1 51; host web c2 1 52
expect 0 "$VPROF" merge web.51.vpd web.52.vpd -o clones
"$VPROF" diff --by host clones canary --format json 2>/dev/null >clones.json
python3 -c 'import json; assert json.load(open("clones.json"))["base"]["hosts"] == ["web (c1)", "web (c2)"]' && pass || fail "clones: $(head -20 clones.json)"
python3 draw.py 1 61 >t.tuples
expect 0 "$VPROF" import --from tuples t.tuples -o unknown
expect 3 "$VPROF" diff --by host unknown canary
says "does not say which host recorded it"
expect 3 "$VPROF" diff --by host baseline canary --interval nothing
says "no host of 'baseline' has results about intervals 'nothing'"
expect 2 "$VPROF" diff --by machine baseline canary
says "--by is run or host"
expect 2 "$VPROF" diff --by host --interleave 5 -- true -- true
finish

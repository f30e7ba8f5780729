#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# import of chrome-trace: forms that tracers write, and what is left out; ends are matched to beginnings by the definition.
. "${srcdir:-.}/tests/e2e/lib.sh"

event() { printf '{"ph":"%s","pid":1,"tid":%s,"ts":%s,"name":"%s"%s}' "$@"; }	# PHASE TID TS NAME MORE
spans()		# FORM WANTED: the intervals as "name start latency", in the order of time
{
	"$VPROF" export --format tuples "$1" 2>/dev/null | python3 -c '
import sys
rows = [line.split() for line in sys.stdin if line.startswith("interval ")]
print("".join("%s %s %d;" % (r[2], r[4], int(r[6]) - int(r[4])) for r in sorted(rows, key=lambda r: int(r[4]))))' >got
	[ "$(cat got)" = "$2" ] && pass || fail "$1: $(cat got), not $2"
}
form()		# NAME TEXT WANTED
{
	printf '%s' "$2" >"$1.json"
	expect 0 "$VPROF" import --from chrome-trace "$1.json" -o "$1"
	spans "$1" "$3"
}

a=$(event X 1 10 a ',"dur":5')
form list "[$a]" 'a 10000 5000;'
form object "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[$a],\"stackFrames\":{}}" 'a 10000 5000;'
form text_times "[$(event X 1 '"10"' a ',"dur":"5.25"')]" 'a 10000 5250;'
form filler "[$a,{},null]" 'a 10000 5000;'
form same_key "[$(event X 1 10 a ',"dur":5,"args":{"k":1,"k":2}')]" 'a 10000 5000;'
form order_mark "$(printf '\357\273\277')[$a]" 'a 10000 5000;'
form wall_clock "[$(event X 1 1700000000000001 a ',"dur":1'),$(event B 2 1700000000000011 b ''),$(event E 2 1700000000000012 b '')]" \
	'a 1700000000000001000 1000;b 1700000000000011000 1000;'
form wall_clock_parts "[$(event X 1 1700000000000001.123 a ',"dur":10.5'),$(event X 1 1700000000000020.0005 b ',"dur":1700000000000.0019')]" \
	'a 1700000000000001123 10500;b 1700000000000020001 1700000000000002;'
# Requests that overlap, told apart by id2 alone, by the process, by the scope.
x=$(event b 1 10 r ',"cat":"c","id2":{"local":"0x1"}') y=$(event b 1 12 r ',"cat":"c","id2":{"local":"0x2"}')
form id2 "[$x,$y,$(event e 1 20 r ',"cat":"c","id2":{"local":"0x1"}'),$(event e 1 40 r ',"cat":"c","id2":{"local":"0x2"}')]" \
	'r 10000 10000;r 12000 28000;'
form id2_of_processes "[$x,${x%?},\"pid\":2,\"ts\":12},${x%?},\"pid\":2,\"ph\":\"e\",\"ts\":40},${x%?},\"ph\":\"e\",\"ts\":20}]" 'r 10000 10000;r 12000 28000;'
s=$(event b 1 10 r ',"cat":"c","id":"1","scope":"s"')
form scope "[$s,$(event b 1 12 r ',"cat":"c","id":"1"'),${s%?},\"ph\":\"e\",\"ts\":20},$(event e 1 40 r ',"cat":"c","id":"1"')]" 'r 10000 10000;r 12000 28000;'
form old_async "[$(event S 1 10 r ',"cat":"c","id":1'),$(event T 1 15 r ',"cat":"c","id":1'),$(event F 2 20 r ',"cat":"c","id":1')]" 'r 10000 10000;'
form any_order "[$(event e 1 20 r ',"cat":"c","id":1'),$(event b 2 10 r ',"cat":"c","id":1')]" 'r 10000 10000;'
form no_duration "[$a,$(event X 1 30 a '')]" 'a 10000 5000;'
says "1 beginnings without an end"
# A tracer that was killed.
form no_bracket "[$a," 'a 10000 5000;'
grep -q "cut off" .err && fail "a list without its end is no news" || pass
form cut "[$a,{\"ph\":\"X\",\"na" 'a 10000 5000;'
says "cut.json:1: the file was cut off"
form cut_object "{\"otherData\":{\"a\":[{}]},\"traceEvents\":[$a,{\"ph\":\"X\",\"args\":{\"b\":[1," 'a 10000 5000;'
says "cut_object.json:1: the file was cut off"
for damage in "[$a,${a%?},$a,$a]" "[$a}" "[" "[{\"ph\":\"X\"," "{\"x\":[$a,"; do
	printf '%s' "$damage" >damaged.json
	expect 5 "$VPROF" import --from chrome-trace damaged.json
	says "damaged.json:1:"
done
# The line of the event, in every layout.
at_line()	# TEXT LINE EVENT
{
	printf "$1" >damaged.json
	expect 5 "$VPROF" import --from chrome-trace damaged.json
	says "damaged.json:$2: event $3 of traceEvents: "
}
at_line '[{"ph":"M","args":{"x":[1,{"y":2}],"z":"],\\\\\\","}},\n\n{"ph":"M"}\n,\n{"ph":"X"}]' 5 3
at_line '\n[\n  {"ph":"X"}]' 3 1
at_line '{"a":[1,\n{"traceEvents":[]}],\n"traceEvents" :\n[{"ph":"M"},{"ph":"M"},\n{"ph":"X"}]}' 5 3
gzip -c list.json >list.json.gz
expect 5 "$VPROF" import --from chrome-trace list.json.gz
says "compressed by gzip" "zcat list.json.gz"
expect 5 "$VPROF" import --from otlp list.json.gz
says "compressed by gzip"

# An end ends the last that began before it on its thread, of its name if it has one, and has no end yet.
cat >oracle.py <<'END'
import json, random, re, subprocess, sys
for seed in range(1, 7):
    rng = random.Random(seed)
    events, at = [], 0
    for _ in range(300):
        at += rng.choice([0, 1, 5])
        e = {"ph": rng.choice("BE"), "pid": 1, "tid": rng.randrange(3), "ts": at, "name": rng.choice("abc")}
        if e["ph"] == "E" and rng.random() < 0.4:
            del e["name"]
        events.append(e)
    open_ones, found, ends = [], [], 0
    for e in events:
        if e["ph"] == "B":
            open_ones.append(e)
            continue
        for b in reversed(open_ones):
            if b["tid"] == e["tid"] and e.get("name", b["name"]) == b["name"]:
                open_ones.remove(b)
                found.append((b["name"], b["tid"]))
                break
        else:
            ends += 1
    json.dump(sorted(events, key=lambda e: e["tid"]), open("random.json", "w"))
    run = subprocess.run([sys.argv[1], "import", "--from", "chrome-trace", "random.json"], capture_output=True, text=True)
    want = "found %d spans, 3 functions" % len(found), "left out: %d ends without a beginning, %d beginnings" % (ends, len(open_ones))
    assert run.returncode == 0 and all(w in run.stderr for w in want), (seed, want, run.stderr)
END
python3 oracle.py "$VPROF" 2>err && pass || fail "$(tail -1 err)"
finish

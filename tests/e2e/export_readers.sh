#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof export, read by the tools that it is for: protoc (Debian: protobuf-compiler), go tool pprof (golang-go),
# chromium, and speedscope in it (tests/npm/install).  Missing tools are named; without any the test is skipped (exit 77).
. "${srcdir:-.}/tests/e2e/lib.sh"
missing= tried=0

have()		# PROGRAM NAME
{
	command -v "$1" >/dev/null 2>&1 && tried=$((tried + 1)) || { missing="$missing $2"; false; }
}
# Thread 1 waits for a lock that thread 2 holds, for an interval of its own.
cat >run.tuples <<'T'
vprof-tuples 1
interval 1 req 1 1000 1 9000
segment 1 1 1000 2000 running
segment 1 1 2000 8000 lock
segment 1 1 8000 9000 running
invocation 1 1 append 1500 8500
interval 2 req 2 1000 2 8500
segment 2 2 1000 8500 running
invocation 2 2 flush 1200 8200
wakeup 1 2 8000
interval 3 req 1 10000 1 11000
segment 1 3 10000 11000 running
invocation 1 3 append 10100 10900
call flush append
T
"$VPROF" import --from tuples run.tuples -o run >.out 2>&1 && pass || fail "$(cat .out)"
for format in perfetto pprof chrome-trace folded; do
	expect 0 "$VPROF" export --format $format run -o run.$format
done
if have protoc protobuf-compiler; then
	protoc --decode=perfetto.protos.Trace -I "$top/tests/e2e" "$top/tests/e2e/perfetto.proto" <run.perfetto >.text 2>.err &&
		pass || fail "protoc: $(cat .err)"
	[ "$(grep -c TYPE_SLICE_BEGIN .text)" = "$(grep -c TYPE_SLICE_END .text)" ] && grep -q 'terminating_flow_ids' .text && pass ||
		fail "protoc reads: $(head -50 .text)"
	grep -qE '^ *[0-9]+[:{ ]' .text && fail "fields that the schema does not have: $(grep -E '^ *[0-9]+[:{ ]' .text | head)" || pass
fi
if have go golang-go; then
	HOME=$work go tool pprof -raw run.pprof >.text 2>.err && pass || fail "pprof: $(cat .err)"
	grep -q 'variance/ppm.* tail/ns.* mean/ns' .text && pass || fail "pprof reads: $(head -20 .text)"
	HOME=$work go tool pprof -top -sample_index=mean run.pprof >.text 2>.err && grep -q '100%' .text && pass || fail "pprof -top: $(cat .text .err)"
fi
if have chromium chromium; then
	expect 0 "$VPROF" causal --predict run
	for view in tree latency wait-graph causal; do
		expect 0 "$VPROF" export --format svg --view $view run -o $view.svg
		HOME=$work timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" \
			--screenshot="$work/$view.png" --window-size=1000,400 "file://$work/$view.svg" >.out 2>&1
		[ -s $view.png ] && pass || fail "chromium draws no $view: $(tail -3 .out)"
		python3 - $view.png <<'P' && pass || fail "chromium draws nothing in $view"
import struct, sys, zlib
data, at, raw = open(sys.argv[1], "rb").read(), 8, b""
while at < len(data):
    n, kind = struct.unpack(">I4s", data[at:at + 8])
    raw += data[at + 8:at + 8 + n] if kind == b"IDAT" else b""
    at += 12 + n
sys.exit(0 if len(set(zlib.decompress(raw))) > 8 else 1)	# more than one colour
P
	done
fi

# speedscope saves the data that it read: each call and wait of the trace with its times, each folded stack with its number.
. "$top/tests/npm/lib.sh"
if has_npm puppeteer-core speedscope && command -v chromium >/dev/null 2>&1; then
	tried=$((tried + 1))
	expect 0 "$VPROF" export --format folded --metric mean run -o mean.folded
	speedscope() { NODE_PATH=$npm/node_modules HOME=$work node "$top/tests/npm/speedscope.cjs" "$(command -v chromium)" \
		"$npm/node_modules/speedscope/dist/release/index.html" "$@"; }
	expect 0 speedscope run.chrome-trace run.folded mean.folded
	python3 - <<'P' && pass || fail "speedscope reads something else"
import json

def read(name):
    d = json.load(open(name + ".read.json"))
    return [f["name"] for f in d["shared"]["frames"]], d["profiles"]

# thread -> (name, start, end) in ns
frames, profiles = read("run.chrome-trace")
told, seen = {}, {}
for e in json.load(open("run.chrome-trace"))["traceEvents"]:
    if e["ph"] == "X":
        told.setdefault(e["tid"], []).append((e["name"], round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)))
for p in profiles:
    tid = int(p["name"].split("tid ")[1].split()[0].rstrip(")"))
    first, stack = min(start for _, start, _ in told[tid]), []
    for e in p["events"]:
        ns = round(e["at"] * 1000) + first
        if e["type"] == "O":
            stack.append((e["frame"], ns))
        else:
            frame, start = stack.pop()
            assert frame == e["frame"]
            seen.setdefault(tid, []).append((frames[frame].split(" {")[0], start, ns))
assert {t: sorted(v) for t, v in told.items()} == {t: sorted(v) for t, v in seen.items()}, (told, seen)

for name in "run.folded", "mean.folded":
    frames, (profile,) = read(name)
    told, seen, stack, at = {}, {}, [], 0
    for line in open(name):
        if not line.startswith("#"):
            told[line.rsplit(" ", 1)[0]] = int(line.rsplit(" ", 1)[1])
    for e in profile["events"]:
        key = ";".join(frames[f] for f in stack)
        if e["at"] > at:
            seen[key] = seen.get(key, 0) + e["at"] - at
        at = e["at"]
        stack.append(e["frame"]) if e["type"] == "O" else stack.pop()
    assert told and told == seen, (told, seen)
P
	echo 'no profile' >nothing.folded
	expect 1 speedscope nothing.folded		# or it would read anything
else
	missing="$missing speedscope"
fi
[ -z "$missing" ] || echo "not there, and not tried:$missing"
[ "$tried" -gt 0 ] || exit 77
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof export, read by the tools that it is for: protoc (Debian: protobuf-compiler), go tool pprof (golang-go),
# chromium.  What is not there is named; without any the test is skipped (exit 77).
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
	for view in tree latency; do
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
[ -z "$missing" ] || echo "not there, and not tried:$missing"
[ "$tried" -gt 0 ] || exit 77
finish

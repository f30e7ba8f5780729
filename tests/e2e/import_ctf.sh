#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# import of a CTF trace through babeltrace2: spans, functions, waits with their waker, of two threads; what is missing or damaged is said.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir -p empty made
PATH=/nowhere expect 4 "$VPROF" import --from ctf made
says "babeltrace2" "apt-get install babeltrace2"
if ! command -v babeltrace2 >/dev/null 2>&1; then
	echo "SKIP: no babeltrace2 here (package babeltrace2)"
	exit 77
fi
cat >make.py <<'END'
import random, struct
rng = random.Random(4)
open("made/metadata", "w").write('''/* CTF 1.8 */
typealias integer { size = 16; align = 8; signed = false; } := u16;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
clock { name = mono; freq = 1000000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.mono.value; } := ts;
stream { id = 0; event.header := struct { u16 id; ts timestamp; }; event.context := struct { u32 vpid; u32 vtid; }; };
event { name = "app:request_begin"; id = 0; stream_id = 0; fields := struct { u32 n; string what; }; };
event { name = "app:request_end"; id = 1; stream_id = 0; fields := struct { u32 n; }; };
event { name = "lttng_ust_cyg_profile:func_entry"; id = 2; stream_id = 0; fields := struct { u64 addr; u64 call_site; }; };
event { name = "lttng_ust_cyg_profile:func_exit"; id = 3; stream_id = 0; fields := struct { u64 addr; u64 call_site; }; };
event { name = "sched_switch"; id = 4; stream_id = 0; fields := struct { u32 prev_tid; u32 prev_state; u32 next_tid; }; };
event { name = "sched_waking"; id = 5; stream_id = 0; fields := struct { u32 tid; }; };
event { name = "syscall_entry_nanosleep"; id = 6; stream_id = 0; fields := struct { u32 n; }; };
event { name = "syscall_exit_nanosleep"; id = 7; stream_id = 0; fields := struct { u32 n; }; };
''')
b = bytearray(struct.pack("<II", 0xC1FC1FC1, 0))
def event(ns, number, tid, fields=b""):
    global b
    b += struct.pack("<HQII", number, ns, 70, tid) + fields
one = struct.pack("<I", 1)
total, parse, slept = [], [], []
at = 5_000_000_000
event(at, 2, 9, struct.pack("<QQ", 0xbbbb, 0))           # thread 9 is in 0xbbbb all the time
for i in range(200):
    p, s = 10_000 + rng.randrange(2_000), rng.choice([0, 0, 300_000])
    event(at, 0, 1, one + b'a "quoted", { vtid = 3 }: {\0')
    event(at + 10, 2, 1, struct.pack("<QQ", 0x1234, 0)); event(at + 10 + p, 3, 1, struct.pack("<QQ", 0x1234, 0))
    now = at + 20 + p
    if s:
        event(now, 6, 1, one); event(now, 4, 1, struct.pack("<III", 1, 1, 9))
        now += s
        event(now - 500, 5, 9, struct.pack("<I", 1)); event(now, 4, 9, struct.pack("<III", 9, 0, 1)); event(now, 7, 1, one)
    event(now + 100, 1, 1, one)
    total.append(now + 100 - at); parse.append(p); slept.append(s - 500 if s else 0)         # then it waited for a CPU
    at = now + 1_000
event(at, 3, 9, struct.pack("<QQ", 0xbbbb, 0)); event(at + 1, 1, 1, one); event(at + 2, 0, 1, one + b"\0")
open("made/stream", "wb").write(bytes(b))
n = len(total)
cov = lambda a, b: sum(x * y for x, y in zip(a, b)) / n - sum(a) / n * sum(b) / n
open("expected", "w").write("%.9f %.9f" % (cov(slept, total) / cov(total, total), cov(parse, total) / cov(total, total)))
END
python3 make.py
expect 0 "$VPROF" import --from ctf made --interval app:request -o made
says "200 intervals" "1 ends without a beginning" "1 beginnings without an end"
"$VPROF" show variance-tree made --format json 2>/dev/null | python3 -c '
import json, sys
slept, parse = map(float, open("expected").read().split())
nodes = json.load(sys.stdin)["nodes"]
wait = [n for n in nodes if n["kind"] == "wait" and n["wait"] == "sleep"]
assert len(wait) == 1 and abs(wait[0]["share"] - slept) < 1e-6, (wait, slept)
assert any(n["kind"] == "blame" and n["function"] == "0xbbbb" and n["parent"] == wait[0]["id"] for n in nodes)
f = [n for n in nodes if n["kind"] == "function" and n["function"] == "0x1234"]
assert len(f) == 1 and abs(f[0]["share"] - parse) < 1e-6, (f, parse)' 2>err && pass || fail "made: $(tail -1 err)"
expect 3 "$VPROF" import --from ctf made --interval nobody
expect 5 "$VPROF" import --from ctf empty
says "babeltrace2 cannot read it"
expect 5 "$VPROF" import --from ctf make.py
says "is no directory"
expect 5 "$VPROF" import --from ctf nothing
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# stitch: requests that cross hosts whose clocks are hours apart and drift.  The parts of a request are known to the nanosecond, so
# the shares are; wrong ids are planted and counted; of three calls at a time the slowest is named; three hosts in a row.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >make.py <<'END'
import random
from fractions import Fraction
rng = random.Random(38)
AHEAD, DRIFT = 5_000_000_000_000, Fraction(40, 1_000_000)
def back(ns):                                    # the other host's clock
    return int(ns + AHEAD + ns * DRIFT)

class Host:
    def __init__(self, name):
        self.lines, self.name = ["vprof-tuples 1", "host " + name], name
    def interval(self, sid, name, tid, a, b, trace, span, parent):
        self.lines.append("interval %d %s %d %d %d %d" % (sid, name, tid, a, tid, b))
        self.lines.append("ids %d %032x %s %s" % (sid, trace, "%016x" % span if span else "-", "%016x" % parent if parent else "-"))
    def segment(self, tid, sid, a, b, state):
        if a < b:
            self.lines.append("segment %d %s %d %d %s" % (tid, sid, a, b, state))
    def call(self, tid, sid, f, a, b):
        if a < b:
            self.lines.append("invocation %d %s %s %d %d" % (tid, sid, f, a, b))
    def add(self, line):
        self.lines.append(line)
    def write(self):
        open(self.name + ".tuples", "w").write("\n".join(self.lines) + "\n")

def variance(a, b):                              # as covariance of a with b, exact
    n = len(a)
    return Fraction(sum(x * y for x, y in zip(a, b)), n) - Fraction(sum(a), n) * Fraction(sum(b), n)

# --- two hosts: front calls back, which looks up and rebuilds; every 50th request has another one's id
f, b = Host("front"), Host("back")
parts = {"lookup": [], "rebuild": [], "total": []}
WRONG = [i for i in range(600) if i % 50 == 49]
at = 1_000_000
for i in range(600):
    local, way, look = 7_000 + rng.randrange(500), 10_000 + rng.randrange(3_000), 70_000 + rng.randrange(9_000)
    slow = rng.choice([0] * 9 + [1_500_000 + rng.randrange(2_000_000)])
    sent, begin = at + local, at + local + way
    end = begin + look + slow
    got = end + 8_000 + rng.randrange(3_000)
    done = got + 1_000
    span, named = 1000 + i, 1000 + (i if i not in WRONG else i - 5)
    f.interval(i + 1, "request", 1, at, done, i + 1, 0, 0)
    f.segment(1, i + 1, at, sent + 2_000, "running")
    f.segment(1, i + 1, sent + 2_000, got, "io")
    f.segment(1, i + 1, got, done, "running")
    f.call(1, i + 1, "call_back", sent - 500, got + 500)
    f.add("remote-call 1 %016x %d" % (span, sent))
    f.add("wakeup 1 99 %d" % (got - 100 if i % 7 else sent + 3_000))   # when is an estimate, and may be wrong
    B = back
    b.interval(i + 1, "serve", 5, B(begin), B(end), i + 1 if i not in WRONG else named - 999, 0, named)
    b.segment(5, i + 1, B(begin), B(begin + look), "running")
    b.segment(5, i + 1, B(begin + look), B(end), "sleep")
    b.call(5, i + 1, "lookup", B(begin), B(begin + look))
    b.call(5, i + 1, "rebuild", B(begin + look), B(end))
    right = i not in WRONG
    parts["lookup"].append(B(begin + look) - B(begin) if right else 0)
    parts["rebuild"].append(B(end) - B(begin + look) if right else 0)
    parts["total"].append(done - at)
    at = done + 50_000 + rng.randrange(40_000)
f.add("thread 99 peer back:80")
f.write(); b.write()
T = parts["total"]
open("expected", "w").write("%.9f %.9f\n" % (variance(parts["rebuild"], T) / variance(T, T), variance(parts["lookup"], T) / variance(T, T)))

# --- fan-out: three calls at once, answers waited for by one poll() each; the slowest differs, "c" mostly
hosts = [Host(n) for n in ("top", "a", "b", "c")]
top, others = hosts[0], hosts[1:]
shift = [-3_000_000_000, 77_000_000_000, 500]
at = 4_000_000_000
fan = {"a": [], "b": [], "c": [], "total": []}
for i in range(400):
    starts = [at + 1_000 + k * 500 for k in range(3)]
    takes = [rng.randrange(100_000, 120_000), rng.randrange(100_000, 130_000), rng.randrange(50_000, 60_000) + rng.choice([0, 0, 0, 2_000_000])]
    ends = [starts[k] + 9_000 + takes[k] for k in range(3)]
    top.interval(i + 1, "page", 1, at, max(ends) + 12_000, i + 1, 0, 0)
    now = at + 3_000
    top.segment(1, i + 1, at, now, "running")
    for k in range(3):
        top.add("remote-call 1 %016x %d" % (7000 + 10 * i + k, starts[k]))
        h, s = others[k], shift[k]
        h.interval(i + 1, "serve", 5, starts[k] + 9_000 + s, ends[k] + s, i + 1, 0, 7000 + 10 * i + k)
        h.segment(5, i + 1, starts[k] + 9_000 + s, ends[k] + s, "running")
        h.call(5, i + 1, "work", starts[k] + 9_000 + s, ends[k] + s)
    spent = [0, 0, 0]
    for end in sorted(ends):
        if end + 9_000 > now:                    # by definition: the last to end before the wait did, for as long as both lasted
            last = max((k for k in range(3) if ends[k] <= end), key=lambda k: ends[k])
            spent[last] += max(0, ends[last] - max(now, starts[last] + 9_000))
            top.segment(1, i + 1, now, end + 9_000, "io")
            top.segment(1, i + 1, end + 9_000, end + 9_100, "running")
            now = end + 9_100
    top.segment(1, i + 1, now, max(ends) + 12_000, "running")
    for k in range(3):
        fan["abc"[k]].append(spent[k])
    fan["total"].append(max(ends) + 12_000 - at)
    at = max(ends) + 40_000
open("fan", "w").write(" ".join("%.9f" % (variance(fan[k], fan["total"]) / variance(fan["total"], fan["total"])) for k in "abc"))
for h in hosts:
    h.write()

# --- three in a row; the parent is the caller's own span; the second hands its request to another thread
one, two, three = Host("one"), Host("two"), Host("three")
at, q, deep, total = 1_000_000, [], [], []
for i in range(200):
    queue, work = rng.randrange(5_000, 300_000), rng.choice([20_000, 900_000])
    s1, s2 = 10 * i + 1, 10 * i + 2
    done = at + 10_000 + queue + 5_000 + 5_000 + work + 10_000 + 10_000
    one.interval(i + 1, "ask", 1, at, done, 0xabc0000000000000 + i, s1, 0)
    one.segment(1, i + 1, at, at + 1_000, "running"); one.segment(1, i + 1, at + 1_000, done - 1_000, "io"); one.segment(1, i + 1, done - 1_000, done, "running")
    z = 60_000_000_000
    t = at + 5_000 + z
    two.interval(i + 1, "relay", 5, t, done - 5_000 + z, 0xabc0000000000000 + i, s2, s1)
    two.lines[-2] = "interval %d relay 5 %d 6 %d" % (i + 1, t, done - 5_000 + z)
    two.segment(5, i + 1, t, t + 5_000, "running")
    two.add("creation 5 %d 6 %d" % (t + 5_000, t + 5_000 + queue))
    u = t + 5_000 + queue
    two.segment(6, i + 1, u, u + 2_000, "running"); two.segment(6, i + 1, u + 2_000, done - 6_000 + z, "io"); two.segment(6, i + 1, done - 6_000 + z, done - 5_000 + z, "running")
    two.call(6, i + 1, "relay_on", u, done - 5_500 + z)
    y = u - z + 5_000
    three.interval(i + 1, "leaf", 9, y, y + work, 0xabc0000000000000 + i, 0, s2)
    three.segment(9, i + 1, y, y + work, "running")
    three.call(9, i + 1, "grind", y, y + work)
    q.append(queue); deep.append(work); total.append(done - at)
    at = done + 30_000
one.write(); two.write(); three.write()
open("row", "w").write("%.9f %.9f\n" % (variance(deep, total) / variance(total, total), variance(q, total) / variance(total, total)))
END
python3 make.py
for h in front back top a b c one two three; do
	"$VPROF" import --from tuples $h.tuples -o "$h" >/dev/null 2>err || { [ $? = 3 ] || fail "import of $h: $(cat err)"; }
done

cat >share.py <<'END'
import json, sys
nodes = json.load(open(sys.argv[1]))["nodes"]
def share(function, host, kind=None, wait=None):
    return sum(n["share"] for n in nodes if n["function"] == function and n.get("host") == host and (kind is None or n["kind"] == kind)
               and (wait is None or n["wait"] == wait))
for n in nodes:                                  # at each place the shares of what is below sum to its own
    below = [m["share"] for m in nodes if m["parent"] == n["id"]]
    assert not below or n["kind"] == "wait" or abs(sum(below) - n["share"]) < 1e-9, n
assert nodes[0]["share"] == 1
END

expect 0 "$VPROF" stitch front back -o both
says "front calls back: 588 calls" "588 remote intervals found a caller" "12 remote intervals are not believed" "5000.00"
"$VPROF" show variance-tree both --format json >both.json 2>err && python3 - 2>err <<'END' && pass || fail "two hosts: $(tail -1 err)"
import sys; sys.argv = ["", "both.json"]
exec(open("share.py").read())
rebuild, lookup = map(float, open("expected").read().split())
# A sleep belongs to rebuild; one node each, below call_back@front > serve@back.
got = [n["share"] for n in nodes if n["function"] == "rebuild" and n["kind"] == "function"]
assert len(got) == 1 and abs(got[0] - rebuild) < 1e-6, (got, rebuild)
got = [n["share"] for n in nodes if n["function"] == "lookup" and n["kind"] == "function"]
assert len(got) == 1 and abs(got[0] - lookup) < 1e-6, (got, lookup)
serve = next(n for n in nodes if n["function"] == "serve" and n["kind"] == "function")
above = nodes[serve["parent"]]
assert serve["host"] == "back" and above["function"] == "call_back" and above["host"] == "front", (serve, above)
END
expect 0 "$VPROF" show factors both
says "rebuild@back"

expect 0 "$VPROF" stitch top a b c -o fan
says "1200 remote intervals found a caller"
"$VPROF" show variance-tree fan --format json >fan.json 2>err && python3 - 2>err <<'END' && pass || fail "fan-out: $(tail -1 err)"
import sys; sys.argv = ["", "fan.json"]
exec(open("share.py").read())
# Two that end within the way of an answer of each other may be taken for each other.
for host, wanted in zip("abc", map(float, open("fan").read().split())):
    assert abs(share("work", host, "function") - wanted) < 0.006, (host, share("work", host, "function"), wanted)
assert share("work", "c", "function") > 0.95
END
"$VPROF" show causes fan --format json 2>/dev/null | python3 -c '
import json, sys
c = json.load(sys.stdin)
assert c["causes"][0]["function"] == "work" and c["causes"][0]["host"] == "c" and c["sentence"]["host"] == "c", c["causes"][0]' 2>err && pass ||
	fail "the slowest of three is not named: $(tail -1 err)"

expect 0 "$VPROF" stitch three one two -o row
says "400 remote intervals found a caller"
"$VPROF" show variance-tree row --format json >row.json 2>err && python3 - 2>err <<'END' && pass || fail "three hosts: $(tail -1 err)"
import sys; sys.argv = ["", "row.json"]
exec(open("share.py").read())
deep, queue = map(float, open("row").read().split())
# The calls have no time here, so the clocks have wider bounds, and ends of parts may lie outside of the wait.
assert abs(share("grind", "three", "function") - deep) < 1e-3, (share("grind", "three", "function"), deep)
assert abs(sum(n["share"] for n in nodes if n["wait"] == "queue") - queue) < 1e-3
grind = next(n for n in nodes if n["function"] == "grind")
chain = []
while grind["parent"] is not None:
    grind = nodes[grind["parent"]]
    chain.append((grind["function"], grind.get("host")))
assert chain[:4] == [("leaf", "three"), ("relay_on", "two"), ("relay", "two"), (None, None)], chain
END

# In otlp the ids are those of the program; of a stitched run each host is a resource.
"$VPROF" export --format otlp --intervals all -o front.jsonl front 2>/dev/null
"$VPROF" export --format otlp --intervals all -o back.jsonl back 2>/dev/null
"$VPROF" export --format otlp --intervals all -o both.jsonl both 2>/dev/null
python3 - 2>err <<'END' && pass || fail "otlp: $(tail -1 err)"
import json
def spans(f):
    for line in open(f):
        for r in json.loads(line)["resourceSpans"]:
            a = {x["key"]: x["value"].get("stringValue") for x in r["resource"]["attributes"]}
            for s in r["scopeSpans"][0]["spans"]:
                yield a, s
front, back, both = ([*spans(f + ".jsonl")] for f in ("front", "back", "both"))
calls = {(s["traceId"], s["spanId"]) for a, s in front if s["kind"] == 3}
served = [s for a, s in back if s["name"] == "serve"]
assert len(calls) == 600 and len(served) == 600 and all(a["host.name"] == "front" for a, s in front)
assert sum((s["traceId"], s["parentSpanId"]) in calls for s in served) == 600 - 12 + 12     # a wrong id is as the program said it
by = {}
for a, s in both:
    by.setdefault(a["service.name"], set()).add(s["name"])
assert set(by) == {"front", "back"} and {"request", "call_back"} <= by["front"] and {"serve", "lookup", "rebuild"} <= by["back"], by
for spans_ in (front, back, both):
    ids = [(s["traceId"], s["spanId"]) for a, s in spans_]
    assert len(ids) == len(set(ids))
END

# all ids wrong; no ids; one run; unknown runs
sed 's/^\(ids [0-9]* [0-9a-f]* - \).*/\10000000000000001/' back.tuples >stray.tuples
"$VPROF" import --from tuples stray.tuples -o stray >/dev/null 2>&1
expect 3 "$VPROF" stitch front stray
says "man vprof-stitch"
sed '/^ids/d' back.tuples >bare.tuples
"$VPROF" import --from tuples bare.tuples -o bare >/dev/null 2>&1
expect 3 "$VPROF" stitch front bare
expect 2 "$VPROF" stitch front
expect 2 "$VPROF" stitch
expect 2 "$VPROF" stitch front front
says "included twice"
expect 2 "$VPROF" stitch front nothing

# ids survive export; damage is named
"$VPROF" export --format tuples front >again.tuples 2>/dev/null
[ "$(grep -c '^ids\|^remote-call\|^host front$' again.tuples)" = 1201 ] && pass || fail "ids are not exported"
sed 's/^ids 3 .*/ids 3 xyz - -/' back.tuples >damaged.tuples
expect 5 "$VPROF" import --from tuples damaged.tuples
says "32 hexadecimal digits"
finish

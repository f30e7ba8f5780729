#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# import of otlp: whatever way an exporter writes the same spans, the same intervals and functions come out; what is left out is said; and
# the critical path of random spans is that of the definition.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >variants.py <<'END'
import base64, json
start = 1544712660000000000
def span(trace, n, parent, name, a, b, **more):
    return {"traceId": trace, "spanId": "%016x" % n, "parentSpanId": "%016x" % parent if parent else "", "name": name,
            "startTimeUnixNano": str(start + a), "endTimeUnixNano": str(start + b)} | more
def document(spans, scopes="scopeSpans"):
    return {"resourceSpans": [{"resource": {}, scopes: [{"spans": spans}]}]}
traces = ["5b8efff798038103d269b633813fc6%02x" % i for i in range(3)]
spans = [[span(t, 0xeee19b7ec3c1b174, 0, "request", 0, 1000 + i), span(t, 0xeee19b7ec3c1b175, 0xeee19b7ec3c1b174, "work", 100, 600 + i)]
         for i, t in enumerate(traces)]
flat = [s for pair in spans for s in pair]
def write(name, *documents, indent=None, end="\n"):
    open(name + ".json", "w").write("".join(json.dumps(d, indent=indent) + end for d in documents))
def changed(change):
    return [change(dict(s)) for s in flat]
def upper(s):
    return s | {"traceId": s["traceId"].upper(), "parentSpanId": s["parentSpanId"].upper()}
def encoded(s):
    return s | {k: base64.b64encode(bytes.fromhex(s[k] or "00" * 8)).decode() for k in ("traceId", "spanId", "parentSpanId")}
def numbers(s):
    return s | {k: int(s[k]) for k in ("startTimeUnixNano", "endTimeUnixNano")}
def without(s, *keys):
    return {k: v for k, v in s.items() if k not in keys or v}
write("plain", document(flat))
write("lines", *map(document, spans))
write("pretty", *map(document, spans), indent=2)
write("adjacent", *map(document, spans), end="")
write("case", document([upper(s) if s["name"] == "request" else s for s in flat]))
write("base64", document(changed(encoded)))
write("numbers", document(changed(numbers)))
write("no_parent_key", document(changed(lambda s: without(s, "parentSpanId"))))
write("null_parent", document(changed(lambda s: s | {"parentSpanId": s["parentSpanId"] or None})))
write("zero_parent", document(changed(lambda s: s | {"parentSpanId": s["parentSpanId"] or "0" * 16})))
write("own_parent", document(changed(lambda s: s | {"parentSpanId": s["parentSpanId"] or s["spanId"]})))
write("old", document(flat, "instrumentationLibrarySpans"))
write("list", [document(pair) for pair in spans])
write("batches", {"batches": document(flat)["resourceSpans"]})
write("result", {"result": document(flat)})
write("trace", {"trace": document(flat)})
write("twice", document(flat), document(flat))
write("mixed", {}, {"resourceMetrics": []}, document(flat), {"resourceLogs": []}, {"resourceSpans": []}, {"resourceSpans": None})
write("open", document(flat + [span(traces[0], 7, 0, "request", 0, -start), without(span(traces[0], 8, 0, "request", 0, 5), "x") | {"endTimeUnixNano": None}]))
write("unknown_start", document(flat + [span(traces[0], 7, 0, "request", -start, 5)]))
write("circle", document(flat + [span(traces[0], 7, 8, "a", 0, 5), span(traces[0], 8, 9, "b", 0, 5), span(traces[0], 9, 8, "c", 0, 5)]))
write("outside", document(flat + [span(traces[0], 7, 0xeee19b7ec3c1b174, "late", 5000, 6000)]))
write("orphan", document(flat + [span(traces[0], 7, 0x77, "request", 0, 1003)]))
write("unnamed", document([without(span(traces[0], 1, 0, "", 0, 9), "name")]))
write("none", {"resourceMetrics": []})
write("no_list", {"resourceSpans": {}})
write("damaged_second", document(flat), {"resourceSpans": [{"scopeSpans": [{"spans": [flat[0], {"traceId": "1"}]}]}]}, indent=1)
open("bom.json", "w").write("\ufeff" + json.dumps(document(flat)))
END
python3 variants.py

table() { "$VPROF" show execution-table "$1" --format csv 2>/dev/null; }
expect 0 "$VPROF" import --from otlp plain.json -o plain
table plain >plain.csv
printf 'interval,function,nanoseconds\n1,request,1000\n1,work,500\n2,request,1001\n2,work,501\n3,request,1002\n3,work,502\n' | cmp -s - plain.csv && pass ||
	fail "plain: $(cat plain.csv)"
for form in lines pretty adjacent case base64 numbers no_parent_key null_parent zero_parent own_parent old list batches result trace bom \
	twice mixed open unknown_start circle outside; do
	expect 0 "$VPROF" import --from otlp $form.json -o $form
	cp .err $form.err
	table $form | cmp -s - plain.csv && pass || fail "$form: $(table $form)"
done
told() { grep -q -e "$2" "$1.err" && pass || fail "$1 does not say '$2': $(cat "$1.err")"; }
told twice "left out: 6; an exporter sent them again"
told mixed "which have no spans: 2"
told open "2 beginnings without an end"
told unknown_start "1 ends without a beginning"
told circle "their own ancestors: 2"
told outside "outside of their parent's time, and no part of it: 1"
expect 0 "$VPROF" import --from otlp orphan.json
says "found 7 spans, 2 functions, 4 intervals" "whose parent is in no file: 1"
expect 0 "$VPROF" import --from otlp unnamed.json
says "1 interval of '(no name)'"
expect 3 "$VPROF" import --from otlp none.json
says "no span with a beginning and an end" "resourceSpans"
expect 5 "$VPROF" import --from otlp no_list.json
says "no_list.json:1:" "are lists"
expect 5 "$VPROF" import --from otlp damaged_second.json
says "damaged_second.json:$(($(grep -n '^}' damaged_second.json | head -n 1 | cut -d: -f1) + 1)): span 2 of the document: a span needs"

# The path of random spans, by the definition: at each level the child that was the last to end, cut to its parent, and so on.
cat >oracle.py <<'END'
import csv, json, random, subprocess, sys
vprof = sys.argv[1]
rng = random.Random(int(sys.argv[2]))
spans = []
def make(parent, a, b, depth):
    s = {"n": len(spans) + 1, "parent": parent, "a": a, "b": b, "name": "f%d" % rng.randrange(6) if parent else "root", "links": []}
    spans.append(s)
    if depth < 4:
        for _ in range(rng.choice([0, 1, 2, 3, 6]) if depth else 6):
            x, y = sorted((rng.randrange(a - 3, b + 4), rng.randrange(a - 3, b + 4)))
            make(s["n"], x, y, depth + 1)
for i in range(6):
    make(0, 1000 + 200 * i, 1000 + 200 * i + rng.randrange(20, 150), 0)
for s in spans:
    if rng.random() < 0.2:
        s["links"] = [rng.randrange(1, len(spans) + 1) for _ in range(rng.randrange(1, 4))]
def text(s):
    return {"traceId": "aa", "spanId": "%x" % s["n"], "parentSpanId": "%x" % s["parent"] if s["parent"] else "", "name": s["name"],
            "startTimeUnixNano": str(s["a"]), "endTimeUnixNano": s["b"], "links": [{"traceId": "AA", "spanId": "%X" % n} for n in s["links"]]}
order = spans[:]
rng.shuffle(order)
json.dump({"resourceSpans": [{"scopeSpans": [{"spans": [text(s) for s in order]}]}]}, open("random.json", "w"))

def walk(s, a, b, out):
    out.append((s["name"], b - a))
    at, taken = b, None
    while at > a:
        best = None
        for c in order:
            if c["parent"] != s["n"]:
                continue
            end = min(c["b"], b)
            if a < end <= at and c["a"] < end and (not best or (end, -c["a"]) > (min(best["b"], b), -best["a"])):
                best = c
        for n in taken["links"] if taken else []:
            l = spans[n - 1]
            if n != taken["n"] and a < l["b"] <= at and l["a"] < l["b"] and (not best or l["b"] > best["b"]):
                best = l
        if not best:
            return
        x, y = max(best["a"], a), min(best["b"], b)
        walk(best, x, y, out)
        at, taken = x, best
want = []
for s in order:
    if not s["parent"]:
        out = []
        walk(s, s["a"], s["b"], out)
        want.append(sorted(out))
subprocess.run([vprof, "import", "--from", "otlp", "random.json", "-o", "random" + sys.argv[2]], check=True, capture_output=True)
tuples = subprocess.run([vprof, "export", "--format", "tuples", "random" + sys.argv[2]], check=True, capture_output=True, text=True).stdout
got = {}
for line in tuples.splitlines():
    f = line.split()
    if f and f[0] == "invocation":
        got.setdefault(int(f[2]), []).append((f[3].split("@")[0], int(f[5]) - int(f[4])))
got = [sorted(got[k]) for k in sorted(got)]
assert got == want, [(g, w) for g, w in zip(got, want) if g != w][:1]
assert sum(map(len, want)) > 20
END
for seed in 1 2 3 4 5 6 7 8; do
	python3 oracle.py "$VPROF" $seed 2>err && pass || fail "random spans $seed: $(tail -1 err)"
done
finish

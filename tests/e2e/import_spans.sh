#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# import of spans (chrome-trace, otlp and csv): the planted cause comes first, what is left out is counted, damage is named.
. "${srcdir:-.}/tests/e2e/lib.sh"

first()		# RUN FUNCTION LEAST MOST: the largest share is that function's, and how large it is
{
	"$VPROF" show factors "$1" --all --format json 2>/dev/null | python3 -c '
import json, sys
f = max((f for f in json.load(sys.stdin)["factors"] if f["kind"] == "function" or f["wait"]), key=lambda f: f["share"])
name = f["function"] or f["wait"]
assert name == sys.argv[1] and float(sys.argv[2]) <= f["share"] <= float(sys.argv[3]), (name, f["share"])' "$2" "$3" "$4" 2>err &&
		pass || fail "of $1 not '$2' is first: $(tail -1 err)"
}

python3 - <<'END'
import json, random
rng = random.Random(5)
events, lines, csv = [{"ph": "M", "name": "process_name", "pid": 1, "args": {}}], [], ["interval,part,nanoseconds"]
at = 0
for i in range(300):
    slow = rng.choice([0, 0, 0, 400])            # of rebuild, in one request of four
    parse, send = 100 + rng.randrange(20), 50 + rng.randrange(10)
    total = parse + slow + send + 10
    tid = 1 + i % 3
    events.append({"ph": "X", "name": "request", "pid": 1, "tid": tid, "ts": at, "dur": total})
    events.append({"ph": "X", "name": "parse", "pid": 1, "tid": tid, "ts": at, "dur": parse})
    if slow:
        events.append({"ph": "B", "name": "rebuild", "pid": 1, "tid": tid, "ts": at + parse})
        events.append({"ph": "E", "name": "rebuild", "pid": 1, "tid": tid, "ts": at + parse + slow})
    events.append({"ph": "X", "name": "send it", "pid": 1, "tid": tid, "ts": at + parse + slow, "dur": send})
    trace = "%032x" % (i + 1)
    def span(n, parent, name, a, b):
        return {"traceId": trace, "spanId": "%016x" % n, "parentSpanId": "%016x" % parent if parent else "", "name": name,
                "startTimeUnixNano": str(10**18 + (at + a) * 1000), "endTimeUnixNano": str(10**18 + (at + b) * 1000)}
    front = [span(1, 0, "request", 0, total), span(2, 1, "parse", 0, parse), span(3, 1, "call", parse, total - send)]
    back = [span(4, 3, "lookup", parse + 2, parse + 6)] + ([span(5, 3, "rebuild", parse + 6, parse + 6 + slow)] if slow else [])
    beside = [span(6, 1, "beside", 0, 5 + rng.randrange(40))]   # ends before parse does: no span waits for it
    lines.append(json.dumps({"resourceSpans": [
        {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": s}}]}, "scopeSpans": [{"spans": spans}]}
        for s, spans in (("front", front + beside), ("back", back))]}))
    csv += ["%d,parse,%d" % (i, parse), "%d,wait:lock,%d" % (i, slow), '%d,"send, it",%d' % (i, send)]
    at += total + 5
events.append({"ph": "E", "name": "nothing", "pid": 1, "tid": 1, "ts": at})
events.append({"ph": "B", "name": "open", "pid": 1, "tid": 1, "ts": at})
json.dump({"traceEvents": events}, open("chrome.json", "w"))
open("cut.json", "w").write(json.dumps(events)[:-1] + ",")
open("otlp.jsonl", "w").write("\n".join(lines) + "\n")
open("parts.csv", "w").write("\n".join(csv) + "\n")
END

expect 0 "$VPROF" import --from chrome-trace chrome.json --interval request -o chrome
says "300 intervals" "1 ends without a beginning" "1 beginnings without an end" "views that work: "
first chrome rebuild 0.95 1
expect 0 "$VPROF" show factors chrome --all
says "send it"
expect 0 "$VPROF" import --from chrome-trace cut.json -o cut
says "300 intervals of 'request'"
expect 0 "$VPROF" import --from chrome-trace chrome.json --start parse --end "send it" -o between
says "300 intervals of 'parse'"
first between rebuild 0.95 1
expect 3 "$VPROF" import --from chrome-trace chrome.json --interval nobody
says "is named 'nobody'"
expect 2 "$VPROF" import --from chrome-trace chrome.json --start parse
expect 2 "$VPROF" import --from tuples chrome.json --interval request

expect 0 "$VPROF" import --from otlp otlp.jsonl -o otlp
says "300 intervals" "views that work: "
first otlp back/rebuild 0.95 1
"$VPROF" show variance-tree otlp --format json 2>/dev/null | grep -q '"front/beside"' && fail "what nobody waited for is in the tree" || pass
expect 0 "$VPROF" import --from otlp otlp.jsonl --interval call -o calls
says "300 intervals of 'call'"
expect 3 "$VPROF" import --from otlp otlp.jsonl --interval nobody
sed '7s/"spanId"/"span"/' otlp.jsonl >damaged.jsonl
expect 5 "$VPROF" import --from otlp damaged.jsonl
says "damaged.jsonl:7:"
sed '9s/[}]$//' otlp.jsonl >damaged.jsonl
expect 5 "$VPROF" import --from otlp damaged.jsonl
says "damaged.jsonl:9: no JSON"

# A consumer links to its producer, of another trace: what the request waited for before the consumer began is the producer's.
python3 - <<'END'
import json, random
rng = random.Random(6)
out = open("links.jsonl", "w")
for i in range(200):
    made = rng.choice([1000, 1000, 90_000]); at = 10**18 + i * 1_000_000
    def span(trace, n, parent, name, a, b, link=None):
        s = {"traceId": "%032x" % trace, "spanId": "%016x" % n, "parentSpanId": "%016x" % parent if parent else "", "name": name,
             "startTimeUnixNano": str(at + a), "endTimeUnixNano": str(at + b)}
        return s | ({"links": [{"traceId": "%032x" % link[0], "spanId": "%016x" % link[1]}]} if link else {})
    spans = [span(2 * i + 1, 1, 0, "request", 0, made + 5_000), span(2 * i + 1, 2, 1, "consume", made + 1_000, made + 4_000, (2 * i + 2, 9)),
             span(2 * i + 2, 8, 0, "batch", 100, made + 900_000 - 95_000), span(2 * i + 2, 9, 8, "produce", 200, made)]
    out.write(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}) + "\n")
END
expect 0 "$VPROF" import --from otlp links.jsonl --interval request -o links
first links produce 0.99 1.01
# Our own export: waits are waits, and their wakers are known.
{ echo "vprof-tuples 1"; python3 - <<'END'
at = 1000
for i in range(120):
    held, sid = [500, 70_000][i % 3 == 0], 2 * i + 1
    print(f"interval {sid} request 1 {at} 1 {at + held + 2000}\nsegment 1 {sid} {at} {at + 1000} running\nsegment 1 {sid} {at + 1000} {at + 1000 + held} lock")
    print(f"segment 1 {sid} {at + 1000 + held} {at + held + 2000} running\nwakeup 1 2 {at + 1000 + held}\ninvocation 1 {sid} append {at} {at + held + 2000}")
    print(f"interval {sid + 1} request 2 {at} 2 {at + held + 1500}\nsegment 2 {sid + 1} {at} {at + held + 1500} running\ninvocation 2 {sid + 1} flush {at + 1} {at + held + 1400}")
    at += held + 3000
END
} >own.tuples
expect 0 "$VPROF" import --from tuples own.tuples -o own
expect 0 "$VPROF" export --format otlp --intervals all -o own.jsonl own
expect 0 "$VPROF" import --from otlp own.jsonl -o again
says "240 intervals" "found 120 waits and 120 wake-ups"
for run in own again; do
	"$VPROF" show variance-tree $run --format json 2>/dev/null | python3 -c '
import json, sys
for n in json.load(sys.stdin)["nodes"]:
    if n["kind"] in ("wait", "blame"):
        print(n["kind"], n["function"], n["wait"], "%.6f" % n["share"])' | sort >$run.waits
done
[ -s own.waits ] && cmp -s own.waits again.waits && pass || fail "the waits differ: $(diff own.waits again.waits)"

expect 0 "$VPROF" import --from csv parts.csv --interval query -o csv
says "300 intervals of 'query'" "views that work: "
first csv lock 0.95 1
expect 0 "$VPROF" show factors csv --all
says "send, it"
sed '4s/[0-9]*$/-5/' parts.csv >damaged.csv
expect 5 "$VPROF" import --from csv damaged.csv
says "damaged.csv:4: nanoseconds"
sed 1s/part/what/ parts.csv >damaged.csv
expect 5 "$VPROF" import --from csv damaged.csv
says "damaged.csv:1:"
sed 3s/lock/luck/ parts.csv >damaged.csv
expect 5 "$VPROF" import --from csv damaged.csv
says "damaged.csv:3: no class of waits has that name"
# As spreadsheets write it, and our own export: the same tree of shares comes out.
shares() { "$VPROF" show variance-tree "$1" --format json 2>/dev/null | python3 -c '
import json, sys
for n in json.load(sys.stdin)["nodes"]:
    print(n["kind"], n["function"], n["wait"], "%.9f" % n["share"], n["mean_ns"])'; }
shares csv >csv.shares
sed 's/,/;/g; s/"send; it"/"send, it"/' parts.csv >semicolons.csv
sed 's/,/\t/g; s/"send\t it"/"send, it"/' parts.csv >tabs.csv
{ printf '\357\273\277'; sed 's/$/\r/' parts.csv; } >order_mark.csv
for form in semicolons tabs order_mark; do
	expect 0 "$VPROF" import --from csv $form.csv --interval query -o $form
	shares $form | cmp -s - csv.shares && pass || fail "$form: $(shares $form)"
done
{ echo "vprof-tuples 1"; python3 - <<'END'
at = 1000
for i in range(120):
    held = [500, 70_000][i % 3 == 0]
    print(f"interval {i + 1} request 1 {at} 1 {at + held + 3000}\nsegment 1 {i + 1} {at} {at + 1000} running\nsegment 1 {i + 1} {at + 1000} {at + 1000 + held} lock")
    print(f"segment 1 {i + 1} {at + 1000 + held} {at + 2000 + held} running\nsegment 1 {i + 1} {at + held + 2000} {at + held + 3000} io\ninvocation 1 {i + 1} append {at + 500} {at + held + 2000}")
    at += held + 4000
END
} >waits.tuples
expect 0 "$VPROF" import --from tuples waits.tuples -o waits
expect 0 "$VPROF" export --format csv --intervals all -o waits.csv waits
grep -q ",wait:lock in append,70000" waits.csv && grep -q ",body,500" waits.csv && pass || fail "waits.csv: $(head -n 8 waits.csv)"
expect 0 "$VPROF" import --from csv waits.csv --interval request -o waits_again
for run in waits waits_again; do
	shares $run | grep -v "^body" | sort >$run.shares
done
[ -s waits.shares ] && cmp -s waits.shares waits_again.shares && pass || fail "own csv: $(diff waits.shares waits_again.shares)"
printf 'interval,part,nanoseconds\n1,wait:wakeup in f,7\n' >woken.csv
expect 0 "$VPROF" import --from csv woken.csv
says "'wait:wakeup' are stored as 'wait:runnable': 1"
for part in "wait:luck in f" "wait:" "wait: in f"; do
	printf 'interval,part,nanoseconds\n1,%s,7\n' "$part" >damaged.csv
	expect 5 "$VPROF" import --from csv damaged.csv
	says "damaged.csv:2: no class of waits"
done
{ echo; cat parts.csv; } >blank.csv
expect 0 "$VPROF" import --from csv blank.csv parts.csv
says "found $((2 * $(tail -n +2 parts.csv | cut -d, -f1 | sort -u | wc -l))) intervals"
: >nothing.csv
expect 5 "$VPROF" import --from csv nothing.csv
says "nothing.csv:1: the file is empty"
printf '{"resourceSpans": [\n\n{"a": oops}]}\n' >damaged.json
expect 5 "$VPROF" import --from otlp damaged.json
says "damaged.json:3:"
head -n 1 parts.csv >empty.csv
expect 3 "$VPROF" import --from csv empty.csv
printf '{"traceEvents":[{"ph":"X","name":"a","ts":1e300,"dur":1}]}' >huge.json
expect 5 "$VPROF" import --from chrome-trace huge.json
says "event 1"
printf '[1,\n2' >broken.json
expect 5 "$VPROF" import --from chrome-trace broken.json
says "broken.json:2:"
printf '{"traceEvents":[]}' >none.json
expect 3 "$VPROF" import --from chrome-trace none.json

finish

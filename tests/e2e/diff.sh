#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof diff: sides of runs, verdicts, a gate's three outcomes and exit statuses, its formats, names that are hostile.
. "${srcdir:-.}/tests/e2e/lib.sh"

# run NAME SCALE SEED [FUNCTION]: 400 intervals, f 1000 to 2000 ns times SCALE, a lock wait in it of 500 to 1500, g 400 to 900.
run()
{
	awk -v scale="$2" -v seed="$3" -v f="${4:-f}" 'BEGIN {
		print "vprof-tuples 1\ncall handle " f "\ncall handle g"
		for (i = 1; i <= 400; i++) {
			x = (seed * 7919 + i * 104729) % 1000
			a = int(scale * (1000 + x)); w = 500 + (seed * 31 + i * 7907) % 1000; g = 400 + (i * 6007 + seed) % 500
			at = i * 100000; e = at + a + w + g
			print "interval " i " r 1 " at " 1 " e
			print "segment 1 " i " " at " " at + a " running\nsegment 1 " i " " at + a " " at + a + w " lock"
			print "segment 1 " i " " at + a + w " " e " running"
			print "invocation 1 " i " handle " at " " e
			print "invocation 1 " i " " f " " at " " at + a + w "\ninvocation 1 " i " g " at + a + w " " e
		}
	}' >"$1.tuples"
	"$VPROF" import --from tuples "$1.tuples" -o "$1" >.out 2>&1 && pass || fail "import of $1: $(cat .out)"
}
for i in 1 2 3 4 5; do
	run base.$i 1 $i
	run same.$i 1 $((i + 10))
	run slow.$i 3 $((i + 20))
done

json()		# EXPRESSION: of the document d
{
	python3 -c "import json,sys,math
d = json.load(open('.json'))
m = {x['name']: x for x in d['metrics']}
c = d['causes']
sys.exit(0 if ($1) else 1)" && pass || fail "not so: $1"
}

# The same program twice, in turns: nothing is worse or better.
expect 0 "$VPROF" diff base same
says 'no difference is shown' 'in turns, compared pair by pair' '5 runs, 2,000 intervals'
"$VPROF" diff base same --format json >.json 2>.err || fail "$(cat .err)"
json 'd["schema"] == "vprof.diff/1" and d["gate"] is None and d["paired"]'
json 'all(x["verdict"] in ("same", "unknown") for x in d["metrics"])'
json 'len(d["base"]["runs"]) == 5 and d["base"]["intervals"] == 2000 and d["head"]["names"] == ["same.%d" % i for i in range(1, 6)]'
expect 0 "$VPROF" diff base same --gate 'p99>+10%,mean>+5%,var>+50%'
says 'gate: passed'

# Three times as long in f: found, its running time first, and the changes add up.
expect 1 "$VPROF" diff base slow --gate 'p99>+10%,mean>+5%'
says 'head is worse' 'f (body)' 'gate: failed' 'p99>+10% is violated'
"$VPROF" diff base slow --gate 'p99>+10%,p50<-50%' --format json >.json 2>.err
[ $? = 1 ] && pass || fail 'the gate did not fail'
json 'm["mean"]["verdict"] == "worse" and m["mean"]["ci95"][0] > 1 and m["mean"]["ratio"] == m["mean"]["head_ns"] / m["mean"]["base_ns"]'
json 'c[0]["function"] == "f" and c[0]["kind"] == "body" and c[0]["delta_ns2"] > 0 and c[0]["ci95"][0] > 0'
json 'abs(sum(x["delta_ns2"] for x in c) - (m["var"]["head_ns"] - m["var"]["base_ns"])) < 1e-9 * m["var"]["head_ns"]'
json 'abs(sum(x["base_ns2"] for x in c) - m["var"]["base_ns"]) < 1e-9 * m["var"]["base_ns"]'
json '[t["result"] for t in d["gate"]["terms"]] == ["fail", "pass"] and d["gate"]["result"] == "fail" and d["gate"]["runs_needed"] is None'
# One run has what show summary has.
"$VPROF" diff base.1 slow.1 --format json >.json 2>.err
"$VPROF" show summary base.1 --format json >.summary 2>.err
json 'd["within_these_runs_only"] and all(x["verdict"] == "unknown" for x in d["metrics"])'
json 'all(abs(m[a]["base_ns"] - json.load(open(".summary"))["interval"][b]) <= 1e-12 * m[a]["base_ns"] for a, b in
	(("mean", "mean_ns"), ("p50", "p50_ns"), ("p90", "p90_ns"), ("p99", "p99_ns"), ("sd", "stddev_ns"), ("var", "variance_ns2")))'
# A share in points, a time, and a fall; base and head the other way round.
expect 1 "$VPROF" diff base slow --gate 'share:f>+5pt'
expect 1 "$VPROF" diff base slow --gate 'time:f>+50%'
expect 0 "$VPROF" diff base slow --gate 'time:g>+5%,share:f<-5pt'
expect 0 "$VPROF" diff slow base --gate 'p99>+0%'
expect 1 "$VPROF" diff slow base --gate 'p99<-10%'
says 'head is better'

# Too few runs, and runs that cannot decide.
expect 3 "$VPROF" diff base.1,base.2 slow --gate 'p99>+10%'
says 'within these runs only' 'a verdict needs 3 runs a side' 'few'
expect 0 "$VPROF" export --format digest base.3 -o sums.vpd	# of its p99.9 nothing is known
expect 0 "$VPROF" import --from digest sums.vpd -o sums
expect 3 "$VPROF" diff base.1,base.2,sums slow --gate 'p99.9>+10%'
says 'p99.9>+10% is open: not all runs have that figure'
grep -q 'too near' .out .err && fail 'a figure that is not known is too near to a limit' || pass
expect 1 "$VPROF" diff base.1,base.2 slow --gate 'p99>+10%' --fail-inconclusive
expect 125 "$VPROF" diff base.1,base.2 slow --gate 'p99>+10%' --inconclusive-exit 125
"$VPROF" diff base.1 slow.1 --gate 'p99>+10%' --format json >.json 2>.err
json 'd["gate"]["result"] == "inconclusive" and d["gate"]["runs_needed"] == 3'
m99=$("$VPROF" diff base slow --format json 2>/dev/null | python3 -c "import json,sys
m = [x for x in json.load(sys.stdin)['metrics'] if x['name'] == 'sd'][0]; print('%.3f' % (100 * (m['ratio'] - 1)))")
expect 3 "$VPROF" diff base slow --gate "sd>+$m99%"
says 'is open'
expect 1 "$VPROF" diff base slow --gate "sd>+$m99%,p99>+10%"	# one is violated
# Lists of numbers and names.
first=$("$VPROF" show runs --format csv | awk -F, '$2 == "base.1" { print $1 }')
expect 0 "$VPROF" diff "$first,base.2,base.3" same
says '3 runs, 1,200 intervals'
# One side before the other.
run late.1 1 41; run late.2 1 42; run late.3 1 43
expect 0 "$VPROF" diff base late
says 'all runs of one side came before those of the other'

# Usage: nothing on stdout, the term named.
for gate in 'p99>10%' 'p98>+10%' 'nosuch' 'p99>+10%,,' 'share:f>+5%' 'share:nosuch>+5pt' 'p99>+10%;mean>+5%' ''; do
	expect 2 "$VPROF" diff base slow --gate "$gate"
	[ ! -s .out ] && grep -qF -e "${gate%%,*}" .err && pass || fail "'$gate': $(cat .out .err)"
done
expect 2 "$VPROF" diff base
expect 2 "$VPROF" diff base nosuch
says "there is no run 'nosuch'"
expect 2 "$VPROF" diff base slow --format yaml
expect 2 "$VPROF" diff base slow --inconclusive-exit 300
expect 2 "$VPROF" diff base slow --inconclusive-exit 125 --fail-inconclusive
expect 2 "$VPROF" diff base slow -- true
expect 2 "$VPROF" diff --interleave 2 -- true
expect 3 "$VPROF" diff base slow --interval nosuch

# A function of another name at the same place, names that would break lines, elements and tables.
hostile='<b>|&"x":,%0A`rm`'
for i in 1 2 3; do
	run evil.$i 3 $((i + 30)) "$hostile"
done
expect 1 "$VPROF" diff base evil --gate 'p99>+10%,mean<-1%' --format junit
python3 - <<'P' && pass || fail "junit: $(cat .out)"
import xml.etree.ElementTree as E
t = E.parse(".out").getroot()
c = t.findall(".//testcase")
assert [x.get("name") for x in c] == ["p99>+10%", "mean<-1%"] and t.get("failures") == "1"
assert c[0].find("failure") is not None and len(c[1]) == 0
P
expect 3 "$VPROF" diff base.1 evil --gate 'p99>+10%' --format junit
python3 -c 'import xml.etree.ElementTree as E
assert E.parse(".out").getroot().find(".//testcase/skipped") is not None' && pass || fail 'no test is skipped'
# There is no ratio to 0.
for k in 1 2 3; do
	printf 'vprof-tuples 1\ninterval 1 q 1 10 1 110\ninterval 2 q 1 210 1 310\n' >flat.tuples
	printf 'vprof-tuples 1\ninterval 1 q 1 10 1 110\ninterval 2 q 1 210 1 210\n' >uneven.tuples
	printf 'vprof-tuples 1\ninterval 1 q 1 10 1 10\ninterval 2 q 1 210 1 210\n' >nothing.tuples
	for side in flat uneven nothing; do
		"$VPROF" import --from tuples $side.tuples -o $side.$k >/dev/null 2>&1 || fail "import of $side"
	done
done
expect 0 "$VPROF" diff nothing flat
says "head is worse: p99 100 ns after 0 ns."
expect 1 "$VPROF" diff nothing flat --gate 'mean>+5%'
expect 0 "$VPROF" diff flat.1 uneven.1
says "sd 50 ns after 0 ns"
export GITHUB_STEP_SUMMARY="$work/.summary.md"
: >"$GITHUB_STEP_SUMMARY"
expect 1 "$VPROF" diff base evil --gate 'p99>+10%,mean<-1%' --format github
[ "$(grep -c '^::' .out)" = 1 ] && grep -q '^::error title=vprof gate::p99>+10%25 is violated: ' .out && pass || fail "github: $(cat .out)"
grep '^vprof: ' .out | grep -q '%25' && fail "the log's own line is escaped: $(cat .out)" || pass
grep -q '^vprof: .*[0-9] % ' .out && pass || fail "github: $(head -n 1 .out)"
grep -q '^| p99 |' "$GITHUB_STEP_SUMMARY" && grep -qF '&lt;b&gt;\|' "$GITHUB_STEP_SUMMARY" && ! grep -qF '<b>' "$GITHUB_STEP_SUMMARY" &&
	pass || fail "summary: $(cat "$GITHUB_STEP_SUMMARY")"
expect 0 "$VPROF" diff base same --gate 'p99>+10%' --format github
grep -q '^::' .out && fail 'annotations of a gate that passed' || pass
expect 3 "$VPROF" diff base.1 same --gate 'p99>+10%' --format github
grep -q '^::warning' .out && ! grep -q '^::error' .out && pass || fail "github, open: $(cat .out)"
unset GITHUB_STEP_SUMMARY

# Two commands in turns.
cat >loop.c <<'C'
#include <vprof.h>
#include <stdlib.h>
static volatile unsigned sink;
static void work(unsigned n) { while (n--) sink += n; }
int main(int argc, char **argv)
{
	for (unsigned i = 0; i < 200; i++) {
		VPROF_BEGIN("request", i);
		work((1000 + 500 * (i % 7)) * (unsigned)atoi(argv[argc - 1]));
		VPROF_END("request", i);
	}
	return 0;
}
C
mkdir project && cd project || exit 99
mv ../loop.c .
expect 0 "$VPROF" build -- cc -O1 -o loop loop.c
# Both commands print nothing; the second takes 20 times as long.
expect 1 "$VPROF" diff --interleave 3 --gate 'p50>+100%' -- ./loop 1 -- ./loop 20
says 'pair 3 of 3' 'gate: failed' 'compared pair by pair'
[ "$("$VPROF" show runs --format csv | cut -d, -f2 | grep diff1 | tr '\n' ' ')" = \
	'diff1.base.1 diff1.head.1 diff1.head.2 diff1.base.2 diff1.base.3 diff1.head.3 ' ] && pass ||
	fail "not ABBA: $("$VPROF" show runs --format csv)"
expect 7 "$VPROF" diff --interleave 2 -o x -- ./loop 1 -- sh -c 'exit 7'
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# merge: a run cut into parts, in any order and any grouping, is the run again, to the last bit.
. "${srcdir:-.}/tests/e2e/lib.sh"

# 600 intervals of one thread, f and a wait for a lock in it, some with work; each third in another file.
awk 'BEGIN {
	for (p = 0; p <= 3; p++) print "vprof-tuples 1" > ("part" p ".tuples")
	for (i = 1; i <= 600; i++) {
		f = 1000 + i * 7919 % 977; w = i % 7 ? 0 : 3000 + i * 31 % 500; g = 400 + i * 104729 % 1013
		at = i * 100000; e = at + f + w + g
		text = "interval " i " req 1 " at " 1 " e "\nsegment 1 " i " " at " " at + f " running\n"
		if (w) text = text "segment 1 " i " " at + f " " at + f + w " lock\n"
		text = text "segment 1 " i " " at + f + w " " e " running\ninvocation 1 " i " handle " at " " e "\n" \
			"invocation 1 " i " f " at " " at + f + w "\ninvocation 1 " i " g " at + f + w " " e "\n" \
			"work " i " rows " i % 50
		print text > "part0.tuples"
		print text > ("part" 1 + i % 3 ".tuples")
	}
	for (p = 0; p <= 3; p++) print "call handle f\ncall handle g" > ("part" p ".tuples")
}'
expect 0 "$VPROF" import --from tuples part0.tuples -o whole
for p in 1 2 3; do
	expect 0 "$VPROF" import --from tuples part$p.tuples -o part$p
done
expect 0 "$VPROF" merge part1 part2 part3 -o forward
says "600 intervals of 'req'"
expect 0 "$VPROF" merge part3 part1 part2 -o turned
expect 0 "$VPROF" merge part3 part2 -o two
says "400 intervals of 'req'"
expect 0 "$VPROF" merge two part1 -o grouped

same()		# VIEW RUN RUN [OPTION...]
{
	view=$1 one=$2 other=$3
	shift 3
	for run in $one $other; do
		"$VPROF" show $view $run "$@" --format json 2>/dev/null | grep -v '"run' >$run.json
	done
	[ "$(wc -l <$one.json)" -gt 20 ] && cmp -s $one.json $other.json && pass ||
		{ fail "$view of $one and $other differ"; diff $one.json $other.json | head -5; }
}
for run in forward turned grouped; do
	for view in summary factors variance-tree tail slow-vs-fast histogram; do
		same $view whole $run
	done
	same tail whole $run --quantile 0.8
	same execution-table whole $run
done
same intervals forward turned --all
same intervals forward grouped --all

# The origin of each interval: SID i is of part 1 + i % 3, which is run 2 + i % 3; an import has no known recorder.
printf 'machine 0a\nboot 0b\nhost db-1\n' >vprof.data/runs/003/recorded-by
expect 0 "$VPROF" merge part2 part3 -o pair
expect 0 "$VPROF" merge pair part1 -o placed
expect 0 "$VPROF" show intervals placed --format csv
awk -F, 'NR > 1 && ($12 != 2 + $1 % 3 || $13 != ($1 % 3 == 1 ? "db-1" : "")) { exit 1 } END { if (NR != 601) exit 1 }' .out &&
	pass || fail "origins: $(head -n 3 .out)"
"$VPROF" show intervals placed --slowest 1 --format json >placed.json
python3 - <<'P' && pass || fail "origin in JSON: $(cat placed.json)"
import json
row = json.load(open("placed.json"))["intervals"][0]
assert row["origin_run"] == 2 + row["sid"] % 3 and row["host"] == ("db-1" if row["sid"] % 3 == 1 else None), row
P
expect 0 "$VPROF" sql --format csv "SELECT o.run, o.host, count(*) FROM origin o JOIN finding f ON f.id = o.finding JOIN run r
	ON r.number = f.run AND r.name = 'placed' JOIN interval i ON i.finding = f.id AND i.origin = o.position GROUP BY 1"
says '2,,200' '3,db-1,200' '4,,200'

# --origin: the part of a host or of a run, as if it had been alone.
origin()	# RUN ORIGIN SAME VIEW [OPTION...]
{
	merged=$1 from=$2 alone=$3 view=$4
	shift 4
	"$VPROF" show $view $merged --origin $from "$@" --format json 2>/dev/null | grep -v '"run\|"origin\|"host' | sed 's/,$//' >origin.json
	"$VPROF" show $view $alone "$@" --format json 2>/dev/null | grep -v '"run\|"origin\|"host' | sed 's/,$//' >alone.json
	[ "$(wc -l <origin.json)" -gt 20 ] && cmp -s origin.json alone.json && pass ||
		{ fail "$view of $merged from $from is not that of $alone"; diff origin.json alone.json | head -5; }
}
for view in summary factors variance-tree causes tail histogram execution-table warnings; do
	origin placed db-1 part2 $view
	origin placed 2 part1 $view
done
origin placed 0a part2 tail --quantile 0.8
origin placed 2 part1 intervals --all		# the first part keeps the numbers of its threads
origin placed 2 part1 critical-path --interval 3
expect 0 "$VPROF" show factors placed --origin db-1
says 'from db-1' '200 intervals'
for view in runs coverage causal; do
	expect 2 "$VPROF" show $view placed --origin db-1
	says "--origin is for views of a run's intervals"
done
expect 0 "$VPROF" show summary placed
says 'from      3 runs of 2 hosts'
expect 2 "$VPROF" show factors placed --origin db-2
says "is from 'db-2'" 'it has run 2, run 3 (db-1), run 4'
expect 2 "$VPROF" show factors placed --origin db-1 --interval nothing
says "no interval 'nothing'"
expect 2 "$VPROF" show critical-path placed --origin db-1 --interval 5
says 'has no completed interval 5'
expect 0 "$VPROF" merge --window all placed -o sums
python3 - <<'P' && pass || fail "sums from one host"
import json, subprocess, os
nodes = [json.loads(subprocess.run([os.environ["VPROF"], "show", "variance-tree", *w, "--format", "json"], capture_output=True).stdout)["nodes"]
         for w in (["sums", "--origin", "db-1"], ["part2"])]
for tree in nodes:
    for n in tree: n.pop("ci95")
assert nodes[0] == nodes[1] and len(nodes[0]) > 3
P
expect 2 "$VPROF" show factors sums --origin db-2
says "is from 'db-2'"
rm vprof.data/runs/003/recorded-by

# The same SIDs in both: all intervals count, those of the second under other numbers.
cp part1.tuples again.tuples
expect 0 "$VPROF" import --from tuples again.tuples -o again
expect 0 "$VPROF" merge part1 again -o double
says "400 intervals of 'req'"
again=$("$VPROF" show runs --format json | python3 -c 'import json, sys; print([r["run"] for r in json.load(sys.stdin)["runs"] if r["name"] == "again"][0])')
"$VPROF" show intervals double --origin "$again" --format csv >again.csv
"$VPROF" show intervals double --format csv | grep ",$again,\$" >again.expected
[ "$(wc -l <again.expected)" = 200 ] && sed 1d again.csv | cmp -s - again.expected && pass || fail "--origin changes SIDs"
"$VPROF" show intervals double --format csv | awk -F, 'NR > 1 && seen[$1]++ { exit 1 }' && pass || fail 'a SID is there twice'

# Parts may go; the merged run stays what it is.
rm -rf vprof.data/runs/002 vprof.data/runs/003
expect 0 "$VPROF" analyze forward
same factors whole forward
expect 5 "$VPROF" merge part1 part3
says 'has no trace any more'

# Merges that are refused.
expect 2 "$VPROF" merge forward
says 'two or more'
expect 2 "$VPROF" merge forward part3
says 'run 4 would be included twice'
expect 2 "$VPROF" merge forward nine
says "no run 'nine'"
expect 2 "$VPROF" merge whole again -o forward
says "already called 'forward'"
expect 0 "$VPROF" show runs
says 'forward'
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make bench-iterate: runs that each policy of vprof iterate needs on a program of 5,113 functions,
# 15 calls deep, with three culprits (generate_program.awk), and what the last plan costs.
# Prints a table, writes results/iterate.json; exit 1 where a target is missed.
set -u
top=$(cd "${srcdir:-.}" && pwd)
. "$top/tests/exam/table.sh"
vprof=$PWD/vprof
results=$PWD/results
rounds=${ROUNDS:-5}
work=$(mktemp -d "${TMPDIR:-/tmp}/vprof-bench-iterate.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
mkdir -p "$results" "$work/plain"
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS MAKEFLAGS MAKELEVEL MFLAGS

query()
{
	"$vprof" sql --format csv "$1" | tail -1
}

awk -v dir="$work/plain" -f "$top/tests/bench/generate_program.awk" || exit 99
cp -r "$work/plain" "$work/budget"
cp -r "$work/plain" "$work/paper"
make -s -j2 -C "$work/plain" || exit 99

for policy in budget paper; do
	cd "$work/$policy" || exit 99
	start=$(date +%s)
	"$vprof" iterate --policy $policy --max-runs 40 -- ./program 2>log >answer || { cat log; exit 99; }
	runs=$(query "SELECT count(*) FROM iteration")
	echo "$policy: $runs runs, $(($(date +%s) - start)) s, ended: $(query \
		"SELECT stop FROM iteration ORDER BY run DESC LIMIT 1")"
	"$vprof" sql "SELECT run, recorded_cnt, dormant_cnt, added_cnt, round(100 * probe_cost, 1) AS
		probes_percent, substr(selected, 1, 40) AS selected FROM iteration"
	found=$(query "SELECT count(*) FROM latest_factor WHERE kind = 'function' AND share > 0.05
		AND function LIKE 'culprit_%'")
	row "$policy: culprits found" "$found" "of 3" 3 "$found == 3"
	if [ $policy = budget ]; then
		row "budget: runs" "$runs" runs 4 "$runs <= 4"
	else
		row "paper: runs" "$runs" runs 40 "$runs < 40"
	fi
done

# The last plan of budget, recorded, against the program without vprof, in turns.
cd "$work/budget" || exit 99
for i in $(seq "$rounds"); do
	../plain/program >>../plain.ns
	"$vprof" record -- ./program >>../recorded.ns 2>/dev/null
done
ratio=$(awk "BEGIN { printf \"%.2f\", 100 * ($(median <../recorded.ns) / $(median <../plain.ns) - 1) }")
row "budget: mean latency, last plan over plain" "$ratio" "%" 5 "$ratio <= 5"

write_results "$results/iterate.json"
exit $bad

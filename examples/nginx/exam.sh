#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# exam.sh - nginx through vprof, checked: the commands of README.md.  `make exam-nginx` runs it.
#
#	exam.sh --vprof PROGRAM --check PROGRAM [--work DIR] [--results FILE]
#
# Builds nginx through vprof, records 100,100 requests, shows the answer, and checks that each request
# was one interval and that the tree adds up.  Prints a table and writes it as FILE
# (./results/nginx.json); exit 1 where a target is missed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
vprof='' check='' work=nginx-work rows='' results=results/nginx.json

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
exam_options "$@"
latest="(SELECT id FROM finding WHERE run = (SELECT max(number) FROM run))"

step "build"
"$here/fetch-and-build.sh" --work "$work" plain >/dev/null
rm -rf "$work/plan"
"$here/fetch-and-build.sh" --work "$work" --vprof "$vprof" plan >/dev/null
row build.functions "$(query plan "SELECT count(*) FROM function")" count - true
skipped=$(query plan "SELECT count(*) FROM function WHERE skipped IS NOT NULL")
row build.functions_without_probe "$skipped" count 0 "$(holds "$skipped == 0")"
untouched=$(query plan "SELECT count(*) FROM unit WHERE untouched IS NOT NULL")
row build.units_not_instrumented "$untouched" count 0 "$(holds "$untouched == 0")"
changed=$(sources_changed plan)
row build.sources_changed "$changed" count 0 "$(holds "$changed == 0")"

step "record"
status=0
in_tree plan "$vprof" record --buffer 512 -- ./bench.sh >"$work/record.txt" || status=$?
cat "$work/record.txt"
row record.status $status status 0 "$(holds "$status == 0")"
for view in variance-tree factors; do
	in_tree plan "$vprof" show $view
	in_tree plan "$vprof" show $view --format json >"$work/plan.$view.json"
done
# the first request is the one that asks whether the server is there
requests=$(($(value_of small_requests "$work/record.txt") + $(value_of large_requests "$work/record.txt") + 1))
intervals=$(query plan "SELECT count + dropped_open + dropped_aborted + dropped_lost FROM finding WHERE id = $latest")
row record.intervals_minus_requests $((intervals - requests)) count 0 "$(holds "$intervals == $requests")"
"$check" "$work/plan.variance-tree.json" "$work/plan.factors.json" >"$work/check.tsv" || true
[ -s "$work/check.tsv" ] || row check 1 status 0 false
sed 's/^/check./' "$work/check.tsv" >>"$rows"
write_results "$results"

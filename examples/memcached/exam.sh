#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# exam.sh - memcached through the whole of vprof, checked.  `make exam-memcached` runs it.
#
#	exam.sh --vprof PROGRAM --check PROGRAM [--work DIR] [--results FILE] [--rounds N]
#
#	1. plain	memcached as Debian has it; the load client gets only right answers
#	2. all		built through vprof with a probe in every function: none fails to compile,
#			the answers are still right, and 20,000 requests are recorded
#	3. plan		built with the plan that vprof chooses; 120,000 requests are recorded; the
#			variance tree and its factors are shown and their sums checked; and every
#			command is one interval, also when 16 arrive in one read
#	4. pairs	requests per second of plain, plan (dormant) and plan (recorded), in turns
#
# Prints a table and writes it as FILE (./results/memcached.json); exit 1 where a target is missed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
vprof='' check='' work=memcached-work rows='' results=results/memcached.json rounds=5

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
exam_options "$@"

# The findings of the latest run.
latest="finding WHERE run = (SELECT max(number) FROM run)"

# loaded NAME ROW COMMAND...: runs COMMAND in the tree, keeps what the client says in ROW.load
loaded() {
	tree=$1 name=$2
	shift 2
	status=0
	in_tree "$tree" "$@" >"$work/$name.load" || status=$?
	errors=$(value_of errors "$work/$name.load")
	row "$name.status" $status status 0 "$(holds "$status == 0")"
	row "$name.wrong_answers" "${errors:--1}" count 0 "$(holds "${errors:--1} == 0")"
}

exam_plain() {
	step "plain build and load"
	"$here/fetch-and-build.sh" --work "$work" plain >/dev/null
	loaded plain plain "$here/bench.sh" --requests 120000
}

exam_all() {
	step "a probe in every function"
	rm -rf "$work/all"
	"$here/fetch-and-build.sh" --work "$work" --vprof "$vprof" --functions all all >/dev/null
	functions=$(query all "SELECT count(*) FROM function")
	probed=$(query all "SELECT count(*) FROM function WHERE probed")
	untouched=$(query all "SELECT count(*) FROM unit WHERE untouched IS NOT NULL")
	row all.functions "$functions" count ">= 620" "$(holds "$functions >= 620")"
	row all.functions_probed "$probed" count "= functions" "$(holds "$probed == $functions")"
	row all.units_not_instrumented "$untouched" count 0 "$(holds "$untouched == 0")"
	loaded all all.dormant ./bench.sh --requests 120000
	loaded all all.recorded "$vprof" record --buffer 512 -- ./bench.sh --requests 20000
	depths=$(query all "SELECT count(*) FROM node
		WHERE kind = 'function' AND finding = (SELECT id FROM $latest)")
	row all.tree_function_nodes "$depths" count ">= 5" "$(holds "$depths >= 5")"
}

exam_plan() {
	step "the plan that vprof chooses"
	rm -rf "$work/plan"
	"$here/fetch-and-build.sh" --work "$work" --vprof "$vprof" plan >/dev/null
	row plan.sources_changed "$(sources_changed plan)" count 0 "$(holds "$(sources_changed plan) == 0")"
	loaded plan plan.recorded "$vprof" record --buffer 512 -o exam -- ./bench.sh --requests 120000
	row plan.functions_probed "$(query plan "SELECT count(*) FROM function WHERE probed")" \
		count - true
	row plan.lost_records \
		"$(query plan "SELECT lost_records FROM run WHERE name = 'exam'")" count - true
	for view in summary variance-tree factors; do
		in_tree plan "$vprof" show $view exam | tee "$work/plan.$view.txt"
		in_tree plan "$vprof" show $view exam --format json >"$work/plan.$view.json"
	done
	"$check" "$work/plan.variance-tree.json" "$work/plan.factors.json" >"$work/check.tsv" || true
	[ -s "$work/check.tsv" ] || row plan.check 1 status 0 false
	sed 's/^/plan./' "$work/check.tsv" >>"$rows"
	each_is_one plan.recorded
	loaded plan plan.pipelined "$vprof" record --buffer 512 -- ./bench.sh \
		--requests 120000 --depth 16
	each_is_one plan.pipelined
}

# each_is_one ROW: as many intervals as commands, in the latest run
each_is_one() {
	commands=$(value_of commands "$work/$1.load")
	intervals=$(query plan "SELECT count + dropped_open + dropped_lost FROM $latest")
	row "$1.intervals_per_command" \
		"$(awk "BEGIN { printf \"%.9g\", $intervals / ${commands:-0.1} }")" ratio 1 \
		"$(holds "$intervals == ${commands:--1}")"
}

# One interleaved run: the three in turns, the ratio within each round, the median over rounds.
exam_pairs() {
	step "throughput in $rounds rounds"
	rm -f "$work"/pairs.*
	round=1
	while [ "$round" -le "$rounds" ]; do
		in_tree plain "$here/bench.sh" --requests 120000 >"$work/pair.plain"
		in_tree plan ./bench.sh --requests 120000 >"$work/pair.dormant"
		in_tree plan "$vprof" record -- ./bench.sh --requests 120000 >"$work/pair.recorded" \
			2>/dev/null
		for measure in requests_per_second server_cpu_ticks; do
			for kind in plain dormant recorded; do
				value_of $measure "$work/pair.$kind"
			done | paste -s - >>"$work/pairs.$measure"
		done
		round=$((round + 1))
	done
	row pairs.plain "$(cut -f 1 "$work/pairs.requests_per_second" | median)" requests/s - true
	for measure in requests_per_second server_cpu_ticks; do
		row pairs.$measure.dormant_to_plain "$(ratio 2 "$work/pairs.$measure")" ratio - true
		row pairs.$measure.recorded_to_plain "$(ratio 3 "$work/pairs.$measure")" ratio - true
	done
}

exam_plain
exam_all
exam_plan
exam_pairs
write_results "$results"

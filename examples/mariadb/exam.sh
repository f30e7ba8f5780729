#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# exam.sh - MariaDB 10.11 through vprof iterate, checked.  `make exam-mariadb` runs it.
#
#	exam.sh --vprof PROGRAM [--work DIR] [--results FILE] [--seconds N] [--only STEP,...]
#
#	1. plain	MariaDB as it is, under each load; the sums of money are right
#	2. all		built through vprof with a probe in every function: no unit is left without, no source is
#			changed, and the loads go through it with right sums; what building costs
#	3. iterate	the loads large, small, hot and group, each from a census to the cause: at most 6 runs, k 3;
#			each run next to one of the plain server; of hot, where rows are waited for, the time of these waits
#			as vprof has it against InnoDB's own counter.  A step named large, small, hot or group is one of these loads
#
# Prints a table and writes it as FILE (./results/mariadb.json); exit 1 where a target is missed.
# N (20) is how long each load lasts.  Hours of processor time, most of it compiling.  Each step needs what those before it built.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
vprof='' work=mariadb-work results=results/mariadb.json seconds=20 only=plain,all,iterate

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
exam_options "$@"
export SECONDS_LONG="$seconds"
latest="(SELECT id FROM finding WHERE run = (SELECT max(number) FROM run))"

# build NAME [OPTION ...]: prints the CPU seconds that building took, without cmake.  An exam that was interrupted goes on with
# what it built, unless vprof is newer.
build() {
	tree=$1
	shift
	if [ ! -f "$work/$tree.times" ] || { [ "$tree" != plain ] && is_older_than_vprof "$work/$tree/sql/mariadbd"; }; then
		rm -rf "${work:?}/$tree" "$work/$tree.times"
		"$here/fetch-and-build.sh" --work "$work" --configure-only "$tree" >/dev/null
		(
			"$here/fetch-and-build.sh" --work "$work" "$@" "$tree" >/dev/null
			times >"$work/$tree.times.new"
		)
		mv "$work/$tree.times.new" "$work/$tree.times"
	fi
	awk 'NR == 2 { split($1, u, "m"); split($2, s, "m"); print u[1] * 60 + u[2] + s[1] * 60 + s[2] }' \
		"$work/$tree.times"
}

# loaded TREE SETTING: bench.sh has checked the sums
loaded() {
	status=0
	in_tree "$1" "$here/bench.sh" "$2" >"$work/$1.$2.load" || status=$?
	row "$1.$2.status" $status status 0 "$(holds "$status == 0")"
}

exam_plain() {
	step "plain build and loads"
	row plain.build_cpu "$(build plain)" s - true
	for setting in large small hot group single; do loaded plain $setting; done
}

exam_all() {
	step "a probe in every function"
	all_seconds=$(build all --vprof "$vprof" --functions all)
	ratio=$(awk "BEGIN { print $all_seconds / $(build plain) }")
	row all.build_cpu_to_plain "$ratio" ratio "<= 2.5" "$(holds "$ratio <= 2.5")"
	units=$(query all "SELECT count(*) FROM unit")
	row all.units "$units" count ">= 600" "$(holds "$units >= 600")"
	untouched=$(query all "SELECT count(*) FROM unit WHERE untouched IS NOT NULL")
	row all.units_untouched "$untouched" count 0 "$(holds "$untouched == 0")"
	row all.functions "$(query all "SELECT count(*) FROM function")" count - true
	row all.functions_unprobed "$(query all "SELECT count(*) FROM function WHERE NOT probed")" count - true
	scans=$(du -sk "$work/all/vprof.data/build" | awk '{ print $1 / 1024 }')
	row all.scans "$scans" MB "<= 100" "$(holds "$scans <= 100")"
	find "$work/source" -type f -newer "$work/plain/Makefile" >"$work/changed"
	changed=$(wc -l <"$work/changed")
	row all.sources_changed "$changed" count 0 "$(holds "$changed == 0")"
	for setting in large hot group; do loaded all $setting; done
}

# One row a run of the iteration, from the store and from what pair.sh measured.
run_rows() {
	in_tree iterate "$vprof" sql --format csv "SELECT recorded_cnt, ifnull(probe_cost, 0) FROM iteration
		WHERE first_run = (SELECT first_run FROM iteration ORDER BY run DESC LIMIT 1) ORDER BY run" |
		tail -n +2 | tr , ' ' >"$work/iterate.runs"
	run=0
	paste -d ' ' "$work/iterate.runs" "$work/$1.pairs" | while read -r recorded cost plain own; do
		run=$((run + 1))
		row "$1.run$run.functions_recorded" "$recorded" count - true
		row "$1.run$run.probe_cost_reckoned" "$cost" ratio - true
		[ -n "$own" ] || continue	# the load failed in that run
		row "$1.run$run.throughput_to_plain" "$(awk "BEGIN { print $own / $plain }")" ratio - true
	done
	runs=$(wc -l <"$work/iterate.runs")
	row "$1.runs" "$runs" count "<= 6" "$(holds "$runs <= 6 && $runs > 0")"
}

# The last run's waits of transactions for rows: by vprof, scaled to all transactions, and by InnoDB.
row_lock_rows() {
	counter=$(awk '$1 == "innodb" && $2 == "Innodb_row_lock_time" { ms = $3 } END { print ms + 0 }' "$work/$1.txt")
	seen=$(query iterate "SELECT ifnull(sum(f.mean_ns) / 1e6 * (d.count + ifnull(p.root_only_count, 0)), 0)
		FROM finding d LEFT JOIN probing p ON p.finding = d.id JOIN factor f ON f.finding = d.id
		WHERE d.id = $latest AND f.kind = 'wait' AND f.function = 'lock_wait'")
	row "$1.row_lock_time" "$seen" ms - true
	row "$1.row_lock_time_to_innodb" "$(awk "BEGIN { print $counter ? $seen / $counter : 1 }")" ratio "1 +- 0.05" \
		"$(holds "$counter ? $seen / $counter >= 0.95 && $seen / $counter <= 1.05 : 1")"
}

# exam_setting NAME
exam_setting() {
	step "vprof iterate: $1"
	rm -f "$work/$1.pairs"
	status=0
	in_tree iterate "$vprof" iterate --k 3 -- "$here/pair.sh" "$work/$1.pairs" "$1" \
		>"$work/$1.txt" 2>"$work/$1.err" || status=$?
	cat "$work/$1.err" "$work/$1.txt"
	row "$1.status" $status status 0 "$(holds "$status == 0")"
	run_rows "$1"
	[ "$1" != hot ] || row_lock_rows "$1"
	for view in summary variance-tree factors runs; do
		in_tree iterate "$vprof" show $view >"$work/$1.$view.txt"
	done
	cat "$work/$1.variance-tree.txt" "$work/$1.factors.txt"
}

exam_iterate() { for setting in large small hot group; do exam_$setting; done; }

# A directory that nothing was built in: vprof iterate does that.
configured() {
	! is_older_than_vprof "$work/iterate/sql/mariadbd" || rm -rf "${work:?}/iterate"
	"$here/fetch-and-build.sh" --work "$work" --configure-only iterate >/dev/null
}

for setting in large small hot group; do
	eval "exam_$setting() { configured; exam_setting $setting; }"
done

only=$(echo "$only" | tr , ' ')
for part in $only; do
	case $part in
	plain|all|iterate|large|small|hot|group) ;;
	*)	die "no step '$part': there are plain, all, iterate, large, small, hot and group" ;;
	esac
done
for part in $only; do "exam_$part"; done
write_results "$results"

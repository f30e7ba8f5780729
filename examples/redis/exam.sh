#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# exam.sh - Redis 7 through `vprof iterate`, checked.  `make exam-redis` runs it.
#
#	exam.sh --vprof PROGRAM --check PROGRAM [--work DIR] [--results FILE] [--seconds N]
#
#	1. build	Debian's source, plainly and through vprof; every unit is instrumented, no
#			source changed
#	2. iterate	vprof iterate --k 3 ends by itself in at most 6 runs and names the SORT; each
#			run also loads the plain server, before and after: the throughput lost
#	3. check	the sums of the last tree; each command was one interval
#	4. proof	by other means: Redis' own INFO commandstats says the same; and without the SORT
#			the variance is gone
#
# Prints a table and writes it as FILE (./results/redis.json); exit 1 where a target is missed.
# N (6) is how long each load lasts.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
vprof='' check='' work=redis-work rows='' results=results/redis.json seconds=6

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
exam_options "$@"

# The findings of the latest run.
latest="(SELECT id FROM finding WHERE run = (SELECT max(number) FROM run))"

exam_build() {
	step "build"
	rm -rf "$work/plan"
	"$here/fetch-and-build.sh" --work "$work" --vprof "$vprof" plan >/dev/null
	functions=$(query plan "SELECT count(*) FROM function")
	row build.functions "$functions" count ">= 4000" "$(holds "$functions >= 4000")"
	skipped=$(query plan "SELECT count(*) FROM function WHERE skipped IS NOT NULL")
	row build.functions_without_probe "$skipped" count "<= 0.01 of them" \
		"$(holds "$skipped <= 0.01 * $functions")"
	untouched=$(query plan "SELECT count(*) FROM unit WHERE untouched IS NOT NULL")
	row build.units_not_instrumented "$untouched" count 0 "$(holds "$untouched == 0")"
	# which is made by the build, with its time in it
	rm -f "$work/plain/src/release.h"
	changed=$(sources_changed plan)
	row build.sources_changed "$changed" count 0 "$(holds "$changed == 0")"
}

# values_of NAME FILE: one a run of the iteration
values_of() { awk -v name="$1" '$1 == name { print $2 }' "$2"; }

# The throughput lost: recorded, against the mean of the two plain runs around it.
add_losses() {
	values_of before_commands_per_second "$work/iterate.txt" >"$work/before"
	values_of commands_per_second "$work/iterate.txt" >"$work/recorded"
	values_of after_commands_per_second "$work/iterate.txt" >"$work/after"
	paste "$work/before" "$work/recorded" "$work/after" >"$work/losses"
	run=0
	while read -r before recorded after; do
		run=$((run + 1))
		row "run$run.plain" $(((before + after) / 2)) commands/s - true
		row "run$run.recorded_to_plain" \
			"$(awk "BEGIN { print $recorded / (($before + $after) / 2) }")" ratio - true
	done <"$work/losses"
}

# SORT's own part: the functions of its two files.
of_sort="(file LIKE '%/sort.c' OR file LIKE '%/pqsort.c')"

exam_iterate() {
	step "iterate"
	status=0
	in_tree plan "$vprof" iterate --k 3 -- ./bench.sh --seconds "$seconds" \
		--against ../plain/src/redis-server >"$work/iterate.txt" 2>&1 || status=$?
	cat "$work/iterate.txt"
	row iterate.status $status status 0 "$(holds "$status == 0")"
	runs=$(query plan "SELECT count(*) FROM iteration")
	row iterate.runs "$runs" count "<= 6" "$(holds "$runs <= 6")"
	closed=$(query plan "SELECT count(*) FROM iteration WHERE stop IN ('closed', 'too-dear')")
	row iterate.ended_by_itself "$closed" count 1 "$(holds "$closed == 1")"
	row iterate.dropped_intervals "$(query plan "SELECT dropped_lost FROM finding WHERE id = $latest")" \
		count - true
	add_losses
	for view in runs variance-tree factors; do
		in_tree plan "$vprof" show $view | tee "$work/plan.$view.txt"
		in_tree plan "$vprof" show $view --format json >"$work/plan.$view.json"
	done
	queue=$(query plan "SELECT total(share) FROM factor WHERE finding = $latest AND wait = 'queue'")
	by_sort=$(query plan "SELECT total(share) FROM because_of WHERE finding = $latest
		AND $of_sort")
	itself=$(query plan "SELECT ifnull(max(share), 0) FROM factor WHERE finding = $latest
		AND kind = 'function' AND $of_sort")
	row iterate.queue_share "$queue" share - true
	row iterate.queue_because_of_sort "$by_sort" share - true
	row iterate.sort_itself "$itself" share - true
	row iterate.sort_in_all "$(awk "BEGIN { print $by_sort + $itself }")" share ">= 0.5" \
		"$(holds "$by_sort + $itself >= 0.5")"
}

exam_check() {
	step "check"
	"$check" "$work/plan.variance-tree.json" "$work/plan.factors.json" >"$work/check.tsv" || true
	[ -s "$work/check.tsv" ] || row check 1 status 0 false
	# How many there are is bounded by time here, not by number.  What a connection had under way when
	# its load was over gets no reply; it is aborted if another client comes at the same address.
	sed '/^intervals	/d; /^intervals_aborted	/d; s/^/check./' "$work/check.tsv" >>"$rows"
	aborted=$(query plan "SELECT dropped_aborted FROM finding WHERE id = $latest")
	row check.intervals_aborted "$aborted" count "<= 12 connections" "$(holds "$aborted <= 12")"
	commands=$(values_of commands_and_setup "$work/iterate.txt" | tail -n 1)
	intervals=$(query plan "SELECT count + dropped_open + dropped_aborted + dropped_lost +
		ifnull((SELECT root_only_count FROM probing WHERE finding = $latest), 0)
		FROM finding WHERE id = $latest")
	# The last commands of the setup and the statistics themselves are not in the statistics.
	row check.intervals_per_command "$(awk "BEGIN { print $intervals / ${commands:-0.1} }")" ratio \
		"1 +- 0.001" "$(holds "$intervals / ${commands:-0.1} - 1 < 0.001 &&
			1 - $intervals / ${commands:-0.1} < 0.001")"
}

# Between the commands' means, as INFO commandstats has them, how much of the variance is SORT's?
# With n calls of mean m each and M the mean over all: n (m - M)^2, divided by the sum of these.
commandstats_share() {
	awk '$1 ~ /^before_cmdstat_/ { n[$1] += $2; t[$1] += $2 * $3; N += $2; T += $2 * $3 }
		END {
			for (c in n) {
				v = n[c] * (t[c] / n[c] - T / N) ^ 2
				all += v
				if (c ~ /_sort$/)
					sort += v
			}
			print sort / all
		}' "$work/iterate.txt"
}

exam_proof() {
	step "proof"
	share=$(commandstats_share)
	row proof.commandstats_sort_share "$share" share ">= 0.5" "$(holds "$share >= 0.5")"
	with=$(query plan "SELECT variance_ns2 FROM finding WHERE id = $latest")
	in_tree plan "$vprof" record -- ./bench.sh --seconds "$seconds" --without sort \
		>"$work/without.txt" 2>&1 || { tail -n 5 "$work/without.txt" >&2; false; }
	without=$(query plan "SELECT variance_ns2 FROM finding WHERE id = $latest")
	in_tree plan "$vprof" show factors
	row proof.variance_without_sort "$(awk "BEGIN { print $without / $with }")" "of with" "<= 0.3" \
		"$(holds "$without <= 0.3 * $with")"
}

exam_build
exam_iterate
exam_check
exam_proof
write_results "$results"

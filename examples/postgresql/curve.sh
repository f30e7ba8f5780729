#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# curve.sh - what probes below the transaction cost: make bench-postgresql.
#
#	curve.sh [--work DIR] [--vprof PROGRAM] [--results FILE] [--rounds N]
#
# pgbench's transactions on one server in which 0 to 500 functions are recorded, each right after the same on the
# plain one, ROUNDS times (4), TRANSACTIONS (1000) of each of 4 clients; COUNTS: only these
# rows; MORE: the rounds that the last runs left in DIR count as well, so rounds may be run bit by bit.  The server of all
# rows but those with "only" and "rdtsc" has all probes: those that are not recorded are dormant, and count in what it costs;
# they stand aside there and where "auto" records few (vprof build --sampled).
#
#	dormant		it is not recorded at all
#	0		intervals and waits are
#	1 10 100 500	that many functions: of those that a transaction calls, as a first run shows, the nearest to its
#			root, of these the most called first: the 500 have palloc() and stack_is_too_deep() among them
#	500_seldom	those 500 that are called least often, as a budget (vprof iterate --overhead) chooses them
#	500_auto	the 500 nearest in as many transactions as the budget allows (vprof record --sample auto)
#	500_only, 500_only_auto, 500_seldom_only	500, 500_auto and 500_seldom in a server in which no other function has a
#			probe (vprof build --functions), as in the paper's
#	500_rdtsc	no profiler at all: the clock is read as these 500 begin and end, and one sum is kept.  Whoever
#			tells how long each of their calls took, with whatever tool, takes at least this
#
# A row is the median over the rounds of the ratio to the plain server just before; "_ci95" is the half
# width of its mean's 95 % confidence interval.  "cpu_added" is processor time a transaction, the server's and
# the recorder's (which "recorder_us" is), to the plain server's: it says more than the throughput where the machine has
# other work.  Target: the paper's Figure 3, less than 14 % at 500.
# The runs are only recorded, but for one of each "auto" at the end, which says how many transactions were recorded in full.
# About 10 minutes on a quiet machine, once the five servers are built: --rounds 0 does that alone.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
vprof='' work=postgresql-work results=results/postgresql-curve.json rounds=4
counts=${COUNTS:-dormant 0 1 10 100 500 500_seldom 500_auto 500_only 500_only_auto 500_rdtsc
	500_seldom_only} transactions=${TRANSACTIONS:-1000}

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
exam_options "$@"
results=$(realpath -m "$results")
all=$work/curve only=$work/only500 rdtsc=$work/rdtsc500 seldom=$work/seldom500

# The tree of the last run; from it "name level calls" of each function, the outermost level first.
tree_of='SELECT id, parent, kind, function, calls_per_interval FROM node
	WHERE finding = (SELECT max(id) FROM finding) ORDER BY id'
# shellcheck disable=SC2016 # awk's
nearest='
	$1 == 0 { level[0] = 0 }
	$3 == "function" && $2 in level {
		level[$1] = level[$2] + 1
		if (!($4 in least) || level[$1] < least[$4]) least[$4] = level[$1]
		calls[$4] += $5
	}
	END { for (f in least) print f, least[f], calls[f] }'

# built DIR OPTION OF "build" ...
built() {
	dir=$1
	shift
	"$here/fetch-and-build.sh" --work "$work" --vprof "$vprof" --configure-only "${dir##*/}" >/dev/null
	# The headers first: below src/ a parallel make of a fresh tree makes them more than once at a time.
	(cd "$dir" && make -s -C src/backend generated-headers &&
		"$vprof" build "$@" -- make -s -j"$(nproc)" -C src/backend) >"$work/curve.out" 2>&1
}

# server_of DIR OPTION OF "build" ...: with probes, and today's runtime.  A tree that another vprof left may be of no use.
server_of() {
	[ ! -x "$1/src/backend/postgres" ] || is_older_than_vprof "$1/src/backend/postgres" || return 0
	rm -f "$1/src/backend/postgres"
	built "$@" || { rm -rf "$1" && built "$@"; } || die "the build failed: $work/curve.out"
	cp "$1/vprof.data/build/plan" "$1.plan"
}

# chosen N: the functions, as lines of "nearest"
chosen() {
	case $1 in
	dormant) ;;
	*_seldom*) sort -k3g "$work/nearest" | head -n "${1%%_*}" ;;
	*)	head -n "${1%%_*}" "$work/nearest" ;;
	esac
}

# tree_of N: with all probes, or only those that are recorded
tree_of() {
	case $1 in
	*_seldom_only) echo "$seldom" ;;
	*_only*) echo "$only" ;;
	*)	echo "$all" ;;
	esac
}

# plan_for N: its functions are recorded inside intervals, all others dormant
plan_for() {
	chosen "$1" >"$work/chosen"
	awk -F'\t' -v OFS='\t' -v chosen="$work/chosen" '
		FILENAME == chosen { is[$1] = 1; next }
		NF == 4 { $1 = $4 in is ? "interval" : "dormant" }
		{ print }' "$work/chosen" "$(tree_of "$1").plan" >"$(tree_of "$1")/vprof.data/build/plan"
}

# recorder_s: processor time of the recorder during the load, in seconds
recorder_s() {
	sed 's/^.*) //' "$work/recorder.0" "$work/recorder" |
		awk -v hz="$(getconf CLK_TCK)" '{ s = ($12 + $13) / hz - s } END { print s }'
}

# note NAME RECORDER_S: appends "TPS LATENCY_MS SERVER_US RECORDER_US", of what the load said, to curve.NAME
note() {
	awk -v recorder="$2" '
		/^latency average/ { ms = $4 }
		/^tps/ { tps = $3 }
		/^number of transactions actually/ { split($6, n, "/") }
		/^cpu:/ { cpu = $2 }
		END { if (tps && ms && n[1]) print tps, ms, 1e6 * cpu / n[1], 1e6 * recorder / n[1] }' \
		"$work/said" >>"$work/curve.$1"
}

loaded() {
	"$here/bench.sh" -t "$transactions" >"$work/said" 2>>"$work/curve.log" || die "the load failed: $work/curve.log"
}

sample_of() {
	case $1 in *_auto) echo "--sample auto" ;; esac
}

# recorded N: a run with that plan.  It ends as the load does: nobody wants to know why it took its time.
# shellcheck disable=SC2016,SC2046 # the inner shell's; words
recorded() {
	plan_for "$1"
	rm -f "$work/over"
	cd "$(tree_of "$1")"
	"$vprof" record $(sample_of "$1") -- \
		sh -c 'cat "/proc/$PPID/stat" >"$2/recorder.0" && "$0" -t "$1" >"$2/said" &&
			cat "/proc/$PPID/stat" >"$2/recorder" && touch "$2/over"' \
		"$here/bench.sh" "$transactions" "$work" 2>>"$work/curve.log" &
	recorder=$!
	while [ ! -e "$work/over" ] && kill -0 $recorder 2>/dev/null; do sleep 0.2; done
	[ -e "$work/over" ] || die "a recorded run failed: $work/curve.log"
	kill $recorder 2>/dev/null || true
	wait $recorder 2>/dev/null || true
	note "$1" "$(recorder_s)"
	rm -rf vprof.data/runs/*
}

measured() {
	POSTGRES=$work/plain/src/backend/postgres loaded
	note "plain.$1" 0
	case $1 in
	dormant) POSTGRES=$all/src/backend/postgres loaded; note dormant 0 ;;
	*_rdtsc) POSTGRES=$rdtsc/src/backend/postgres loaded; note "$1" 0 ;;
	*)	recorded "$1" ;;
	esac
}

# in_pairs N: what a run that was interrupted measured on the plain server alone does not count
in_pairs() {
	touch "$work/curve.plain.$1" "$work/curve.$1"
	pairs=$(cat "$work/curve.plain.$1" "$work/curve.$1" | wc -l)
	pairs=$((pairs / 2))
	head -n "$pairs" "$work/curve.plain.$1" >"$work/both"
	cp "$work/both" "$work/curve.plain.$1"
}

# in_full N: how large a part of the transactions such a run records in full
# shellcheck disable=SC2046 # words
in_full() {
	plan_for "$1"
	cd "$(tree_of "$1")"
	"$vprof" record $(sample_of "$1") -- "$here/bench.sh" -t "$transactions" >"$work/full" 2>&1 || [ $? = 3 ] ||
		die "a run failed: $work/full"
	rm -rf vprof.data/runs/*
	sed -n "s/.*: \([0-9]*\) intervals\{0,1\} of .* recorded in full, \([0-9]*\) root-only.*/\1 \2/p" "$work/full" |
		awk '{ part = $1 / ($1 + $2) } END { print part + 0 }'
}

find_nearest() {
	cd "$all"
	cp "$all.plan" vprof.data/build/plan
	"$vprof" record -- "$here/bench.sh" -t 10 >"$work/said" 2>>"$work/curve.log" ||
		die "the first run failed: $work/curve.log"
	"$vprof" sql --format csv "$tree_of" | sed 1d | awk -F, -v OFS='\t' "$nearest" |
		sort -k2,2n -k3,3gr -k1,1 >"$work/nearest"
	[ "$(wc -l <"$work/nearest")" -ge 500 ] || die "a transaction calls no 500 functions: $work/nearest"
}

# interval FILE: mean and half width of the 95 % confidence interval of "ratio" lines
interval() {
	awk 'BEGIN { split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13 2.12 2.11 2.10 2.09 2.09 2.08 2.07 2.07", t) }
		{ sum += $1; squares += $1 * $1 }
		END { n = NR; mean = sum / n; sd = n > 1 ? sqrt((squares - n * mean * mean) / (n - 1)) : 0
			print mean, (n > 1 ? (n - 1 in t ? t[n - 1] : 1.97) * sd / sqrt(n) : 0) }' "$1"
}

rows_of() {
	paste -d' ' "$work/curve.plain.$1" "$work/curve.$1" | awk 'NF == 8' >"$work/both"
	awk '{ print 1 - $5 / $1 }' "$work/both" >"$work/lost"
	awk '{ print $6 / $2 - 1 }' "$work/both" >"$work/added"
	awk '{ print ($7 + $8) / $3 - 1 }' "$work/both" >"$work/cpu"
	calls=$(chosen "$1" | awk -F'\t' '{ sum += $3 } END { print sum + 0 }')
	row "$1.calls_a_transaction" "$calls" count - true
	loss=$(median <"$work/lost")
	case $1 in
	500 | 500_*auto | 500_seldom_only) row "$1.throughput_lost" "$loss" ratio '< 0.14' "$(holds "$loss < 0.14")" ;;
	*)	row "$1.throughput_lost" "$loss" ratio - true ;;
	esac
	row "$1.throughput_lost_ci95" "$(interval "$work/lost" | cut -d' ' -f2)" ratio - true
	row "$1.latency_added" "$(median <"$work/added")" ratio - true
	row "$1.latency_added_ci95" "$(interval "$work/added" | cut -d' ' -f2)" ratio - true
	row "$1.cpu_added" "$(median <"$work/cpu")" ratio - true
	row "$1.recorder_us" "$(awk '{ print $8 }' "$work/both" | median)" us - true
	case $1 in *_auto) row "$1.recorded_in_full" "$(in_full "$1")" ratio - true ;; esac
}

curve_rows() {
	row plain.throughput "$(cat "$work"/curve.plain.* | cut -d' ' -f1 | median)" transactions/s - true
	row plain.latency "$(cat "$work"/curve.plain.* | cut -d' ' -f2 | median)" ms - true
	row plain.cpu "$(cat "$work"/curve.plain.* | cut -d' ' -f3 | median)" us - true
	for n in $counts; do rows_of "$n"; done
}

: >"$work/curve.log"
export INSTALLED="$work/install" DATA="${DATA:-$work/data}"
step "plain server, and one with all probes"
[ -x "$work/plain/src/backend/postgres" ] || "$here/fetch-and-build.sh" --work "$work" plain >/dev/null
server_of "$all" --sampled --depth 6
step "which functions a transaction calls"
[ -s "$work/nearest" ] || find_nearest
[ -s "$work/500.functions" ] || chosen 500 | cut -f1 >"$work/500.functions"
case $counts in *500_only*)
	step "a server that has probes only in 500"
	server_of "$only" --sampled --functions "$work/500.functions" ;;
esac
case $counts in *_seldom_only*)
	step "one that has probes only in the 500 that are called least often"
	[ -s "$work/500_seldom.functions" ] || chosen 500_seldom | cut -f1 >"$work/500_seldom.functions"
	server_of "$seldom" --functions "$work/500_seldom.functions" ;;
esac
case $counts in *_rdtsc*)
	step "one that reads the clock in these, and has no profiler"
	pair_compiler "$work/rdtsc.bin" "$(realpath "$here/../../tests/bench/runtime/pair_rdtsc.h")"
	(PATH=$work/rdtsc.bin:$PATH server_of "$rdtsc" --functions "$work/500.functions") ;;
esac
[ "$rounds" -gt 0 ] || exit 0
step "$rounds rounds"
[ -n "${MORE:-}" ] || rm -f "$work"/curve.plain* "$work"/curve.[0-9d]*
for n in $counts; do in_pairs "$n"; done
for _ in $(seq "$rounds"); do
	for n in $counts; do measured "$n"; done
done
curve_rows
cp "$all.plan" "$all/vprof.data/build/plan"
for tree in "$only" "$seldom"; do
	[ ! -e "$tree.plan" ] || cp "$tree.plan" "$tree/vprof.data/build/plan"
done
write_results "$results"

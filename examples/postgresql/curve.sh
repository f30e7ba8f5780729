#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# curve.sh - what probes below the transaction cost: make bench-postgresql.
#
#	curve.sh [--work DIR] [--vprof PROGRAM] [--results FILE] [--rounds N]
#
# pgbench's transactions on one server in which 1, 10, 100 and 500 functions are recorded, each right after the same on
# the plain one, ROUNDS times (7), TRANSACTIONS (1000) of each of 4 clients.  One server has all probes: those that
# are not recorded are dormant, and count in what it costs.  Which functions: of those that a transaction
# calls, as a first run shows, the nearest to its root, of these the most called first: the 500 have
# palloc() and stack_is_too_deep() among them.  "500_seldom" are those 500 that are called least often, as a budget
# (vprof iterate --overhead) chooses them.
#
# A row is the median over the rounds of the ratio to the plain server just before; "_ci95" is the half
# width of its mean's 95 % confidence interval.  Target: the paper's Figure 3, less than 14 % at 500.
# The runs are not analysed, only recorded.  About 20 minutes, half of it compiling.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
vprof='' work=postgresql-work results=results/postgresql-curve.json rounds=7
counts='1 10 100 500 500_seldom' transactions=${TRANSACTIONS:-1000}

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
exam_options "$@"
results=$(realpath -m "$results")
tree=$work/curve

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

build() {
	[ -x "$work/plain/src/backend/postgres" ] || "$here/fetch-and-build.sh" --work "$work" plain >/dev/null
	[ ! -x "$tree/src/backend/postgres" ] || return 0
	"$here/fetch-and-build.sh" --work "$work" --vprof "$vprof" --configure-only curve >/dev/null
	(cd "$tree" && "$vprof" build --depth 6 -- make -s -j"$(nproc)" -C src/backend) >"$work/curve.out" 2>&1 ||
		die "the build failed: $work/curve.out"
}

# chosen N: the functions, as lines of "nearest"
chosen() {
	case $1 in
	*_seldom) sort -k3g "$work/nearest" | head -n "${1%_seldom}" ;;
	*)	head -n "$1" "$work/nearest" ;;
	esac
}

# plan_for N FILE: its functions are recorded inside intervals, all others dormant
plan_for() {
	chosen "$1" >"$work/chosen"
	awk -F'\t' -v OFS='\t' -v chosen="$work/chosen" '
		FILENAME == chosen { is[$1] = 1; next }
		NF == 4 { $1 = $4 in is ? "interval" : "dormant" }
		{ print }' "$work/chosen" "$work/plan.all" >"$2"
}

# note NAME: appends "TPS LATENCY_MS", of what pgbench said, to curve.NAME
note() {
	awk '/^latency average/ { ms = $4 } /^tps/ { tps = $3 } END { if (tps && ms) print tps, ms }' \
		"$work/said" >>"$work/curve.$1"
}

loaded() {
	"$here/bench.sh" -t "$transactions" >"$work/said" 2>>"$work/curve.log" || die "the load failed: $work/curve.log"
}

# recorded N: a run with that plan.  It ends as the load does: nobody wants to know why it took its time.
# shellcheck disable=SC2016 # the inner shell's
recorded() {
	plan_for "$1" "$tree/vprof.data/build/plan"
	rm -f "$work/over"
	"$vprof" record -- sh -c '"$0" -t "$1" >"$2/said" && touch "$2/over"' \
		"$here/bench.sh" "$transactions" "$work" 2>>"$work/curve.log" &
	recorder=$!
	while [ ! -e "$work/over" ] && kill -0 $recorder 2>/dev/null; do sleep 0.2; done
	[ -e "$work/over" ] || die "a recorded run failed: $work/curve.log"
	kill $recorder 2>/dev/null || true
	wait $recorder 2>/dev/null || true
	note "$1"
	rm -rf vprof.data/runs/*
}

find_nearest() {
	[ -e "$work/plan.all" ] || cp vprof.data/build/plan "$work/plan.all"
	cp "$work/plan.all" vprof.data/build/plan
	"$vprof" record -- "$here/bench.sh" -t 10 >"$work/said" 2>>"$work/curve.log" ||
		die "the first run failed: $work/curve.log"
	"$vprof" sql --format csv "$tree_of" | sed 1d | awk -F, -v OFS='\t' "$nearest" |
		sort -k2,2n -k3,3gr -k1,1 >"$work/nearest"
	[ "$(wc -l <"$work/nearest")" -ge 500 ] || die "a transaction calls no 500 functions: $work/nearest"
}

# interval FILE: mean and half width of the 95 % confidence interval of "ratio" lines
interval() {
	awk 'BEGIN { split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13", t) }
		{ sum += $1; squares += $1 * $1 }
		END { n = NR; mean = sum / n; sd = n > 1 ? sqrt((squares - n * mean * mean) / (n - 1)) : 0
			print mean, (n > 1 ? (n - 1 in t ? t[n - 1] : 1.97) * sd / sqrt(n) : 0) }' "$1"
}

curve_rows() {
	row plain.throughput "$(cat "$work"/curve.plain.* | cut -d' ' -f1 | median)" transactions/s - true
	row plain.latency "$(cat "$work"/curve.plain.* | cut -d' ' -f2 | median)" ms - true
	for n in $counts; do
		calls=$(chosen "$n" | awk -F'\t' '{ sum += $3 } END { print sum + 0 }')
		paste -d' ' "$work/curve.plain.$n" "$work/curve.$n" | awk 'NF == 4' >"$work/both"
		awk '{ print 1 - $3 / $1 }' "$work/both" >"$work/lost"
		awk '{ print $4 / $2 - 1 }' "$work/both" >"$work/added"
		row "$n.calls_a_transaction" "$calls" count - true
		loss=$(median <"$work/lost")
		target=- ok=true
		[ "$n" != 500 ] || target='< 0.14' ok=$(holds "$loss < 0.14")
		row "$n.throughput_lost" "$loss" ratio "$target" "$ok"
		row "$n.throughput_lost_ci95" "$(interval "$work/lost" | cut -d' ' -f2)" ratio - true
		row "$n.latency_added" "$(median <"$work/added")" ratio - true
		row "$n.latency_added_ci95" "$(interval "$work/added" | cut -d' ' -f2)" ratio - true
	done
}

: >"$work/curve.log"
step "plain server, and one with probes"
build
cd "$tree"
export INSTALLED="$work/install" DATA="${DATA:-$work/data}"
step "which functions a transaction calls"
find_nearest
step "$rounds rounds"
rm -f "$work"/curve.plain* "$work"/curve.[0-9]*
for _ in $(seq "$rounds"); do
	for n in $counts; do
		POSTGRES=$work/plain/src/backend/postgres loaded
		note "plain.$n"
		recorded "$n"
	done
done
cp "$work/plan.all" "$tree/vprof.data/build/plan"
curve_rows
write_results "$results"

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# exam.sh - PostgreSQL 15 through vprof iterate, checked.  `make exam-postgresql` runs it.
#
#	exam.sh --vprof PROGRAM [--work DIR] [--results FILE] [--rounds N]
#
#	1. plain	PostgreSQL as it is; pgbench's sums of money are right
#	2. all		built through vprof with a probe in every function: none fails to compile, no
#			source is changed, and initdb and pgbench go through it with the same result
#	3. iterate	from a tree that was never built to the cause: at most 6 runs, k 3, and among the
#			first 3 factors of the last run is one that flushes the WAL or waits for that;
#			each run next to one of the plain server; who waited for a lock knows which
#			backend let go of it, and what that one was doing
#	4. pairs	transactions per second with the last plan, off and recorded, next to plain
#
# Prints a table and writes it as FILE (./results/postgresql.json); exit 1 where a target is missed.
# 20 to 60 minutes, most of it compiling.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
vprof='' work=postgresql-work results=results/postgresql.json rounds=3

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
exam_options "$@"
latest="(SELECT id FROM finding WHERE run = (SELECT max(number) FROM run))"

# The functions that write the WAL to disk, and those that wait until it was: what the paper found.
wal='LWLockAcquireOrWait XLogFlush XLogWrite issue_xlog_fsync pg_fdatasync XLogBackgroundFlush
	RecordTransactionCommit WALInsertLockAcquire WaitXLogInsertionsToFinish'

# build NAME [OPTION ...]: prints the CPU seconds that building the tree took, without configure
build() {
	tree=$1
	shift
	"$here/fetch-and-build.sh" --work "$work" --configure-only "$tree" >/dev/null
	(
		"$here/fetch-and-build.sh" --work "$work" "$@" "$tree" >/dev/null
		times >"$work/$tree.times"
	)
	awk 'NR == 2 { split($1, u, "m"); split($2, s, "m"); print u[1] * 60 + u[2] + s[1] * 60 + s[2] }' \
		"$work/$tree.times"
}

# loaded TREE ROW COMMAND...: the command's status; bench.sh has checked the sums
loaded() {
	tree=$1 row=$2
	shift 2
	status=0
	in_tree "$tree" "$@" >"$work/$row.load" || status=$?
	row "$row.status" $status status 0 "$(holds "$status == 0")"
}

exam_plain() {
	step "plain build and load"
	plain_seconds=$(build plain)
	row plain.build_cpu "$plain_seconds" s - true
	loaded plain plain "$here/bench.sh"
}

exam_all() {
	step "a probe in every function"
	rm -rf "$work/all" "$work/install-all" "$work/data-all"
	all_seconds=$(build all --vprof "$vprof" --functions all)
	row all.build_cpu_to_plain "$(awk "BEGIN { print $all_seconds / $plain_seconds }")" ratio - true
	functions=$(query all "SELECT count(*) FROM function")
	unprobed=$(query all "SELECT count(*) FROM function WHERE NOT probed")
	untouched=$(query all "SELECT count(*) FROM unit WHERE untouched IS NOT NULL")
	units=$(query all "SELECT count(*) FROM unit")
	row all.units "$units" count ">= 1000" "$(holds "$units >= 1000")"
	row all.functions "$functions" count ">= 20000" "$(holds "$functions >= 20000")"
	row all.functions_unprobed "$unprobed" count 0 "$(holds "$unprobed == 0")"
	row all.units_not_instrumented "$untouched" count 0 "$(holds "$untouched == 0")"
	row all.sources_changed "$(sources_changed all)" count 0 "$(holds "$(sources_changed all) == 0")"
	# initdb runs the server that lies beside it
	cp -a "$work/install" "$work/install-all"
	cp "$work/all/src/backend/postgres" "$work/install-all/bin/"
	loaded all all.initdb_and_load env INSTALLED="$work/install-all" DATA="$work/data-all" ./bench.sh
	rm -rf "$work/data-all"
}

# One row a run of the iteration, from the store and from what pair.sh measured.
run_rows() {
	in_tree iterate "$vprof" sql --format csv "SELECT recorded_cnt, probe_cost
		FROM iteration ORDER BY run" | tail -n +2 | tr , ' ' >"$work/iterate.runs"
	run=0
	paste -d ' ' "$work/iterate.runs" "$work/iterate.pairs" | while read -r recorded cost plain own; do
		run=$((run + 1))
		row iterate.run$run.functions_recorded "$recorded" count - true
		row iterate.run$run.probe_cost_reckoned "$cost" ratio - true
		[ -n "$own" ] || continue	# pgbench failed in that run
		row iterate.run$run.throughput_to_plain "$(awk "BEGIN { print $own / $plain }")" ratio - true
	done
}

# Who let go?  Of the last run's waits for locks inside transactions, of 100 us and more (a shorter one may
# be a call that was only kept from the CPU): those that another backend is known to have ended, and of the
# time of all those that have the name of a function which the other backend was in.  It is in none
# while it holds a row's lock and its client has not sent the next statement.
waker_rows() {
	in_tree iterate "$vprof" export | awk '
		$1 == "wakeup" && $2 != $3 { n = ++count[$2]; at[$2, n] = $4 }
		$1 == "segment" && $3 != "-" && $6 == "lock" && $5 - $4 >= 100000 {
			waits++; tid[waits] = $2; from[waits] = $4; to[waits] = $5
		}
		END {
			for (i = 1; i <= waits; i++) {
				# the last wake-up that is not later than the end
				low = 0; high = count[tid[i]]
				while (low < high) {
					middle = int((low + high + 1) / 2)
					if (at[tid[i], middle] <= to[i]) low = middle
					else high = middle - 1
				}
				if (low && at[tid[i], low] > from[i]) woken++
			}
			print waits + 0, waits ? woken / waits : 0
		}' >"$work/iterate.woken"
	read -r waits woken <"$work/iterate.woken"
	row wakers.lock_waits "$waits" count ">= 1000" "$(holds "$waits >= 1000")"
	row wakers.of_another_backend "$woken" ratio ">= 0.99" "$(holds "$woken >= 0.99")"
	named=$(query iterate "SELECT sum(CASE WHEN b.function IS NULL THEN 0 ELSE b.mean_ns END) / sum(b.mean_ns)
		FROM node w JOIN node b ON b.finding = w.finding AND b.parent = w.id
		WHERE w.finding = $latest AND w.kind = 'wait' AND w.wait = 'lock' AND b.kind = 'blame'")
	row wakers.time_with_function "$named" ratio ">= 0.9" "$(holds "$named >= 0.9")"
}

exam_iterate() {
	step "vprof iterate"
	rm -rf "$work/iterate" "$work/iterate.pairs"
	"$here/fetch-and-build.sh" --work "$work" --configure-only iterate >/dev/null
	status=0
	in_tree iterate "$vprof" iterate --k 3 -- "$here/pair.sh" "$work/iterate.pairs" \
		>"$work/iterate.txt" 2>"$work/iterate.err" || status=$?
	cat "$work/iterate.err" "$work/iterate.txt"
	row iterate.status $status status 0 "$(holds "$status == 0")"
	runs=$(query iterate "SELECT count(*) FROM iteration")
	row iterate.runs "$runs" count "<= 6" "$(holds "$runs <= 6 && $runs > 0")"
	named=0
	for function in $wal; do
		share=$(query iterate "SELECT ifnull(max(share), 0) FROM latest_factor
			WHERE kind != 'pair' AND function = '$function'")
		query iterate "SELECT selected FROM iteration ORDER BY run DESC LIMIT 1" |
			grep -qw "$function" || continue
		row "iterate.named.$function" "$share" share - true
		named=$((named + 1))
	done
	row iterate.wal_path_named $named count ">= 1" "$(holds "$named >= 1")"
	run_rows
	waker_rows
	for view in summary variance-tree factors runs; do
		in_tree iterate "$vprof" show $view >"$work/iterate.$view.txt"
	done
	cat "$work/iterate.variance-tree.txt" "$work/iterate.factors.txt"
}

exam_pairs() {
	step "throughput in $rounds rounds"
	rm -f "$work"/pairs.*
	round=1
	while [ "$round" -le "$rounds" ]; do
		in_tree iterate "$here/pair.sh" "$work/pairs.dormant" >/dev/null
		in_tree iterate "$vprof" record -- "$here/pair.sh" "$work/pairs.recorded" >/dev/null 2>&1
		round=$((round + 1))
	done
	row pairs.plain "$(cat "$work"/pairs.* | cut -d ' ' -f 1 | median)" transactions/s - true
	for kind in dormant recorded; do
		row pairs.${kind}_to_plain "$(ratio 2 "$work/pairs.$kind")" ratio - true
	done
}

exam_plain
exam_all
exam_iterate
exam_pairs
write_results "$results"

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# kernel.sh - checks what the kernel's side says of PostgreSQL's commits.  `make exam-kernel-postgresql` runs it.
#
#	kernel.sh --vprof PROGRAM [--work DIR] [--results FILE] [--seconds N]
#
# A server with probes on the way of a commit only, pgbench beside it, fsync on; N (10) is how many hundred transactions
# a client (alone twice as many), and how many seconds for the graph:
#
#	1. alone	one client: by cause, what makes XLogFlush's time vary is I/O, and the disk ends it.  (Where others
#			want the processors, the run queue may vary more; it is a cause of its own, and not counted there.)
#	2. loops	the same with a busy loop on each CPU: time in the run queue (runnable, and the way back to the CPU
#			after a wait) grows, and is what the kernel's own accounts of the backend have: so nothing of it is
#			in another state.  The backend reads its accounts now and then and keeps them in a table.  The
#			kernel begins to count where the woken thread's CPU puts it into its queue: an idle one of a
#			virtual machine comes to that 30 us later: alone, that and no more is what we have in addition.
#	3. crowd	eight clients: a wait for another backend's flush is a wait for a backend on the way of a commit
#	4. knot		four clients that do little but commit: the knot of the wait-for graph has the disk and the backends,
#			whose waits for the disk are below XLogFlush; one flushes for all, and each waits for the processors:
#			so edges count from 3 % of the run on, where the default is a fifth
#
# Prints a table and writes it as FILE (./results/kernel-postgresql.json); exit 1 where a target is missed, 77 where the
# kernel recorder is not permitted.  Compiling takes most of the time, once.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
vprof='' work=postgresql-work results=results/kernel-postgresql.json seconds=10

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
exam_options "$@"

probes=CommitTransaction,RecordTransactionCommit,XLogFlush,LWLockAcquireOrWait,XLogWrite,issue_xlog_fsync,pg_fdatasync
loops='' private=$(mktemp -d)
# shellcheck disable=SC2034 # for server.sh
installed=$work/install/bin
# shellcheck disable=SC1091 # server.sh is checked by itself
. "$here/server.sh"

# shellcheck disable=SC2317,SC2086 # reached by the trap; lists of words
stop() {
	[ -z "$loops" ] || kill $loops 2>/dev/null || true
	[ -z "$pid" ] || { kill -INT "$pid" && wait "$pid"; } 2>/dev/null || true
	rm -rf "$private"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# checked STATUS NAME: how the recording ended
checked() {
	[ "$1" != 0 ] || return 0
	cat "$work/$2.err" >&2
	! grep -q "kernel recorder" "$work/$2.err" || exit 77
	die "recording failed with status $1"
}

# recorded NAME CLIENTS TRANSACTIONS: of each client, a server of its own; leaves NAME.causes and NAME.tuples in $work
recorded() {
	status=0
	in_tree kernel "$vprof" record --kernel=require -- "$here/bench.sh" -c "$2" -t "$3" -b tpcb-like@20 \
		-f "$work/accounts.sql@1" >"$work/$1.load" 2>"$work/$1.err" || status=$?
	checked $status "$1"
	sed -n '/^tps/p' "$work/$1.load"
	in_tree kernel "$vprof" show variance-tree --by cause --format csv >"$work/$1.causes" 2>/dev/null
	in_tree kernel "$vprof" export --format tuples >"$work/$1.tuples"
	start_server "$work/kernel/src/backend/postgres" "$work/data"
	sql "SELECT * FROM accounts ORDER BY uptime" >"$work/$1.accounts"
	sql "TRUNCATE accounts"
	stop_server
}

# graph NAME CLIENTS: of a server that runs already, $seconds of it: NAME.graph and NAME.folded
graph() {
	status=0
	in_tree kernel "$vprof" record --kernel=require --stacks -p "$pid" -- "$work/install/bin/pgbench" -n -M prepared \
		-c "$2" -T "$seconds" -f "$work/commit.sql" >"$work/$1.load" 2>"$work/$1.err" || status=$?
	[ $status = 3 ] || checked $status "$1"		# 3: the kernel's side alone
	in_tree kernel "$vprof" show wait-graph --threshold 0.03 --prefilter 0.03 >"$work/$1.graph" 2>/dev/null
	in_tree kernel "$vprof" show samples --format folded >"$work/$1.folded" 2>/dev/null
}

# cause NAME FUNCTION CAUSE COLUMN: of the first place of the function; FUNCTION '' is the whole interval
cause() {
	awk -F, -v f="$2" -v c="$3" -v column="$4" 'NR > 1 && $1 == f && $3 == c && $4 == "" { print $column; found = 1; exit }
		END { if (!found) print 0 }' "$work/$1.causes"
}

# Counts the I/O waits of transactions that have a waker, and the part of them that the disk ended, or a thread of
# the kernel that stands between (the journal's).
ended_by_disk() {
	awk '
		FNR == 1 { file++ }
		file == 1 && $1 == "thread" { kind[$2] = $3; called[$2] = $4 }
		file == 1 && $1 == "wakeup" { by[$2, ++n[$2]] = $3; at[$2, n[$2]] = $4 }
		file == 2 && $1 == "segment" && $3 != "-" && $6 == "io" {
			if (!($2 in next_one))
				next_one[$2] = 1
			while (next_one[$2] <= n[$2] && at[$2, next_one[$2]] <= $4)
				next_one[$2]++
			if (next_one[$2] > n[$2] || at[$2, next_one[$2]] > $5)
				next
			who = by[$2, next_one[$2]]
			waits++
			disk += kind[who] == "disk" || called[who] ~ /^(jbd2|kworker|xfs|btrfs)/
		}
		END { print waits + 0, waits ? disk / waits : 0 }' "$work/$1.tuples" "$work/$1.tuples"
}

# accounts NAME: of the backend, between the first and the last time that it read its accounts: seconds, those in the run
# queue, here and by the kernel, those running, here and by the kernel, and how many waits ended.  The accounts are
# cumulative: ns running, ns in the run queue.  (Time running is more in the accounts: a call that waits is a wait here,
# with what it computes before.)
accounts() {
	awk '
		FNR == 1 { file++ }
		file == 1 { split($0, f, "|"); if (!tid) { tid = f[2]; from = f[1]; ran = f[3]; delay = f[4] }
			    if (f[2] == tid) { to = f[1]; ran2 = f[3]; delay2 = f[4] } next }
		file == 2 && $1 == "wakeup" && $2 == tid { at[++n] = $4 }
		file == 3 && $1 == "segment" && $2 == tid {
			start = $4 > from * 1e9 ? $4 : from * 1e9
			end = $5 < to * 1e9 ? $5 : to * 1e9
			if (start >= end)
				next
			if ($6 == "running")
				running += end - start
			else if ($6 == "runnable")
				queue += end - start
			else {
				if (!next_one)
					next_one = 1
				while (next_one <= n && at[next_one] <= $4)
					next_one++
				while (next_one < n && at[next_one + 1] <= $5)
					next_one++
				if (next_one <= n && at[next_one] <= $5) {
					queue += end - at[next_one]
					woken++
				}
			}
		}
		END { print to - from, queue / 1e9, (delay2 - delay) / 1e9, running / 1e9, (ran2 - ran) / 1e9, woken + 0 }' \
		"$work/$1.accounts" "$work/$1.tuples" "$work/$1.tuples"
}

exam_alone() {
	step "one client"
	# Twice the loops' transactions: a quick machine does 1,000 in less than the second that is asked for below.
	recorded alone 1 $((seconds * 200))
	awk -F, 'NR > 1 && $1 == "XLogFlush" && $4 == "" {
			v[$3] = $6; all += $6
			if ($3 != "runnable" && $3 != "wakeup") rest += $6
		}
		END { print (rest ? v["io"] / rest : 0), (v["runnable"] + v["wakeup"]) / (all ? all : 1) }' \
		"$work/alone.causes" >"$work/alone.shares"
	read -r io queue <"$work/alone.shares"
	row alone.xlogflush_io "$io" "of its variances" ">= 0.5" "$(holds "$io >= 0.5")"
	row alone.xlogflush_run_queue "$queue" "of all variances" - true
	ended_by_disk alone >"$work/alone.disk"
	read -r waits part <"$work/alone.disk"
	row alone.io_waits "$waits" count ">= 100" "$(holds "$waits >= 100")"
	row alone.io_waits_that_the_disk_ended "$part" ratio ">= 0.99" "$(holds "$part >= 0.99")"
}

exam_loops() {
	step "a busy loop on each CPU"
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		taskset -c "$cpu" sh -c 'while :; do :; done' &
		loops="$loops $!"
	done
	recorded loops 1 $((seconds * 100))
	# shellcheck disable=SC2086 # a list of words
	kill $loops
	loops=
	for c in running runnable wakeup io lock; do
		before=$(cause alone '' $c 5)
		after=$(cause loops '' $c 5)
		row "loops.$c" "$(awk "BEGIN { print ($after - $before) / 1e3 }")" "us more" - true
	done
	for name in alone loops; do
		accounts $name >"$work/$name.sums"
		read -r span queue delay running ran woken <"$work/$name.sums"
		ratio=$(awk "BEGIN { print $queue / ($delay ? $delay : 1) }")
		more=$(awk "BEGIN { print ($queue - $delay) / ($woken ? $woken : 1) * 1e6 }")
		if [ $name = loops ]; then
			row loops.run_queue_to_kernels "$ratio" "of $delay s" "0.95 to 1.05" \
				"$(holds "$span > 1 && $ratio > 0.95 && $ratio < 1.05")"
		else
			row alone.run_queue_to_kernels "$ratio" "of $delay s" - true
			row alone.run_queue_not_the_kernels "$more" "us a wait" "-5 to 100" \
				"$(holds "$span > 1 && $woken > 1000 && $more > -5 && $more < 100")"
		fi
		row $name.running_to_kernels "$(awk "BEGIN { print $running / $ran }")" "of $ran s" - true
		row $name.run_queue "$(awk "BEGIN { print $queue / $span }")" "of the time" - true
	done
}

exam_crowd() {
	step "eight clients"
	recorded crowd 8 $((seconds * 30))
	# LWLockAcquireOrWait's waits: what the backend that let go was doing, or waited for itself
	flush=$(query kernel "SELECT ifnull(sum(CASE WHEN b.function IN ('pg_fdatasync', 'issue_xlog_fsync', 'XLogWrite', '(disk)')
			THEN b.mean_ns END) / sum(b.mean_ns), 0)
		FROM node w JOIN node b ON b.finding = w.finding AND b.parent = w.id
		WHERE w.finding = (SELECT id FROM finding WHERE run = (SELECT max(number) FROM run))
		AND w.kind = 'wait' AND w.function = 'LWLockAcquireOrWait' AND b.kind = 'blame'")
	row crowd.waits_for_another_flush "$flush" "of time" ">= 0.5" "$(holds "$flush >= 0.5")"
}

exam_knot() {
	step "four clients that commit"
	start_server "$work/kernel/src/backend/postgres" "$work/data"
	graph knot 4
	stop_server
	head -n 20 "$work/knot.graph"
	disk=$(in_tree kernel "$vprof" export --format tuples | awk '$1 == "thread" && $3 == "disk" { print $4; exit }')
	has=$(grep -m 1 '^knot: ' "$work/knot.graph" | grep postgres | grep -cw "${disk:-no disk}" || true)
	row knot.of_backends_and_disk "$has" "" 1 "$(holds "$has == 1")"
	paths=$(grep -c 'XLogFlush.*\[io\] ' "$work/knot.folded" || true)
	row knot.paths_of_io_in_xlogflush "$paths" count ">= 1" "$(holds "$paths >= 1")"
}

step "building"
[ -x "$work/install/bin/pgbench" ] || "$here/fetch-and-build.sh" --work "$work" plain >/dev/null
[ -x "$work/kernel/src/backend/postgres" ] ||
	"$here/fetch-and-build.sh" --work "$work" --vprof "$vprof" --functions "$probes" kernel >/dev/null
# the database, and that the server answers rightly
in_tree kernel "$here/bench.sh" -t 200 >"$work/kernel.first"
start_server "$work/kernel/src/backend/postgres" "$work/data"
sql "CREATE TABLE IF NOT EXISTS accounts (uptime float8, pid int, running_ns int8, run_queue_ns int8)" 2>/dev/null
sql "TRUNCATE accounts"
stop_server
cat >"$work/commit.sql" <<'END'
\set aid random(1, 2000000)
UPDATE pgbench_accounts SET abalance = abalance + 0 WHERE aid = :aid;
END
cat >"$work/accounts.sql" <<'END'
INSERT INTO accounts SELECT split_part(u, ' ', 1)::float8, pg_backend_pid(), split_part(s, ' ', 1)::int8, split_part(s, ' ', 2)::int8
	FROM (SELECT pg_read_file('/proc/uptime') AS u, pg_read_file('/proc/self/schedstat') AS s) x;
END
exam_alone
exam_loops
exam_crowd
exam_knot
write_results "$results"

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# bench.sh - start PostgreSQL, run a fixed number of pgbench's transactions, stop it.
#
#	bench.sh [OPTION OF pgbench ...]	e.g. bench.sh -t 1000 -M prepared
#
# POSTGRES (src/backend/postgres, as it is linked in a source tree) is the server; INSTALLED (../install)
# has pgbench, psql and initdb; DATA (../data) is the database, made when it is missing: on disk,
# fsync on, scale SCALE (20).  4 clients, 4,000 transactions each, unless options say otherwise.
# Clients come through a socket in a directory of its own, so no port is needed.  PostgreSQL refuses to
# run as root: root's servers and clients run as RUN_AS (nobody).
#
# Each of pgbench's transactions adds the same amount to an account, a teller, a branch and the
# history: where the four sums differ, an answer was wrong.  The exit status is pgbench's, or 1 when
# the server did not start or end well or the sums differ.  "cpu: SECONDS" is the processor time that all of the
# server's processes took for the transactions.
# shellcheck disable=SC2086,SC2154 # $as_user, of server.sh, is a list of words
set -eu

server=$(realpath "${POSTGRES:-src/backend/postgres}")
installed=$(realpath "${INSTALLED:-../install}")/bin
data=$(realpath -m "${DATA:-../data}")
run_as=${RUN_AS:-nobody}
here=$(dirname "$(realpath "$0")")	# a tree has a link to this

die() { echo "bench: $*" >&2; exit 1; }

give() { [ "$(id -u)" != 0 ] || chown "$run_as" "$1"; }

private=$(mktemp -d)		# the socket, what the server says
# shellcheck disable=SC1091 # server.sh is checked by itself
. "$here/server.sh"

# shellcheck disable=SC2317 # reached by the trap
stop() {
	[ -z "$pid" ] || kill -QUIT "$pid" 2>/dev/null || true
	rm -rf "$private"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# said COMMAND...: what it says is shown when it fails
said() {
	$as_user "$@" >"$private/said" 2>&1 && return
	tail -n 5 "$private/said" >&2
	die "$(basename "$1") failed"
}

# By the installed server, whichever is measured; there whole or not at all.
make_database() {
	rm -rf "$data.new"
	mkdir -p "$data.new"
	give "$data.new"
	$as_user test -x "$data.new" || die "user $run_as cannot reach $data: set DATA"
	said "$installed/initdb" -D "$data.new" -A trust -U postgres -E UTF8 --locale=C
	start_server "$installed/postgres" "$data.new"
	said "$installed/pgbench" -q -i -s "${SCALE:-20}"
	stop_server
	mv "$data.new" "$data"
}

# The sums of accounts, tellers and branches have no history before pgbench -i; it empties that of
# transactions when it begins, so they are compared as differences.
sums() {
	sql "SELECT (SELECT sum(abalance) FROM pgbench_accounts),
		(SELECT sum(tbalance) FROM pgbench_tellers),
		(SELECT sum(bbalance) FROM pgbench_branches)"
}

# cpu_s: processor time of the server, of its processes that have ended and of those that live
cpu_s() {
	for each in $pid $(cat "/proc/$pid/task/$pid/children"); do
		sed "s/^.*) /$each /" "/proc/$each/stat" 2>/dev/null || true
	done | awk -v server="$pid" -v hz="$(getconf CLK_TCK)" '
		{ ticks += $13 + $14 + ($1 == server ? $15 + $16 : 0) }
		END { printf "%.2f\n", ticks / hz }'
}

cd /			# the server's user may not be able to read the directory we are in
$as_user test -x "$server" || die "user $run_as cannot reach $server"
[ -d "$data" ] || make_database
start_server "$server" "$data"
status=0
cpu_before=$(cpu_s)
$as_user "$installed/pgbench" -c 4 -t 4000 "$@" || status=$?
sleep 0.2		# pgbench's connections have ended, and the server knows
cpu_after=$(cpu_s)
money=$(sums)
stop_server
echo "$cpu_before $cpu_after" | awk '{ printf "cpu: %.2f\n", $2 - $1 }'
echo "sums: $money"
echo "$money" | awk -F'|' '$1 != $2 || $2 != $3 { exit 1 }' || die "the sums of money differ: $money"
exit $status

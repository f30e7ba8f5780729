#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# bench.sh - start MariaDB, load it for some seconds, stop it.
#
#	bench.sh [SETTING [OPTION OF sysbench ...]]	e.g. bench.sh hot --time=60
#
#	large	(default) the TPC-C-like mix of tpcc.lua, 8 clients, 2 warehouses, a buffer pool for all of it
#	small	the same with a buffer pool of 8 MB, a sixth of the data
#	hot	its payments alone, all for one warehouse: one row that each transaction changes
#	group	sysbench's oltp_read_write by 16 clients: those that commit together share an fsync
#	single	the same by one client: an fsync for each commit
#
# MARIADBD (sql/mariadbd, as it is linked in a build directory) is the server; DATA (../data) the database, made by
# Debian's server when it is missing: on disk, the log flushed at each commit, read and written past the page cache.  It
# grows with each run.  SECONDS_LONG (20) is how long the load lasts.  Clients come through a socket in a directory of its
# own, so no port is needed.
#
# Each payment adds the same to a warehouse, a district and the history, and each new order has the district's next number:
# where these differ, an answer was wrong.  Printed are what sysbench counts, InnoDB's own counters of
# the load ("innodb NAME VALUE"), and with PERFORMANCE_SCHEMA=yes its longest waits ("wait NAME COUNT SECONDS").
# The exit status is sysbench's, or 1 when the server did not start or end well or the sums differ.
set -eu

setting=${1:-large}
[ $# -eq 0 ] || shift
here=$(dirname "$(realpath "$0")")	# a build directory has a link to this
server=$(realpath "${MARIADBD:-sql/mariadbd}")
data=$(realpath -m "${DATA:-../data}")

die() { echo "bench: $*" >&2; exit 1; }

private=$(mktemp -d)		# the socket, what the server says
# shellcheck disable=SC1091 # server.sh is checked by itself
. "$here/server.sh"

# shellcheck disable=SC2317 # reached by the trap
stop() {
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
	rm -rf "$private"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# load LUA COMMAND [OPTION...]
load() {
	lua=$1 command=$2
	shift 2
	sysbench "$lua" --db-driver=mysql --mysql-socket="$private/socket" --mysql-user=root --mysql-db=bench \
		"$@" "$command"
}

# said WHAT COMMAND...: what it says is shown when it fails
said() {
	what=$1
	shift
	"$@" >"$private/said" 2>&1 && return
	tail -n 5 "$private/said" >&2
	die "$what"
}

# By Debian's server, whichever is measured; there whole or not at all.
make_database() {
	rm -rf "$data.new"
	mkdir -p "$data.new"
	said "mariadb-install-db failed" mariadb-install-db --no-defaults --datadir="$data.new" --user="$(id -un)" \
		--auth-root-authentication-method=normal --skip-test-db
	start_server /usr/sbin/mariadbd "$data.new" --innodb-buffer-pool-size=256M --innodb-flush-log-at-trx-commit=2
	sql "CREATE DATABASE bench"
	said "sysbench cannot make its tables" load "$here/tpcc.lua" prepare
	said "sysbench cannot make its tables" load oltp_read_write prepare --tables=4 --table-size=20000
	stop_server
	mv "$data.new" "$data"
}

# Empty when all is well.
wrong_sums() {
	sql "USE bench;
		SELECT 'warehouse', w_id, w_ytd, sum(d_ytd) FROM warehouse JOIN district ON d_w_id = w_id
			GROUP BY w_id, w_ytd HAVING w_ytd != sum(d_ytd);
		SELECT 'history', w_id, w_ytd, sum(h_amount) FROM warehouse LEFT JOIN history ON h_w_id = w_id
			GROUP BY w_id, w_ytd HAVING w_ytd != ifnull(sum(h_amount), 0);
		SELECT 'orders', d_w_id, d_id, d_next_o_id, max(o_id) FROM district JOIN orders ON o_w_id = d_w_id AND
			o_d_id = d_id GROUP BY d_w_id, d_id, d_next_o_id HAVING d_next_o_id != max(o_id) + 1"
}

counters() {
	sql "SHOW GLOBAL STATUS WHERE variable_name IN ('Innodb_row_lock_time', 'Innodb_row_lock_waits',
		'Innodb_data_fsyncs', 'Innodb_buffer_pool_reads', 'Innodb_buffer_pool_wait_free', 'Innodb_pages_written',
		'Innodb_deadlocks', 'Com_commit')" | sort
}

waits() {
	sql "SELECT 'wait', event_name, count_star, round(sum_timer_wait / 1e12, 2)
		FROM performance_schema.events_waits_summary_global_by_event_name
		WHERE event_name NOT LIKE 'idle' ORDER BY sum_timer_wait DESC LIMIT 12"
}

pool=512M script=$here/tpcc.lua
case $setting in
large)	clients=8 ;;
small)	clients=8 pool=8M ;;
hot)	clients=8; set -- --mix=payment --home=1 "$@" ;;
group)	clients=16 script=oltp_read_write; set -- --tables=4 --table-size=20000 "$@" ;;
single)	clients=1 script=oltp_read_write; set -- --tables=4 --table-size=20000 "$@" ;;
*)	die "no setting '$setting': large, small, hot, group, single" ;;
esac
schema=--performance-schema=OFF
[ "${PERFORMANCE_SCHEMA:-no}" = no ] || schema='--performance-schema=ON --performance-schema-instrument=wait/%=ON'

[ -d "$data" ] || make_database
# shellcheck disable=SC2086 # words
start_server "$server" "$data" --innodb-buffer-pool-size=$pool $schema
[ "${PERFORMANCE_SCHEMA:-no}" = no ] ||
	sql "TRUNCATE performance_schema.events_waits_summary_global_by_event_name"
counters >"$private/before"
status=0
load "$script" run --threads=$clients --time="${SECONDS_LONG:-20}" --report-interval=0 "$@" || status=$?
counters >"$private/after"
paste "$private/before" "$private/after" | awk '{ print "innodb", $1, $4 - $2 }'
[ "${PERFORMANCE_SCHEMA:-no}" = no ] || waits
wrong=$(wrong_sums)
stop_server
[ -z "$wrong" ] || die "the sums differ: $wrong"
exit $status

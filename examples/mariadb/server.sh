# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154 # private: see below
#
# server.sh - starts a MariaDB server and stops it.  To be read by a script, which has set
#
#	private		a directory for the server's socket and what it says
#	die		prints a message and ends the script

pid=''			# the server's own, while it runs

# sql QUERY: columns are split by tabs
sql() { mariadb --no-defaults --socket="$private/socket" --user=root -N -B -e "$1"; }

# start_server PROGRAM DIR [OPTION...]: returns when it answers.  Flushed at each commit, data not in the page cache
start_server() {
	program=$1 dir=$2
	shift 2
	messages=$(dirname "$program")/share	# of a build directory
	[ ! -d "$messages" ] || set -- --lc-messages-dir="$messages" "$@"
	"$program" --no-defaults --user="$(id -un)" --datadir="$dir" --socket="$private/socket" --pid-file="$private/pid" \
		--skip-networking --skip-log-bin --innodb-flush-log-at-trx-commit=1 --innodb-flush-method=O_DIRECT "$@" \
		>"$private/log" 2>&1 &
	pid=$!
	tries=0
	until sql "SELECT 1" >/dev/null 2>&1; do
		tries=$((tries + 1))
		if [ $tries -gt 600 ] || ! kill -0 "$pid" 2>/dev/null; then
			tail -n 5 "$private/log" >&2
			die "$program does not start"
		fi
		sleep 0.1
	done
}

# stop_server: it writes everything out first
stop_server() {
	ended=0
	kill -TERM "$pid"
	wait "$pid" || ended=$?
	pid=''
	[ $ended -eq 0 ] || { tail -n 5 "$private/log" >&2; die "the server ended with status $ended"; }
}

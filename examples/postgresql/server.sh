# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154 # installed, private, die: see below
#
# server.sh - starts a PostgreSQL server and stops it.  To be read by a script, which has set
#
#	installed	the directory with psql
#	private		a directory for the server's socket and what it says
#	die		prints a message and ends the script
#
# PostgreSQL refuses to run as root: root's servers run as RUN_AS (nobody), which the directory is given to.

pid=''			# the server's own, while it runs
as_user=''		# what root puts before a command that must run without root's rights
if [ "$(id -u)" = 0 ]; then
	as_user="setpriv --reuid=${RUN_AS:-nobody} --regid=$(id -g "${RUN_AS:-nobody}") --clear-groups"
	chown "${RUN_AS:-nobody}" "$private"
fi
export PGHOST="$private" PGUSER=postgres PGDATABASE=postgres

# sql QUERY: as psql has it
sql() { $as_user "$installed/psql" -X -q -A -t -c "$1"; }

# start_server PROGRAM DIR: returns when it answers.  Its directory is /, ours may be out of its user's reach
start_server() {
	# shellcheck disable=SC2086 # $as_user is a list of words
	(cd / && exec $as_user "$1" -D "$2" -k "$private" -c listen_addresses= -c fsync=on -c shared_buffers=256MB \
		-c max_wal_size=4GB -c logging_collector=off) >"$private/log" 2>&1 &
	pid=$!
	tries=0
	until sql "SELECT 1" >/dev/null 2>&1; do
		tries=$((tries + 1))
		if [ $tries -gt 300 ] || ! kill -0 "$pid" 2>/dev/null; then
			tail -n 5 "$private/log" >&2
			die "$1 does not start"
		fi
		sleep 0.1
	done
}

# stop_server: it writes everything out first
stop_server() {
	ended=0
	kill -INT "$pid"
	wait "$pid" || ended=$?
	pid=''
	[ $ended -eq 0 ] || die "the server ended with status $ended"
}

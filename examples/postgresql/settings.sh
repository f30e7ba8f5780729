#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# settings.sh SETTING=VALUE: a server of the installed package with that setting, four clients for a while, and its end.
#
#	vprof record --requests -o on.1 -- ./settings.sh synchronous_commit=on
#
# It makes its database in ./settings-work the first time.  $PG_BIN: where the server's programs are; $SECONDS_EACH: how long (5).
set -eu
here=$PWD/settings-work bin=${PG_BIN:-/usr/lib/postgresql/15/bin}

# PostgreSQL does not run as root.
as_user() {
	if [ "$(id -u)" = 0 ]; then setpriv --reuid nobody --regid nogroup --clear-groups "$@"; else "$@"; fi
}

start() {
	as_user "$bin/postgres" -D "$here/data" -k "$here/socket" -c listen_addresses= -c "$1" >"$here/log" 2>&1 &
	shell=$!
	until as_user "$bin/pg_isready" -q -h "$here/socket" -d postgres; do sleep 0.1; done
}

stop() {
	kill -INT "$(as_user head -n 1 "$here/data/postmaster.pid")"
	wait $shell
}

if [ ! -d "$here/data" ]; then
	mkdir -p "$here/data" "$here/socket"
	[ "$(id -u)" != 0 ] || chown nobody "$here/data" "$here/socket"
	as_user "$bin/initdb" -D "$here/data" -A trust >/dev/null
	start "$1"
	as_user "$bin/pgbench" -i -q -s 10 -h "$here/socket" postgres 2>/dev/null
	stop
fi
start "$1"
as_user "$bin/pgbench" -n -M prepared -c 4 -j 2 -T "${SECONDS_EACH:-5}" -h "$here/socket" postgres 2>&1 | grep -E 'tps|latency average'
stop

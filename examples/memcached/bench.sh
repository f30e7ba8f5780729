#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# bench.sh - start memcached on a free loopback port, load it, stop it.
#
#	bench.sh [OPTION OF load ...]		e.g. bench.sh --requests 100000 --depth 16
#
# MEMCACHED (./memcached) is the server, LOAD (../load, beside the tree) the client, both as
# fetch-and-build.sh leaves them; SERVER_OPTIONS (-t 4) goes to the server.
# The exit status is the client's, or 1 when the server did not start or did not end well.
set -eu

server=${MEMCACHED:-./memcached} load=${LOAD:-../load}
ports=$(mktemp) || exit 1
pid=''

# shellcheck disable=SC2317 # reached by the trap
stop() {
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
	rm -f "$ports"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

rm -f "$ports"		# the server creates it when it listens
# shellcheck disable=SC2046,SC2086 # lists of words
MEMCACHED_PORT_FILENAME=$ports "$server" -l 127.0.0.1 -p -1 -U 0 ${SERVER_OPTIONS:--t 4} \
	$([ "$(id -u)" != 0 ] || echo -u root) &
pid=$!

tries=0
until [ -s "$ports" ]; do
	tries=$((tries + 1))
	if [ $tries -gt 200 ] || ! kill -0 "$pid" 2>/dev/null; then
		echo "bench: $server does not listen" >&2
		exit 1
	fi
	sleep 0.05
done
port=$(sed -n 's/^TCP INET: //p' "$ports")

status=0
"$load" --port "$port" "$@" || status=$?
# user and system time of the server, in clock ticks; ")" ends its name
awk '{ sub(/.*\) /, ""); printf "%-20s %d\n", "server_cpu_ticks", $12 + $13 }' "/proc/$pid/stat" || true

kill -TERM "$pid"
ended=0
wait "$pid" || ended=$?
pid=''
if [ $ended -ne 0 ]; then
	echo "bench: $server ended with status $ended" >&2
	[ $status -ne 0 ] || status=1
fi
exit $status

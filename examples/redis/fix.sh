#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# fix.sh TREE CLIENTS: one load on the server of a tree: four connections that write and read, and one that lists keys by a pattern
# twenty times a second.  The programs of the load are those of the tree CLIENTS.
set -eu
server_of=$1 clients=$2/src port=${PORT:-7391}
"$server_of/src/redis-server" --port "$port" --save '' --appendonly no --daemonize no >/dev/null 2>&1 &
server=$!
until "$clients/redis-cli" -p "$port" ping >/dev/null 2>&1; do sleep 0.1; done
for i in $(seq 200); do
	echo "SET user:$i:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa x"
done | "$clients/redis-cli" -p "$port" >/dev/null
(while "$clients/redis-cli" -p "$port" KEYS 'user:*a*a*a*b' >/dev/null 2>&1; do sleep 0.05; done) &
"$clients/redis-benchmark" -p "$port" -t set,get -n "${REQUESTS:-60000}" -c 4 -q | tr '\r' '\n' | grep 'requests per'
kill $server
wait $server || true

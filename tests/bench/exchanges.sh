#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make bench-exchanges: what recording a request takes (vprof look prints it), beside the least possible programs at the same
# tracepoints, in the same seconds (exchange_floor.c):
#
#	redis		eight connections that wait for each answer
#	redis, one	one connection
#	pgbench		six clients, select-only
#	pgbench, slow	the same, 400 transactions a second: what the programs use is no longer in the processor's caches
#
# ROUNDS looks of 3 s each (default 5), medians.  Both figures are the kernel's own statistics, which add to each run, and those of all
# sockets of the machine: a load on it doubles the runs.  At most 1 us a request is wanted.
# Prints a table and writes results/exchanges.json; exit 1 where it is more, or a look fails; 77 where the kernel
# recorder is not permitted, or without python3.  Without redis-server, or PostgreSQL, the other one.
set -u
top=$(cd "${srcdir:-.}" && pwd)
. "$top/tests/exam/table.sh"
vprof=$PWD/vprof
floor=$PWD/tests/bench/exchange_floor
results=${RESULTS:-$PWD/results}
rounds=${ROUNDS:-5}
work=$(mktemp -d "$PWD/bench-exchanges.XXXXXX") || exit 99
server=
loading=
end()
{
	# shellcheck disable=SC2086 # none or one
	kill $loading 2>/dev/null
	[ -z "$server" ] || { kill -INT "$server" && wait "$server"; } 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
trap 'exit 99' INT TERM
unset VPROF_CONF
export VPROF_DIR="$work/vprof.data"
cd "$work" || exit 99
chmod 755 .
command -v python3 >/dev/null || exit 77
"$floor" 0.1 >/dev/null || exit $?

# measure NAME COMMAND: the load, which goes on until it is killed
measure()
{
	name=$1
	shift
	"$@" >load.log 2>&1 &
	loading=$!
	sleep 1
	rm -f costs floors rates parts
	for _ in $(seq "$rounds"); do
		"$floor" 3 >floor.txt &
		counting=$!
		"$vprof" look -p "$server" --duration 3s --samples 0 --format json >look.json 2>look.log || { cat look.log; exit 1; }
		wait $counting
		python3 -c 'import json; l = json.load(open("look.json"))["look"]; print(l["cost_ns"] or 0, l["exchanges"] / l["duration_ns"] * 1e9)' >one
		read -r cost rate <one
		echo "$cost" >>costs
		echo "$rate" >>rates
		awk -v requests="$rate" '{ sum += $4 } END { print sum / 3 / requests }' floor.txt >>floors
		awk '{ printf "%s: %d runs, %.0f ns empty, %.0f with the time; ", $1, $2, $3 / $2, $4 / $2 }' floor.txt >parts
	done
	kill $loading
	wait $loading 2>/dev/null
	loading=
	cost=$(median <costs)
	least=$(median <floors)
	printf '%s: %.0f requests/s; %s\n' "$name" "$(median <rates)" "$(cat parts)"
	row "$name: a request" "$cost" ns 1000 "$cost <= 1000"
	row "$name: the floor" "$least" ns - 1
}

if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	redis-server --port 7391 --save '' --appendonly no >redis.log 2>&1 &
	server=$!
	until redis-cli -p 7391 ping >/dev/null 2>&1 || ! kill -0 $server; do sleep 0.1; done
	measure redis redis-benchmark -p 7391 -c 8 -t get -n 1000000000
	measure "redis, one" redis-benchmark -p 7391 -c 1 -t get -n 1000000000
	kill $server
	wait $server 2>/dev/null
	server=
fi

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
if [ -n "$bin" ] && command -v pgbench >/dev/null; then
	as=
	[ "$(id -u)" != 0 ] || as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	mkdir data socket
	[ -z "$as" ] || chown 65534:65534 data socket
	$as "$bin/initdb" -A trust -U bench -D data >initdb.log 2>&1 || { cat initdb.log; exit 99; }
	$as "$bin/postgres" -D data -k "$work/socket" -c listen_addresses= -c fsync=off >postgres.log 2>&1 &
	server=$!
	export PGHOST="$work/socket" PGUSER=bench PGDATABASE=postgres
	try=0
	until pgbench -i -q -s 5 >/dev/null 2>&1 || [ $try = 50 ]; do sleep 0.2; try=$((try + 1)); done
	measure pgbench pgbench -n -S -c 6 -T 100000
	measure "pgbench, slow" pgbench -n -S -c 6 --rate=400 -T 100000
fi
[ -n "$rows" ] || { echo "neither redis-server nor PostgreSQL is here: apt-get install redis-server postgresql"; exit 77; }
write_results "$results/exchanges.json"
exit $bad

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# bench.sh - start Redis on a unix socket, load it with commands of different cost, stop it.
#
#	bench.sh [--seconds N] [--without LOAD] [--against SERVER] [--io-threads N]
#
# The server writes an append-only file, synced once a second, into a directory that is made here
# and removed at the end.  All loads (set get lrange zadd zrange mset sort) run at once for N (10)
# seconds: redis-benchmark sends as fast as it is answered, over 11 connections; sort comes 20 times
# a second over one more.  So nearly all commands are cheap, and few are dear.
#
# REDIS_SERVER (./src/redis-server) is the server; redis-benchmark and redis-cli come from
# REDIS_TOOLS (../plain/src if there is one, else the server's directory).  Prints one name and one
# value a line; cmdstat_* is what Redis itself says of its commands (INFO commandstats): calls,
# and microseconds a call.  --against: the same load on another server as well, before
# (before_*) and after (after_*), unrecorded; so that both have the machine as it was just then.
# --io-threads: that many threads write the replies (1: the main thread alone).
# The exit status is 0 if every load was answered and the server ended well.
set -eu

server=$(realpath "${REDIS_SERVER:-./src/redis-server}")
tools=${REDIS_TOOLS:-../plain/src}
[ -x "$tools/redis-benchmark" ] || tools=$(dirname "$server")
tools=$(realpath "$tools")
seconds=10 without=none against='' io_threads=1

usage() { sed -n '6s/^#	\{0,1\}//p' "$0" >&2; exit 2; }

while [ $# -gt 0 ]; do
	[ $# -ge 2 ] || usage
	case $1 in
	--seconds)	seconds=$2 ;;
	--without)	without=$2 ;;
	--against)	against=$(realpath "$2") ;;
	--io-threads)	io_threads=$2 ;;
	*)		usage ;;
	esac
	shift 2
done

data=$(mktemp -d ./bench.XXXXXX) || exit 1
data=$(cd "$data" && pwd)
pid='' loads=''

# shellcheck disable=SC2317 # reached by the trap
stop() {
	# shellcheck disable=SC2086 # a list of processes
	[ -z "$loads" ] || kill $loads 2>/dev/null || true
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
	wait
	rm -rf "$data"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die() { echo "bench: $*" >&2; sed 's/^/bench: redis: /' "$data/log" >&2 || true; exit 1; }

# The path of a socket has to be short: it is given relative to the directory.
cli() { (cd "$data" && env -u LD_PRELOAD "$tools/redis-cli" -s sock "$@"); }

# start_server COMMAND...: the command ends with the server
start_server() {
	(cd "$data" && exec "$@" --port 0 --unixsocket sock --dir "$data" --logfile log \
		--io-threads "$io_threads" --save '' --appendonly yes --appendfsync everysec --daemonize no) &
	pid=$!
	tries=0
	until [ "$(cli ping 2>/dev/null)" = PONG ]; do
		tries=$((tries + 1))
		if [ $tries -gt 200 ] || ! kill -0 "$pid" 2>/dev/null; then
			die "$server does not answer"
		fi
		sleep 0.05
	done
}

# A list of 600 for lrange, one of 20,000 for sort, in a fixed disorder.
fill() {
	awk 'BEGIN {
		printf "RPUSH list"
		for (i = 0; i < 600; i++)
			printf " element:%d", i
		for (i = 0; i < 20000; i++) {
			x = (x * 7919 + 12345) % 1000003
			printf "%s %d", (i % 1000 ? "" : "\nRPUSH numbers"), x
		}
		print ""
	}' | cli >/dev/null
	filled=$(info stats total_commands_processed)
	cli config resetstat >/dev/null
}

# info SECTION NAME: one value of Redis' own statistics
info() { cli info "$1" | tr -d '\r' | sed -n "s/^$2://p"; }

# load NAME PROGRAM ARGUMENT...: in the background, until the time is over
load() {
	name=$1 program=$2
	shift 2
	[ "$name" != "$without" ] || return 0
	(cd "$data" && exec env -u LD_PRELOAD timeout "$seconds" "$tools/$program" -s sock "$@" \
		>"$name.out" 2>&1) &
	loads="$loads $!"
}

# bench NAME CONNECTIONS COMMAND...
bench() {
	name=$1 connections=$2
	shift 2
	load "$name" redis-benchmark -c "$connections" -n 1000000000 -r 100000 -q "$@"
}

load_all() {
	bench set 4 SET key:__rand_int__ 0123456789abcdef0123456789abcdef
	bench get 3 GET key:__rand_int__
	bench lrange 1 LRANGE list 0 599
	bench zadd 1 ZADD board __rand_int__ member:__rand_int__
	bench zrange 1 ZRANGE board 0 99 WITHSCORES
	bench mset 1 MSET a:__rand_int__ 1 b:__rand_int__ 2 c:__rand_int__ 3 d:__rand_int__ 4 \
		e:__rand_int__ 5 f:__rand_int__ 6 g:__rand_int__ 7 h:__rand_int__ 8
	load sort redis-cli -r -1 -i 0.05 SORT numbers LIMIT 0 10
	for load in $loads; do
		ended=0
		wait "$load" || ended=$?
		# 124: timeout ended it, as it should
		[ $ended -eq 124 ] || die "a load ended with status $ended: $(tail -n 3 "$data"/*.out)"
	done
	loads=''
}

# report PREFIX
report() {
	commands=$(info stats total_commands_processed)
	printf '%-32s %d\n' "$1commands" "$commands" "$1commands_and_setup" $((commands + filled)) \
		"$1commands_per_second" $((commands / seconds)) \
		"$1aof_delayed_fsync" "$(info persistence aof_delayed_fsync)"
	cli info commandstats | tr -d '\r' |
		sed -n 's/^\(cmdstat_[a-z]*\):calls=\([0-9]*\),usec=\([0-9]*\),.*/\1 \2 \3/p' |
		awk -v p="$1" '$2 > 9 { printf "%-32s %d %.1f\n", p $1, $2, $3 / $2 }'
	# user and system time of the server, in clock ticks; ")" ends its name
	awk -v p="$1" '{ sub(/.*\) /, ""); printf "%-32s %d\n", p "server_cpu_ticks", $12 + $13 }' \
		"/proc/$pid/stat"
}

stop_server() {
	kill -TERM "$pid"
	ended=0
	wait "$pid" || ended=$?
	pid=''
	[ $ended -eq 0 ] || die "$server ended with status $ended"
	rm -rf "${data:?}"/*
}

# run PREFIX COMMAND...
run() {
	prefix=$1
	shift
	start_server "$@"
	fill
	load_all
	report "$prefix"
	stop_server
}

[ -z "$against" ] || run before_ env -u LD_PRELOAD "$against"
run '' "$server"
[ -z "$against" ] || run after_ env -u LD_PRELOAD "$against"

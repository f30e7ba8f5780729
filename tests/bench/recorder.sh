#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make bench-recorder: what `vprof record --kernel` costs the programs that it records, in turns with nothing,
# `perf record -e sched:*` and a bpftrace script that keeps as much (where they are installed).
#
#	ping-pong	two threads on one CPU wake each other: CPU time a round trip
#	messaging	perf bench sched messaging: CPU time
#	pgbench		PostgreSQL with fsync=on, recorded by -p: transactions a second, and the server's CPU time
#			for one
#
# Prints a table and writes results/recorder.json; exit 1 where it is dearer than perf, loses records, or costs a
# server more than 2 % of its throughput; 77 where the kernel recorder is not permitted.  ROUNDS (default 7) in turns.
set -u
top=$(cd "${srcdir:-.}" && pwd)
. "$top/tests/exam/table.sh"
vprof=$PWD/vprof
results=${RESULTS:-$PWD/results}
rounds=${ROUNDS:-7}
work=$(mktemp -d "$PWD/bench-recorder.XXXXXX") || exit 99
postmaster=
end()
{
	[ -n "$postmaster" ] && kill -INT "$postmaster" && wait "$postmaster" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
trap 'exit 99' INT TERM
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS MAKEFLAGS MAKELEVEL MFLAGS
cd "$work" || exit 99

"$vprof" record --kernel=require -- true >log 2>&1
if [ $? = 4 ] && grep -q "kernel recorder" log; then
	cat log
	exit 77
fi
script='tracepoint:sched:sched_switch { @off[args->prev_pid] = nsecs; $s = @off[args->next_pid];
	if ($s) { @ns[args->next_pid] = sum(nsecs - $s); } }
	tracepoint:sched:sched_waking { @woken[args->pid] = nsecs; }'
tools="plain vprof"
command -v perf >/dev/null && perf record -q -e 'sched:*' -o perf.data -- true 2>/dev/null && tools="$tools perf"
command -v bpftrace >/dev/null && bpftrace -e 'BEGIN { exit(); }' >/dev/null 2>&1 && tools="$tools bpftrace"

# under TOOL PID COMMAND: the whole machine for perf where PID is not 0, as vprof -p is for a server
under()
{
	tool=$1
	pid=$2
	shift 2
	case $tool in
	plain) "$@" ;;
	vprof)
		rm -rf vprof.data
		if [ "$pid" = 0 ]; then
			"$vprof" record --kernel=require -- "$@" 2>log
		else
			"$vprof" record -p "$pid" -- "$@" 2>log
		fi
		grep -q "lost" log && cat log >&2
		lost=$("$vprof" sql --format csv 'SELECT lost_records FROM run' | tail -1)
		echo "${lost:-1000000}" >>lost ;;
	perf)
		if [ "$pid" = 0 ]; then
			perf record -q -e 'sched:*' -o perf.data -- "$@" 2>/dev/null
		else
			perf record -q -a -e 'sched:*' -o perf.data -- "$@" 2>/dev/null
		fi ;;
	bpftrace) bpftrace -q -e "$script" -o bpftrace.txt -c "$(command -v "$1") $(shift && echo "$*")" 2>/dev/null ;;
	esac
}

# turns LOAD PID COMMAND: its figure is the last word of what it prints
turns()
{
	load=$1
	pid=$2
	shift 2
	for round in $(seq "$rounds"); do
		for tool in $tools; do
			under "$tool" "$pid" "$@" 2>/dev/null | awk 'NF { f = $NF } END { print f }' >>"$load.$tool"
		done
	done
	: "$round"
}

# ratio LOAD TOOL [INVERSE]: medians over plain; INVERSE where more is better
ratio()
{
	a=$(median <"$1.$2")
	b=$(median <"$1.plain")
	awk "BEGIN { printf \"%.3f\", ${3:+1 / }($a / $b) }"
}

# report LOAD [INVERSE]
report()
{
	own=$(ratio "$1" vprof "${2:-}")
	against=1000
	for tool in $tools; do
		case $tool in
		plain | vprof) continue ;;
		perf) against=$(ratio "$1" perf "${2:-}") ;;
		esac
		row "$1: $tool over plain" "$(ratio "$1" $tool "${2:-}")" ratio 0 1
	done
	row "$1: vprof over plain, cheaper than perf" "$own" ratio "$against" "$own < $against"
}

gcc -Wall -Wextra -Werror -O1 -g -D_GNU_SOURCE "$top/tests/bench/ping_pong.c" -o ping_pong -lpthread || exit 99
turns ping-pong 0 ./ping_pong 100000
report ping-pong

if command -v perf >/dev/null; then
	cat >messaging <<'END'
perf bench sched messaging -g 4 -l 300 >/dev/null 2>&1
times >times.txt
awk '{ for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); s += t[1] * 60 + t[2] } } END { print s }' times.txt
END
	turns messaging 0 sh messaging
	report messaging
fi

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
if [ -n "$bin" ] && command -v pgbench >/dev/null; then
	as=
	[ "$(id -u)" = 0 ] && as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	chmod 755 "$work" && mkdir data socket && { [ -z "$as" ] || chown 65534:65534 data socket; }
	$as "$bin/initdb" -A trust -U bench -D data >initdb.log 2>&1 || { cat initdb.log; exit 99; }
	$as "$bin/postgres" -D data -k "$work/socket" -c listen_addresses= -c fsync=on >postgres.log 2>&1 &
	postmaster=$!
	export PGHOST="$work/socket" PGUSER=bench PGDATABASE=postgres
	for try in 1 2 3 4 5 6 7 8 9 10; do
		pgbench -i -q -s 2 >/dev/null 2>&1 && break
		sleep 1
	done
	# Transactions a second, and what the server's processes for them took of the CPU, ms a transaction: the
	# postmaster's stat has those that it has waited for.
	cat >transactions <<'END'
used() { awk '{ print $16 + $17 }' "/proc/$1/stat"; }
before=$(used "$1")
pgbench -n -c 4 -T 3 >pgbench.txt 2>/dev/null
sleep 0.2
awk -v ticks=$(($(used "$1") - before)) -v hz="$(getconf CLK_TCK)" \
	'/^number of transactions actually/ { n = $NF } END { print 1000 * ticks / hz / n }' pgbench.txt >>"cpu.$2"
awk '/^tps/ { print $3 }' pgbench.txt
END
	: "$try"
	for round in $(seq "$rounds"); do
		for tool in $tools; do
			under "$tool" "$postmaster" sh transactions "$postmaster" "$tool" 2>/dev/null |
				awk 'NF { f = $NF } END { print f }' >>"pgbench.$tool"
		done
	done
	for tool in $tools; do
		mv "cpu.$tool" "pgbench, server CPU.$tool"
	done
	report "pgbench, server CPU"
	report pgbench inverse
	own=$(ratio pgbench vprof inverse)
	row "pgbench: throughput lost" "$(awk "BEGIN { printf \"%.1f\", 100 * ($own - 1) }")" "%" 2 "$own <= 1.02"
fi
row "records lost, of all runs" "$(awk '{ n += $1 } END { print n + 0 }' lost)" records 0 \
	"$(awk '{ n += $1 } END { print n + 0 }' lost) == 0"

write_results "$results/recorder.json"
exit $bad

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make bench-recorder: what `vprof record --kernel` costs the programs that it records, in turns with nothing,
# `perf record -e sched:*` and a bpftrace script that keeps as much (where they are installed).
#
#	ping-pong	two threads on one CPU wake each other: CPU time a round trip
#	messaging	perf bench sched messaging: CPU time
#	pgbench		PostgreSQL with fsync=on, recorded by -p without its clients: transactions a second, and the server's
#			CPU time and the machine's for one; the first second, in which a recording learns the stacks of new
#			processes, apart.  20 branches, for its manual asks for as many as clients at least: else it is their waits for each
#			other's row that is measured
#	memcached	the same: requests a second over loopback TCP, four connections that wait for each answer
#	memaslap	the same, by libmemcached's load (memcaslap of libmemcached-tools), as that does it unasked: 128 connections, nine gets to a set
#
# vprof without and with stacks; perf's counterpart of those would be -g.  Each run of a tool stands between two of
# nothing: its figure is over their mean, and the table shows the median of all.  Tools come in another order each round.
# A run of a server is two or three seconds, so that what the machine does meanwhile is the same for neighbours; the others'
# tools have a run in every OTHERS-th round (default 2) there.
# In turns only: vprof with requests, and a whole look, which has stacks and requests.
# That resolves throughput to some five per cent.  So one load that goes on measures the loss, under a recording
# whose programs are attached and detached in turns of a fifth of a second (recorder_turns.c), TURNS of them (default 600); in
# the same way what perf costs, and what programs cost that do next to nothing at the same tracepoints (floor.h): no recorder
# that is called for each switch and waking takes less.
# The table has the 95 % confidence interval of the median, whatever the values' distribution.
# Up to ROUNDS (default 15; 200 of a server) of a load, but no new one after SECONDS_EACH (90) unless there are fewer than
# three: fifty minutes in all.
# Turns also decide whether vprof is cheaper than perf on a server: in runs one after the other, memcached alone serves half
# as many again in one as in the next.
# Prints a table and writes results/recorder.json; exit 1 where it is dearer than perf, loses records or stacks (and says in which
# run), or costs a server more than 2 % of its throughput, 5 % with stacks; 77 where the kernel recorder is not permitted.
# ONLY=ping-pong,messaging,pgbench,memcached,memaslap: these.
set -u
top=$(cd "${srcdir:-.}" && pwd)
. "$top/tests/exam/table.sh"
vprof=$PWD/vprof
load_program=$PWD/examples/memcached/load
results=${RESULTS:-$PWD/results}
rounds=${ROUNDS:-15}
rounds_of_server=${ROUNDS:-200}
others=${OTHERS:-2}
seconds=${SECONDS_EACH:-90}
turns=${TURNS:-600}
recorder_turns=$PWD/tests/bench/recorder_turns
work=$(mktemp -d "$PWD/bench-recorder.XXXXXX") || exit 99
server=
loading=
perf=
end()
{
	[ -n "$perf" ] && kill "$perf" 2>/dev/null
	[ -s attached ] && kill "$(cat attached)"
	[ -n "$loading" ] && kill "$loading" 2>/dev/null
	[ -n "$server" ] && kill -INT "$server" && wait "$server" 2>/dev/null
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
tools="vprof stacks"
command -v perf >/dev/null && perf record -q -e 'sched:*' -o perf.data -- true 2>/dev/null && tools="$tools perf"
command -v bpftrace >/dev/null && bpftrace -e 'BEGIN { exit(); }' >/dev/null 2>&1 && tools="$tools bpftrace"

# beside PID HOW COMMAND: the server is recorded, its clients are not: they would be on another machine, and what a
# recording's own command starts is recorded, too.  In a recording's first second each packet is looked at.
beside()
{
	pid=$1
	how=$2
	shift 2
	rm -f attached
	# shellcheck disable=SC2086 # options
	"$vprof" record -p "$pid" $how -- sh -c 'echo $$ >attached; exec sleep 1000' >/dev/null 2>log &
	recorder=$!
	until [ -s attached ] || ! kill -0 $recorder; do
		sleep 0.05
	done
	sleep 1.2
	"$@"
	kill "$(cat attached)"
	wait $recorder
	rm -f attached
}

# under TOOL PID COMMAND: the whole machine for perf where PID is not 0, as vprof -p is for a server
under()
{
	tool=$1
	pid=$2
	shift 2
	case $tool in
	plain) "$@" ;;
	vprof | stacks)
		rm -rf vprof.data
		how=
		[ "$tool" = vprof ] || how=--stacks
		if [ "$pid" = 0 ]; then
			# shellcheck disable=SC2086 # options
			"$vprof" record --kernel=require $how -- "$@" 2>log
		else
			beside "$pid" "$how" "$@"
		fi
		lost=$("$vprof" sql --format csv 'SELECT lost_records FROM run' | tail -1)
		stacks=$(sed -n 's/.* recorder lost \([0-9]*\) of [0-9]* stacks.*/\1/p' log)
		echo "${lost:-1000000} ${stacks:-0} $turn_of" >>"lost.$tool" ;;
	perf)
		if [ "$pid" = 0 ]; then
			perf record -q -e 'sched:*' -o perf.data -- "$@" 2>/dev/null
		else
			perf record -q -a -e 'sched:*' -o perf.data -- "$@" 2>/dev/null
		fi ;;
	bpftrace) bpftrace -q -e "$script" -o bpftrace.txt -c "$(command -v "$1") $(shift && echo "$*")" 2>/dev/null ;;
	esac
}

# once LOAD PID COMMAND: its figure is the last word of what it prints; TOOL and TURN are for it
once()
{
	into=$1.$TOOL
	turn_of="run $TURN of $1"
	pid=$2
	shift 2
	under "$TOOL" "$pid" "$@" 2>/dev/null | awk -v turn="$TURN" 'NF { f = $NF } END { print turn, f }' >>"$into"
}

# tools_of ROUND IS_SERVER: the tools that have a turn in it, one after the other
tools_of()
{
	echo "$tools" | tr ' ' '\n' | awk -v n="$1" -v every="$(($2 ? others : 1))" '
		n % every == 0 || NR <= 2 { t[cnt++] = $1 }
		END { for (i = 0; i < cnt; i++) print t[(i + n) % cnt] }'
}

# in_turns LOAD PID COMMAND: nothing has a turn before each tool's and after the last one.  A server gets most of the time
in_turns()
{
	until=$(($(date +%s) + seconds))
	most=$(($2 ? rounds_of_server : rounds))
	export TOOL TURN
	TURN=0
	round=0
	while [ $round -lt 3 ] || { [ $round -lt "$most" ] && [ "$(date +%s)" -lt $until ]; }; do
		for next in $(tools_of $round "$2"); do
			TURN=$((TURN + 1))
			TOOL=plain
			once "$@"
			TOOL=$next
			once "$@"
		done
		round=$((round + 1))
	done
	TURN=$((TURN + 1))
	TOOL=plain
	once "$@"
}

# ratios LOAD TOOL [INVERSE]: over plain, turn by turn; INVERSE where more is better
ratios()
{
	awk -v inverse="${3:-}" '
		FILENAME != tool { plain[$1] = $2; next }
		$2 > 0 { base = (plain[$1] + plain[$1 + 1]) / 2; print inverse != "" ? base / $2 : $2 / base }' \
		tool="$1.$2" "$1.plain" "$1.$2"
}

ratio() { ratios "$@" | median; }

# lost LOAD TOOL: % of the throughput that the median of all turns is short of, from where to where that is with 95 %, turns
lost()
{
	ratios "$1" "$2" inverse | awk '{ print 100 * (1 - 1 / $1) }' | sort -g |
		awk -v OFMT=%.1f -f "$top/tests/bench/median_ci95.awk"
}

# report LOAD: what each tool took, over plain
report()
{
	for tool in $tools; do
		row "$1: $tool over plain" "$(ratio "$1" "$tool")" ratio 0 1
	done
}

cheaper_than_perf()
{
	case $tools in
	*perf*) against=$(ratio "$1" perf) ;;
	*) return ;;
	esac
	own=$(ratio "$1" vprof)
	row "$1: vprof over plain, cheaper than perf" "$own" ratio "$against" "$own < $against"
}

wanted()
{
	case ",${ONLY:-$1}," in
	*",$1,"*) ;;
	*) return 1 ;;
	esac
}

# load_for_turns LOAD WHAT TURNS [PORT]: LOAD.turns.sh loads the server meanwhile, and has a log if there is no PORT to ask
load_for_turns()
{
	rm -f turns.log.*
	sh "$1.turns.sh" >/dev/null 2>&1 &
	loading=$!
	sleep 1
	# shellcheck disable=SC2086 # a port, or none
	"$recorder_turns" "$server" "$2" "$3" ${4:-} >turns.txt 2>turns.err || { cat turns.err; exit 99; }
	kill $loading
	wait $loading 2>/dev/null
	loading=
}

# lost_in_turns NAME WHAT MOST: of the turns that WHAT was attached in; MOST: "" where nothing is asked of it
lost_in_turns()
{
	# shellcheck disable=SC2046 # four words
	set -- "$1" "$2" "$3" $(awk -v what="$2" -f "$top/tests/bench/turns.awk" turns.txt $(ls turns.log.* 2>/dev/null) |
		sort -g | awk -v OFMT=%.1f -f "$top/tests/bench/median_ci95.awk")
	row "$1, at least" "$5" "%" 0 1
	row "$1, at most" "$6" "%" 0 1
	row "$1, of $7 turns" "$4" "%" "${3:-0}" "${3:+$4 <= $3 && }1"
	lost_now=$4
}

# perf_by_turns LOAD VPROFS [PORT]: what perf costs in the same way, which has to be more than VPROFS.  A third of the turns: it
# writes some ten megabytes a second.
perf_by_turns()
{
	mkfifo perf.control perf.answer || exit 99
	perf record -q -a -e 'sched:*' -o perf.data --control fifo:perf.control,perf.answer -D -1 -- sleep 100000 2>perf.err &
	perf=$!
	load_for_turns "$1" perf $((turns / 3)) "${3:-}"
	wait $perf 2>/dev/null
	perf=
	rm -f perf.control perf.answer perf.data
	lost_in_turns "$1: throughput lost, perf" on ""
	row "$1: throughput lost, vprof, less than perf" "$2" "%" "$lost_now" "$2 < $lost_now"
}

# by_turns LOAD [PORT]
by_turns()
{
	for tool in requests look stacks vprof; do
		load_for_turns "$1" $tool "$turns" "${2:-}"
		awk -v of="$1" '$1 == "lost" { print $2, $3, "turns of " of }' turns.err >>"lost.$tool"
		case $tool in
		vprof) lost_in_turns "$1: throughput lost, vprof" on 2 ;;
		stacks) lost_in_turns "$1: throughput lost, stacks" on 5 ;;
		*) lost_in_turns "$1: throughput lost, $tool" on "" ;;
		esac
	done
	case $tools in
	*perf*) perf_by_turns "$1" "$lost_now" "${2:-}" ;;
	esac
	load_for_turns "$1" floor $((3 * turns)) "${2:-}"
	lost_in_turns "$1: throughput lost, programs that return at once" empty ""
	lost_in_turns "$1: throughput lost, programs that ask for the time" clock ""
	lost_in_turns "$1: throughput lost, programs that ask for it of the server's threads" own ""
}

# served LOAD [PORT]: LOAD.sh loads the server, and prints how many it served, how many a second and perhaps how many in the first.
# ms of CPU a piece go to files, the server's and all that the machine had, of which the recorder's is a part; the postmaster's
# stat has those of its children that it has waited for.
cat >measured.sh <<'END'
used() { awk '{ sub(/.*\) /, ""); print $12 + $13 + $14 + $15 }' "/proc/$1/stat"; }
busy() { awk '$1 == "cpu" { print $2 + $3 + $4 + $7 + $8 }' /proc/stat; }
each() { awk -v ticks="$1" -v hz="$(getconf CLK_TCK)" -v turn="$TURN" '{ print turn, 1000 * ticks / hz / $1 }' served.txt; }
before=$(used "$1") busy=$(busy)
sh "$2.sh" >served.txt
each $(($(busy) - busy)) >>"$2, all CPU.$TOOL"
sleep 0.2
each $(($(used "$1") - before)) >>"$2, server CPU.$TOOL"
awk -v turn="$TURN" 'NF > 2 { print turn, $3 }' served.txt >>"$2, first second.$TOOL"
[ -s "$2, first second.$TOOL" ] || rm -f "$2, first second.$TOOL"
awk '{ print $2 }' served.txt
END
served()
{
	in_turns "$1" "$server" sh measured.sh "$server" "$1"
	report "$1, server CPU"
	report "$1, all CPU"
	for tool in $tools; do
		row "$1: $tool over plain" "$(ratio "$1" "$tool" inverse)" ratio 0 1
	done
	for tool in vprof stacks; do
		if [ -f "$1, first second.$tool" ]; then
			# shellcheck disable=SC2046 # four words
			set -- "$1" "${2:-}" $(lost "$1, first second" $tool)
			row "$1: lost in the first second, $tool" "$3" "%" 0 1
		fi
	done
	by_turns "$1" "${2:-}"
}

if wanted ping-pong; then
	gcc -Wall -Wextra -Werror -O1 -g -D_GNU_SOURCE "$top/tests/bench/ping_pong.c" -o ping_pong -lpthread || exit 99
	in_turns ping-pong 0 ./ping_pong 100000
	report ping-pong
	cheaper_than_perf ping-pong
fi

if wanted messaging && command -v perf >/dev/null; then
	cat >messaging <<'END'
perf bench sched messaging -g 4 -l 300 >/dev/null 2>&1
times >times.txt
awk '{ for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); s += t[1] * 60 + t[2] } } END { print s }' times.txt
END
	in_turns messaging 0 sh messaging
	report messaging
	cheaper_than_perf messaging
fi

stop_server()
{
	kill -INT "$server" && wait "$server" 2>/dev/null
	server=
}

as=
[ "$(id -u)" = 0 ] && as="setpriv --reuid=65534 --regid=65534 --clear-groups"
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
if wanted pgbench && [ -n "$bin" ] && command -v pgbench >/dev/null; then
	chmod 755 "$work" && mkdir data socket && { [ -z "$as" ] || chown 65534:65534 data socket; }
	$as "$bin/initdb" -A trust -U bench -D data >initdb.log 2>&1 || { cat initdb.log; exit 99; }
	$as "$bin/postgres" -D data -k "$work/socket" -c listen_addresses= -c fsync=on >postgres.log 2>&1 &
	server=$!
	export PGHOST="$work/socket" PGUSER=bench PGDATABASE=postgres
	try=0
	until pgbench -i -q -s 20 >/dev/null 2>&1 || [ $try = 10 ]; do
		try=$((try + 1))
		sleep 1
	done
	cat >pgbench.sh <<'END'
pgbench -n -c 4 -T 3 -P 1 2>&1 | awk '
	/^progress: 1\./ { seconds = $2; first = $4 }
	/^number of transactions actually/ { n = $NF }
	/^tps/ && first { print n, (n - first * seconds) / (n / $3 - seconds), first }'
END
	cat >pgbench.turns.sh <<'END'
exec pgbench -n -c 4 -T 100000 -l --log-prefix=turns.log
END
	served pgbench
	stop_server
fi

start_memcached()
{
	rm -f ports
	MEMCACHED_PORT_FILENAME="$work/ports" memcached -l 127.0.0.1 -p -1 -U 0 -t 2 -u "$(id -un)" >memcached.log 2>&1 &
	server=$!
	try=0
	until [ -s ports ] || [ $try = 100 ]; do
		try=$((try + 1))
		sleep 0.05
	done
	port=$(sed -n 's/^TCP INET: //p' ports)
}

if wanted memcached && command -v memcached >/dev/null && [ -x "$load_program" ]; then
	start_memcached
	cat >memcached.sh <<END
"$load_program" --port "$port" --connections 4 --requests ${REQUESTS:-100000} |
	awk '\$1 == "requests" { n = \$2 } \$1 == "requests_per_second" { print n, \$2 }'
END
	cat >memcached.turns.sh <<END
trap 'kill \$!; exit' TERM
while :; do
	"$load_program" --port "$port" --connections 4 --requests 1000000 &
	wait \$!
done
END
	served memcached "$port"
	stop_server
fi

if wanted memaslap && command -v memcached >/dev/null && command -v memcaslap >/dev/null; then
	start_memcached
	cat >memaslap.sh <<END
memcaslap -s 127.0.0.1:$port -t 3s | sed -n 's/.* Ops: \([0-9]*\) TPS: \([0-9]*\) .*/\1 \2/p'
END
	echo "exec memcaslap -s 127.0.0.1:$port -t 100000s" >memaslap.turns.sh
	served memaslap "$port"
	stop_server
fi
for tool in vprof stacks; do
	awk -v tool=$tool '$1 || $2 { print tool ": lost", $1, "records and", $2, "stacks in", substr($0, index($0, $3)) }' "lost.$tool"
	n=$(awk '{ n += $1 } END { print n + 0 }' "lost.$tool")
	row "records lost, of all runs, $tool" "$n" records 0 "$n == 0"
done
n=$(awk '{ n += $2 } END { print n + 0 }' lost.stacks)
row "stacks lost, of all runs" "$n" stacks 0 "$n == 0"

write_results "$results/recorder.json"
exit $bad

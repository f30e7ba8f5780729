#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make exam-causal: what vprof causal says would be gained, against what is gained (tests/exam/causal/programs.c).  In one process
# blocks come in random order in which the target is virtually faster, really faster, or neither.
#
#	FIRST=1 ROUNDS=12 tests/exam/causal.sh [--only a,d] [--fresh]		in the build directory
#
# FIRST=1: the programs run ahead of all others (SCHED_RR), which then get nothing for minutes: only on a machine of your own.
#
# A row is counted where the machine was quiet enough for it: what is really gained in odd rounds and in even ones differs by half
# of the row's target at most, and, unless the program runs ahead of all others, those use 5 % of the CPUs at most.  Else the row
# says so.  If 10 ms of computing always take the same time (a spin checks that first), the programs' work is a number of loops, else an amount
# CPU time.
# Measurements are kept in exam-causal/ in the build directory, and an interrupted exam goes on there; --fresh begins anew, and
# so do the rows of --only.
# Prints a table and writes results/causal.json; exit 1 if a counted row misses its target; 77 where no row could be measured.
set -u
top=$(cd "${srcdir:-.}" && pwd)
. "$top/tests/exam/table.sh"
vprof=$PWD/vprof
blocks=$PWD/tests/exam/causal/blocks
results=${RESULTS:-$PWD/results}
rounds=${ROUNDS:-12}
only=$(echo "${ONLY:-}" | tr ' ' ,)
fresh=
while [ $# -gt 0 ]; do
	case $1 in
	--only) only=${2:?--only a,b}; shift 2 ;;
	--fresh) fresh=1; shift ;;
	*) echo "usage: $0 [--only ROW,ROW...] [--fresh]" >&2; exit 2 ;;
	esac
done
work=${WORK:-$PWD/exam-causal}
[ -z "$fresh" ] || rm -rf "$work"
mkdir -p "$work" && cd "$work" || exit 99
trap 'exit 99' INT TERM
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS MAKEFLAGS MAKELEVEL MFLAGS EXAM_LOOPS
export NO_COLOR=1 LC_ALL=C.UTF-8
unset EXAM_FIRST
[ -z "${FIRST:-}" ] || { EXAM_FIRST=1; export EXAM_FIRST; }

prepare()
{
	cat "$top"/tests/exam/causal/programs* >sources.new
	cmp -s sources.new sources && [ -x programs ] && [ programs -nt "$vprof" ] && return
	rm -rf vprof.data ./*.out
	cp "$top"/tests/exam/causal/programs* . && mv sources.new sources || exit 99
	"$vprof" build --functions all -- gcc -O1 -g -D_GNU_SOURCE programs.c programs_waits.c -o programs -lpthread >build.log 2>&1 || { cat build.log; exit 99; }
}

# measure NAME TARGET SPEEDS BLOCK_MS METRIC CURRENCY [ROUNDS]: NAME.out, unless it is there from an exam that was ended
measure()
{
	name=$1
	case ",$only," in *",$name,"* | ,,) ;; *) return 1 ;; esac
	[ -s "$name.out" ] && return
	timeout -k 30 "${TIME:-1800}" "$blocks" "$2" "${7:-$rounds}" "$3" "$4" "$5" "$6" ./programs "${name%%-*}" >"$name.new" 2>"$name.log"
	status=$?
	if [ $status != 0 ]; then
		printf '%-48s not measured: %s\n' "$name" "$(grep -h . "$name.new" "$name.log" | tail -1)"
		[ $status = 77 ] || bad=1
		return 1
	fi
	grep -q exclusive "$name.log" && echo "exclusive" >>"$name.new" || echo "shared" >>"$name.new"
	mv "$name.new" "$name.out"
}

counted=0
# judge WHAT UNIT TARGET VALUE CONDITION HALVES MOST: a row, if halves of the rounds agree to MOST
judge()
{
	quiet=$(awk -v halves="$6" -v most="$7" -v cpus="$(nproc)" '
		$1 == "others" { others = $2 / cpus }
		$1 == "exclusive" { exclusive = 1 }
		END { print halves <= most && (exclusive || others <= 0.05) }' "$name.out")
	if [ "$quiet" = 1 ]; then
		row "$1" "$4" "$2" "$3" "$5"
		counted=$((counted + 1))
	else
		printf '%-48s %10s %-14s not counted: the machine was not quiet (the truth by itself is off by %s, others used %s CPUs)\n' \
			"$1" "$4" "$2" "$6" "$(awk '$1 == "others" { print $2 }' "$name.out")"
		rows="$rows${rows:+,
  }{\"name\":\"$1\",\"value\":$4,\"unit\":\"$2\",\"target\":$3,\"ok\":null,\"quiet\":false}"
	fi
}

# gains WHAT TARGET: in points
gains()
{
	error=$(awk '$1 == "speed" { e = $6 - $10; e = e < 0 ? -e : e; if (e > most) most = e } END { printf "%.2f", most }' "$name.out")
	judge "$1" points "$2" "$error" "$error <= $2" \
		"$(awk '$1 == "speed" && $12 > most { most = $12 } END { printf "%.2f", most }' "$name.out")" "$(awk "BEGIN { print $2 / 2 }")"
	awk '$1 == "speed" { printf "    %3d %%  %8.3f ms virtually, %8.3f really; gains %6.2f, %6.2f\n", $2 / 10, $5, $9, $6, $10 }' "$name.out"
}

# values WHAT TARGET: in per cent of what it really takes, the baseline's included
values()
{
	error=$(awk '$1 == "speed" && $9 > 0 { e = 100 * ($5 / $9 - 1); e = e < 0 ? -e : e; if (e > most) most = e }
		END { printf "%.2f", most }' "$name.out")
	judge "$1" "% of the value" "$2" "$error" "$error <= $2" \
		"$(awk '$1 == "base" { most = $5 } $1 == "speed" && $12 > most { most = $12 } END { printf "%.2f", most }' "$name.out")" \
		"$(awk "BEGIN { print $2 / 2 }")"
	awk '$1 == "speed" { printf "    %3d %%  %8.3f ms virtually, %8.3f really\n", $2 / 10, $5, $9 }' "$name.out"
}

# The disk that the exam's files are on, as --target disk:NAME has it; "": on none.
find_disk()
{
	device=$(stat -c %d .)
	disk=$(readlink "/sys/dev/block/$((device >> 8 & 0xfff)):$((device & 0xff | device >> 12 & 0xfff00))")
	case $disk in
	*/block/*/*) disk=$(basename "$(dirname "$disk")") ;;	# a partition
	*) disk=$(basename "$disk") ;;
	esac
}

prepare
find_disk
for name in $(echo "$only" | tr , ' '); do
	rm -f "$name.out"
done
./programs spin >spin.out
read -r spread loops <spin.out
echo "10 ms of computing, 30 times: the slowest took $spread times as long as the fastest"
if awk "BEGIN { exit !($spread <= 1.03) }"; then
	EXAM_LOOPS=$loops
	export EXAM_LOOPS
	echo "so work is $loops loops a microsecond"
else
	echo "so work is CPU time"
fi
all=250,500,750,1000
measure a critical $all 0 p50 auto && gains "a: 4 ms beside 2 ms, the 4 ms" 1.0
measure b shorter $all 0 p50 auto && gains "b: the 2 ms beside them" 1.0
measure processes critical $all 0 p50 auto && gains "two processes, pipes: the parent's 4 ms" 1.0
measure child critical $all 0 p50 auto && gains "... the child's" 1.0
measure threads once $all 0 p50 auto && gains "threads that live once" 2
measure c hold $all 0 mean auto && gains "c: a lock's holder sleeps, two threads" 3
measure c-lock lock:run_holder $all 0 mean auto && gains "c: while the lock is held" 3
measure c3 hold $all 0 mean cpu && gains "c: three threads, holding the CPU" 4.5
measure d read_blocks $all 0 p50 auto && values "d: 20 direct reads beside 1.5 ms" 3
measure d-io io $all 0 p50 auto && values "d: all that is outside of the run" 3
[ -z "$disk" ] || { measure d-disk "disk:$disk" $all 0 p50 auto && values "d: the disk, as the kernel sees it" 3; }
# Only for the function: a page fault also computes in the kernel, which a faster disk would not change.
KERNEL=1
export KERNEL
measure faults touch_pages $all 0 p50 auto && values "60 page faults beside 1.5 ms, the function" 6
unset KERNEL
measure f write_blocks $all 0 p50 auto && values "f: 4 writes to the disk beside 1.5 ms" 6
measure e rare 500,1000 2000 mean auto "${ROUNDS_E:-$rounds}" && values "e: an open loop, the mean" 4
measure e-p99 rare 500 2000 p99 auto "${ROUNDS_E:-$rounds}" && values "e: an open loop, the p99" 12
VIRTUAL_CLOCK=1
export VIRTUAL_CLOCK
measure clock rare 500,1000 2000 mean auto "${ROUNDS_E:-$rounds}" && values "an open loop by its virtual clock, the mean" 4
unset VIRTUAL_CLOCK
measure crowd1 fast_share 500,1000 0 p50 auto && gains "four threads on two CPUs: one of them" 3
measure crowd3 fast_share 500,1000 0 p50 auto && gains "... the other three" 3
measure shared hold $all 0 mean auto && gains "two processes share a lock: its holder" 3
measure shared-lock lock:run_holder $all 0 mean auto && gains "... while it is held" 3
measure peers serve $all 0 p50 auto && gains "a pipe to a process, and a socket back" 1.0
measure rwlock write_hold $all 0 mean auto && gains "a read-write lock: its writer" 3
if GROUP=6 && export GROUP && measure a-cover critical 500 120 p50 auto "${ROUNDS_COVER:-120}"; then
	held=$(awk '$1 == "cover" { print $2 }' a-cover.out)
	of=$(awk '$1 == "cover" { print $4 }' a-cover.out)
	judge "a: 95 % intervals that hold the truth, the p50" "of $of" "$((of * 17 / 20))" "$held" "$held >= $of * 0.85" \
		"$(awk '$1 == "speed" { print $12 }' a-cover.out)" 0.5
	awk '$1 == "cover" { print "    of the mean: " $9 " the method itself may be off by " $11 " points" }' a-cover.out
fi
write_results "$results/causal.json"
[ -n "$only" ] || rm -f ./*.out
[ $counted -gt 0 ] || { echo "no row could be measured"; [ $bad = 1 ] || exit 77; }
exit $bad

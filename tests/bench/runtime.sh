#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make bench-runtime: what a probe costs, beside what others take for the same.
#
#	empty leaf	one and two threads; every program has the plain leaf, one with a pair of rdtsc and one of a tool
#			in it, measured in turns (runtime/leaf.c); the programs run in turns, too
#	SQLite		speedtest1 with the probes of runtime/functions.txt: processor time more than the plain
#			program's, divided by the calls; of size SIZE (20) less that of size 1, since to start and
#			end a recording takes its time, whatever is recorded
#
# vprof, recorded and not; calls that only read the clock, in the runtime's place (leaf_calls.c); uftrace, LTTng-UST, LLVM's
# XRay, and a pair of uprobes by bpftrace where the kernel has them.  Their Debian packages are installed when they are
# missing.  VProfiler's row is not of this run: it is what its public runtime took on such a machine (no package of it exists).
#
# Everything lands in WORK (./bench-runtime-work), where sources and builds are found again.  ROUNDS (7) in turns, of
# SQLite six times as many, LTTng-UST in a sixth of them: a round's ratio depends on what else the machine does in a second,
# so SQLite has two rows for each target, of the median round and of the fastest tenth.
# PARTS="leaf sqlite": these.  BUILDS="rdtsc vprof": without the others of SQLite's (off, lttng), in a third of the time.
# Prints a table, writes results/runtime.json, exits 1 where a target is missed.
# shellcheck disable=SC2154 # lib.sh
set -eu

top=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
here=$top/tests/bench/runtime
work=$(realpath -m "${WORK:-bench-runtime-work}")
vprof=${VPROF:-./vprof}
results=$(realpath -m "${RESULTS:-results/runtime.json}")
rounds=${ROUNDS:-7} slices=${SLICES:-300} parts=${PARTS:-leaf sqlite} builds=${BUILDS:-rdtsc vprof off lttng}
turns=$((6 * rounds))		# of SQLite's builds
rows=$work/rows
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS MAKEFLAGS MAKELEVEL MFLAGS
# shellcheck disable=SC1091
. "$top/examples/lib.sh"
find_vprof
mkdir -p "$work" "$(dirname "$results")"
cd "$work"
: >"$rows"
: >log
install_packages gcc tcl clang libclang-rt-14-dev uftrace lttng-tools liblttng-ust-dev bpftrace >>log 2>&1 ||
	echo "bench-runtime: not all tools could be installed: $work/log" >&2
tools="off vprof"

# ---- The tools ------------------------------------------------------------------------

# has NAME COMMAND...: the tool joins in if the command succeeds
has() {
	name=$1
	shift
	if "$@" >>log 2>&1; then tools="$tools $name"; else echo "bench-runtime: no $name here: $work/log" >&2; fi
}

build_leafs() {
	cp "$here"/leaf* "$here"/mutex.c "$here"/calls_lttng.c .
	gcc -O2 -D_GNU_SOURCE -c leaf.c leaf_plain.c
	gcc -O2 -c leaf_tool.c -o leaf_tool.o
	gcc -o leaf_none leaf.o leaf_plain.o leaf_tool.o -lpthread
	cat >build-leaf <<-'EOF_BUILD'
		gcc -O2 -c leaf_tool.c -o leaf_tool.o && gcc -o leaf_vprof leaf.o leaf_plain.o leaf_tool.o -lpthread &&
		gcc -O2 -D_GNU_SOURCE -o mutex mutex.c -lpthread
	EOF_BUILD
	"$vprof" -d leaf.data build --functions tool_leaf -- sh ./build-leaf >>log 2>&1 || die "no leaf: $work/log"
}

# The cost of our probes if they record nothing: the object that vprof's compiler made, and calls that only read the clock.
build_calls() {
	gcc -O2 -I"$top" -c leaf_calls.c && gcc -o leaf_calls leaf.o leaf_plain.o leaf_tool.o leaf_calls.o -lpthread &&
		run_leaf calls 1 4
}

build_uftrace() {
	gcc -O2 -pg -c -o uftrace.o leaf_tool.c && gcc -pg -o leaf_uftrace leaf.o leaf_plain.o uftrace.o -lpthread &&
		run_leaf uftrace 1 4
}

build_xray() {
	clang -O2 -fxray-instrument -fxray-instruction-threshold=1 -c -o xray.o leaf_tool.c &&
		clang -fxray-instrument -o leaf_xray leaf.o leaf_plain.o xray.o -lpthread && run_leaf xray 1 4
}

build_lttng() {
	gcc -O2 -DWITH_LTTNG -c -o lttng.o leaf_tool.c && gcc -O2 -I. -c leaf_lttng.c calls_lttng.c &&
		gcc -o leaf_lttng leaf.o leaf_plain.o lttng.o leaf_lttng.o -lpthread -llttng-ust -ldl &&
		lttng --version && { pgrep -x lttng-sessiond || lttng-sessiond --daemonize; } && run_leaf lttng 1 4
}

lttng_on() {
	rm -rf lttng.out
	lttng create bench --output="$work/lttng.out" && lttng enable-channel -u c --subbuf-size=2M --num-subbuf=16 &&
		lttng enable-event -u -c c 'leaf:*' && lttng start
}

uprobes=''

# under TOOL COMMAND...: the command, recorded by the tool
under() {
	tool=$1
	shift
	case $tool in
	off)	"$@" ;;
	vprof)	"$vprof" -d leaf.data record -- "$@" 2>>log ;;
	sqlite)	"$vprof" -d ../sqlite.runs record -- "$@" 2>>../log ;;
	uftrace) uftrace record --no-event -b 8m -d "$work/uftrace.out" "$@" 2>>"$work/log" ;;
	xray)	XRAY_OPTIONS="patch_premain=true xray_mode=xray-fdr xray_logfile_base=$work/xray." \
		XRAY_FDR_OPTIONS="func_duration_threshold_us=0 buffer_max=4000" "$@" 2>>"$work/log" ;;
	lttng)	(cd "$work" && lttng_on) >>"$work/log" 2>&1 && LTTNG_UST_REGISTER_TIMEOUT=-1 "$@" &&
			lttng destroy >>"$work/log" 2>&1 ;;
	esac
}

# run_leaf TOOL THREADS SLICES
run_leaf() {
	case $1 in
	none | calls) "./leaf_$1" "$2" "$3" ;;
	off | vprof) under "$1" ./leaf_vprof "$2" "$3" ;;
	bpftrace) bpftrace -o /dev/null -e "$uprobes" -c "./leaf_nop $2 $3 100" 2>>log ;;
	*) under "$1" "./leaf_$1" "$2" "$3" ;;
	esac
}

build_bpftrace() {
	# The kernel emulates a nop, others it executes one step at a time: the cheapest case.
	gcc -O2 -fpatchable-function-entry=1 -c -o nop.o leaf_tool.c && gcc -o leaf_nop leaf.o leaf_plain.o nop.o -lpthread
	uprobes='uprobe:./leaf_nop:tool_leaf { @s[tid] = nsecs; }
		uretprobe:./leaf_nop:tool_leaf /@s[tid]/ { @t = hist(nsecs - @s[tid]); delete(@s[tid]); }'
	run_leaf bpftrace 1 4 | awk '$3 > 100 { found = 1 } END { exit !found }'
}

# ---- The empty leaf --------------------------------------------------------------------

measure_leafs() {
	rm -f leaf.*.ns
	for round in $(seq "$rounds"); do
		printf '\rbench-runtime: leaf, round %s of %s' "$round" "$rounds" >&2
		for threads in 1 2; do
			for tool in none $tools; do
				run_leaf "$tool" "$threads" "$slices" | awk 'NF == 5' >>"leaf.$tool.$threads.ns"
			done
		done
	done
	echo >&2
}

# column C FILE: its median; over COLUMNS: the median of column C divided by column D
column() { awk -v c="$1" '{ print $c }' "$2" | median; }
over() { awk -v c="$1" -v d="$2" '{ print $c / $d }' "$3" | median; }

leaf_rows() {
	row "leaf.rdtsc_pair" "$(cat leaf.*.1.ns | awk '{ print $2 }' | median)" ns - true
	for threads in 1 2; do
		ours=$(over 3 2 "leaf.vprof.$threads.ns")
		row "leaf.vprof.${threads}t" "$(column 3 "leaf.vprof.$threads.ns")" ns - true
		row "leaf.vprof.${threads}t_to_rdtsc_pair" "$ours" ratio "<= 1.15" "$(holds "$ours <= 1.15")"
		# The same function without a probe, in the tool's place, is what it is compared with.
		off=$(paste -d' ' "leaf.off.$threads.ns" "leaf.none.$threads.ns" | awk '{ print $3 - $8 }' | median)
		row "leaf.vprof_disabled.${threads}t" "$off" ns "<= 0.5" "$(holds "$off <= 0.5")"
		for tool in $tools; do
			case $tool in off | vprof) continue ;; esac
			theirs=$(over 3 2 "leaf.$tool.$threads.ns")
			if [ "$tool" = calls ]; then
				row "leaf.calls.${threads}t_to_rdtsc_pair" "$theirs" ratio - true
				continue
			fi
			dearer=$(awk "BEGIN { print $theirs / $ours }")
			row "leaf.$tool.${threads}t" "$(column 3 "leaf.$tool.$threads.ns")" ns - true
			row "leaf.$tool.${threads}t_to_vprof" "$dearer" ratio ">= 2.5" "$(holds "$dearer >= 2.5")"
		done
	done
	# Measured once with its public runtime (TRACE_START, TRACE_END): 16.5 pairs of rdtsc.
	row "leaf.vprofiler_elsewhere_to_rdtsc_pair" 16.5 ratio - true
}

# Counted, not timed: on a thread that does nothing but record.
counted_rows() {
	faults=$(awk '{ f += $4; n += $5 } END { print 1e6 * f / n }' leaf.vprof.1.ns)
	row "faults_per_million" "$faults" count 0 "$(holds "$faults == 0")"
	calls=$(under vprof ./leaf_vprof --syscalls 1000000 | head -n 1)
	row "syscalls_per_million" "${calls:-99}" count 0 "$(holds "${calls:-99} == 0")"
}

mutex_rows() {
	rm -f mutex.ns
	for _ in $(seq "$rounds"); do
		under vprof ./mutex "$slices" | awk 'NF == 2' >>mutex.ns
	done
	tight=$(column 1 mutex.ns)
	row "mutex.tight" "$tight" ns "<= 5" "$(holds "$tight <= 5")"
	with_work=$(column 2 mutex.ns)
	row "mutex.with_work" "$with_work" ns "<= 0.5" "$(holds "$with_work <= 0.5")"
}

# ---- SQLite ----------------------------------------------------------------------------

# compile DIR COMMAND...: the amalgamation and speedtest1, unless they are there, and no older than vprof and its runtime
compile() {
	dir=$1
	shift
	[ ! -x "$dir/speedtest1" ] || is_older_than_vprof "$dir/speedtest1" || return 0
	echo "bench-runtime: building $dir" >&2
	mkdir -p "$dir"
	cp sqlite/sqlite3.c sqlite/sqlite3.h sqlite/test/speedtest1.c "$dir"
	(cd "$dir" && "$@") >>log 2>&1 || die "cannot build $dir: $work/log"
}

# shellcheck disable=SC2016 # LIBS is the environment's
sqlite_build='gcc -O2 -DSQLITE_THREADSAFE=0 -c sqlite3.c && gcc -O2 -c speedtest1.c &&
	gcc -o speedtest1 sqlite3.o speedtest1.o $LIBS -ldl -lm -lpthread'

build_sqlite() {
	fetch_source sqlite3 3.40
	extract_source sqlite3 3.40 "$work/sqlite" </dev/null
	[ -f sqlite/sqlite3.c ] || (cd sqlite && ./configure && make sqlite3.c) >>log 2>&1 || die "no SQLite: $work/log"
	names=$(grep -v '^#' "$here/functions.txt" | paste -sd, -)
	echo "$sqlite_build" >build-sqlite
	compile plain sh ../build-sqlite
	compile vprof "$vprof" -d ../sqlite.data build --functions "$names" -- sh ../build-sqlite
	pair_compiler rdtsc.bin "$here/pair_rdtsc.h"
	compile rdtsc env PATH="$work/rdtsc.bin:$PATH" "$vprof" -d ../rdtsc.data build --functions "$names" -- sh ../build-sqlite
	case $tools in *lttng*)
		pair_compiler sqlite_lttng.bin "$here/pair_lttng.h"
		compile sqlite_lttng env PATH="$work/sqlite_lttng.bin:$PATH" \
			LIBS="$work/calls_lttng.o $work/leaf_lttng.o -llttng-ust" \
			"$vprof" -d ../lttng.data build --functions "$names" -- sh ../build-sqlite ;;
	esac
}

# speedtest NAME TOOL DIR; there is no interval in it, which record says with status 3
speedtest() {
	for size in small large; do
		case $size in small) pages=1 ;; *) pages=${SIZE:-20} ;; esac
		(cd "$3" && under "$2" "$work/cpu" "$work/sqlite.$1.$size" ./speedtest1 --memdb --size "$pages") \
			>>log 2>&1 || [ $? = 3 ] || die "speedtest1 failed: $work/log"
	done
}

# LTTng-UST is far from its target, and takes as long as all others together
has_turn() { [ $(($1 % 6)) = 1 ]; }

measure_sqlite() {
	gcc -O2 -D_GNU_SOURCE -o cpu "$here/cpu.c"
	rm -rf sqlite.runs sqlite.*.small sqlite.*.large sqlite.*.ms
	cp -R sqlite.data sqlite.runs		# so that what is recorded does not grow from bench to bench
	for round in $(seq "$turns"); do
		printf '\rbench-runtime: SQLite, round %s of %s' "$round" "$turns" >&2
		speedtest plain off plain
		for build in $builds; do
			case $build in
			rdtsc)	speedtest rdtsc off rdtsc ;;
			vprof)	speedtest vprof sqlite vprof ;;
			off)	speedtest off off vprof ;;
			lttng)	case $tools in *lttng*) ! has_turn "$round" || speedtest lttng lttng sqlite_lttng ;; esac ;;
			esac
		done
	done
	echo >&2
	for name in rdtsc vprof off lttng; do
		[ -s "sqlite.$name.large" ] || continue
		for size in large small; do
			paste -d' ' sqlite.plain.$size sqlite.rdtsc.$size |
				if [ $name = lttng ]; then awk 'NR % 6 == 1'; else cat; fi | paste -d' ' - "sqlite.$name.$size" >sqlite.$size
		done
		paste -d' ' sqlite.large sqlite.small >"sqlite.$name.ms"
	done
}

# added NAME: ms more than the plain program of the same round, the median; to_pair NAME: as much as the pair of rdtsc
added() { awk '{ print ($3 - $6) - ($1 - $4) }' "sqlite.$1.ms" | median; }
to_pair() { to_pairs "$1" | median; }
to_pairs() { awk '{ print (($3 - $6) - ($1 - $4)) / (($2 - $5) - ($1 - $4)) }' "sqlite.$1.ms"; }

# Other load on the host only ever adds to a program's time.  So the fastest rounds stand beside the median:
# fastest NAME, ms in the mean of a tenth of the rounds; fastest_added NAME, those more than the plain program's.
fastest() {
	for size in large small; do
		sort -g "sqlite.$1.$size" | awk '{ t[NR] = $1 }
			END { n = NR < 10 ? 1 : int(NR / 10); for (i = 1; i <= n; i++) sum += t[i]; print sum / n }'
	done | paste -d' ' - - | awk '{ print $1 - $2 }'
}
fastest_added() { awk "BEGIN { print $(fastest "$1") - $(fastest plain) }"; }

# calls_of RUN
calls_of() { "$vprof" -d sqlite.runs export --format tuples "$1" 2>>log | grep -c '^invocation'; }

sqlite_rows() {
	last=$("$vprof" -d sqlite.runs sql --format csv 'SELECT max(number) FROM run' | tail -n 1)
	recorded=$(calls_of "$last")
	calls=$((recorded - $(calls_of $((last - 1)))))
	bytes=$(stat -c %s "sqlite.runs/runs/$(printf %03d "$last")/trace.vpt")
	lost=$("$vprof" -d sqlite.runs sql --format csv 'SELECT max(lost_records) FROM run' | tail -n 1)
	row "sqlite.functions" "$(grep -cv '^#' "$here/functions.txt")" count ">= 40" true
	row "sqlite.calls" "$calls" count - true
	row "sqlite.lost" "$lost" count 0 "$(holds "$lost == 0")"
	size=$(awk "BEGIN { print $bytes / $recorded }")
	row "sqlite.bytes_a_call" "$size" bytes "<= 2" "$(holds "$size <= 2")"
	for name in rdtsc vprof off lttng; do
		[ -s "sqlite.$name.ms" ] || continue
		row "sqlite.$name" "$(awk "BEGIN { print 1e6 * $(added $name) / $calls }")" "ns a call" - true
	done
	start=$(paste -d' ' sqlite.plain.small sqlite.vprof.small | awk '{ print $2 - $1 }' | median)
	row "sqlite.vprof_at_size_1" "$start" "ms more" - true
	in_situ=$(to_pair vprof)
	for name in $(to_pairs vprof | sort -g | awk -f "$here/../median_ci95.awk" | awk '{ print "least:" $2, "most:" $3 }'); do
		row "sqlite.vprof_to_rdtsc_pair_at_${name%%:*}" "${name#*:}" ratio - true
	done
	row "sqlite.vprof_to_rdtsc_pair" "$in_situ" ratio "<= 1.2" "$(holds "$in_situ > 0 && $in_situ <= 1.2")"
	least=$(awk "BEGIN { print $(fastest_added vprof) / $(fastest_added rdtsc) }")
	row "sqlite.vprof_to_rdtsc_pair_fastest" "$least" ratio "<= 1.2" "$(holds "$least > 0 && $least <= 1.2")"
	[ ! -s sqlite.off.ms ] || {
		off=$(awk "BEGIN { print 1e6 * $(added off) / $calls }")
		row "sqlite.vprof_disabled" "$off" "ns a call" "<= 0.5" "$(holds "$off <= 0.5")"
		off=$(awk "BEGIN { print 1e6 * $(fastest_added off) / $calls }")
		row "sqlite.vprof_disabled_fastest" "$off" "ns a call" "<= 0.5" "$(holds "$off <= 0.5")"
	}
	[ ! -s sqlite.lttng.ms ] || {
		dearer=$(awk "BEGIN { print $(to_pair lttng) / $in_situ }")
		row "sqlite.lttng_to_vprof" "$dearer" ratio ">= 2.5" "$(holds "$dearer >= 2.5")"
	}
}

build_leafs
for part in $parts; do
	case $part in
	leaf)
		has calls build_calls
		has uftrace build_uftrace
		has lttng build_lttng
		has xray build_xray
		has bpftrace build_bpftrace
		measure_leafs
		leaf_rows
		counted_rows
		mutex_rows ;;
	sqlite)
		build_sqlite
		measure_sqlite
		sqlite_rows ;;
	*)	die "there is no part '$part'" ;;
	esac
done
write_results "$results"

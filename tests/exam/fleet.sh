#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# make exam-fleet: what vprof promises beyond one machine.  Prints a table and writes results/fleet.json; exit 1 if a row is missed.
#
#	ONLY=wide,digests,places,store,canary,always,stitch,slurm,mpi	only these parts
#	SHARDS=32 INVOCATIONS=1000000			of digests: hosts, and what each recorded
#	SECONDS_ALWAYS=600				how long the program runs that is recorded in windows
#
# A part that needs a package which is not there says so, and is left out.
set -u
top=$(cd "${srcdir:-.}" && pwd)
. "$top/tests/exam/table.sh"
export VPROF=$PWD/vprof
build=$PWD
shards=${SHARDS:-32} invocations=${INVOCATIONS:-1000000} always=${SECONDS_ALWAYS:-600}
work=$(mktemp -d "${TMPDIR:-/tmp}/vprof-exam-fleet.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
unset VPROF_DIR VPROF_CONF
cd "$work" || exit 99

# cpu COMMAND...: prints its seconds of processor time; the command's output is dropped
cpu()
{
	python3 -c '
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.3f" % (used.ru_utime + used.ru_stime if status.returncode == 0 else 1e9))
sys.stderr.write(status.stderr.decode()[-500:] if status.returncode else "")' "$@"
}

part()
{
	case ,${ONLY:-$1}, in *,$1,*) echo "== $1" ;; *) return 1 ;; esac
}

needs()
{
	for command in "$@"; do
		command -v "$command" >/dev/null || { echo "$command is missing: left out"; return 1; }
	done
}

# test_row NAME TEST: a test of make check, which is also an acceptance row
test_row()
{
	(cd "$build" && srcdir=$top sh "$top/tests/e2e/$2.sh") >"$2.log" 2>&1
	status=$?
	[ $status = 77 ] && { tail -1 "$2.log"; return; }
	[ $status = 0 ] || tail -5 "$2.log"
	row "$1" $status "exit status" 0 "$status == 0"
}

# Pairs of siblings and cold places are bounded.
if part wide; then
	for tuples in 100000 200000; do
		python3 "$top/tests/exam/fleet_wide.py" $tuples >wide.$tuples
		eval "wide_$tuples=$(cpu "$VPROF" -d data.$tuples import --from tuples wide.$tuples)"
	done
	size=$(stat -c %s data.100000/vprof.db)
	row "database of 100,000 wide tuples" "$(awk "BEGIN { print $size / 1e6 }")" MB 20 "$size < 20e6"
	row "200,000 of them to 100,000" "$(awk "BEGIN { printf \"%.2f\", $wide_200000 / $wide_100000 }")" times 2.3 \
		"$wide_200000 <= 2.3 * $wide_100000"
fi

# A run whose trace is that of a host.
host_run()
{
	printf 'vprof-tuples 1\ninterval 1 r 7 0 7 10\n' >one.tuples
	"$VPROF" import --from tuples one.tuples -o "host$1" >/dev/null 2>&1
	dir=$(printf 'vprof.data/runs/%03d' "$1")
	rm "$dir"/trace.tuples
	"$build/tests/exam/fleet_trace" "$dir/trace.vpt" "$invocations" "$1"
	printf 'machine %032d\nhost h%d\n' "$1" "$1" >"$dir/recorded-by"
}

if part digests; then
	runs='' files=''
	for i in $(seq "$shards"); do
		host_run "$i"
		"$VPROF" export --format digest "$i" -o "$i.vpd" || bad=1
		runs="$runs $i" files="$files $i.vpd"
	done
	merged=$(cpu "$VPROF" merge $runs -o traces)
	took=$(cpu "$VPROF" merge $files -o all.vpd)
	row "$shards digests of $invocations merged" "$took" "s of CPU" 0.1 "$took < 0.1"
	echo "   (the traces: $merged s)"
	host_run "$((shards + 2))"
	more=$(cpu "$VPROF" merge traces "$((shards + 2))" -o more)
	row "one run more, to all at once" "$(awk "BEGIN { printf \"%.2f\", $more / $merged }")" "of the time" 0.7 "$more < 0.7 * $merged"
	"$VPROF" merge $(printf '%s\n' $files | tac | head -5) -o some.vpd 2>/dev/null
	"$VPROF" merge some.vpd $(printf '%s\n' $files | tac | tail -n +6 | sort) -o nested.vpd 2>/dev/null
	cmp -s all.vpd nested.vpd
	row "another order and nesting: other bytes" $? - 0 "$? == 0"
	"$VPROF" import --from digest all.vpd -o sums >/dev/null 2>&1
	for run in traces sums; do
		"$VPROF" show variance-tree $run --format json | python3 -c '
import json, sys
tree = json.load(sys.stdin)
for n in tree["nodes"]: n.pop("ci95", None)
print(json.dumps([tree["nodes"], tree["covariances"]], sort_keys=True))' >$run.json
	done
	cmp -s traces.json sums.json
	row "nodes and covariances that differ" $? - 0 "$? == 0 && $(wc -c <sums.json) > 1000"
fi

# A tree of 1,000 places.
if part places; then
	python3 "$top/tests/e2e/random_tuples.py" 3 wide >wide.tuples
	"$VPROF" -d data.places import --from tuples wide.tuples -o p >/dev/null 2>&1
	"$VPROF" -d data.places export --format digest p -o p.vpd
	places=$("$VPROF" export --format digest-tsv --table vprof_name p.vpd | wc -l)
	size=$(stat -c %s p.vpd)
	row "a window's digest, for 1,000 places (of $places)" "$(awk "BEGIN { printf \"%.1f\", $size / $places }")" kB 130 \
		"$places >= 500 && $size / $places < 130"
fi

part store && needs clickhouse-server clickhouse-client && test_row "tree by Distributed, on two servers" fleet_clickhouse
part store && test_row "the same statements on ClickHouse of today" fleet_today

if part canary; then
	(cd "$build" && make -s tests/exam/gate && tests/exam/gate "${ROUNDS:-100}") || bad=1
fi

# Windows of a program that runs for long: their sum, and what it costs.
if part always; then
	test_row "windows: none twice, none missing, also after kills" digest_every
	test_row "units for systemd" systemd_units
	cat >load.c <<-'END'
	#include <stdlib.h>
	#include <time.h>
	#include <vprof.h>
	static volatile long sum;
	__attribute__((noinline)) void leaf(int i) { for (int k = 0; k < 20; k++) sum += i * k; }
	int main(int argc, char **argv)
	{
		struct timespec end, now;
		(void)argc;
		clock_gettime(CLOCK_MONOTONIC, &end);
		end.tv_sec += atol(argv[1]);
		do {		/* 1,000 intervals of 60 calls a second */
			for (long i = 0; i < 10; i++) {
				VPROF_BEGIN("request", i);
				for (int k = 0; k < 59; k++)
					leaf(k);
				VPROF_END("request", i);
			}
			nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
			clock_gettime(CLOCK_MONOTONIC, &now);
		} while (now.tv_sec < end.tv_sec);
		return 0;
	}
	END
	"$VPROF" -d data.always build --functions all -- cc -O1 -o load load.c >/dev/null 2>&1
	mkdir got
	plain=$(cpu "$VPROF" -d data.always record --keep 10m -- ./load "$always")
	digested=$(cpu "$VPROF" -d data.always record --keep 10m --digest-every 60s --to 'cat >got/$$.vpd' -- ./load "$always")
	per=$(awk "BEGIN { printf \"%.2f\", 100 * ($digested - $plain) / $always }")
	row "digesting 60,000 invocations a second" "$per" "% of a core" 2 "$per <= 2"
	"$VPROF" -d data.always merge --window all got/*.vpd -o windows.vpd 2>/dev/null
	"$VPROF" -d data.always export --format digest --window 60s 2 -o run.vpd
	"$VPROF" merge --window all run.vpd -o run_all.vpd 2>/dev/null
	for file in windows run_all; do
		"$VPROF" export --format digest-tsv --table vprof_bucket $file.vpd | sort >$file.rows
	done
	cmp -s windows.rows run_all.rows
	row "buckets of the windows that the run's lack" $? - 0 "$? == 0 && $(wc -l <run_all.rows) > 0"
fi

if part stitch; then
	for name in stitch stitch_namespaces; do
		[ ! -e "$top/tests/e2e/$name.sh" ] || test_row "requests across hosts: $name" $name
	done
fi

# steps DATA: builds ./steps, which has 200 intervals
steps()
{
	cat >steps.c <<-'END'
	#include <unistd.h>
	#include <vprof.h>
	__attribute__((noinline)) void step(long i) { usleep(i % 7 ? 100 : 1000); }
	int main(void) { for (long i = 0; i < 200; i++) { VPROF_BEGIN("step", i); step(i); VPROF_END("step", i); } return 0; }
	END
	"$VPROF" -d "$1" build --functions all -- cc -O1 -o steps steps.c >/dev/null 2>&1
}

intervals_of()
{
	"$VPROF" export --format digest-tsv --table vprof_window "$1" 2>/dev/null | awk -F'\t' '{ n += $17 } END { print n + 0 }'
}

# The recipes of doc/fleet.md.
if part mpi && needs mpirun; then
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	steps data.0
	cp -r data.0 data.1
	mpirun --oversubscribe -np 2 sh -c '"$VPROF" -d data.$OMPI_COMM_WORLD_RANK record -o run -- ./steps;
		"$VPROF" -d data.$OMPI_COMM_WORLD_RANK export --format digest run -o rank-$OMPI_COMM_WORLD_RANK.vpd' >mpi.log 2>&1 || tail -3 mpi.log
	"$VPROF" merge rank-*.vpd -o ranks.vpd 2>/dev/null
	row "intervals of two ranks, merged" "$(intervals_of ranks.vpd)" intervals 400 "$(intervals_of ranks.vpd) == 400"
fi

# One node of the exam's own, without authentication, on free ports.
start_slurm()
{
	set -- $(python3 -c '
import socket
s = [socket.socket() for _ in range(2)]
for x in s: x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))')
	mkdir -p slurm/state slurm/spool
	cat >slurm/slurm.conf <<-END
	ClusterName=exam
	SlurmctldHost=$(hostname -s)(127.0.0.1)
	SlurmUser=$(id -un)
	AuthType=auth/none
	CredType=cred/none
	SlurmctldPort=$1
	SlurmdPort=$2
	StateSaveLocation=$work/slurm/state
	SlurmdSpoolDir=$work/slurm/spool
	SlurmctldPidFile=$work/slurm/ctld.pid
	SlurmdPidFile=$work/slurm/d.pid
	SlurmctldLogFile=$work/slurm/ctld.log
	SlurmdLogFile=$work/slurm/d.log
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	MpiDefault=none
	ReturnToService=2
	NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
	PartitionName=exam Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	END
	export SLURM_CONF=$work/slurm/slurm.conf
	slurmctld -D >slurm/ctld.out 2>&1 &
	ctld=$!
	slurmd -D >slurm/d.out 2>&1 &
	slurmd=$!
	trap 'kill $ctld $slurmd 2>/dev/null; wait; rm -rf "$work"' EXIT
	for i in $(seq 60); do
		sinfo -h -o %t 2>/dev/null | grep -q idle && return 0
		sleep 1
	done
	echo "Slurm does not start here: $(tail -1 slurm/ctld.log) $(tail -1 slurm/d.log)"
	return 1
}

if part slurm && needs sbatch slurmctld slurmd && start_slurm; then
	steps data.s
	for task in 0 1 2 3; do
		cp -r data.s "data.$task"
	done
	id=$(sbatch --parsable --array=0-3 --wrap '"$VPROF" -d data.$SLURM_ARRAY_TASK_ID record -o run -- ./steps;
		"$VPROF" -d data.$SLURM_ARRAY_TASK_ID export --format digest run -o task-$SLURM_ARRAY_TASK_ID.vpd')
	last=$(sbatch --parsable --dependency="afterok:$id" --wrap '"$VPROF" merge task-*.vpd -o job.vpd; touch ended')
	for i in $(seq 120); do
		[ -e ended ] && break
		sleep 1
	done
	row "intervals of an array of four tasks, merged" "$(intervals_of job.vpd)" intervals 800 "$(intervals_of job.vpd) == 800"
	[ -e ended ] || { echo "job $last: $(squeue -h)"; tail -3 slurm/*.log; }
fi

cd "$build" && write_results results/fleet.json
exit $bad

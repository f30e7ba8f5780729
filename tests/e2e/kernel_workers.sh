#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# record --kernel: threads that the kernel makes in a process without a clone() (io_uring's workers) are part of the run; and a thread
# appears under the name that it gives itself, even if it outlives the recording.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
gcc -Wall -Wextra -Werror -O1 -g -D_GNU_SOURCE "$top/tests/kernel/uring.c" -o uring -lpthread || exit 99

# The disk's waits want a disk: not the memory that /tmp may be.
file=$(mktemp "$(dirname "$VPROF")/kernel_workers.XXXXXX") || exit 99
trap 'rm -rf "$work" "$file"' EXIT
./uring 1 "$file" >/dev/null
case $? in
0) ;;
77) echo "io_uring is not permitted here"; exit 77 ;;
*) exit 99 ;;
esac

# is_explained LASTING: the writer waits for a worker, and a worker for the disk, perhaps through a thread of the kernel
# (the journal's).
is_explained()
{
	awk -v lasting="$1" '
		FNR == 1 { file++ }
		file == 1 { writer = $1; began = $2; next }
		file == 2 && $1 == "thread" { kind[$2] = $3; name[$2] = $4 }
		file == 2 { next }
		$1 == "segment" { if ($2 == writer && $6 == "io" && $4 > began) waits++; if (name[$2] ~ /^iou-wrk/ && $6 == "io") worked++ }
		$1 == "wakeup" && $2 == writer && $4 > began && name[$3] ~ /^iou-wrk/ { by_worker++ }
		$1 == "wakeup" && name[$2] ~ /^iou-wrk/ {
			if (kind[$3] == "disk" || name[$3] ~ /^(jbd2|kworker|xfs|btrfs)/) by_disk++; else by[name[$3]]++
		}
		END {
			for (t in name) called += name[t] == "lasting"
			printf "%d waits for the file, %d let go on by a worker; workers had %d for the disk, %d let go on by it; %d called lasting\n",
				waits, by_worker, worked, by_disk, called
			for (other in by) printf "%d let go on by %s\n", by[other], other
			exit !(waits > 100 && by_worker > 0.9 * waits && worked > 100 && by_disk > 0.9 * worked && called == lasting)
		}' writer.txt tuples tuples >verdict
}
expect 3 "$VPROF" record --kernel=require -- sh -c "./uring 200 '$file' >writer.txt"
"$VPROF" export --format tuples >tuples
is_explained 0 && pass || fail "a command: $(cat verdict)"

# Records a running process: the recording ends before the process does.  On a busy machine, a disk may report completion inside a
# softirq that began for something else, which then counts as the waker of the worker: a second and third recording are as good.
running()
{
	./uring 100000 "$file" >writer.txt &
	server=$!
	until [ -s writer.txt ]; do sleep 0.05; done
	expect 3 "$VPROF" record --kernel=require -p $server -- sh -c "kill -USR1 $server; sleep 1"
	kill $server
	"$VPROF" export --format tuples >tuples
	is_explained 1 || { echo "not explained: $(cat verdict)"; false; }
}
running || running || running && pass || fail "a process that runs: $(cat verdict)"
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof causal --kernel: page faults, which no wrapper sees, become faster, and a disk by its name.  On a busy machine the test asks
# not how much that gains, but that other threads pause for waits of that disk, and for nothing else.
. "${srcdir:-.}/tests/e2e/lib.sh"
ROUNDS=$OLDPWD/tests/e2e/causal/run_rounds

needs_kernel_recorder
# A file on a disk: not the memory that /tmp may be.
file=$(mktemp "$(dirname "$VPROF")/causal_kernel.XXXXXX") || exit 99
trap 'rm -rf "$work" "$file"' EXIT
device=$(stat -c %d "$file")
disk=$(readlink "/sys/dev/block/$((device >> 8 & 0xfff)):$((device & 0xff | device >> 12 & 0xfff00))")
case $disk in
*/block/*/*) disk=$(basename "$(dirname "$disk")") ;;	# a partition
*) disk=$(basename "$disk") ;;
esac
[ -n "$disk" ] && [ -e "/sys/block/$disk" ] || { echo "the build directory is on no disk that has requests"; exit 77; }

cp "$top/tests/e2e/causal/faults.c" . || exit 99
expect 0 "$VPROF" build --functions all -- ${REAL_CC:-cc} -O1 -D_GNU_SOURCE faults.c -o faults

# delays NAME, none NAME: whether other threads paused at 100 % in the last rounds, and somebody was in the target
delays()
{
	awk '$1 == "speed" && $2 == 1000 && $10 > 0 && $14 > 0 { found = 1 } END { exit !found }' "$work/.out" && pass ||
		fail "$1: nothing went faster: $(cat "$work/.out")"
}
none()
{
	awk '$1 == "speed" && $2 == 1000 && $10 == 0 && $14 == 0 { found = 1 } END { exit !found }' "$work/.out" && pass ||
		fail "$1: something went faster: $(cat "$work/.out")"
}

# reads: the process has read pages of the file, by faults that waited
reads()
{
	[ "$(awk '{ print $12 }' /proc/$pid/stat)" -ge 10 ]
}
./faults "$file" >/dev/null &
pid=$!
wait_until reads
reads || { echo "reading a file takes no waits for $disk here"; kill $pid; exit 77; }
kill $pid

expect 0 "$ROUNDS" "disk:$disk" 2 1000 ./faults "$file"
delays "disk:$disk, of page faults"
expect 0 "$ROUNDS" "disk:$disk" 2 1000 ./faults "$file" child
delays "disk:$disk, of another process"
expect 0 "$ROUNDS" "disk:$disk" 2 1000 ./faults
none "disk:$disk, of a program that only computes"
expect 0 "$ROUNDS" io 2 1000 ./faults "$file"
none "io, without --kernel"
KERNEL=1
export KERNEL
expect 0 "$ROUNDS" io 2 1000 ./faults "$file"
delays "io"
expect 0 "$ROUNDS" io@touch 2 1000 ./faults "$file"
delays "io@touch"
expect 0 "$ROUNDS" io@compute 2 1000 ./faults "$file"
none "io@compute"
unset KERNEL

# The command: a target that needs the kernel's side turns it on; its kind; reasons to refuse.
"$VPROF" causal --target "disk:$disk" --speedups 50 --for 6s --format json -- ./faults "$file" >.json 2>.err
status=$?
case $status in 0 | 3) pass ;; *) fail "causal: $(cat .err)" ;; esac
for text in '"kind": "device"' "\"target\": \"disk:$disk\""; do
	[ $status = 3 ] || grep -qF "$text" .json && pass || fail "no $text: $(cat .json .err)"
done
grep -qF "disk:NAME needs the kernel's side: as with --kernel" .err && pass || fail "nobody says so: $(cat .err)"
expect 4 "$VPROF" causal --target disk:nosuch --kernel -- ./faults
says "target disk:nosuch: this machine has no disk of that name" "$disk"
expect 4 "$VPROF" causal --target touch --kernel -p $$
says "so --kernel and -p do not go together" "io, io@FUNCTION"
expect 4 env VPROF_KERNEL_HOOKS=no-disks "$VPROF" causal --target "disk:$disk" -- ./faults
says "no tracepoints block_rq_issue and block_rq_complete" "without --kernel"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && chmod -R a+rwX . "$work"; then
	expect 4 setpriv --reuid 65534 --clear-groups "$VPROF" -d "$work/other" causal --target pc:compute --kernel -- ./faults
	says "the kernel recorder is not permitted" "run vprof as root"
fi
finish

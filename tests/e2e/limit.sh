#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The trace after a recording that could not continue: --limit, a full disk, a killed recorder, both killed.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >server.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <vprof.h>

static volatile unsigned sink;

__attribute__((noinline)) void small(unsigned i) { sink += i; }

__attribute__((noinline)) void request(unsigned i)
{
	VPROF_BEGIN("request", 0);
	for (unsigned k = 0; k < 100; k++)
		small(i ^ k);
	VPROF_END("request", 0);
}

int main(int argc, char **argv)
{
	unsigned cnt = argc > 1 ? (unsigned)atoi(argv[1]) : 100;

	for (unsigned i = 0; i < cnt && (argc < 3 || access("stop", F_OK)); i++) {
		request(i);
		if (argc > 2 && (i == 300 || i == 600))
			close(creat(i == 300 ? "served.300" : "served.600", 0600));
		if (argc > 2 || i % 100 == 99)		/* the recorder may keep up */
			usleep(1000);
	}
	puts("served");
	return 7;
}
END
expect 0 "$VPROF" build --functions all -- cc -O1 -o server server.c

cp -r vprof.data fresh.data
size=$(du -sk fresh.data | cut -f1)

# A call takes a fifth of a byte where nothing disturbs it: 4 MB.
requests=200000

# ---- --limit ----
expect 2 "$VPROF" record --limit 5 -- ./server
says "--limit is a size from 1M on, not '5'" "vprof record --limit 2G"
expect 2 "$VPROF" record --limit lots -- ./server
expect 7 "$VPROF" record -o small --limit 1M -- ./server $requests
says "served" "the recording ended before the program, when the trace had the size of --limit"
[ "$(stat -c %s vprof.data/runs/001/trace.vpt)" -le 1048576 ] && pass || fail "a trace above its limit"
# (without one it is larger)
expect 7 "$VPROF" record -o large -- ./server $requests
[ "$(stat -c %s vprof.data/runs/002/trace.vpt)" -gt 1300000 ] && pass || fail "a trace that needs no limit"
grep -q "size of --limit" "$work/.err" && fail "limit without --limit" || pass
# every interval in it is whole
whole()
{
	"$VPROF" export --format tuples "$1" | awk '
		$1 == "interval" && $8 != "aborted" && $6 != "-" { full[$2] = 1; cnt++ }
		$1 == "invocation" && $4 ~ /^small/ && $3 != "-" { calls[$3]++ }
		END {
			for (sid in full) wrong += calls[sid] != 100
			if (cnt < 10 || wrong) { print wrong " of " cnt; exit 1 }
		}' && pass || fail "intervals of $1 that are not whole"
}
expect 0 "$VPROF" show summary small
whole small

# ---- a disk that is full: the program goes on, and what is missing is counted exactly ----
missing()
{
	sed -n 's/.*: \([0-9]*\) of \([0-9]*\) records are missing.*/\1 \2/p' "$work/.err"
}
full_disk()
{
	mv fresh.data disk/vprof.data
	export VPROF_DIR="$PWD/disk/vprof.data"
	# There is no room for results either.
	expect 4 "$VPROF" record -o full --buffer 256 -- ./server $requests
	says "served" "could not be written (No space left on device)" "free some space" \
		"make room"
	set -- $(missing)
	# Per request BEGIN, END, request() and small(); of each hundred one usleep(); main(), START, STOP and a few more once.
	calls=$((requests * 103)) all=$((requests * 103 + requests / 100))
	[ "${1:-0}" -gt 0 ] && [ "$2" -ge $((all + 3)) ] && [ "$2" -le $((all + 16)) ] && pass ||
		fail "counted $*"
	lost=${1:-0}
	mount -o remount,size=40m disk
	expect 0 "$VPROF" analyze full
	says "$lost records were lost for lack of buffer or disk"
	whole full
	expect 0 "$VPROF" export --format tuples full
	# what was read and what was lost is all
	set -- $(awk '$1 == "invocation" { i++ } $1 == "interval" { b += 1 + ($6 != "-") } END { print i + 0, b + 0 }' \
		"$work/.out")
	[ $(($1 + $2 + lost)) -ge $calls ] && [ $(($1 + $2 + lost)) -le $((all + 16)) ] && pass ||
		fail "$1 calls, $2 events, $lost lost"
}
if [ "$(id -u)" = 0 ] && mkdir disk && mount -t tmpfs -o size=$((size + 1300))k none disk 2>/dev/null; then
	full_disk
	umount disk
	unset VPROF_DIR
else
	echo "no file system of our own, so no full disk: not permitted"
fi

# ---- the recorder is killed: the program goes on, the trace says what is missing ----
"$VPROF" record -o killed -- ./server 200000 slow >out 2>err &
wait_until test -e served.300
expect 0 "$VPROF" show runs
says "recording"
expect 3 "$VPROF" analyze killed
says "is being recorded"
kill -9 $!
wait $! 2>/dev/null
expect 0 "$VPROF" show runs
grep -q "killed .* killed " "$work/.out" && pass || fail "a killed run is $(grep killed "$work/.out")"
expect 3 "$VPROF" show summary killed
says "has no results yet"
expect 0 "$VPROF" analyze killed
expect 0 "$VPROF" show warnings killed
says "the recording was cut off" "after its first record" " server from "
expect 0 "$VPROF" show summary killed --format json
says '"cut-off"'
whole killed
touch stop
wait_until grep -q served out
grep -q served out && pass || fail "the program did not outlive its recorder"
rm stop

# ---- both are killed: what the recorder had not written yet is in memory, and goes into the trace ----
intervals()
{
	"$VPROF" export --format tuples "$1" 2>/dev/null | grep -c "^interval .* [0-9]*$"
}
kill_both()
{
	rm -f served.300 served.600
	"$VPROF" record -o "$1" -- ./server 200000 slow >out 2>err &
	recorder=$!
	wait_until test -e served.300
	kill -STOP $recorder
	wait_until test -e served.600
	kill -9 $(ps -o pid= --ppid $recorder) $recorder
	wait $recorder 2>/dev/null
	before=$(intervals "$1")
}
kill_both both
arena=$(cat vprof.data/runs/*/recorder | tail -c 40 | grep -o '/dev/shm/.*')
[ -e "$arena" ] && pass || fail "no arena '$arena'"
expect 0 "$VPROF" analyze both
says "its recorder was killed" "records that it had not written yet are in the trace now"
expect 0 "$VPROF" show warnings both
says "the recording was cut off"
[ "$(intervals both)" -ge $((before + 100)) ] && pass || fail "$before intervals, then $(intervals both)"
whole both
[ -e "$arena" ] && fail "the arena is still there" || pass
# the next recording of its directory reads it before; one of another directory leaves it
kill_both earlier
expect 4 env VPROF_DIR="$PWD/another.data" "$VPROF" record -o elsewhere -- true
expect 7 "$VPROF" record -o later -- ./server 100
says "its recorder was killed" "records that it had not written yet are in the trace now"
[ "$(intervals earlier)" -ge $((before + 100)) ] && pass || fail "$before intervals, then $(intervals earlier)"
whole earlier
# unless there are many; where there is no room for another, that one lies beside its trace
cat >memory.sh <<'END'
killed()
{
	VPROF_DIR=$PWD/$1.data "$VPROF" record --kernel=off --buffer 16 -- sh -c 'kill -9 $PPID' 2>/dev/null
}
arenas()
{
	VPROF_DIR=$PWD/last.data "$VPROF" record --kernel=off --buffer "$1" -- \
		sh -c 'echo "$0: $(ls -d /dev/shm/*/* | wc -l), one at $VPROF_ARENA"' "$2" 2>/dev/null
}
mount -t tmpfs -o size=600m none /dev/shm || exit
for i in 1 2 3 4 5; do
	killed $i
done
touch -d '50 seconds ago' /dev/shm/*/*
rm -f $(ls -d /dev/shm/*/* | head -1)
arenas 16 "four of fifty seconds"
killed 6
touch -d '100 seconds ago' $(ls -d /dev/shm/*/* | head -3)
arenas 16 "five, three of 100 seconds"
arenas 450 "no room for more"
END
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	expect 4 unshare -m sh memory.sh	# nothing there was built with vprof
	says "four of fifty seconds: 5, one at /dev/shm/" "five, three of 100 seconds: 3, one at /dev/shm/" \
		"no room for more: 2, one at $PWD/last.data/"
else
	echo "no mount namespace of our own, so no small /dev/shm: not permitted"
fi
finish

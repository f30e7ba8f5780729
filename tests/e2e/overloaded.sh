#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A program that shares its CPU with others: its functions are not blamed for the time without a CPU, and the others are named.  All run
# on one CPU, so that any machine shows the same.
. "${srcdir:-.}/tests/e2e/lib.sh"

# Eight functions compute, all the same; with a second argument a ninth sleeps, now 2 ms, now 30, and that is most of it, or, if it is
# "threads", each flight has a thread of its own.
cat >hive.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile unsigned long sink;

#define BEE(n) __attribute__((noinline)) void bee##n(unsigned cnt) { for (unsigned k = 0; k < cnt; k++) sink += k; }
BEE(1) BEE(2) BEE(3) BEE(4) BEE(5) BEE(6) BEE(7) BEE(8)

__attribute__((noinline)) void drone(unsigned ms)
{
	struct timespec t = { 0, ms * 1000000L };

	nanosleep(&t, NULL);
}

static int is_alone;		/* each flight has a thread */

__attribute__((noinline)) void flight(unsigned i, int sleeps)
{
	unsigned cnt = sleeps ? 1000 : is_alone ? 4000000 : 200000;

	bee1(cnt); bee2(cnt); bee3(cnt); bee4(cnt); bee5(cnt); bee6(cnt); bee7(cnt); bee8(cnt);
	if (sleeps)
		drone(i % 2 ? 30 : 2);
}

static void *alone(void *i)
{
	flight((unsigned)(unsigned long)i, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	is_alone = argc > 2 && !strcmp(argv[2], "threads");
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
		if (!is_alone)
			flight((unsigned)i, argc > 2);
		else if (pthread_create(&t, NULL, alone, (void *)(unsigned long)i) == 0)
			pthread_join(t, NULL);
	}
	puts("home");
	return 0;
}
END
# Computes for MS ms of processor time.
cat >spinner.c <<'END'
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct timespec now;

	if (argc < 2)
		return 2;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < atol(argv[1]));
	return 0;
}
END
cpu=$(taskset -pc $$ 2>/dev/null | sed 's/.*[ ,-]//')
[ -n "$cpu" ] || { echo "there is no taskset here"; exit 77; }
spinners=
spin()
{
	for _ in 1 2 3; do
		taskset -c "$cpu" ./spinner 60000 &
		spinners="$spinners $!"
	done
}
calm()
{
	[ -z "$spinners" ] || kill $spinners 2>/dev/null
	spinners=
}
trap 'calm; rm -rf "$work"' EXIT

# is EXPRESSION: of the last command's JSON d, its "cpu", and the processes in that
is()
{
	if python3 - "$work/.out" "$1" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
cpu = d.get("cpu", {})
others = {o["comm"]: o["cpus"] for o in cpu.get("others", [])}
# The spinners are among those named, or five that used more: they have one CPU, which others use, too.
spinners = others.get("spinner", 0) > 0.1 or len(others) == 5 and sum(others.values()) > 0.5
most = max(others, key=others.get, default="nobody")		# the spinners, on a machine that has nothing else to do
sys.exit(not eval(sys.argv[2]))
END
	then
		pass
	else
		fail "it is not so that $1"
		sed 's/^/  out: /' "$work/.out" | head -60
	fi
}

cc -O2 -o spinner spinner.c || exit 99
expect 0 "$VPROF" annotate --start flight --end flight
expect 0 "$VPROF" build --functions all -- cc -O1 -pthread -o hive hive.c

# Others, from outside of the command.
spin
expect 0 "$VPROF" record -o outside -- taskset -c "$cpu" ./hive 250
expect 0 "$VPROF" show summary outside --format json
is 'cpu["runqueue_share"] > 0.4'
is 'spinners and len(others) <= 5 and "hive" not in others'
is 'd["sentence"]["sure"] is False and most in d["sentence"]["text"] and "--kernel" in d["sentence"]["text"]'
is 'd["warnings"][0]["code"] == "overloaded" and most in d["warnings"][0]["text"]'
expect 0 "$VPROF" show summary outside
says "  CPUs      waited for a CPU for"
expect 0 "$VPROF" show factors outside --all --format json
is '[(f["function"], f["wait"]) for f in d["factors"] if f["wait"] in ("runnable", "wakeup")] == [(None, "runnable")]'
is 'next(f for f in d["factors"] if f["wait"] == "runnable")["share"] > 0.5'

# A thread of some milliseconds is met by a look or by none; it says itself that it never waited.  It lives for longer than the scheduler
# leaves one of four on the CPU.
expect 0 "$VPROF" record -o threads -- taskset -c "$cpu" ./hive 40 threads
expect 0 "$VPROF" export --format tuples threads
cp "$work/.out" "$work/tuples"
other=$(told flight other) runnable=$(told flight runnable) running=$(told flight running)
[ $((other * 20)) -le $((other + runnable + running)) ] && [ "$runnable" -gt "$running" ] && pass ||
	fail "short threads: running $running us, runnable $runnable, off $other"

# Intervals that mostly sleep are not explained by the other processes.
expect 0 "$VPROF" record -o sleeps -- taskset -c "$cpu" ./hive 60 1
expect 0 "$VPROF" show summary sleeps --format json
is 'd["sentence"]["function"] == "drone" and "runnable threads" not in d["sentence"]["text"]'

# Recorded with only the end kept.
expect 0 "$VPROF" record --keep 30s -o kept -- taskset -c "$cpu" ./hive 250
expect 0 "$VPROF" show summary kept --format json
is 'cpu["runqueue_share"] > 0.4 and spinners'

# A program that was there before the recording; a recording that begins later.
taskset -c "$cpu" ./hive 2000 >hive.out &
hive=$!
expect 0 "$VPROF" record -p "$hive" --duration 2s -o there
kill "$hive" 2>/dev/null
expect 0 "$VPROF" show summary there --format json
is 'cpu["runqueue_share"] > 0.4 and spinners and d["sentence"]["sure"] is False'
expect 0 "$VPROF" record --delay 300ms -o later -- taskset -c "$cpu" ./hive 250
expect 0 "$VPROF" show summary later --format json
is 'cpu["runqueue_share"] > 0.4 and spinners'
calm

export hider=54321	# no other processes have this user
# Their owner hides them: the amount is known, the names are not.  A /proc of its own: to remount would hide them from all.
if [ "$(id -u)" = 0 ] && unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && setpriv --reuid=$hider --regid=$hider --clear-groups "$0" --version' "$VPROF" >/dev/null 2>&1; then
	mkdir hidden && cp hive hidden && chmod 755 "$work" && chown -R $hider:$hider hidden
	spin
	expect 0 unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && cd hidden && exec setpriv --reuid=$hider --regid=$hider --clear-groups \
		env HOME="$PWD" "$0" -d "$PWD/vprof.data" record -o hid -- taskset -c "$1" ./hive 250' "$VPROF" "$cpu"
	calm
	expect 0 "$VPROF" -d hidden/vprof.data show summary hid --format json
	is 'cpu["runqueue_share"] > 0.4 and others.get("(others)", 0) > 0.1 and "spinner" not in others'
	is '"(hidden processes used " in d["sentence"]["text"]'
else
	echo "not tried here: processes that are hidden (hidepid)"
fi

# Children of the command itself; some live for a moment only, and one has a name with a terminal's escape codes.
ln spinner "$(printf 'x\033[31m\ny')"
cat >bench.sh <<'END'
for _ in 1 2 3; do
	while :; do taskset -c "$1" ./spinner 60; done &
	loops="$loops $!"
	taskset -c "$1" ./x* 60000 &
	loops="$loops $!"
done
taskset -c "$1" ./hive 1000	# for long enough that each of them has had the CPU on a machine with many more
echo $loops >loops		# they are there still as the last look at all processes is taken
END
expect 0 "$VPROF" record -o inside -- sh bench.sh "$cpu"
kill $(cat loops)
expect 0 "$VPROF" show summary inside --format json
is spinners
is 'any(c.startswith("x") for c in others) or len(others) == 5 and min(others.values()) > 0.05'
is 'not any("\033" in c or "\n" in c for c in others)'
expect 0 "$VPROF" show summary inside
if grep -q "$(printf '\033')" "$work/.out"; then fail "a name reached the terminal"; else pass; fi

"$VPROF" record --kernel=require -- true >"$work/.out" 2>"$work/.err"
[ $? = 4 ] && { echo "not tried here: --kernel"; finish; }
spin
expect 0 "$VPROF" record --kernel -o kernel -- taskset -c "$cpu" ./hive 250
calm
expect 0 "$VPROF" show factors kernel --format json
is 'd["factors"][0]["wait"] == "runnable" and d["factors"][0]["function"] is None and d["factors"][0]["share"] > 0.6'
is '"waiting for a CPU" in d["sentence"]["text"] and "spinner" in d["sentence"]["text"]'
is '"--kernel" not in d["sentence"]["text"] and "overloaded" in [w["code"] for w in d["warnings"]]'
finish

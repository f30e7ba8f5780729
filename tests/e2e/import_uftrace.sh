#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# import of uftrace.data: a directory made here, whose answer is known; one that uftrace and vprof recorded at once, if uftrace is there.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >make.py <<'END'
import os, random, struct
rng = random.Random(7)
os.makedirs("made", exist_ok=True)
open("made/info", "wb").write(b"Ftrace!\0" + struct.pack("<IHBB", 4, 40, 1, 2) + bytes(24))
open("made/task.txt", "w").write('SESS timestamp=1.000000000 pid=70 sid=0123456789abcdef exename="/x/prog"\nTASK timestamp=1.000000001 tid=70 pid=70\n'
                                 'TASK timestamp=1.000000002 tid=71 pid=70\nFORK timestamp=1.000000003 pid=72 ppid=70\n')
open("made/sid-0123456789abcdef.map", "w").write("550000000000-550000004000 r-xp 00000000 00:00 0                          /x/prog build-id:00\n")
open("made/prog.sym", "w").write("# symbols: 5\n0000000000001000 P nanosleep\n0000000000001010 P pthread_mutex_lock\n0000000000001100 T handle\n"
                                 "0000000000001200 T parse\n0000000000001300 T _ZN5store7rebuildEi\n0000000000001400 ? __sym_end\n")
SLEEP, LOCK, HANDLE, PARSE, REBUILD = 0x1000, 0x1010, 0x1100, 0x1200, 0x1300
out = {70: bytearray(), 71: bytearray(), 72: bytearray()}
def rec(tid, ns, kind, depth, address, more=0):
    out[tid] += struct.pack("<QQ", ns, kind | more << 2 | 5 << 3 | depth << 6 | (0x550000000000 + address) << 16)
cpu = bytearray()
def switch(tid, ns, misc):
    global cpu
    cpu += struct.pack("<IHHIIQ", 14, misc, 24, 70, tid, ns)
total, rebuild, lock = [], [], []
for tid in (70, 71, 72):
    at = 2_000_000_000
    for i in range(100):
        start = at
        rec(tid, at, 0, 0, HANDLE); at += 10
        rec(tid, at, 0, 1, PARSE, 1); out[tid] += struct.pack("<QQ", 12345, 6)     # arguments follow
        at += 900 + rng.randrange(50)
        rec(tid, at, 1, 1, PARSE)
        held = rng.choice([0, 0, 60_000])
        rec(tid, at, 0, 1, LOCK); at += 20
        if held:
            switch(tid, at, 1 << 13); at += held; switch(tid, at, 0)
        rec(tid, at, 1, 1, LOCK)
        slow = rng.choice([0, 0, 0, 400_000])
        if slow:
            rec(tid, at, 0, 1, REBUILD); at += 30
            rec(tid, at, 0, 2, SLEEP); at += 5
            switch(tid, at, 1 << 13); at += slow; switch(tid, at, 0)
            rec(tid, at, 1, 2, SLEEP); rec(tid, at, 1, 1, REBUILD)
        at += 10
        rec(tid, at, 1, 0, HANDLE)
        total.append(at - start); rebuild.append(slow + 35 if slow else 0); lock.append(held)
        at += 5_000
rec(72, at, 0, 0, HANDLE); at += 5; rec(72, at, 0, 1, PARSE); rec(72, at + 9, 1, 0, HANDLE)      # parse never returned: longjmp()
total.append(14); rebuild.append(0); lock.append(0)
rec(70, 2_999_000_000, 1, 3, PARSE)                                                             # a return without its call
for tid, data in out.items():
    open("made/%d.dat" % tid, "wb").write(data)
open("made/perf-cpu0.dat", "wb").write(bytes(cpu))
n = len(total)
cov = lambda a, b: sum(x * y for x, y in zip(a, b)) / n - sum(a) / n * sum(b) / n
open("expected", "w").write("%.9f %.9f" % (cov(rebuild, total) / cov(total, total), cov(lock, total) / cov(total, total)))
END
python3 make.py
expect 0 "$VPROF" import --from uftrace made --interval handle -o made
says "301 intervals" "1 ends without a beginning" "1 beginnings without an end" "views that work: all"
"$VPROF" show factors made --all --format json 2>/dev/null | python3 -c '
import json, sys
rebuild, lock = map(float, open("expected").read().split())
f = json.load(sys.stdin)["factors"]
assert f[0]["kind"] == "function" and f[0]["function"] == "store::rebuild" and abs(f[0]["share"] - rebuild) < 1e-6, (f[0], rebuild)
got = [x["share"] for x in f if x["kind"] == "wait" and x["wait"] == "lock" and x["function"] == "handle"]
assert len(got) == 1 and abs(got[0] - lock) < 1e-6, (got, lock)
assert any(x["wait"] == "sleep" and x["function"] == "store::rebuild" for x in f)
assert not any(x["function"] in ("nanosleep", "pthread_mutex_lock") for x in f)' 2>err && pass || fail "made: $(tail -1 err)"
# Without the times off the CPU a call that waits is a wait.
mkdir bare && cp made/[!p]* made/prog.sym bare
expect 0 "$VPROF" import --from uftrace bare --start handle --end handle -o bare
says "301 intervals"
"$VPROF" show factors bare --all --format json 2>/dev/null | grep -q '"wait": "lock"' && pass || fail "no lock wait without perf-cpu0.dat"

expect 3 "$VPROF" import --from uftrace made --interval nobody
expect 5 "$VPROF" import --from uftrace nothing
says "cannot read 'nothing/info'" "uftrace record"
damage()	# FILE COMMAND
{
	rm -rf damaged && cp -r made damaged && (cd damaged && eval "$2" <"../made/$1" >"$1.new" && mv "$1.new" "$1")
	expect 5 "$VPROF" import --from uftrace damaged --interval handle
	says "damaged/$1"
}
damage info "tr F G"
damage 70.dat "{ cat; printf '0123456789abcdef'; }"
damage 71.dat "{ cat; head -c 16 ../made/71.dat; }"
damage task.txt "sed 2s/TASK/TUSK/"
mkdir empty && cp made/info made/task.txt empty
expect 3 "$VPROF" import --from uftrace empty

# At once: functions have vprof's probes and uftrace's.
if ! command -v uftrace >/dev/null 2>&1; then
	echo "the part with uftrace itself is left out: no uftrace here (package uftrace)"
	finish
fi
cat >p.c <<'C'
#include <pthread.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void parse(int i)
{
	for (volatile int k = 0; k < 2000 + i % 7 * 100; k++)
		;
}
__attribute__((noinline)) void rebuild(int i)
{
	struct timespec t = { 0, 12000000 + i * 7919 % 100000 };

	pthread_mutex_lock(&lock);
	nanosleep(&t, NULL);
	pthread_mutex_unlock(&lock);
}
__attribute__((noinline)) void handle(int i)
{
	parse(i);
	if (i % 10 == 3)
		rebuild(i);
}
int main(void)
{
	for (int i = 0; i < 250; i++)
		handle(i);
	return 0;
}
C
printf '[interval "handle"]\n start = handle@entry\n end = handle@return\n' >vprof.conf
"$VPROF" build --functions all -- cc -O1 -pg -g -o p p.c -lpthread >build.log 2>&1 || { cat build.log; fail "build"; finish; }
"$VPROF" record -o both -- uftrace record --no-pager -d at.once ./p >record.log 2>&1 || { cat record.log; fail "recorded at once"; finish; }
expect 0 "$VPROF" import --from uftrace at.once --interval handle -o theirs
says "250 intervals"
for run in both theirs; do
	"$VPROF" show factors $run --all --format json >$run.json 2>/dev/null
done
python3 - 2>err <<'END' && pass || fail "uftrace and vprof at once: $(tail -1 err)"
import json
ours, theirs = ({f["function"]: f["share"] for f in json.load(open(r + ".json"))["factors"] if f["kind"] == "function"} for r in ("both", "theirs"))
first = [next(f["function"] for f in json.load(open(r + ".json"))["factors"] if f["kind"] == "function") for r in ("both", "theirs")]
assert first == ["rebuild", "rebuild"], first
for f in ("rebuild", "parse"):
    assert abs(ours.get(f, 0) - theirs.get(f, 0)) < 0.03, (f, ours, theirs)
END
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Our own perfetto export comes back as it was: the same intervals, tree, blames and files; and exported again it is the same, byte by byte.
. "${srcdir:-.}/tests/e2e/lib.sh"

# Thread 1 serves.  It waits for a lock that thread 2 holds for an interval of its own, for a peer, and for thread 3, which works for none, in a function.
python3 - >t.tuples <<'END'
import random
rng = random.Random(9)
peer = 1 << 49 | 1
print("vprof-tuples 1\nthread 1 thread main\nthread 2 thread helper\nthread 3 thread flusher\nthread %d peer 127.0.0.1:5400" % peer)
at = 1_000_000
for i in range(150):
    sid, a, held, b = 2 * i + 1, rng.randrange(1000, 3000), rng.choice([0, 500, 90_000]), rng.randrange(500, 900)
    asked, flushed = rng.randrange(2000, 30_000), rng.randrange(100, 10_000)
    ends = [at + a, at + a + held, at + a + held + asked, at + a + held + asked + flushed, at + a + held + asked + flushed + b]
    print("interval %d request 1 %d 1 %d" % (sid, at, ends[4]))
    print("segment 1 %d %d %d running" % (sid, at, ends[0]))
    if held:
        print("segment 1 %d %d %d lock\nwakeup 1 2 %d" % (sid, ends[0], ends[1], ends[1]))
    print("segment 1 %d %d %d io\nwakeup 1 %d %d" % (sid, ends[1], ends[2], peer, ends[2]))
    print("segment 1 %d %d %d cond\nwakeup 1 3 %d" % (sid, ends[2], ends[3], ends[3] - 7))
    print("segment 1 %d %d %d running" % (sid, ends[3], ends[4]))
    print("segment 3 - %d %d running\nsegment 3 - %d %d sleep\nsegment 3 - %d %d running" % (at, at + 90, at + 90, ends[3] - 20, ends[3] - 20, ends[3]))
    print("invocation 3 - flush %d %d" % (at, ends[3]))
    print("invocation 1 %d handle %d %d" % (sid, at, ends[4]))
    print("invocation 1 %d operator%%20new %d %d" % (sid, at + 10, at + a - 10))
    print("invocation 1 %d log %d %d" % (sid, at + a - 5, ends[4] - 20))
    print("invocation 1 %d \xc3\xa4rger %d %d" % (sid, ends[4] - 10, ends[4] - 10))
    print("interval %d request 2 %d 2 %d" % (sid + 1, at, ends[1] + 10))
    print("segment 2 %d %d %d running" % (sid + 1, at, ends[1] + 10))
    print("invocation 2 %d hold %d %d" % (sid + 1, at + 5, ends[1] + 5))
    at = ends[4] + 1_000
END
again()		# FIRST SECOND: exports, imports and exports again
{
	expect 0 "$VPROF" export --format perfetto --intervals all -o $1.perfetto $1
	expect 0 "$VPROF" import --from perfetto $1.perfetto -o $2
	says "an export of vprof's own: $3"
	expect 0 "$VPROF" export --format perfetto --intervals all -o $2.perfetto $2
	for view in variance-tree intervals factors causes wait-graph; do
		for run in $1 $2; do
			"$VPROF" show $view $run --format json 2>/dev/null | sed '/"run":/d; /"run_name":/d' >$run.$view
		done
		[ -s $1.$view ] && cmp -s $1.$view $2.$view && pass || fail "$view of $2 differs: $(diff $1.$view $2.$view | head -8)"
	done
}
expect 0 "$VPROF" import --from tuples t.tuples -o first
again first second "300 intervals"
cmp -s first.perfetto second.perfetto && pass || fail "exported again it differs"
"$VPROF" show causes second >.out
says "127.0.0.1:5400"
"$VPROF" show variance-tree second --min-share 0 >.out
says "by flush (sleep)"
"$VPROF" export --format perfetto --intervals all first 2>.err | "$VPROF" import --from perfetto - >.out 2>&1
says "an export of vprof's own: 300 intervals"
# With --interval it is a trace as of anybody.
expect 0 "$VPROF" import --from perfetto first.perfetto --interval handle -o handle
says "150 intervals of 'handle'"
python3 - <<'END'
data = open("first.perfetto", "rb").read()
open("luck.perfetto", "wb").write(data.replace(b"\x32\x04lock", b"\x32\x04luck"))
open("twice.perfetto", "wb").write(data + data)
END
expect 5 "$VPROF" import --from perfetto luck.perfetto
says "luck.perfetto: event " "no class of waits has that name"
expect 5 "$VPROF" import --from perfetto twice.perfetto
says "this interval has begun already"
finish

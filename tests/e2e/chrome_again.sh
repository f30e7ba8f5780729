#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Our own chrome-trace comes back as it was: the same intervals, tree and paths; and exported again it has the same events.
. "${srcdir:-.}/tests/e2e/lib.sh"

python3 - >t.tuples <<'END'
import random
rng = random.Random(9)
print("vprof-tuples 1\nthread 1 thread main\nthread 2 thread helper")
at = 1_000_000
for i in range(150):                             # thread 1 serves; waits for a lock that thread 2 holds for an interval of its own
    sid, a, held, b = 2 * i + 1, rng.randrange(1000, 3000), rng.choice([0, 500, 90_000]), rng.randrange(500, 900)
    end = at + a + held + b
    print("interval %d request 1 %d 1 %d" % (sid, at, end))
    print("segment 1 %d %d %d running" % (sid, at, at + a))
    if held:
        print("segment 1 %d %d %d lock\nwakeup 1 2 %d" % (sid, at + a, at + a + held, at + a + held))
    print("segment 1 %d %d %d running" % (sid, at + a + held, end))
    print("invocation 1 %d handle %d %d" % (sid, at, end))
    print("invocation 1 %d operator%%20new %d %d" % (sid, at + 10, at + a - 10))
    print("invocation 1 %d log %d %d" % (sid, at + a - 5, end - 20))
    print("interval %d request 2 %d 2 %d" % (sid + 1, at, end + 10))
    print("segment 2 %d %d %d running" % (sid + 1, at, end + 10))
    print("invocation 2 %d hold %d %d" % (sid + 1, at + 5, end + 5))
    at = end + 1_000
END
expect 0 "$VPROF" import --from tuples t.tuples -o first
expect 0 "$VPROF" export --format chrome-trace --intervals all -o first.json first
expect 0 "$VPROF" import --from chrome-trace first.json -o second
says "an export of vprof's own: 300 intervals"
expect 0 "$VPROF" export --format chrome-trace --intervals all -o second.json second
cmp -s first.json second.json && pass || fail "exported again it differs: $(diff first.json second.json | head -4)"
for view in variance-tree intervals factors wait-graph; do
	for run in first second; do
		"$VPROF" show $view $run --format json 2>/dev/null | sed '/"run":/d; /"run_name":/d' >$run.$view
	done
	cmp -s first.$view second.$view && pass || fail "$view differs: $(diff first.$view second.$view | head -4)"
done
# It may come through a pipe, and from a machine that has been up for years.
mkfifo pipe
cat first.json >pipe &
expect 0 "$VPROF" import --from chrome-trace pipe
says "an export of vprof's own: 300 intervals"
"$VPROF" import --from chrome-trace - <first.json >.out 2>.err
says "an export of vprof's own: 300 intervals"
python3 - <<'END'
up = 98_765_432_100_000_000                     # three years in ns: more than a double of microseconds holds
lines = [line.split() for line in open("t.tuples")]
at = {"interval": (4, 6), "segment": (3, 4), "invocation": (4, 5), "wakeup": (3,)}
for f in lines:
    for i in at.get(f[0], ()):
        f[i] = str(int(f[i]) + up + 1)
open("up.tuples", "w").write("\n".join(map(" ".join, lines)) + "\n")
END
expect 0 "$VPROF" import --from tuples up.tuples -o up
expect 0 "$VPROF" export --format chrome-trace --intervals all -o up.json up
expect 0 "$VPROF" import --from chrome-trace up.json -o up_again
expect 0 "$VPROF" export --format chrome-trace --intervals all -o again.json up_again
cmp -s up.json again.json && pass || fail "after years it differs: $(diff up.json again.json | head -4)"
# With --interval it is a trace as of anybody.
expect 0 "$VPROF" import --from chrome-trace first.json --interval handle -o handle
says "150 intervals of 'handle'"
sed '0,/"dur":[0-9.]*/s//"dur":"x"/' first.json >damaged.json
expect 5 "$VPROF" import --from chrome-trace damaged.json
says "damaged.json:$(grep -n '"dur":"x"' damaged.json | cut -d: -f1): event " " of traceEvents"
sed 's/"wait":"lock"/"wait":"luck"/' first.json >damaged.json
expect 5 "$VPROF" import --from chrome-trace damaged.json
says "no class of waits"
finish

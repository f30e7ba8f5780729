#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# A run of random intervals, as tuples: nested calls, waits with wakers, two kinds of intervals.  random_tuples.py SEED [WIDE]
import random, sys

seed, wide = int(sys.argv[1]), len(sys.argv) > 2
rng = random.Random(seed)
functions = [f"f{i}" for i in range(200 if wide else 12)]
waits = ["lock", "cond", "io", "sleep", "other"]
print("vprof-tuples 1")
for i, f in enumerate(functions[:12]):
    for g in functions[i + 1:12]:
        if (i * 7 + len(g) + int(g[1:])) % 3 == 0:
            print("call", f, g)
clock, sid = 1000, 1


def calls(tid, sid, start, end, depth, first):
    """Invocations that fill some of start .. end; each calls functions with larger numbers."""
    at = start
    while depth < 4 and at < end - 20 and rng.random() < (0.9 if wide else 0.7):
        a = at + rng.randrange(0, (end - at) // 3 + 1)
        b = min(end, a + rng.randrange(1, (end - a) // 2 + 2))
        f = rng.randrange(first, len(functions)) if first < len(functions) else None
        if f is None or b <= a:
            return
        site = f"@s.c:{rng.randrange(1, 4)}" if rng.random() < 0.5 else ""
        print("invocation", tid, sid, functions[f] + site, a, b)
        calls(tid, sid, a, b, depth + 1, f + 1)
        at = b


while sid <= 60:
    tid, waker = rng.randrange(1, 4) * 2, rng.randrange(1, 4) * 2 + 1
    length = rng.randrange(50, 400) * (10 if rng.random() < 0.1 else 1) * rng.choice([1, 1000])
    start, end = clock, clock + length
    name = "request" if sid % 5 else "other"
    print("interval", sid, name, tid, start, tid, end, "aborted" if sid % 17 == 0 else "completed")
    at = start
    while at < end:
        b = min(end, at + rng.randrange(1, length))
        state = rng.choice(waits) if rng.random() < 0.3 else "running"
        print("segment", tid, sid, at, b, state)
        if state in ("lock", "cond") and rng.random() < 0.8:
            print("wakeup", tid, waker, b)
            print("segment", waker, "-", at, b, rng.choice(["running", "running", "io"]))
            if rng.random() < 0.7:
                print("invocation", waker, "-", rng.choice(functions), at, b)
        at = b
    calls(tid, sid, start, end, 0, 0)
    clock = end + rng.randrange(1, 50)
    sid += 1

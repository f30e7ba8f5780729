#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""fleet_wide.py TUPLES: a wide tree: 200 functions, 5 deep, 50 threads, each call's site one of 400."""
import random, sys

wanted, rng, cnt, clock = int(sys.argv[1]), random.Random(1), 0, 1000
print("vprof-tuples 1")


def calls(tid, sid, start, end, depth):
    global cnt
    at = start
    while depth < 5 and at + 40 < end and rng.random() < 0.8:
        a = at + rng.randrange(1, (end - at) // 4 + 2)
        b = min(end, a + rng.randrange(1, (end - at) // 2 + 2))
        print("invocation %d %d f%d@s.c:%d %d %d" % (tid, sid, rng.randrange(200), rng.randrange(400), a, b))
        cnt += 1
        calls(tid, sid, a, b, depth + 1)
        at = b


sid = 1
while cnt < wanted:
    tid, end = 1 + sid % 50, clock + rng.randrange(500, 40000)
    print("interval %d request %d %d %d %d" % (sid, tid, clock, tid, end))
    print("segment %d %d %d %d running" % (tid, sid, clock, end))
    calls(tid, sid, clock, end, 0)
    clock, sid = end + 10, sid + 1

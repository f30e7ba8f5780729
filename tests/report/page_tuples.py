#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# page_tuples.py N [hostile | plain | wide]: a server whose requests wait for a lock that another thread holds, some of them for long, and that compute long at times; N requests.
# hostile: names with tags, quotes, escapes, control characters, and letters that turn the direction of a line.
# plain: intervals and nothing else.
# wide: 800 functions in each of N requests, then one of 1,000 equal pieces; 200 threads that wait.
import random
import sys

EVIL = "</script><script>alert(1)</script><img%20src=x%20onerror=alert(2)>\"'%5c`${x}%1b[31m%e2%80%ae%0a%c2%9b&lt;-->"

count, mode = int(sys.argv[1]), sys.argv[2] if sys.argv[2:] else ""
evil = EVIL if mode == "hostile" else ""
draw, out, t = random.Random(7), sys.stdout.write, 1000000
out("vprof-tuples 1\n")


def plain():
    at = 0
    for i in range(1, count + 1):
        end = at + 1000 + draw.randrange(1000000)
        out(f"interval {i} request 1 {at} 1 {end}\nsegment 1 {i} {at} {end} running\n")
        at = end + 1000


def wide():
    at = 0
    for i in range(1, count + 1):
        begin = at
        for f in range(800):
            end = at + 1000 + draw.randrange(4000)
            out(f"invocation 1 {i} f{f}@s.c:{f + 1} {at} {end}\n")
            at = end
        out(f"interval {i} request 1 {begin} 1 {at}\nsegment 1 {i} {begin} {at} running\n")
    out(f"interval {count + 1} request 1 {at} 1 {at + 1000000}\n")
    for k in range(1000):
        out(f"segment 1 {count + 1} {at + 1000 * k} {at + 1000 * k + 1000} {('running', 'lock')[k % 2]}\n")
    out(f"segment 2 - 0 {at + 1000000} running\n")
    for tid in range(10, 210):
        out(f"segment {tid} - 0 {1000 * tid} lock\nsegment {tid} - {1000 * tid} {at} running\nwakeup {tid} 2 {1000 * tid}\n")


if mode in ("plain", "wide"):
    {"plain": plain, "wide": wide}[mode]()
    sys.exit()
out(f"thread 1 thread worker{evil}\nthread 2 thread flusher{evil}\n")
for i in range(1, count + 1):
    run = 20000 + draw.randrange(90000) + (draw.randrange(20000000) if draw.random() < .05 else 0)
    wait = draw.randrange(30000000) if draw.random() < .02 else draw.randrange(3000) + 1
    end = t + run + wait + 5000
    out(f"interval {i} request{evil} 1 {t} 1 {end}\n"
        f"segment 1 {i} {t} {t + run} running\n"
        f"segment 1 {i} {t + run} {t + run + wait} lock\n"
        f"segment 1 {i} {t + run + wait} {end} running\n"
        f"invocation 1 {i} handle{evil}@s{evil}.c:3 {t} {end}\n"
        f"invocation 1 {i} parse@s.c:4 {t + 10} {t + run // 3}\n"
        f"invocation 1 {i} hash@s.c:5 {t + run // 3 + 5} {t + run - 10}\n"
        f"invocation 1 {i} append{evil}@s.c:6 {t + run - 5} {end - 10}\n"
        f"segment 2 - {t + run} {t + run + wait} running\n"
        f"invocation 2 - flush{evil} {t + run} {t + run + wait}\n"
        f"wakeup 1 2 {t + run + wait}\n")
    t = end + draw.randrange(50000)

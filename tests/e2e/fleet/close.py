#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""close.py TREE.json: p99.out, shares.out and missing.out, of the dashboard's queries, say roughly what vprof says exactly."""
import json, sys
tree = json.load(open(sys.argv[1]))
n, mean, rows = tree["interval"]["count"], 0, [line.rstrip("\n").split("\t") for line in open("p99.out")]
assert sum(int(r[1]) for r in rows) == n, (rows, n)
assert abs(sum(int(r[1]) * float(r[2]) for r in rows) / n - tree["interval"]["mean_ns"]) < 1
shares = [line.rstrip("\n").split("\t") for line in open("shares.out")]
assert shares[0][2] == "interval" and float(shares[0][4]) == 1, shares[0]
known = sorted((round(x["share"], 3) for x in tree["nodes"] if x["kind"] != "interval"), reverse=True)[:5]
seen = sorted((float(r[4]) for r in shares[1:]), reverse=True)[:5]
assert all(abs(a - b) < 0.02 for a, b in zip(known, seen)), (known, seen)
hosts = {line.split("\t")[0]: line.split("\t")[1] for line in open("missing.out")}
assert set(hosts) == {"h1", "h2", "h3"} and hosts["h1"] == "1" and int(hosts["h3"]) > 1, hosts

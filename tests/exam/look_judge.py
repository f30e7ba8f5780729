# SPDX-License-Identifier: GPL-3.0-or-later
# look_judge.py INTERVALS CAUSES CLIENT START-UP: compares a look (show intervals, show causes) with what the client of look_client.py
# knows.  START-UP: at most this number of first exchanges of a connection are no requests (TLS).  Prints found and sent requests, the median of client's minus
# server's nanoseconds, Cov(server, client)/Var(client), the largest cause that is a function or a peer, and its share.
import json, statistics, sys

intervals, client, startup = json.load(open(sys.argv[1]))["intervals"], [[] for _ in range(4)], int(sys.argv[4])
causes = json.load(open(sys.argv[2]))["causes"]
for line in open(sys.argv[3]):
    n, ns = line.split()
    client[int(n)].append(int(ns))
server = {}
for i in sorted(intervals, key=lambda i: i["start_ns"]):
    server.setdefault(i["connection"], []).append(i["latency_ns"])
requests = []
for mine, theirs in zip(client, server.values()):
    first = min(startup, max(0, len(theirs) - len(mine)))
    requests.append(theirs[first:])
pairs = [p for mine, theirs in zip(client, requests) for p in zip(mine, theirs)]
named = [c for c in causes if c["known"] and (c["function"] or c["peer"]) and c["how"] != "runqueue"] or [{"function": "-", "peer": None, "share": 0}]
mean_c, mean_s = (statistics.fmean(p[k] for p in pairs) for k in (0, 1))
var = statistics.fmean((p[0] - mean_c) ** 2 for p in pairs)
cov = statistics.fmean((p[0] - mean_c) * (p[1] - mean_s) for p in pairs)
print(sum(map(len, requests)), sum(map(len, client)), int(statistics.median(c - s for c, s in pairs)),
      round(cov / var, 4), named[0]["peer"] or named[0]["function"], named[0]["share"])

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""same.py VPROF ONE OTHER: the runs, one of traces or sums and one of sums, have the same numbers, bit for bit."""
import json, subprocess, sys
vprof, one, other = sys.argv[1:]
def show(view, run, *more):
    return json.loads(subprocess.run([vprof, "show", view, run, "--format", "json", *more], capture_output=True, text=True, check=True).stdout)
pick = ("kind", "function", "functions", "file", "wait", "share", "variance_share", "paper_contribution", "height", "score", "mean_ns",
	"because_of", "call_sites")
for name in "request", "other":
    a, b = (show("variance-tree", run, "--interval", name) for run in (one, other))
    for n in a["nodes"] + b["nodes"]:
        n.pop("ci95")
    assert len(a["nodes"]) > 20 and len(a["covariances"]) > 20
    assert a["nodes"] == b["nodes"] and a["covariances"] == b["covariances"], "tree of " + name
    assert a["interval"]["variance_ns2"] == b["interval"]["variance_ns2"] and a["interval"]["dropped"] == b["interval"]["dropped"]
    for q in "p50_ns", "p90_ns", "p99_ns":
        assert abs(a["interval"][q] - b["interval"][q]) <= 0.008 * a["interval"][q], q
    a, b = ([{k: f.get(k) for k in pick} for f in show("factors", run, "--interval", name, "--all")["factors"]] for run in (one, other))
    assert len(a) > 5 and sorted(map(str, a)) == sorted(map(str, b)), "factors of " + name
    a, b = ({(c["function"], c["wait"], c["how"], c["share"]) for c in show("causes", run, "--interval", name)["causes"]} for run in (one, other))
    assert len(a) > 3 and a == b, "causes of " + name
    tail = show("tail", other, "--interval", name)
    slow = sum(p["slow_mean_ns"] for p in tail["parts"])
    assert abs(slow - tail["slow"]["mean_ns"]) < 1e-6 * slow, "parts of slow ones"

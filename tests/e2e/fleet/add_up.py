#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""add_up.py FLEET.SQL <rows >rows: what any SQL would make of the rows of several digests: one window a kind, with all sums.

A second way to the numbers: columns are those of doc/fleet.sql, integers are Python's."""
import collections, re, sys

KEY = 9
MAX = {"max_ns", "root_only_max_ns", "has_pairing", "knows_runqueue"}
DISTINCT = {"vprof_function", "vprof_call", "vprof_name"}
GROUP = {"vprof_node": ["node"], "vprof_pair": ["a", "b"], "vprof_own": ["own_kind", "wait", "function"], "vprof_bucket": ["bucket"],
         "vprof_cell": ["node", "bucket"], "vprof_share": ["own_kind", "wait", "function", "bucket"], "vprof_window": []}

tables = {}
for name, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\)\n\tENGINE", open(sys.argv[1]).read(), re.S):
    tables[name] = [c.split()[0] for c in re.sub(r"\([^)]*\)", "", body).split(",")]

rows, sums = set(), collections.OrderedDict()
for line in sys.stdin.buffer.read().decode("utf-8", "surrogateescape").split("\n")[:-1]:
    table, *fields = line.split("\t")
    columns = tables[table]
    assert len(fields) == len(columns), (table, len(fields), len(columns))
    if table in DISTINCT:
        rows.add(line)
        continue
    named = dict(zip(columns, fields))
    key = (table, named["kind"]) + tuple(named[c] for c in GROUP[table])
    to = sums.setdefault(key, {})
    for c in columns[KEY:]:
        if c in GROUP[table] or (table == "vprof_window" and columns.index(c) < columns.index("n")):
            continue
        if c == "min_ns" or c == "unit":
            if int(named["n"]):
                to[c] = min(to.get(c, 1 << 62), int(named[c]))
            else:
                to.setdefault(c, 0)
        elif c in MAX:
            to[c] = max(to.get(c, 0), int(named[c]))
        else:
            to[c] = to.get(c, 0) + int(named[c])

out = sorted(rows)
for key, to in sums.items():
    table, kind, *group = key
    line = [table, "2026-01-01", "", "", kind, "", "", "2026-01-01 00:00:00", "0", str(-(1 << 63))]
    if table == "vprof_window":
        line += [str((1 << 63) - 1), "", "", "", "0", "0", "0"]
    out.append("\t".join(line + group + [str(v) for v in to.values()]))
sys.stdout.buffer.write(("\n".join(out) + "\n").encode("utf-8", "surrogateescape"))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""read_export.py FORMAT FILE [ARGUMENT [ARROWS]]: reads what vprof export wrote, and holds it against what vprof show printed as JSON
into tree.json, summary.json, tail.json and intervals.json beside it.  Fails with what differs.  ARROWS: how many wake-ups are drawn."""
import collections
import gzip
import json
import re
import struct
import sys
import xml.etree.ElementTree as ET


def load(name):
    with open(name, encoding="utf-8") as f:
        return json.load(f)


def intervals(which):
    rows = [r for r in load("intervals.json")["intervals"] if not r.get("root_only")]
    if which.startswith("SLOWEST:"):
        rows = sorted(rows, key=lambda r: -r["latency_ns"])[:int(which[8:])]
        return {r["sid"]: r for r in rows}, len(rows)
    if which.startswith("SAMPLE:"):
        return {r["sid"]: r for r in rows}, min(int(which[7:]), len(rows))
    return {r["sid"]: r for r in rows}, len(rows)


def chosen_are(sids, which):
    allowed, cnt = intervals(which)
    assert len(set(sids)) == cnt, (len(set(sids)), cnt)
    assert set(sids) <= set(allowed), set(sids) - set(allowed)
    return allowed


def leaves():
    """The tree's leaves: (path of frames, share, mean)."""
    nodes = load("tree.json")["nodes"]
    by_id = {n["id"]: n for n in nodes}
    inner = {n["parent"] for n in nodes if n["kind"] != "blame"}
    name = load("summary.json")["interval"]["name"]

    def path(n):
        up = path(by_id[n["parent"]]) if n["parent"] is not None else []
        frame = {"interval": [name], "function": [n["function"]], "wait": ["[%s wait]" % n["wait"]]}.get(n["kind"], [])
        return up + frame

    return [(path(n), n["share"], n["mean_ns"]) for n in nodes if n["id"] not in inner and n["kind"] != "blame"]


def tails():
    name = load("summary.json")["interval"]["name"]
    for p in load("tail.json")["parts"]:
        frames = [name] + ([p["function"]] if p["function"] else []) + (["[%s wait]" % p["wait"]] if p["wait"] else [])
        yield frames, p["slow_mean_ns"] - p["mean_ns"]


def folded(path, metric):
    wanted = collections.Counter()
    entries = tails() if metric == "tail" else ((f, 1e6 * s if metric == "variance" else m) for f, s, m in leaves())
    for frames, value in entries:
        if round(value) > 0:
            wanted[";".join(x.replace(";", ":") for x in frames)] += int(value + .5)
    found = collections.Counter()
    for line in open(path, encoding="utf-8"):
        m = re.fullmatch(r"(.+) ([1-9][0-9]*)\n", line)
        assert m, line
        found[m.group(1)] += int(m.group(2))
    assert wanted == found, (wanted - found, found - wanted)
    assert found


def fields(data):
    """(number, wire type, value) of a message of protocol buffers."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            b = data[at]
            at += 1
            value |= (b & 0x7f) << shift
            shift += 7
            if b < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, struct.unpack_from("<Q", data, at)[0]
            at += 8
        else:
            assert key & 7 == 2, key
            n = varint()
            assert at + n <= len(data)
            yield key >> 3, data[at:at + n]
            at += n


def packed(data):
    value = shift = 0
    for b in data:
        value |= (b & 0x7f) << shift
        shift += 7
        if b < 0x80:
            yield value - (1 << 64) if value >= 1 << 63 else value
            value = shift = 0


def pprof(path, _):
    f = collections.defaultdict(list)
    for number, value in fields(gzip.open(path).read()):
        f[number].append(value)
    strings = [s.decode("utf-8") for s in f[6]]
    assert strings[0] == ""
    types = [(strings[dict(fields(t))[1]], strings[dict(fields(t))[2]]) for t in f[1]]
    assert types == [("variance", "ppm"), ("tail", "ns"), ("mean", "ns")], types
    assert strings[f[14][0]] == "variance"
    functions = {d[1]: strings[d[2]] for d in (dict(fields(x)) for x in f[5])}
    locations = {}
    for x in f[4]:
        d = dict(fields(x))
        locations[d[1]] = functions[dict(fields(d[4]))[1]]
    found = collections.Counter()
    for x in f[2]:
        d = dict(fields(x))
        frames = tuple(locations[i] for i in packed(d[1]))[::-1]
        values = list(packed(d[2]))
        assert len(values) == 3
        for kind, value in enumerate(values):
            found[frames, kind] += value
    wanted = collections.Counter()
    for frames, share, mean in leaves():
        wanted[tuple(frames), 0] += 1e6 * share
        wanted[tuple(frames), 2] += mean
    for frames, value in tails():
        wanted[tuple(frames), 1] += value
    for key in set(found) | set(wanted):
        assert abs(found[key] - wanted[key]) <= 2, (key, found[key], wanted[key])
    assert abs(sum(v for k, v in found.items() if k[1] == 0) - 1e6) <= len(found)


def hgrm(path, _):
    rows = load("intervals.json")["intervals"]
    latencies = sorted(r["latency_ns"] for r in rows)
    last = (0, 0)
    lines = open(path).read().splitlines()
    assert lines[0].split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
    for line in (x for x in lines[2:] if not x.startswith("#")):
        value, percentile, count = (float(x) for x in line.split()[:3])
        assert sum(x <= value for x in latencies) == count, line
        assert sum(x < value for x in latencies) <= percentile * len(latencies) <= count + 1e-6, line
        assert (value, percentile) >= last
        last = (value, percentile)
    assert last == (latencies[-1], 1.0), last
    mean = float(re.search(r"Mean\s*=\s*([0-9.]+)", "\n".join(lines)).group(1))
    assert abs(mean - load("summary.json")["interval"]["mean_ns"]) < .001


def csv_(path, which):
    import csv
    rows = list(csv.reader(open(path, encoding="utf-8")))
    assert rows[0] == ["interval", "part", "nanoseconds"]
    sums = collections.Counter()
    for sid, part, ns in rows[1:]:
        assert part
        sums[int(sid)] += int(ns)
    allowed = chosen_are(list(sums), which)
    for sid, ns in sums.items():
        assert ns == allowed[sid]["latency_ns"], (sid, ns)


def ns_of(us):
    m = re.fullmatch(r"(-?)([0-9]+)\.([0-9]{3})", us)
    assert m, us
    return int(m.group(2) + m.group(3)) * (-1 if m.group(1) else 1)


def arrows_are(cnt):
    assert len(sys.argv) < 5 or cnt == int(sys.argv[4]), cnt


def nests(slices):
    """Of each thread (start, end): an inner one does not end after the outer."""
    for spans in slices.values():
        open_ = []
        for start, end in spans:
            assert start <= end
            while open_ and open_[-1] <= start:
                open_.pop()
            assert not open_ or end <= open_[-1], (start, end, open_[-1])
            open_.append(end)


def chrome(path, which):
    d = json.load(open(path, encoding="utf-8"), parse_float=lambda x: ns_of(x))
    slices, begun, ended, arrows = collections.defaultdict(list), {}, {}, collections.defaultdict(list)
    names = set()
    for e in d["traceEvents"]:
        if e["ph"] == "X":
            slices[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
            names.add(e["name"])
        elif e["ph"] in "be":
            (begun if e["ph"] == "b" else ended)[int(e["id"], 16)] = e["ts"]
        elif e["ph"] in "sf":
            arrows[e["id"]].append(e["ph"])
        else:
            assert e["ph"] == "M", e
    allowed = chosen_are(list(begun), which)
    for sid in begun:
        assert ended[sid] - begun[sid] == allowed[sid]["latency_ns"] and begun[sid] == allowed[sid]["start_ns"]
    for spans in slices.values():
        assert spans == sorted(spans, key=lambda s: (s[0], -s[1]))
    nests(slices)
    assert all(x == ["s", "f"] for x in arrows.values())
    arrows_are(len(arrows))
    assert names or len(allowed) < 100


def perfetto(path, which):
    tracks, open_, spans = {}, collections.defaultdict(list), collections.defaultdict(list)
    flows = {47: [], 48: []}		# that begin in a slice, that end in one
    for number, packet in fields(open(path, "rb").read()):
        assert number == 1
        p = dict(fields(packet))
        assert p[10] == 1
        if 60 in p:
            t = dict(fields(p[60]))
            tracks[t[1]] = t
        elif 11 in p:
            e = dict(fields(p[11]))
            assert p[58] == 3 and e[11] in tracks
            for field, value in fields(p[11]):
                if field in flows:
                    flows[field].append(value)
            if e[9] == 3:
                assert e[23] == b"wakes"		# a waker that has no slice
            elif e[9] == 1:
                open_[e[11]].append((p[8], e[23].decode("utf-8")))
            else:
                start, name = open_[e[11]].pop()
                assert start <= p[8]
                spans[e[11]].append((start, p[8], name))
    assert not any(open_.values())
    assert len(set(flows[47])) == len(flows[47]) and sorted(flows[47]) == sorted(flows[48]), flows
    arrows_are(len(flows[47]))
    sids, allowed = [], intervals("all")[0]
    for uuid, t in tracks.items():
        if t.get(5) == 1:
            for start, end, name in spans[uuid]:
                sid = int(name.split()[-1])
                sids.append(sid)
                assert start == allowed[sid]["start_ns"] and end == allowed[sid]["end_ns"], name
    chosen_are(sids, which)
    assert any(4 in t and spans[u] for u, t in tracks.items()) or len(allowed) < 100


def otlp(path, which):
    sids, spans, links = [], {}, []
    for line in open(path, encoding="utf-8"):
        d = json.loads(line)
        ids = set()
        for s in d["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            assert re.fullmatch("[0-9a-f]{32}", s["traceId"]) and re.fullmatch("[0-9a-f]{16}", s["spanId"])
            assert int(s["traceId"], 16) and int(s["spanId"], 16)
            ids.add(s["traceId"])
            start, end = int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"])
            assert isinstance(s["startTimeUnixNano"], str) and start <= end
            assert (s["traceId"], s["spanId"]) not in spans
            spans[s["traceId"], s["spanId"]] = (start, end)
            attributes = {a["key"]: a["value"] for a in s["attributes"]}
            if "parentSpanId" in s:
                up = spans[s["traceId"], s["parentSpanId"]]
                assert "vprof.wait" in attributes or "code.function.name" in attributes
                assert attributes.get("code.function.name", {}).get("stringValue", s["name"]) == s["name"]
                assert up[0] <= start and end <= up[1], (up, start, end)
            else:
                sid = int(attributes["vprof.sid"]["intValue"])
                sids.append(sid)
                assert end - start == intervals("all")[0][sid]["latency_ns"]
            links += [(x["traceId"], x["spanId"]) for x in s.get("links", [])]
        assert len(ids) == 1
    chosen_are(sids, which)
    assert all(x in spans for x in links)
    arrows_are(len(links))


def svg(path, _):
    root = ET.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    boxes = [float(x.get("width")) for x in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert len(boxes) > 2 and all(0 <= w <= 1000 for w in boxes)
    text = open(path, encoding="utf-8").read()
    assert "<b>" not in text and "http" not in text.replace("http://www.w3.org/2000/svg", "")


{"folded": folded, "pprof": pprof, "hgrm": hgrm, "csv": csv_, "chrome-trace": chrome, "perfetto": perfetto, "otlp": otlp,
 "svg": svg}[sys.argv[1]](sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)

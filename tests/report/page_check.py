#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# page_check.py file PAGE SECTION...	one inert file with these sections, no more
# page_check.py numbers PAGE VPROF RUN	its data are what vprof show prints
# page_check.py diff PAGE VPROF BASE HEAD	the same of two sides and vprof diff
# page_check.py causal PAGE VPROF RUN	the same of causal experiments
# page_check.py wide PAGE VPROF RUN	what is cut is the least, is counted, and all still sums up
# page_check.py dots PAGE N		as many intervals are drawn
import base64
import hashlib
import html.parser
import json
import math
import re
import subprocess
import sys
import zlib

bad = []


def must(ok, text):
    if not ok:
        bad.append(text)


def close(a, b, what):
    must(a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6)), f"{what}: {a} is not {b}")


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.tags, self.attributes, self.scripts, self.styles, self.sections = [], [], [], [], []
        self.data, self.policy, self.inside = None, "", None
        self.text = open(path, encoding="utf-8", errors="strict").read()
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        self.attributes += list(values)
        self.inside = (tag, values)
        if tag == "section":
            self.sections.append(values["id"])
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]

    def handle_data(self, text):
        tag, values = self.inside or (None, {})
        if tag == "script" and values.get("id") == "vprof-data":
            must(values.get("type") == "application/json", "type of vprof-data")
            self.data = json.loads(text)
        elif tag == "script":
            self.scripts.append(text)
        elif tag == "style":
            self.styles.append(text)

    def handle_endtag(self, tag):
        self.inside = None


# Parsers forgive much, and each something else: every '<' begins one of these, to the letter.
TAG = re.compile(r"<!doctype html>|</?(html|head|meta|title|style|body|header|main|section|h2|p|noscript|dl|dt|dd|em|code|script)"
                 r"( [a-z-]+=\"[^\"<>]*\")*>")


def strange_tags(text):
    text = re.sub(r"<style>.*?</style>|<script[^<>]*>.*?</script>", "", text, flags=re.S)
    return [text[m.start():m.start() + 60] for m in re.finditer("<", text) if not TAG.match(text, m.start())]


def unpack(part):
    return json.loads(zlib.decompress(base64.b64decode(part["packed"])))


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def check_file(path, sections):
    page = Page(path)
    must(page.sections == sections, f"sections {page.sections}")
    must(page.tags.count("script") == 2 and len(page.scripts) == 1, "scripts")
    must(set(page.tags) <= set("html head meta title style body header main section h2 p noscript dl dt dd em code script".split()),
         f"elements {set(page.tags)}")
    must(not strange_tags(page.text), f"tags {strange_tags(page.text)[:3]}")
    must(not [a for a in page.attributes if a.startswith("on") or a in ("src", "href", "style")], "attributes that act")
    must("default-src 'none'" in page.policy, f"policy {page.policy}")
    must("unsafe" not in page.policy and "http" not in page.policy and ":" not in page.policy, f"policy {page.policy}")
    must(digest(page.scripts[0]) in page.policy, "the policy does not permit the script")
    must(digest(page.styles[0]) in page.policy, "the policy does not permit the style")
    must(not re.search(r"url\((?!#)|@import|fetch\(|XMLHttp|WebSocket|import\(|https?://(?!www\.w3\.org)", page.scripts[0] + page.styles[0]),
         "something is loaded")
    must(not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page.text), "control characters")
    must(page.data["waits"]["handed-over"] == "handed over, not taken up" and page.data["waits"]["lock"] == "lock wait", "waits")
    must(page.data["schema"] == "vprof.report/1" and sorted(page.data["sections"]) == sorted(sections), "data")


def show(vprof, run, *words):
    done = subprocess.run([vprof, "show", words[0], run, "--format", "json", *words[1:]], capture_output=True, check=True)
    return json.loads(done.stdout)


def same(page, view, what):
    """Each field of the view that the page has is the same there."""
    for key, value in page.items():
        if key in view:
            must(value == view[key], f"{what}: {key} is {value}, not {view[key]}")


def same_rows(page, view, key, what):
    by_key = {key(row): row for row in view}
    must(len(page) > 0, f"{what}: none")
    for row in page:
        must(key(row) in by_key, f"{what}: {key(row)}")
        same(row, by_key.get(key(row), {}), what)


def check_selection(sections, view, what):
    """Sums over the bins from the view's quantile on are what the view says of the slow ones."""
    edges, counts = (sections["latency"]["bins"][name] for name in ("from_ns", "count"))
    sums = unpack(sections["slow-vs-fast"]["selections"])
    first = edges.index(view["slow"]["from_ns"])
    count = sum(counts[first:])
    must(count == view["slow"]["count"], f"{what}: {count} slow ones")
    close(sum(sums["latency_ns"][first:]) / count, view["slow"]["mean_ns"], f"{what}: mean")
    parts = {(p["function"], p["file"], p["wait"]): p for p in view["parts"]}
    for part, bins in zip(sections["slow-vs-fast"]["parts"], sums["parts"]):
        expected = parts[part["function"], part["file"], part["wait"]]
        close(sum(bins["ns"][first:]) / count, expected["slow_mean_ns"], f"{what}: {part['label']}")
        close(sum(bins["present"][first:]) / count, expected["slow_presence"], f"{what}: {part['label']}, presence")


def check_paths(page, view):
    packed = unpack(page)
    by_sid = {str(path["sid"]): path for path in view["paths"]}
    must(len(packed["paths"]) == min(400, len(by_sid)), f"{len(packed['paths'])} paths")
    for path in packed["paths"]:
        expected = by_sid[path["sid"]]
        pieces = [path["pieces"][i:i + 6] for i in range(0, len(path["pieces"]), 6)]
        must(path["rank"] == expected["rank"] and path["latency_ns"] == expected["latency_ns"], "path")
        must(sum(piece[1] for piece in pieces) == path["latency_ns"], "pieces do not cover the latency")
        got = [(packed["threads"][p[0]][0], p[1], p[2], p[3], packed["frames"][p[4]]) for p in pieces]
        want = [(p["thread"], p["end_ns"] - p["start_ns"], p["state"], p["depth"], p["frames"]) for p in expected["pieces"]]
        must(got == want, f"pieces of {path['sid']}")


def check_single_paths(page, vprof, run):
    """One by one they are what they are together."""
    packed = unpack(page)
    for path in packed["paths"][::97]:
        alone = show(vprof, run, "critical-path", "--interval", path["sid"])
        must([p["end_ns"] - p["start_ns"] for p in alone["pieces"]] == path["pieces"][1::6], f"{path['sid']} alone")
        must([p["frames"] for p in alone["pieces"]] == [packed["frames"][i] for i in path["pieces"][4::6]], f"{path['sid']} alone: frames")


def check_numbers(path, vprof, run):
    page = Page(path).data["sections"]
    views = {name: show(vprof, run, name) for name in ("summary", "histogram", "variance-tree", "slow-vs-fast", "wait-graph")}
    same(page["verdict"], views["summary"], "verdict")
    same(page["latency"], views["histogram"], "latency")
    same_rows(page["tree"]["nodes"], views["variance-tree"]["nodes"], lambda n: n["id"], "tree")
    same_rows(page["factors"]["factors"], show(vprof, run, "factors", "--all")["factors"], lambda f: f["rank"], "factors")
    same_rows(page["slow-vs-fast"]["parts"], views["slow-vs-fast"]["parts"], lambda p: (p["function"], p["file"], p["wait"]), "parts")
    same_rows(page["wait-graph"]["vertices"], views["wait-graph"]["vertices"], lambda v: v["id"], "wait-graph")
    for edge in page["wait-graph"]["edges"]:
        must(any(edge["weight_ns"] == e["weight_ns"] and edge["from"] == e["from"] and edge["to"] == e["to"]
                 for e in views["wait-graph"]["edges"]), "edge")
    same_rows(page["causes"]["by_class"]["functions"], show(vprof, run, "variance-tree", "--by", "cause")["functions"],
              lambda f: (f["function"], f["file"]), "causes")
    same_rows(page["causes"]["known"]["causes"], show(vprof, run, "causes")["causes"], lambda c: c["rank"], "causes")
    check_selection(page, views["slow-vs-fast"], "p99")
    check_selection(page, show(vprof, run, "slow-vs-fast", "--quantile", "0.9"), "p90")
    must(sum(page["latency"]["bins"]["count"]) == views["summary"]["interval"]["count"], "bins do not have all intervals")
    check_paths(page["critical-path"], show(vprof, run, "critical-path", "--slowest", "2000"))
    check_single_paths(page["critical-path"], vprof, run)


def check_diff(path, vprof, base, head):
    page = Page(path).data
    diff = json.loads(subprocess.run([vprof, "diff", base, head, "--format", "json"], capture_output=True, check=True).stdout)
    must(page["compares"] and page["sections"]["causes"]["changes"] == diff["causes"], "changes")
    for key in ("text", "metrics", "base", "head", "warnings", "within_these_runs_only"):
        must(page["sections"]["verdict"][key] == diff[key], key)
    latency = page["sections"]["latency"]
    for side in ("base", "head"):
        must(sum(latency[side]) == diff[side]["intervals"], f"intervals of {side}")
    latencies = [i["latency_ns"] for i in show(vprof, base, "intervals")["intervals"]]
    edges = latency["from_ns"] + [math.inf]
    must(latency["base"] == [sum(a <= ns < b for ns in latencies) for a, b in zip(edges, edges[1:])], "bins of base")


def check_causal(path, vprof, run):
    must(Page(path).data["sections"]["causal"] == show(vprof, run, "causal"), "causal is not show causal")


def check_cut_tree(tree, nodes):
    kept = {node["id"] for node in tree["nodes"]}
    rests = {rest["parent"]: rest for rest in tree["rests"]}
    must(rests and len(kept) < len(nodes), "nothing is cut")
    must(sum(rest["count"] for rest in rests.values()) == sum(n["id"] not in kept and n["parent"] in kept for n in nodes), "count of rests")
    for node in tree["nodes"]:
        below = [child["share"] for child in tree["nodes"] if child["parent"] == node["id"]]
        if node["id"] in rests:
            below.append(rests[node["id"]]["share"])
        if below:
            must(math.isclose(sum(below), node["share"], abs_tol=1e-9), f"below {node['label']}: {sum(below)} is not {node['share']}")


def check_cut_paths(page, view):
    """The longest pieces; of equal ones the first; the others are counted, and take their time."""
    by_sid = {str(path["sid"]): path for path in view["paths"]}
    cut = 0
    for path in unpack(page)["paths"]:
        pieces = [path["pieces"][i:i + 6] for i in range(0, len(path["pieces"]), 6)]
        lengths = [p["end_ns"] - p["start_ns"] for p in by_sid[path["sid"]]["pieces"]]
        kept_cnt = sum(not p[5] for p in pieces)
        longest = set(sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))[:kept_cnt])
        want = []
        for i, ns in enumerate(lengths):
            if i not in longest and want and want[-1][1]:
                want[-1] = (want[-1][0] + ns, want[-1][1] + 1)
            else:
                want.append((ns, 0 if i in longest else 1))
        must(kept_cnt >= 7 and [(p[1], p[5]) for p in pieces] == want, f"pieces of {path['sid']}")
        must(sum(p[1] for p in pieces) == path["latency_ns"] and path["piece_cnt"] == len(lengths), f"{path['sid']} is not whole")
        cut += kept_cnt < len(lengths)
    must(cut, "no path is cut")


def check_wide(path, vprof, run):
    page = Page(path).data["sections"]
    check_cut_tree(page["tree"], show(vprof, run, "variance-tree")["nodes"])
    check_cut_paths(page["critical-path"], show(vprof, run, "critical-path", "--slowest", "2000"))
    parts, others = page["slow-vs-fast"]["parts"], page["slow-vs-fast"]["others"]
    view = show(vprof, run, "slow-vs-fast")
    must(others and len(parts) + others["count"] == len(view["parts"]), "count of parts")
    for side in ("slow", "fast"):
        key = f"{side}_mean_ns"
        close(sum(part[key] for part in parts) + others[key], view[side]["mean_ns"], f"parts of {side}")
    factors, edges = show(vprof, run, "factors", "--all")["factors"], show(vprof, run, "wait-graph")["edges"]
    must(page["factors"]["factors"] and len(page["factors"]["factors"]) < page["factors"]["factor_cnt"] == len(factors), "factors")
    must(0 < len(page["wait-graph"]["edges"]) < page["wait-graph"]["edge_cnt"] == len(edges), "edges")
    by_class = page["causes"]["by_class"]
    must(len(by_class["functions"]) < by_class["function_cnt"] == len(show(vprof, run, "variance-tree", "--by", "cause")["functions"]), "classes")


def check_dots(path, count):
    dots = unpack(Page(path).data["sections"]["over-time"]["dots"])
    must(len(dots["start_ns"]) == len(dots["latency_ns"]) == len(dots["sid"]) == count, f"{len(dots['start_ns'])} dots")


if sys.argv[1] == "file":
    check_file(sys.argv[2], sys.argv[3:])
elif sys.argv[1] == "numbers":
    check_numbers(*sys.argv[2:])
elif sys.argv[1] == "causal":
    check_causal(*sys.argv[2:])
elif sys.argv[1] == "wide":
    check_wide(*sys.argv[2:])
elif sys.argv[1] == "diff":
    check_diff(*sys.argv[2:])
else:
    check_dots(sys.argv[2], int(sys.argv[3]))
for line in bad[:20]:
    print(line)
sys.exit(bool(bad))

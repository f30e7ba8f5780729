#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The planted-cause program through the whole tool: vprof names the culprit and the thread that caused it.
. "${srcdir:-.}/tests/e2e/lib.sh"

expect 0 "$VPROF" demo --list
says logserver
expect 0 "$VPROF" demo --list --format json
says '"schema": "vprof.demos/1"' '"name": "logserver"'
# A directory with files of the user's is left alone.
mkdir mine && echo 'all: mine' >mine/Makefile
expect 2 "$VPROF" demo -C mine
says "has files in it that no demo made"
[ "$(ls -A mine)" = Makefile ] && [ "$(cat mine/Makefile)" = 'all: mine' ] && pass || fail "the user's files: $(ls -A mine)"
expect 0 "$VPROF" demo --check
expect 0 test -d vprof-demo/vprof.data/runs/001
[ "$(stat -c %a vprof-demo/vprof.data)" = 700 ] && pass || fail "vprof.data is not private"

cd vprof-demo || exit 99
expect 0 "$VPROF" show summary
says log_append lock flush_log %
expect 0 "$VPROF" show variance-tree --min-share 0
says request handle_request log_append hash_payload
expect 0 "$VPROF" show factors --format json
says '"schema": "vprof.factors/1"' log_append flush_log
expect 0 "$VPROF" show histogram
expect 0 "$VPROF" show call-graph
expect 0 "$VPROF" show runs
expect 0 "$VPROF" show coverage
expect 0 "$VPROF" show critical-path --slowest 1
says "flush_log: sleep wait"
expect 0 "$VPROF" show critical-path --slowest 1 --all
says log_append
expect 0 "$VPROF" show intervals --format csv
[ "$(wc -l <"$work/.out")" = 1501 ] && pass || fail "1500 requests, $(wc -l <"$work/.out") lines of CSV"

# The decoys: the background thread is no factor at all, the CPU hog is small.
"$VPROF" show factors --all >"$work/all" 2>&1
grep -q collect_statistics "$work/all" && fail "collect_statistics is blamed" || pass

# What is exported for a viewer comes back with the same answer and the same parts; hand-overs of requests between threads are lost, and
# the call sites of the static call graph.
tree() { "$VPROF" show variance-tree --no-collapse --min-share 0 "$1" 2>/dev/null | sed 's/ ([a-z_]*\.c:[0-9]*)//g'; }
tree 1 >"$work/recorded"
for format in chrome-trace perfetto; do
	expect 0 "$VPROF" export --format $format --intervals all -o "$work/demo.$format" 1
	expect 0 "$VPROF" import --from $format "$work/demo.$format" -o again-$format
	tree again-$format >"$work/again"
	python3 - "$work/recorded" "$work/again" <<'P' && pass || fail "$format: $(diff "$work/recorded" "$work/again")"
import re, sys

def read(path):
    lines = open(path, encoding="utf-8").read().splitlines()
    parts = {}                  # by their place in the tree
    for line in lines:
        m = re.match(r" *([0-9.]+) % +±[0-9.]+ +[█▉▊▋▌▍▎▏]* *([│ ]*[├└]─ .*?)(  +|$)", line)
        if m and float(m[1]) > .5:
            parts[m[2].replace("└", "├")] = float(m[1])
    return re.sub("[0-9.]+", "", lines[0].split(" Next:")[0]), parts

(said, a), (says, b) = read(sys.argv[1]), read(sys.argv[2])
assert said == says, (said, says)
large = {k for k in a.keys() | b.keys() if max(a.get(k, 0), b.get(k, 0)) > 3}
assert len(large) > 2 and all(abs(a.get(k, 0) - b.get(k, 0)) < 2 for k in large), (a, b)
P
done

# The program runs without vprof as well, and says the same.
expect 0 ./logserver
says "1500 requests answered"
finish

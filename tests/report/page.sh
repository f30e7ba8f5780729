#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof report without a browser: one file, its sections, its policy, inert names, the same numbers as the views, its size at 100,000
# intervals.  tests/report/page_browser.sh tests its looks and behavior.
. "${srcdir:-.}/tests/e2e/lib.sh"
command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is missing"; exit 77; }
check=$top/tests/report/page_check.py
python3 "$top/tests/report/page_tuples.py" 1500 >server.tuples

# ---- messages and exit statuses ----
expect 3 "$VPROF" report
says 'no runs yet'
expect 0 "$VPROF" import --from tuples server.tuples -o server
printf 'vprof-tuples 1\ninterval 1 request 1 0 - -\n' >open.tuples
expect 3 "$VPROF" import --from tuples open.tuples -o open
expect 3 "$VPROF" report open -o none.html
[ ! -e none.html ] && pass || fail "a page of nothing"
expect 2 "$VPROF" report nosuch -o none.html
says 'nosuch'
expect 2 "$VPROF" report server server server
says "'server' is one too many"
expect 2 "$VPROF" report server --open -o -
expect 4 "$VPROF" report server -o nosuch/page.html
says 'nosuch/page.html'
expect 2 "$VPROF" report server --interval nosuch
expect 4 "$VPROF" report server -o /dev/full
grep -q 'run 1,' .err && fail "it is said to be written, and is not" || pass

# ---- the file ----
expect 0 "$VPROF" report server -o page.html
says 'page.html: run 1'
expect 0 "$VPROF" report server
cmp -s page.html .out && pass || fail "-o and standard output differ"
expect 0 python3 "$check" file page.html verdict latency tree slow-vs-fast over-time critical-path wait-graph causes factors method
expect 0 python3 "$check" numbers page.html "$VPROF" server
# The check finds a wrong number.
sed 's/"mean_ns":[0-9]*/"mean_ns":17/' page.html >wrong.html
expect 1 python3 "$check" numbers wrong.html "$VPROF" server

# ---- two sides ----
python3 "$top/tests/report/page_tuples.py" 700 >other.tuples
expect 0 "$VPROF" import --from tuples other.tuples -o other
expect 0 "$VPROF" report server other -o two.html
says 'two.html: other against server'
expect 0 python3 "$check" file two.html verdict latency causes method
expect 0 python3 "$check" diff two.html "$VPROF" server other
expect 1 python3 "$check" diff two.html "$VPROF" other server
expect 3 "$VPROF" report server open
expect 2 "$VPROF" report server nosuch

# ---- causal experiments ----
expect 0 "$VPROF" causal --predict other --target hash --target flush --target lock:m --speedups 25,50,100
expect 0 "$VPROF" report other -o causal.html
expect 0 python3 "$check" file causal.html verdict latency tree slow-vs-fast over-time critical-path wait-graph causes factors causal method
expect 0 python3 "$check" causal causal.html "$VPROF" other
expect 0 python3 "$check" numbers causal.html "$VPROF" other

# ---- a run made of digests has no single intervals ----
for run in server other; do
	expect 0 "$VPROF" export --format digest $run -o $run.vpd
	expect 0 "$VPROF" import --from digest $run.vpd -o sums_of_$run
done
expect 0 "$VPROF" report sums_of_server -o sums.html
says 'lacks what only the trace has'
expect 0 python3 "$check" file sums.html verdict tree slow-vs-fast causes factors method
expect 0 "$VPROF" report sums_of_server sums_of_other -o two_sums.html
expect 0 python3 "$check" file two_sums.html verdict causes method
expect 0 "$VPROF" report sums_of_server other -o mixed.html
expect 0 python3 "$check" file mixed.html verdict causes method

# ---- what is cut ----
python3 "$top/tests/report/page_tuples.py" 20 wide >wide.tuples
expect 0 "$VPROF" import --from tuples wide.tuples -o wide
expect 0 "$VPROF" report wide -o wide.html
expect 0 python3 "$check" wide wide.html "$VPROF" wide
expect 1 python3 "$check" wide page.html "$VPROF" server
# One more interval than are all drawn: the slowest 20,000, and each second of the others.
python3 "$top/tests/report/page_tuples.py" 100001 plain >plain.tuples
expect 0 "$VPROF" import --from tuples plain.tuples -o plain
expect 0 "$VPROF" report plain -o plain.html
expect 0 python3 "$check" dots plain.html 60001

# ---- names that would like to be more ----
python3 "$top/tests/report/page_tuples.py" 300 hostile >hostile.tuples
expect 0 "$VPROF" import --from tuples hostile.tuples -o hostile
expect 0 "$VPROF" report hostile -o hostile.html
expect 0 python3 "$check" file hostile.html verdict latency tree slow-vs-fast over-time critical-path wait-graph causes factors method
expect 0 python3 "$check" numbers hostile.html "$VPROF" hostile

# ---- without the trace ----
rm -rf vprof.data/runs/001/*		# of server
expect 0 "$VPROF" report server -o bare.html
says 'lacks what only the trace has'
expect 0 python3 "$check" file bare.html verdict latency tree slow-vs-fast over-time causes factors method

# ---- 100,000 intervals ----
python3 "$top/tests/report/page_tuples.py" 100000 >big.tuples
expect 0 "$VPROF" import --from tuples big.tuples -o big
expect 0 "$VPROF" report big -o big.html
size=$(wc -c <big.html)
[ "$size" -le 2000000 ] && pass || fail "100,000 intervals make $size bytes"
[ "$size" -gt 400000 ] && pass || fail "100,000 intervals cannot be $size bytes"
expect 0 python3 "$check" dots big.html 100000
finish

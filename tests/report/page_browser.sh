#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof report in Debian's browsers, without a display: no request but the file itself, no error, the brush by mouse and by keys, zoom,
# both themes, 400 pixels, and the numbers that are shown.  Skipped (exit 77) without node, puppeteer-core (tests/npm/install) or a browser.
. "${srcdir:-.}/tests/e2e/lib.sh"
. "$top/tests/npm/lib.sh"
needs_npm puppeteer-core
command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is missing"; exit 77; }
browsers=
for browser in chromium firefox-esr; do
	command -v $browser >/dev/null 2>&1 && browsers="$browsers $browser" || echo "without $browser: it is not installed"
done
[ -n "$browsers" ] || { echo "skipped: no browser (apt-get install chromium firefox-esr)"; exit 77; }

python3 "$top/tests/report/page_tuples.py" 1500 >server.tuples
python3 "$top/tests/report/page_tuples.py" 300 hostile >hostile.tuples
expect 0 "$VPROF" import --from tuples server.tuples -o server
expect 0 "$VPROF" import --from tuples hostile.tuples -o hostile
for run in server hostile; do
	expect 0 "$VPROF" report $run -o $run.html
	for view in summary variance-tree slow-vs-fast histogram wait-graph; do
		"$VPROF" show $view $run --format json >$run.$view.json
	done
	"$VPROF" show factors $run --all --format json >$run.factors.json
	"$VPROF" show critical-path $run --all --format json >$run.critical-path.json
	"$VPROF" show slow-vs-fast $run --quantile 0.9 --format json >$run.p90.json
done
# Edge cases: no variance, no time at all, negative shares, devices, huge times, few intervals.
for golden in zero_latency no_variance no_segments root_only timed_out holder_waits_for_disk cross_hedge negative_covariance big_times \
		whole_slow tree; do
	expect 0 "$VPROF" import --from tuples "$top/tests/golden/$golden.tuples" -o $golden
	expect 0 "$VPROF" report $golden -o other.$golden.html
done
python3 "$top/tests/report/page_tuples.py" 300 hostile >two.tuples
expect 0 "$VPROF" import --from tuples two.tuples -o two
expect 0 "$VPROF" report hostile two -o other.sides.html
# Tables that are cut, digests, causal experiments; latencies that are equal, and latencies closer than doubles can distinguish.
python3 "$top/tests/report/page_tuples.py" 20 wide >wide.tuples
expect 0 "$VPROF" import --from tuples wide.tuples -o wide
expect 0 "$VPROF" report wide -o other.wide.html
for run in server wide; do
	expect 0 "$VPROF" export --format digest $run -o $run.vpd
	expect 0 "$VPROF" import --from digest $run.vpd -o sums_of_$run
done
expect 0 "$VPROF" report sums_of_wide -o other.digest.html
expect 0 "$VPROF" report sums_of_server sums_of_wide -o other.digests.html
expect 0 "$VPROF" causal --predict two
expect 0 "$VPROF" report two -o other.causal.html
{
	echo "vprof-tuples 1"
	for i in 0 1 2 3; do
		echo "interval $i request 1 ${i}0000000000000000 1 $((i + 1))0000000000000000"
		echo "segment 1 $i ${i}0000000000000000 $((i + 1))0000000000000000 running"
	done
} | sed 's/ 00*\([0-9]\)/ \1/g' >equal.tuples
expect 0 "$VPROF" import --from tuples equal.tuples -o equal
expect 0 "$VPROF" report equal -o other.equal.html
for browser in $browsers; do
	NODE_PATH=$npm/node_modules HOME=$work expect 0 node "$top/tests/report/page_browser.cjs" "$(command -v $browser)" "$work"
	cat .out
done
finish

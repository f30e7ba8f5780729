#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# One warning, the most important, precedes an answer; show warnings lists all of them.
. "${srcdir:-.}/tests/e2e/lib.sh"

# 40 intervals are few; each waits for a lock, and it is unknown which thread let it go.
awk 'BEGIN {
	print "vprof-tuples 1"
	for (i = 1; i <= 40; i++) {
		t = i * 1000000; end = t + 1000 + (i * 48271 % 2147483647) * 16807 % 4993
		print "interval", i, "request", 1, t, 1, end
		print "segment", 1, i, t, end, "lock"
		print "invocation", 1, i, "wait_for_it", t, end
	}
}' >few.tuples
expect 0 "$VPROF" import --from tuples few.tuples
says "only 40 intervals are complete" "(1 more warning: vprof show warnings 1)"
[ "$(grep -c "warning: " "$work/.err")" = 1 ] && pass || fail "not one warning, but $(grep -c "warning: " "$work/.err")"
expect 0 "$VPROF" show factors
says "vprof show warnings 1"
expect 0 "$VPROF" show warnings
says "2 warnings: few-intervals, no-waker." "only 40 intervals"
[ -s "$work/.err" ] && fail "show warnings also warns" || pass
expect 0 "$VPROF" show warnings --format csv
[ "$(cut -d, -f1,2 "$work/.out" | tr '\n' ' ')" = "rank,code 1,few-intervals 2,no-waker " ] && pass || fail "CSV: $(cat "$work/.out")"
expect 0 "$VPROF" show warnings --format json
says '"schema": "vprof.warnings/1"' '"code": "few-intervals"' '"code": "no-waker"'

# 400 intervals that vary evenly: nothing to warn of.
awk 'BEGIN {
	print "vprof-tuples 1"
	for (i = 1; i <= 400; i++) {
		t = i * 1000000; end = t + 10000 + (i * 48271 % 2147483647) * 16807 % 4993
		print "interval", i, "request", 1, t, 1, end
		print "segment", 1, i, t, end, "running"
		print "invocation", 1, i, "work", t, end
	}
}' >even.tuples
expect 0 "$VPROF" import --from tuples even.tuples
grep -q "warning:" "$work/.err" && fail "a warning: $(cat "$work/.err")" || pass
expect 0 "$VPROF" show warnings
says "No warning."
finish

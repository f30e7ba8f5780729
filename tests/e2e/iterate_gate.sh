#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof iterate: a function that is called too often for the budget is recorded only in a part of the intervals.
. "${srcdir:-.}/tests/e2e/lib.sh"

# mix() takes some 50 ns, on a very busy machine up to ten times that, and is called 1,000 times a request,
# every eighth request 1,500 times.  A probe is reckoned as 17 ns, a dormant one as half a nanosecond: of
# 2 % of the latency the one is always more, the other always less.
cat >server.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static volatile unsigned sink;
__attribute__((noipa)) void mix(unsigned seed)
{
	unsigned x = seed | 1;

	for (unsigned i = 0; i < 100; i++)
		x = x * 1664525u + (x >> 7);
	sink += x;
}
__attribute__((noipa)) void handle(unsigned id)
{
	unsigned calls = id % 8 == 0 ? 1500 : 1000;

	for (unsigned i = 0; i < calls; i++)
		mix(i);
}
int main(int argc, char **argv)
{
	for (unsigned id = 1; id <= (argc > 1 ? (unsigned)atoi(argv[1]) : 12000); id++)
		handle(id);
	return 0;
}
END
printf 'CFLAGS = -O2 -g\nserver: server.o\n\t$(CC) -o $@ server.o\n' >Makefile
cat >vprof.conf <<'END'
[interval "request"]
	start = handle
	end = handle
[build]
	command = make
[iterate]
	overhead = 0.02
END

expect 0 "$VPROF" iterate --format json -- ./server
# A request is some 80 us of running.  If it mostly waits for a CPU, a probe's 17 ns do not show in its latency.
"$VPROF" show summary 1 --format json >first.json
python3 -c 'import json; i = json.load(open("first.json"))["interval"]; exit(i["mean_ns"] > 8 * i["p50_ns"])' || {
	echo "requests wait for a CPU eight times as long as they run; this needs a machine that others use less: skipped"
	exit 77
}
says " in full"
# The probes' cost is the difference between intervals in full and the others.  On a busy machine latencies may vary too
# much for that, and the command says so: each run has the line for which its document has the figures.
lines() { grep -c -e "$1" "$work/$2"; }
[ "$(lines '  measured .* mean .*, .* intervals in full against ' .err)" = "$(lines '^    "measured": true' .out)" ] && pass ||
	fail "what was measured is not what the document has: $(cat "$work/.err")"
[ "$(lines 'the cost of the probes cannot be measured here' .err)" = "$(lines '^    "measured": false' .out)" ] && pass ||
	fail "what was not measured is not what the document has: $(cat "$work/.err")"
[ "$(lines '^    "measured": ' .out)" -ge 2 ] && pass || fail "no run was asked what its probes cost"
grep -q '"one_interval_in": 1,\{0,1\}$' "$work/.out" && pass || fail "the first run records all intervals"
grep -Eq '"one_interval_in": ([2-9]|[1-9][0-9]+),?$' "$work/.out" && pass || fail "no run is gated"
says '"reason": "closed"' '"mean_ci95"' '"probe_cost"'
expect 0 "$VPROF" show factors --all
says mix

# In the last run about one interval in N was recorded in full; all of them are listed.
expect 0 "$VPROF" sql "SELECT f.count + p.root_only_count, f.count < 8000, f.count >= 30
	FROM finding f JOIN probing p ON p.finding = f.id ORDER BY f.run DESC LIMIT 1"
grep -q '^12000.*1.*1$' "$work/.out" && pass || fail "intervals: $(cat "$work/.out")"
expect 0 "$VPROF" show intervals --format csv
[ "$(wc -l <"$work/.out")" = 12001 ] && pass || fail "12000 requests, $(wc -l <"$work/.out") lines"
expect 0 "$VPROF" show intervals
says root-only
expect 0 "$VPROF" show critical-path --slowest 1 --all
says mix
finish

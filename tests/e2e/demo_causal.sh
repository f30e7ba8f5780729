#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The planted program of causal experiments through the whole tool: nothing is gained by its largest function, half of the sleep
# with a lock held gains nearly half.  A second try separates a busy machine's effect from vprof's.
. "${srcdir:-.}/tests/e2e/lib.sh"

expect 0 "$VPROF" demo --list
says causal logserver
if ! "$VPROF" demo causal --check >.out 2>&1; then
	grep -q "no perf events" .out && { cat .out; exit 77; }
	echo "once more: $(tail -1 .out)"
	expect 0 "$VPROF" demo causal --check
fi
says "demo --check passed: half of checksum gains"
cd vprof-demo || exit 99
expect 0 "$VPROF" show causal --target lock:log_append
says "Making lock:log_append 50 % faster would lower the" "of request by"
expect 0 ./server 50
says "50 requests served"
finish

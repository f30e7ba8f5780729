#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A small make exam-waits: ten waits of each kind, with the runtime linked and preloaded.  A busy machine may spoil one wait in ten of a
# case (the waiter cannot read its clock in time), and one in a hundred of all.  If more of a case are wrong, 300 waits of that case
# decide.
#
# What C++20 builds on atomics yields a few times before it sleeps.  On a busy machine another process may have the processor for as long
# as the whole wait, so the thread never sleeps; therefore only the exam judges these.
top=$(cd "${srcdir:-.}" && pwd)
export ROUNDS=10 LEAST=0.9 RESULTS="${TMPDIR:-/tmp}/vprof-waits.$$"
trap 'rm -rf "$RESULTS"' EXIT
export UNJUDGED="std::latch std::barrier std::counting_semaphore std::counting_semaphore-for std::atomic std::atomic-wide"
failed=0
for LINK in linked preloaded; do
	export LINK
	if ! "$top/tests/exam/waits.sh" >waits.out 2>&1; then
		cat waits.out
		missed=$(awk '$NF == "MISSED" { printf "%s ", $1 }' waits.out)
		if [ -n "$missed" ]; then
			ROUNDS=300 CASES=$missed "$top/tests/exam/waits.sh" || failed=1
		else
			failed=1
		fi
	fi
	tail -1 waits.out
	rm -f waits.out
done
exit $failed

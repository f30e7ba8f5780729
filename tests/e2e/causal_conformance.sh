#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Primitives behave the same while an experiment is under way (tests/waits/conformance.c, as in conformance.sh): error codes,
# timeouts, owners that died, cancellation, EINTR.  A thread beside the program is the target (tests/e2e/causal/beside.c).
. "${srcdir:-.}/tests/e2e/lib.sh"
ROUNDS=$OLDPWD/tests/e2e/causal/run_rounds

cp "$top/tests/waits/conformance.c" "$top/tests/e2e/causal/beside.c" . || exit 99
expect 0 "$VPROF" build --functions all -- ${REAL_CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O2 -pthread conformance.c beside.c -o built
timeout 60 ./built >want 2>/dev/null </dev/null
[ "$(wc -l <want)" -gt 150 ] || fail "the program says too little"
cat >several <<'END'
for i in 1 2 3; do
	BESIDE=1 timeout 60 ./built >got.$i 2>err.$i </dev/null
done
exit 3
END
for target in target io; do
	rm -f got.* err.*
	# It ends by itself, with 3, so that it is not started again.
	# ... and with virtual clocks, which must show no error code, either.
	[ $target = target ] || export VIRTUAL_CLOCK=1
	expect 0 timeout 200 "$ROUNDS" $target 1000 500,1000 sh ./several
	if grep -q "no experiment" err.*; then
		grep "^ended" .out
		grep -q "ticks 0" .out && { echo "no ticks here: nothing to see"; exit 77; }
	fi
	for i in 1 2 3; do
		grep -q "an experiment is under way" err.$i && pass || fail "start $i: $(cat err.$i)"
		diff want got.$i >diff.out && pass || { fail "another result with $target"; head -20 diff.out; }
	done
done
finish

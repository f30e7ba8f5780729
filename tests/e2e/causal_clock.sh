#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof causal --virtual-clock: the program's clocks fall behind by the pauses of the experiments, no thread's clock goes back, and no
# thread that waits until a time returns before its own clock shows that time.
. "${srcdir:-.}/tests/e2e/lib.sh"
ROUNDS=$OLDPWD/tests/e2e/causal/run_rounds

cp "$top/tests/e2e/causal/deadlines.c" . || exit 99
expect 0 "$VPROF" build --functions all -- ${REAL_CC:-cc} -O1 -D_GNU_SOURCE deadlines.c -o deadlines -lpthread

# behind: by how many ms the clock was behind at the end of the last run, and by how many it must be at 100 %
behind()
{
	paused=$(awk '$1 == "speed" && $2 == 1000 { print int($14) }' "$work/.out")
	behind=$(awk '{ print $12 - $10 }' said)
	ahead=$(awk '{ print $14 - $10 }' said)		# the thread that sleeps, of the first thread's clock
}
sane()
{
	grep -q "^back 0 early 0 late 0 rounds [1-9]" said && pass || fail "$1: $(cat said)"
}

VIRTUAL_CLOCK=1 expect 0 "$ROUNDS" heavy 3 1000 ./deadlines said
says "ended 0 rounds 3"
behind
sane "with virtual clocks"
[ "${paused:-0}" -gt 0 ] && [ "$behind" -ge $((paused / 2)) ] && pass || fail "$behind ms behind, although $paused were paused"
[ "$ahead" -lt $((behind / 2)) ] && pass || fail "a thread slept for $ahead ms more than its clock showed: $(cat said)"
expect 0 "$ROUNDS" heavy 3 1000 ./deadlines said
behind
sane "without"
[ "${paused:-0}" -gt 0 ] && [ "$behind" -lt $((paused / 2)) ] && pass || fail "$behind ms behind, without virtual clocks"

# A static program reads its clocks past us: then its deadlines are not moved, either.
if "$VPROF" build --functions all -- ${REAL_CC:-cc} -O1 -static -D_GNU_SOURCE deadlines.c -o static -lpthread >.out 2>&1; then
	VIRTUAL_CLOCK=1 expect 0 "$ROUNDS" heavy 2 1000 ./static said
	sane "of a static program"
	says "real clocks 1"
else
	echo "no static programs here"
fi

# As the command, and with what it does not go.
"$VPROF" causal --virtual-clock --target heavy --speedups 50 --for 5s --format json -- ./deadlines said >.json 2>.err
status=$?
case $status in 0 | 3) pass ;; *) fail "causal: $(cat .err)" ;; esac
sane "as the command"
! grep -q '"code": "deadline"' .json && pass || fail "it warns of what is in virtual time: $(cat .json)"
expect 4 "$VPROF" causal --virtual-clock --target heavy -p $$
says "so --virtual-clock and -p do not go together"
finish

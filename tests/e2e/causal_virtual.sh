#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A trace in virtual time, through the analysis: the mean is the experiment's own, and what is the limit with the target faster has a
# name.  tests/e2e/causal/meet.c: with long_part() 100 % faster all that is left is short_part().
. "${srcdir:-.}/tests/e2e/lib.sh"

sed 's/16000000/4000000/; s/8000000/2000000/' "$top/tests/e2e/causal/meet.c" >meet.c || exit 99
printf '[interval "item"]\nstart = meet\nend = meet@return\n' >vprof.conf
expect 0 "$VPROF" build --functions all -- ${REAL_CC:-cc} -O1 -g -D_GNU_SOURCE meet.c -o meet -lpthread
"$VPROF" causal --target long_part --speedups 50,100 --metric p50 --for 10s -o faster -- ./meet >.out 2>.err
case $? in
0)
	cp .out answer
	pass
	;;
3) cat .err; echo "too few intervals on this machine"; exit 77 ;;
*) fail "causal: $(cat .err)" ;;
esac
# value SPEEDUP: the mean in ns, as the experiment has it
value()
{
	"$VPROF" show causal faster --format csv | awk -F, -v s="$1" '$3 == s && $7 == "mean" { print $8 }'
}
# bounds SPEEDUP: 2 % below and above it; on a busy machine its 95 % interval, if that is wider
bounds()
{
	busy=0
	machine_is_busy && busy=1
	"$VPROF" show causal faster --format csv | awk -F, -v s="$1" -v busy=$busy '$3 == s && $7 == "mean" {
		before = $8 / (1 - $9); low = busy ? before * (1 - $11) : $8; high = busy ? before * (1 - $10) : $8
		print (low < .98 * $8 ? low : .98 * $8), (high > 1.02 * $8 ? high : 1.02 * $8) }'
}
# mean RUN: of its intervals, in ns
mean()
{
	"$VPROF" show summary "$1" --format json | python3 -c 'import json, sys; print(json.load(sys.stdin)["interval"]["mean_ns"])'
}
expect 0 sh -c "'$VPROF' export --format tuples --faster long_part=100 faster >faster.tuples"
expect 0 "$VPROF" import --from tuples faster.tuples -o without
got=$(mean without)
bounds 1 | awk -v got="$got" '{ exit !($1 > 0 && got > $1 && got < $2) }' && pass || fail "mean $got ns, the experiment says $(value 1), $(bounds 1)"
expect 0 "$VPROF" show factors without --all
says "meet › cond wait because of"
# Where others want the CPUs, meet waits for one, too: then it is a little more than its wait, which is the second.
if machine_is_busy; then
	limit='^[12]\. meet › cond wait because of .*short_part'
else
	limit='^1\. meet › cond wait because of short_part'
fi
grep -q "$limit" "$work/.out" && pass || { fail "the limit is not short_part"; cat "$work/.out"; }

# More than 50 % gains nothing, where the machine is quiet enough to see it.
flat=$("$VPROF" show causal faster --format csv | awk -F, '$7 == "p50" { g[$3] = $9 } END { print (g[1] != "" && g[1] - g[0.5] < 0.02 && g[0.5] - g[1] < 0.02) }')
if [ "$flat" = 1 ]; then
	grep -q "^beyond 50 % nothing more: io@short_part is the limit then" answer && pass || fail "the limit has no name: $(cat answer)"
	expect 0 "$VPROF" show causal faster --format json
	says '"limited_by": "io@short_part"'
else
	echo "too much noise on this machine to see that the curve is flat"
fi

expect 2 "$VPROF" export --faster long_part faster
says "--faster is TARGET=PERCENT"
expect 2 "$VPROF" export --faster nobody=100 faster
says "no experiments with the target 'nobody'"
expect 3 "$VPROF" export --faster long_part=33 faster
says "no interval with 'long_part' 33 % faster"
expect 3 "$VPROF" export --faster long_part=100 without
says "has no experiments in its trace"
expect 2 "$VPROF" export --format digest --faster long_part=100 faster
says "has no --faster"
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Import, export, import: the same results; and the messages about damaged input.
. "${srcdir:-.}/tests/e2e/lib.sh"

# The worked example "lock" of the design: A waits for B from 20 to 50.
cat >lock.tuples <<'END'
vprof-tuples 1
interval   1 request 1 10 1 70
segment    1 1 10 20 running
segment    1 1 20 50 lock     # woken by thread 2 at 50
segment    1 1 50 70 running
segment    2 - 0 60 running
invocation 1 1 lock 18 52
invocation 2 - hold 5 45
wakeup     1 2 50
interval   2 request 1 80 1 90
segment    1 2 80 90 running
call       request lock
END

expect 0 "$VPROF" import --from tuples lock.tuples -o first
says "found 2 intervals, 5 segments, 2 invocations, 3 functions, 1 wake-ups"
expect 0 "$VPROF" show critical-path --interval 1 --format json
says '"schema": "vprof.critical-path/1"'
expect 0 "$VPROF" show execution-table --format csv
grep -q '^1,lock,34' "$work/.out" && pass || fail "waiter table: lock is 34"
expect 0 "$VPROF" show execution-table --charge waker --format csv
grep -q '^1,hold,25' "$work/.out" && pass || fail "waker table: hold is 25"

# As some editors of other systems write it.
{ printf '\357\273\277'; sed 's/$/\r/' lock.tuples; } >dos.tuples
expect 0 "$VPROF" import --from tuples dos.tuples -o dos
expect 0 "$VPROF" export --format tuples dos
cp .out dos.exported
expect 0 "$VPROF" export --format tuples first
cmp -s .out dos.exported && pass || fail "another trace: $(diff .out dos.exported | head -5)"

"$VPROF" export --format tuples first >exported.tuples 2>/dev/null || fail "export"
sort -R exported.tuples | grep -v vprof-tuples >shuffled
{ echo "vprof-tuples 1"; cat shuffled; } >shuffled.tuples
expect 0 "$VPROF" import --from tuples shuffled.tuples -o second
"$VPROF" export --format tuples second >again.tuples
cmp -s exported.tuples again.tuples && pass || fail "export differs after a round trip"
for view in factors variance-tree critical-path execution-table intervals; do
	option=
	[ $view != critical-path ] || option="--interval 1"
	for run in first second; do
		"$VPROF" show $view $run $option --format json 2>/dev/null | grep -v '"run' >$run.json
	done
	[ -s first.json ] && cmp -s first.json second.json && pass || fail "$view differs after a round trip"
done

# Damage: FILE:LINE, what was expected, exit 5, and nothing stored.
damaged()
{
	printf 'vprof-tuples 1\n%s\n' "$1" >bad.tuples
	expect 5 "$VPROF" import --from tuples bad.tuples -o bad
	says "bad.tuples:2"
}
damaged "segment 1 1 20 10 running"
damaged "segment 1 1 10 20 dancing"
damaged "interval 1 request 1 10"
damaged "wakeup one two three"
damaged "nonsense 1 2 3"
damaged "invocation 1 1 f 99999999999999999999 3"
printf 'not tuples\n' >bad.tuples
expect 5 "$VPROF" import --from tuples bad.tuples
says "bad.tuples:1"
: >empty.tuples
expect 5 "$VPROF" import --from tuples empty.tuples
expect 5 "$VPROF" import --from tuples no-such-file
"$VPROF" import --from tuples - -o piped <lock.tuples >.out 2>.err && grep -q "of .request" .err && pass || fail "import -"
expect 2 "$VPROF" show summary bad
says first second
expect 2 "$VPROF" import --from dtrace lock.tuples
expect 2 "$VPROF" import lock.tuples
expect 2 "$VPROF" import --from tuples

# No interval completed: exit 3, and the run is kept all the same.
printf 'vprof-tuples 1\ninterval 1 request 1 10 - -\nsegment 1 1 10 20 running\n' >open.tuples
expect 3 "$VPROF" import --from tuples open.tuples -o open
says request
expect 0 "$VPROF" show runs
says open
expect 3 "$VPROF" show factors open

# Variance 0 is no error: shares are 0.
printf 'vprof-tuples 1\ninterval 1 r 1 0 1 5\ninterval 2 r 1 5 1 10\nsegment 1 1 0 5 running\nsegment 1 2 5 10 running\n' >zero.tuples
expect 0 "$VPROF" import --from tuples zero.tuples -o zero
expect 0 "$VPROF" show variance-tree zero --format json
says '"share": 0.0'
finish

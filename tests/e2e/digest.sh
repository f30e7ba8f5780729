#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# digest: sums of runs, merged in any order, show the same as the merged traces, and say what they cannot show.
. "${srcdir:-.}/tests/e2e/lib.sh"

for i in 1 2 3; do
	python3 "$top/tests/e2e/random_tuples.py" $i >$i.tuples
	expect 0 "$VPROF" import --from tuples $i.tuples -o t$i
	expect 0 "$VPROF" export --format digest t$i -o $i.vpd
done
python3 "$top/tests/e2e/random_tuples.py" 4 wide >4.tuples
expect 0 "$VPROF" import --from tuples 4.tuples -o t4
expect 0 "$VPROF" export --format digest --window 100us t4 -o 4.vpd
expect 0 "$VPROF" merge t1 t2 t3 t4 -o traces

# In any order and nesting the same bytes, and the same as what the runs sum up to.
expect 0 "$VPROF" merge 3.vpd 1.vpd -o 31.vpd
expect 0 "$VPROF" merge 31.vpd 4.vpd 2.vpd -o a.vpd
expect 0 "$VPROF" merge 1.vpd 2.vpd 3.vpd 4.vpd -o b.vpd
expect 0 "$VPROF" merge t2 3.vpd t1 4.vpd -o c.vpd
cmp -s a.vpd b.vpd && cmp -s b.vpd c.vpd && pass || fail "the order of a merge shows in its bytes"
expect 0 "$VPROF" merge a.vpd --window all -o whole.vpd
[ "$(wc -c <whole.vpd)" -lt "$(wc -c <a.vpd)" ] && pass || fail "windows are not added up"
"$VPROF" merge a.vpd 5.vpd -o - 2>/dev/null >piped.vpd; [ ! -s piped.vpd ] && pass || fail "half a digest came out of a pipe"
expect 0 "$VPROF" import --from digest a.vpd -o sums
says "intervals of 2 kinds"
expect 0 "$VPROF" import --from digest whole.vpd -o sums_whole
expect 0 "$VPROF" export --format digest sums -o again.vpd
cmp -s a.vpd again.vpd && pass || fail "a digest does not come back as it was"

for run in sums sums_whole; do
	python3 "$top/tests/e2e/fleet/same.py" "$VPROF" traces $run 2>err && pass || fail "sums of $run are not those of the traces: $(tail -1 err)"
done

# Views that need single intervals say so.
for view in intervals histogram "execution-table" wait-graph criticality samples; do
	expect 3 "$VPROF" show $view sums
	says "made of digests"
	[ ! -s "$work/.out" ] && pass || fail "show $view prints something"
done
for view in summary variance-tree factors causes tail slow-vs-fast warnings; do
	expect 0 "$VPROF" show $view sums
done
for format in tuples hgrm csv "svg --view latency"; do
	expect 3 "$VPROF" export --format $format sums
	says "made of digests"
	[ ! -s "$work/.out" ] && pass || fail "export --format $format writes something"
done
for format in folded pprof svg; do
	expect 0 "$VPROF" export --format $format sums -o sums.$format
done

# Twice is an error, damage is none of a number.
expect 2 "$VPROF" merge 1.vpd a.vpd -o no.vpd
says "twice"
[ ! -e no.vpd ] && pass || fail "a digest that was refused is there"
head -c 200 1.vpd >cut.vpd
expect 5 "$VPROF" import --from digest cut.vpd
says "'cut.vpd' is damaged"
echo hello >text.vpd
expect 5 "$VPROF" merge 1.vpd text.vpd -o no.vpd
says "is not a digest"
expect 5 "$VPROF" merge 1.vpd none.vpd -o no.vpd
expect 2 "$VPROF" export --format digest --window never t1 -o no.vpd
expect 2 "$VPROF" export --format tuples --window 1s t1
says "window is for --format digest"
printf 'vprof-tuples 1\nsegment 1 - 0 10 running\n' >none.tuples
"$VPROF" import --from tuples none.tuples -o empty >/dev/null 2>&1
expect 3 "$VPROF" export --format digest empty -o no.vpd

finish

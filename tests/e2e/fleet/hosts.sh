# SPDX-License-Identifier: GPL-3.0-or-later
# hosts.sh - three recordings as of three hosts, in windows and whole: 1.vpd 2.vpd 3.vpd, all.vpd.  Sourced after lib.sh.
for i in 1 2 3; do
	python3 "$top/tests/e2e/random_tuples.py" $i $([ $i = 3 ] && echo wide) >$i.tuples
	expect 0 "$VPROF" import --from tuples $i.tuples -o t$i
	printf 'machine %032d\nboot %032d\nhost h%d\nbuild abcd\nclock 1700000000000000000\n' $i $i $i >vprof.data/runs/00$i/recorded-by
	expect 0 "$VPROF" export --format digest $([ $i = 3 ] && echo --window 100us) t$i -o $i.vpd
done
expect 0 "$VPROF" merge 1.vpd 2.vpd 3.vpd -o all.vpd
expect 0 "$VPROF" import --from digest all.vpd -o sums

# block NAME: what doc/fleet.md shows below <!-- NAME -->
block()
{
	awk -v name="<!-- $1 -->" '$0 == name { at = 1; next } at && /^```/ { if (on) exit; on = 1; next } on' "$top/doc/fleet.md" >"$1.block"
	[ -s "$1.block" ] || fail "doc/fleet.md has no block '$1'"
}

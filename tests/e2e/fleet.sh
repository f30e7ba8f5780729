#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fleet: digests as rows of SQL tables, and back; sums that a database made are those of the digests, and what wrapped around is refused.
. "${srcdir:-.}/tests/e2e/lib.sh"
. "$top/tests/e2e/fleet/hosts.sh"

# A row of each table, which has the columns of doc/fleet.sql.
for i in 1 2 3; do
	expect 0 "$VPROF" export --format digest-tsv --service shop $i.vpd -o $i.tsv
done
expect 0 "$VPROF" export --format digest-tsv --service shop t1 -o run.tsv
cmp -s 1.tsv run.tsv && pass || fail "a run's rows are not its digest's"
for table in window function call name node pair own bucket cell share; do
	"$VPROF" export --format digest-tsv --service shop --table vprof_$table 1.vpd >table.tsv
	grep "^vprof_$table	" 1.tsv | cut -f2- | cmp -s - table.tsv && [ -s table.tsv ] && pass || fail "--table vprof_$table"
done
grep -q '^vprof_window	2023-11-14	shop	abcd	request	h3	' 3.tsv && pass || fail "day, service, build, kind and host: $(grep window 3.tsv | head -1)"

# All rows of all hosts, in any order, are the digest of all.
cat 3.tsv 1.tsv 2.tsv | LC_ALL=C sort -r >all.tsv
"$VPROF" import --from digest-tsv - -o rows <all.tsv >.out 2>.err && pass || fail "rows are not imported: $(cat .err)"
says "recordings"
expect 0 "$VPROF" export --format digest rows -o rows.vpd
cmp -s all.vpd rows.vpd && pass || fail "rows of all hosts are not the digest of all"

# Added up by another program.
python3 "$top/tests/e2e/fleet/add_up.py" "$top/doc/fleet.sql" <all.tsv >sum.tsv || fail "doc/fleet.sql has other columns"
expect 0 "$VPROF" import --from digest-tsv sum.tsv -o tree
python3 "$top/tests/e2e/fleet/same.py" "$VPROF" sums tree 2>.err && pass || fail "rows that SQL added up: $(tail -1 .err)"

# Sums of 64 bits wrap around in silence: some of these squares are larger.
awk -F'\t' -v OFS='\t' '$1 == "vprof_node" && length($15) > 9 { $15 = substr($15, length($15) - 5) } 1' sum.tsv >wrapped.tsv
cmp -s sum.tsv wrapped.tsv && fail "nothing wraps around"
awk -F'\t' -v OFS='\t' '$1 == "vprof_node" { $15 = $15 "000000000" } 1' sum.tsv >large.tsv
expect 5 "$VPROF" import --from digest-tsv large.tsv
says "a sum is larger than the number of intervals"
cat 1.tsv 1.tsv >twice.tsv
expect 5 "$VPROF" import --from digest-tsv twice.tsv
says "twice.tsv:" "would count twice"
grep -v ^vprof_window 1.tsv >no_window.tsv
expect 5 "$VPROF" import --from digest-tsv no_window.tsv
says "have a row in vprof_window"
grep -v -e ^vprof_node -e ^vprof_cell -e ^vprof_pair 1.tsv >no_nodes.tsv
expect 5 "$VPROF" import --from digest-tsv no_nodes.tsv
: >empty.tsv
expect 3 "$VPROF" import --from digest-tsv empty.tsv
says "no row of vprof_window"
sed '3s/	[^	]*$//' 1.tsv >short.tsv
expect 5 "$VPROF" import --from digest-tsv short.tsv
says "short.tsv:3: column 10 should be a field"
[ "$(ls vprof.data/runs | wc -l)" = 6 ] && pass || fail "a refused import left a run: $("$VPROF" show runs)"

# The meaning of the options.
expect 2 "$VPROF" export --format digest-tsv --table vprof_nodes 1.vpd
says "there is no table 'vprof_nodes'"
expect 2 "$VPROF" export --format digest --table vprof_node 1.vpd -o no.vpd
says "--table is for --format digest-tsv"
expect 2 "$VPROF" export --format tuples --service x t1
expect 2 "$VPROF" export --format tuples 1.vpd
says "is a digest"
expect 5 "$VPROF" export --format digest-tsv none.vpd
"$VPROF" export --format digest-tsv - <1.vpd 2>.err | cut -f1 | sort -u | wc -l | grep -q 10 && pass || fail "a digest on standard input: $(cat .err)"
expect 0 "$VPROF" export --format digest --window 1h 3.vpd -o hours.vpd

finish

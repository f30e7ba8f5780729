#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# merge: any split, any order, any grouping gives the same findings to the last bit.
#
#	SEED=7 ROUNDS=20 tests/e2e/merge_any.sh
#
# 420 intervals are split at random into seven runs; these are merged two or three at a time, in random order, merged runs
# with merged ones, until one is left.  Every table of its findings is compared with that of the run that was never split.
# Then the same with runs that were recorded, one interval in three in full: no run of all of them is there to compare with, so
# each merge is compared with the first.
. "${srcdir:-.}/tests/e2e/lib.sh"
seed=${SEED:-1}
rounds=${ROUNDS:-4}

# Two kinds of work; f waits for a lock that thread 2 holds in hold(); g, h and their callers are in the pairs across the tree.
awk -v seed="$seed" 'BEGIN {
	srand(seed)
	for (p = 0; p <= 7; p++) print "vprof-tuples 1\ncall handle f\ncall handle k\ncall f g\ncall k h" > ("part" p ".tuples")
	for (i = 1; i <= 420; i++) {
		f = int(1000 + rand() * 977); w = rand() < .2 ? int(3000 + rand() * 500) : 0
		g = int(400 + rand() * 1013); h = int(2000 - g + rand() * 90)
		at = i * 100000; a = at + f; b = a + w; c = b + g; e = c + 7 + h
		text = "interval " i " req 1 " at " 1 " e "\nsegment 1 " i " " at " " a " running\n"
		if (w) text = text "segment 1 " i " " a " " b " lock\nsegment 2 - " a - 50 " " b " running\n" \
			"invocation 2 - hold " a - 50 " " b "\nwakeup 1 2 " b "\n"
		text = text "segment 1 " i " " b " " e " running\ninvocation 1 " i " handle " at " " e "\n" \
			"invocation 1 " i " f " at " " c "\ninvocation 1 " i " g " b " " c "\n" \
			"invocation 1 " i " k " c " " e "\ninvocation 1 " i " h " c + 7 " " e "\n" \
			"work " i " rows " int(rand() * 50) "\nwork " i " bytes " int(rand() * 9000)
		print text > "part0.tuples"
		print text > ("part" 1 + int(rand() * 7) ".tuples")
	}
}'

# dump RUN: all findings except the numbers of runs and threads; threads get new numbers if two parts share one.
dump()
{
	finding="(SELECT f.id FROM finding f JOIN run r ON r.number = f.run WHERE r.name = '$1')"
	for table in node covariance factor factor_call_site because_of part part_pair common_cause common_member tail \
		inherent_work probing warning interval_name; do
		echo "$table"
		"$VPROF" sql --format csv "SELECT * FROM $table WHERE finding = $finding" | cut -d, -f2-
	done
	"$VPROF" sql --format csv "SELECT sid, start_ns, end_ns, root_only FROM interval WHERE finding = $finding"
	"$VPROF" sql --format csv "SELECT * FROM finding WHERE id = $finding" | cut -d, -f3-
}

# merged NAME RUN...: two or three at a time, drawn at random, until one is left; that is NAME.
merged()
{
	name=$1
	shift
	step=0
	while [ $# -gt 1 ]; do
		seed=$((seed + 1))
		step=$((step + 1))
		# shellcheck disable=SC2046
		set -- $(printf '%s\n' "$@" | awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand(), $1 }' |
			sort -g | cut -d' ' -f2)
		[ $# -gt 3 ] && [ $((seed % 2)) = 0 ] && third=$3 || third=
		[ $# = 3 ] && third=$3
		one=$1 two=$2
		shift 2
		[ -z "$third" ] || shift
		[ $# = 0 ] && to=$name || to=$name-$step
		# shellcheck disable=SC2086
		"$VPROF" merge $one $two $third -o "$to" >/dev/null 2>merge.log || { fail "merge"; cat merge.log; return; }
		set -- "$@" "$to"
	done
}

same()		# NAME EXPECTED
{
	dump "$1" >"$1.found"
	[ "$(wc -l <"$1.found")" -gt 400 ] && cmp -s "$1.found" "$2" && pass ||
		{ fail "$1 differs (SEED=${SEED:-1})"; diff "$1.found" "$2" | head -6; }
}

expect 0 "$VPROF" import --from tuples part0.tuples -o whole
dump whole >whole.found
for p in 1 2 3 4 5 6 7; do
	expect 0 "$VPROF" import --from tuples part$p.tuples -o part$p
done
grep -q '^[^,]*,[^,]*,[^,]*,[gh],[gh],' whole.found && pass || fail 'no pair of g and h'
for round in $(seq "$rounds"); do
	merged "any$round" part1 part2 part3 part4 part5 part6 part7
	same "any$round" whole.found
done

# Recorded, one in three in full.
cat >server.c <<'END'
#include <stdlib.h>
#include <vprof.h>

static volatile unsigned sink;

__attribute__((noinline)) static void spin(unsigned cnt) { for (unsigned i = 0; i < cnt; i++) sink += i; }
__attribute__((noinline)) static void parse(unsigned i) { spin(200 + i * 7919 % 977); }
__attribute__((noinline)) static void reply(unsigned i) { spin(400 + i * 104729 % 1013); }

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < (argc > 1 ? (unsigned)atoi(argv[1]) : 0); i++) {
		VPROF_BEGIN("request", i);
		VPROF_WORK("rows", i % 31);
		parse(i);
		reply(i);
		VPROF_END("request", i);
	}
	return 0;
}
END
expect 0 "$VPROF" build -- gcc -O1 -o server server.c
for p in 1 2 3 4; do
	expect 0 "$VPROF" record --sample 1/3 -o sampled$p -- ./server $((300 + 100 * p))
done
expect 0 "$VPROF" merge sampled1 sampled2 sampled3 sampled4 -o sampled
dump sampled >sampled.expected
[ "$("$VPROF" sql --format csv "SELECT sum(root_only) > 500, sum(1 - root_only) > 300, count(*) = 2200 FROM interval
	WHERE finding = (SELECT f.id FROM finding f JOIN run r ON r.number = f.run WHERE r.name = 'sampled')" | tail -1)" = 1,1,1 ] &&
	pass || fail 'not sampled'
for round in $(seq "$rounds"); do
	merged "lot$round" sampled1 sampled2 sampled3 sampled4
	same "lot$round" sampled.expected
done

# A part is walked once: its findings go from merge to merge.  So a trace may be unreadable, as long as it looks the same.
dir_of() { printf 'vprof.data/runs/%03d' "$("$VPROF" sql --format csv "SELECT number FROM run WHERE name = '$1'" | tail -n 1)"; }
expect 0 "$VPROF" merge sampled1 sampled2 -o first
for trace in "$(dir_of first)"/part-*.vpt; do
	[ -s "${trace%.vpt}.walked" ] && pass || fail "no ${trace%.vpt}.walked"
	cp -p "$trace" "$trace.kept"
	touch -r "$trace" stamp
	head -c "$(wc -c <"$trace")" /dev/zero >zeros
	cat zeros >"$trace"
	touch -r stamp "$trace"
done
expect 0 "$VPROF" merge sampled3 first -o three
expect 0 "$VPROF" merge sampled4 three -o walked
same walked sampled.expected
expect 0 "$VPROF" analyze walked
same walked sampled.expected

# A call that another run observed counts, and nothing is walked again for it.
python3 - <<'P'
import sqlite3
db = sqlite3.connect("vprof.data/vprof.db")
key = dict(db.execute("SELECT name, key FROM function"))
db.execute("INSERT INTO observed_call VALUES (?, ?, 1)", (key["spin"], key["reply"]))
db.commit()
P
expect 0 "$VPROF" merge sampled3 first -o observed
dump observed >observed.expected

# With another configuration, or bytes that are damaged, it is walked again.
printf '[iterate]\n    k = 4\n' >>vprof.conf
expect 5 "$VPROF" merge sampled3 first -o other
rm vprof.conf
walked=$(ls "$(dir_of first)"/part-*.walked | head -n 1)
printf '\377\377\377\377\377\377' | dd of="$walked" bs=1 seek=300 conv=notrunc 2>/dev/null
expect 5 "$VPROF" analyze first
for trace in "$(dir_of first)"/part-*.vpt; do
	cat "$trace.kept" >"$trace"
	touch -r "$trace.kept" "$trace"
	rm "$trace.kept"
done
for trace in "$(dir_of observed)"/part-*.vpt; do
	rm "${trace%.vpt}.walked"
done
expect 0 "$VPROF" analyze observed
same observed observed.expected
"$VPROF" show factors observed --all --format csv >heights
python3 -c 'import sqlite3; db = sqlite3.connect("vprof.data/vprof.db"); db.execute("DELETE FROM observed_call"); db.commit()'
expect 0 "$VPROF" analyze first
expect 0 "$VPROF" merge first sampled3 sampled4 -o whole_again
same whole_again sampled.expected

# If there is no room for a walk's findings, all parts are read in windows, with the same result.
for trace in "$(dir_of whole_again)"/part-*.vpt; do
	rm "${trace%.vpt}.walked"
	mkdir "${trace%.vpt}.walked.new"
done
expect 0 "$VPROF" analyze whole_again
same whole_again sampled.expected
ls "$(dir_of whole_again)" | grep -q 'walked$' && fail "there was room" || pass
expect 0 "$VPROF" merge first sampled3 -o unobserved
"$VPROF" show factors unobserved --all --format csv | cmp -s - heights && fail "an observed call changes no height" || pass
finish

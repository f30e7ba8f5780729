#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# show and sql from outside: formats, exit statuses, output that cannot be written.
. "${srcdir:-.}/tests/e2e/lib.sh"

# tests/golden/tree.tuples: A = 6, 8, 9, 11 of B = 2, 4, 6, 8 and C = 3, 3, 1, 1 and a body.
cat >tree.tuples <<'END'
vprof-tuples 1
interval   1 request 1 0 1 6
interval   2 request 1 100 1 108
interval   3 request 1 200 1 209
interval   18446744073709551614 request 1 300 1 311
segment    1 1 0 6 running
segment    1 2 100 108 running
segment    1 3 200 209 running
segment    1 18446744073709551614 300 311 running
invocation 1 1 A 0 6
invocation 1 1 B 0 2
invocation 1 1 C 2 5
invocation 1 2 A 100 108
invocation 1 2 B 100 104
invocation 1 2 C 104 107
invocation 1 3 A 200 209
invocation 1 3 B 200 206
invocation 1 3 C 206 207
invocation 1 18446744073709551614 A 300 311
invocation 1 18446744073709551614 B 300 308
invocation 1 18446744073709551614 C 308 309
call       A B
call       B C
END
printf 'vprof-tuples 1\ninterval 1 request 1 0 - -\n' >open.tuples

expect 3 "$VPROF" show runs
says 'no runs yet'
expect 3 "$VPROF" sql 'SELECT 1'
expect 0 "$VPROF" import --from tuples tree.tuples -o tree
expect 3 "$VPROF" import --from tuples open.tuples -o open

# Every view in every format; JSON is checked by the query tool's own reader elsewhere.
[ "$(views | wc -w)" -ge 16 ] && pass || fail "views lists too few"
expect 0 "$VPROF" causal --predict tree
for view in $(views); do
	for format in text json csv; do
		expect 0 "$VPROF" show $view tree --format $format
	done
	expect 0 "$VPROF" show $view tree --format json
	says "\"schema\": \"vprof.$view/1\""
done
expect 0 "$VPROF" show summary tree
says "▶ B may cause all of the variance of 'request' (and more, which other causes offset): it runs. 4 intervals are too few to tell"
expect 0 "$VPROF" show summary tree --format csv
says "interval,count,open,aborted,bad_path,mean_ns,variance_ns2,stddev_ns,p50_ns,p90_ns,p99_ns,max_ns" \
	"request,4,0,0,0,8.5,3.25,1.8027756377319946,8,11,11,11"
expect 0 "$VPROF" show summary tree --ascii
says "> B may cause all of the variance of 'request'"
expect 0 env LC_ALL=C "$VPROF" show summary tree
says "> B may cause"

# [iterate] k and threshold of vprof.conf; the command line wins.
printf '[iterate]\n\tk = 1\n\tthreshold = 0.5\n' >vprof.conf
expect 0 "$VPROF" show factors tree --format json
says '"k": 1,' '"threshold": 0.5,'
[ "$(grep -c '"rank":' "$work/.out")" = 1 ] && pass || fail "k of vprof.conf: $(grep '"rank":' "$work/.out")"
expect 0 "$VPROF" show factors tree --format json -k 0 --threshold 0.01
says '"k": 0,' '"threshold": 0.01,'
printf '[iterate]\n\tk = none\n' >vprof.conf
expect 2 "$VPROF" show factors tree
says "vprof.conf:2" "k wants a whole number"
expect 0 "$VPROF" show runs
rm vprof.conf

expect 0 "$VPROF" show critical-path tree
says 'request 18446744073709551614 took 11 ns (rank 1 of 4)' 'A › B'
expect 0 "$VPROF" show critical-path tree --interval 2 --format csv
says '2,1,100,104,running,0,A;B'
expect 0 "$VPROF" show critical-path tree --slowest 2 --format json
says '"paths"' '"sid": 18446744073709551614' '"sid": 3'
expect 0 "$VPROF" show intervals tree --slowest 2 --format csv
[ "$(cut -d, -f1 .out | tr '\n' ' ')" = "sid 3 18446744073709551614 " ] && pass || fail "the slowest two"
for format in text json csv dot; do
	expect 2 "$VPROF" show call-graph tree --below Bb --format $format
	says "the call graph has no function 'Bb'; did you mean 'B'?"
done
expect 2 "$VPROF" show call-graph tree --below A --above B
says "--above and --below do not go together"
expect 0 "$VPROF" show call-graph tree --format dot
says 'digraph' 'A\nheight 2' 'B\nheight 1'
expect 0 "$VPROF" show call-graph tree --above C --format csv
says 'A,B,,0,2,1'

# Any quantile, from the trace: of 6, 8, 9, 11 the slowest quarter is 11, the fast half 6 and 8.
expect 0 "$VPROF" show slow-vs-fast tree --quantile 0.75
says '(slowest 25 %: 9 ns or more) takes 3 ns longer than a fast one'
expect 0 "$VPROF" show slow-vs-fast tree --quantile 0.76 --format csv
says 'body,B,,,,1.2307692307692308,5,8,3,5,1,1' 'body,C,,,,-0.46153846153846156,2,1,3,-2,1,1'
expect 0 "$VPROF" show tail tree --quantile 0.5
says 'Fewer than 100 say nothing about a tail'
expect 2 "$VPROF" show tail tree --quantile 1
says 'between 0 and 1'
expect 0 "$VPROF" show variance-tree tree --format csv
says '1,0,function,A,,,,,8.5'

# main, f and g are one line, the last one's, unless three are asked for.
cat >chain.tuples <<'END'
vprof-tuples 1
interval   1 request 1 0 1 10
interval   2 request 1 20 1 40
segment    1 1 0 10 running
segment    1 2 20 40 running
invocation 1 1 main 0 10
invocation 1 1 f 0 10
invocation 1 1 g 0 10
invocation 1 2 main 20 40
invocation 1 2 f 20 40
invocation 1 2 g 20 40
END
expect 0 "$VPROF" -d chain import --from tuples chain.tuples
expect 0 "$VPROF" -d chain show variance-tree --ascii
says '#  `- main > f > g  ' '--no-collapse'
expect 0 "$VPROF" -d chain show variance-tree --ascii --no-collapse
says '#  `- main  ' '#    `- f  ' '#      `- g  '
grep -q 'main > f' .out && fail '--no-collapse collapses'

# Two call sites under one parent are distinct; nothing is "-0.0 %"; one is one.
cat >sites.tuples <<'END'
vprof-tuples 1
interval   1 request 1 0 1 10
interval   2 request 1 20 1 30
interval   3 request 1 40 1 51
segment    1 1 0 10 running
segment    1 2 20 30 running
segment    1 3 40 51 running
invocation 1 1 f@a.c:1 0 3
invocation 1 1 f@a.c:2 3 10
invocation 1 2 f@a.c:1 20 26
invocation 1 2 f@a.c:2 26 30
invocation 1 3 f@a.c:1 40 42
invocation 1 3 f@a.c:2 42 51
END
expect 0 "$VPROF" -d sites import --from tuples sites.tuples
expect 0 "$VPROF" -d sites show variance-tree --min-share 0
says 'f (a.c:1)' 'f (a.c:2)' '(f (a.c:2), f (a.c:1))'
expect 0 "$VPROF" -d sites show call-graph
says '1 function, 0 calls' ' f         ?  '
expect 0 "$VPROF" -d sites show runs
grep -q ' 0 ns ' .out && fail 'an imported run took no time'

# What is not there.
expect 2 "$VPROF" show
says 'show what?' 'variance-tree, factors'
expect 2 "$VPROF" show facters
says "did you mean 'factors'?"
expect 2 "$VPROF" show factors tree --format dot
says 'cannot be printed' '--format json'
expect 2 "$VPROF" show factors nine
says "no run 'nine'" '1 (tree), 2 (open)'
expect 2 "$VPROF" show factors tree --interval nine
says "no results for an interval 'nine'"
expect 2 "$VPROF" show critical-path tree --interval 77
says 'no completed interval 77'
expect 2 "$VPROF" show execution-table tree --charge me
says 'waiter or waker'

# A run without a completed interval: said so, and a document for programs.
expect 3 "$VPROF" show factors
says "no 'request' interval completed in run 2 (1 still open"
[ -s .out ] && fail 'text for a run that has no results'
expect 3 "$VPROF" show factors --format json
says '"factors": []' '"open": 1'
expect 3 "$VPROF" show critical-path --format json
says '"pieces": []'
expect 0 "$VPROF" show runs
expect 0 "$VPROF" show coverage

# Queries.
expect 0 "$VPROF" sql --format csv "SELECT sid, 'a,\"b\"', NULL, 1.5 FROM interval LIMIT 1"
says '1,"a,""b""",,1.5'
expect 0 "$VPROF" sql --format json 'SELECT number, name FROM run'
says '"columns": ["number", "name"]' '  [1, "tree"]'
expect 0 "$VPROF" sql --format json "SELECT column1, column2, column3 FROM (VALUES (7, 'ü\"', 0.25), (NULL, x'00', 9e999))"
cat >wanted <<'END'
{
 "schema": "vprof.sql/1",
 "columns": ["column1", "column2", "column3"],
 "rows": [
  [7, "ü\"", 0.25],
  [null, null, null]
 ]
}
END
cmp -s wanted .out && pass || fail "rows in JSON: $(diff wanted .out)"
expect 0 "$VPROF" sql --format json 'SELECT number FROM run WHERE number < 0'
says '"rows": []'
expect 2 "$VPROF" sql --format json 'SELECT abs(column1) FROM (VALUES (7), (-9223372036854775808))'
says '  [7]' 'integer overflow'
grep -q '^}' .out && fail 'a document cut off by an error looks whole' || pass
expect 0 "$VPROF" sql 'SELECT number, name FROM run'
says '1       tree'
expect 2 "$VPROF" sql 'DELETE FROM run'
says 'more than read'
expect 2 "$VPROF" sql 'SELECT nonsense'
says 'no such column'
expect 2 "$VPROF" sql

# Output that cannot be written.
if [ -w /dev/full ]; then
	"$VPROF" show intervals tree >/dev/full 2>.err
	[ $? = 4 ] && grep -q 'No space left' .err && pass || fail 'a full disk is not an error'
fi
("$VPROF" show intervals tree --format json; echo $? >.status) 2>.err | true
[ "$(cat .status)" = 0 ] && ! grep -q 'rror' .err && pass || fail 'a closed pipe is an error'

# Damage.
cp vprof.data/vprof.db kept
echo 'not a data base, not a data base, not a data base, not a data base, not one' \
	>vprof.data/vprof.db
expect 5 "$VPROF" show runs
says 'is not a database'
head -c 5000 kept >vprof.data/vprof.db
expect 5 "$VPROF" show factors tree

# Thread 1 waits for a disk, which was idle until the request came, and for a timer.
cat >disk.tuples <<'END'
vprof-tuples 1
thread     1 thread server
thread     8 timer timer
thread     9 disk sda
interval   1 request 1 0 1 100
segment    1 1 0 20 running
segment    1 1 20 80 io
segment    1 1 80 85 running
segment    1 1 85 95 io
segment    1 1 95 100 running
segment    9 - 0 15 queue
segment    9 - 15 80 running
segment    8 - 0 95 running
wakeup     9 1 15
wakeup     1 9 80
wakeup     1 8 95
invocation 1 1 serve 0 100
END
expect 0 "$VPROF" -d disk.data import --from tuples disk.tuples
expect 0 "$VPROF" -d disk.data sql --format csv "SELECT function, mean_ns FROM node WHERE kind = 'blame' ORDER BY id"
[ "$(tail -n +2 .out | tr '\n' ' ')" = "(disk),60 (timer),10 " ] && pass || fail "who is to blame: $(cat .out)"
expect 0 "$VPROF" -d disk.data show critical-path
says 'its longest piece is 60 ns on disk sda: at work' 'server (1)  serve' '20 ns  60 ns  sda           at work' \
	'timer         until the time it was set to'
# A run without any interval.
printf 'vprof-tuples 1\nsegment 1 - 0 10 running\n' >nothing.tuples
expect 3 "$VPROF" -d nothing.data import --from tuples nothing.tuples -o nothing
expect 3 "$VPROF" -d nothing.data show factors nothing --format json
says '"name": null,' '"count": 0,'
finish

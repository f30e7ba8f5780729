#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# record --repeat makes a group of runs; a RUN that names a group is all of them, in the order of their places, and commands
# that take one run say so.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >loop.c <<'C'
#include <vprof.h>
#include <stdlib.h>
#include <stdio.h>
static volatile unsigned sink;
static void work(unsigned n) { while (n--) sink += n; }
int main(int argc, char **argv)
{
	FILE *count = fopen("count", "r");
	int n = 0;

	if (count) { if (fscanf(count, "%d", &n) != 1) n = 0; fclose(count); }
	count = fopen("count", "w");
	fprintf(count, "%d", n + 1);
	fclose(count);
	for (unsigned i = 0; i < 40; i++) {
		VPROF_BEGIN("request", i);
		work(1000 + 500 * (i % 7));
		VPROF_END("request", i);
	}
	return argc > 1 && n + 1 == atoi(argv[1]);	/* the run of that number fails */
}
C
expect 0 "$VPROF" build -- cc -O1 -o loop loop.c
expect 2 "$VPROF" record --repeat 3 -- ./loop
says '--repeat wants a name' '-o NAME'
[ ! -e count ] && pass || fail 'it ran the command all the same'
expect 2 "$VPROF" record --repeat 3 -o g -p 1
says '--repeat starts COMMAND anew'
expect 0 "$VPROF" record --repeat 3 -o g -- ./loop
says 'run 1 of 3: g.1' 'run 3 of 3: g.3'
[ "$(cat count)" = 3 ] && pass || fail "the command ran $(cat count) times"
[ "$("$VPROF" show runs --format csv | cut -d, -f2 | tr '\n' ' ')" = 'name g.1 g.2 g.3 ' ] && pass || fail 'other names'
[ "$("$VPROF" show runs g.2 --format csv | cut -d, -f2 | tr '\n' ' ')" = 'name g.2 ' ] && pass || fail 'show runs RUN shows others'
[ "$("$VPROF" show runs g --format csv | cut -d, -f2 | tr '\n' ' ')" = 'name g.1 g.2 g.3 ' ] && pass || fail 'show runs GROUP'
expect 2 "$VPROF" show runs nobody
says "there is no run 'nobody'"
# A group's name is taken, and so is one that a run has.
expect 2 "$VPROF" record --repeat 2 -o g -- ./loop
says "run 1 is already called 'g.1'"
expect 2 "$VPROF" record --repeat 2 -o g.2 -- ./loop
says "run 2 is already called 'g.2'"
[ "$(cat count)" = 3 ] && pass || fail 'a group whose name is taken was begun'
# The second of these runs fails: the third is not made, the first two are kept.
rm count
expect 1 "$VPROF" record --repeat 3 -o bad -- ./loop 2
says 'bad.2' "the other 1 runs of 'bad' are not made"
expect 0 "$VPROF" show summary bad.1
[ "$(cat count)" = 2 ] && pass || fail 'it went on after a failure'
rm count
expect 0 "$VPROF" record --repeat 3 -o more --ignore-status -- ./loop 2
[ "$(cat count)" = 3 ] && pass || fail '--ignore-status did not go on'

# Commands for one run refuse a group and say what to do; commands for several runs take the group.
for command in 'show factors g' 'show critical-path g' 'export g' 'show summary g'; do
	expect 2 "$VPROF" $command
	says "'g' is a group of 3 runs" 'vprof merge g -o g-all'
done
expect 0 "$VPROF" show summary g.2
expect 0 "$VPROF" analyze g
says 'run 1: 40 intervals' 'run 2: 40 intervals' 'run 3: 40 intervals'
expect 0 "$VPROF" merge g -o g-all
says '120 intervals'
expect 0 "$VPROF" merge 1,g.2 more -o some
says '200 intervals'
expect 2 "$VPROF" merge g,2
says 'run 2 is named twice'
expect 2 "$VPROF" merge 1
says 'It takes two or more'
expect 2 "$VPROF" merge 1,nosuch
says "there is no run 'nosuch'"
expect 2 "$VPROF" merge 1,,2
says 'there is no run'

# By their places, not by their letters; names that only look alike are none of the group.
awk 'BEGIN { print "vprof-tuples 1\ninterval 1 r 1 0 1 100\nsegment 1 1 0 100 running" }' >one.tuples
for name in t.10 t.2 t.1 t.01 t.x t.1x t. ; do
	expect 0 "$VPROF" import --from tuples one.tuples -o $name
done
expect 0 "$VPROF" analyze t
[ "$(sed -n 's/^vprof: run \([0-9]*\): 1 .*/\1/p' .err | tr '\n' ' ')" = "$("$VPROF" show runs --format csv | awk -F, '
	{ at[$2] = $1 } END { print at["t.1"], at["t.2"], at["t.10"] " " }')" ] && pass || fail "group t is $(cat .err)"
# No run is named like a list.  A run of that very name comes before a group of it.
expect 2 "$VPROF" import --from tuples one.tuples -o 1,2
says "'1,2' cannot be the name of a run: a comma stands between the names of several runs" "-o run-1-2"
expect 0 "$VPROF" import --from tuples one.tuples -o t
expect 0 "$VPROF" show summary t
finish

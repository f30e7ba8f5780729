#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The functions of headers are stored once for all units of a build; if they are lost the units are scanned again, and parts to which
# no unit refers are removed.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir project && cd project || exit 99
{
	echo '#ifdef WIDE'
	echo 'static inline long only_wide(long a) { return a * 3; }'
	echo '#endif'
	for i in $(seq 300); do
		echo "static inline int described_at_length_$i(int a, int b)"
		echo "{ return a > $i ? described_at_length_$((i > 1 ? i - 1 : i))(a - 1, b) : a + b; }"
	done
} >common.h
for i in $(seq 6); do
	printf '#include "common.h"\nint unit_%d(int a);\nint unit_%d(int a) { return described_at_length_7(a, %d); }\n' "$i" "$i" "$i" >"u$i.c"
done
{
	echo '#define WIDE'
	echo '#include "common.h"'
	for i in $(seq 6); do echo "int unit_$i(int a);"; done
	echo 'static int work(int i) { return unit_1(i) + unit_6(i) + (int)only_wide(i); }'
	echo 'int main(void) { int sum = 0; for (int i = 1; i <= 40; i++) sum += work(i); return sum == 0; }'
} >main.c
cat >Makefile <<'END'
OBJECTS = main.o $(patsubst %.c,%.o,$(wildcard u*.c))
program: $(OBJECTS)
	gcc -o $@ $(OBJECTS)
%.o: %.c common.h
	test ! -e broken && gcc -O1 -c $<
END
expect 0 "$VPROF" annotate --start work --end work

parts()
{
	find vprof.data/build/parts -type f ! -name lock | sort
}
counted()
{
	"$VPROF" sql "select count(*), sum(probed) from function union all select count(*), 0 from call" >"$1"
}

expect 0 "$VPROF" build -- make
counted before
grep -q '^309[^0-9]' before && pass || fail "not all functions are known: $(cat before)"
# Two: main.c sees one function more in the header.
[ "$(parts | wc -l)" = 2 ] && pass || fail "there are $(parts | wc -l) parts of one header"
largest=$(find vprof.data/build -name 'u*.scan' -o -name '*%u*.scan' | xargs stat -c %s | sort -n | tail -1)
[ "$largest" -lt 4000 ] && pass || fail "the record of a unit with 301 functions takes $largest bytes"
kept=$(cat vprof.data/build/*.scan vprof.data/build/parts/* | wc -c)
[ "$kept" -lt 40000 ] && pass || fail "what 7 units have in common takes $kept bytes"

# One is lost, the other damaged: no command works with half a build, and a build looks at the units again.
first=$(parts | head -1)
rm "$first"
expect 4 "$VPROF" doctor --quick
says "is missing or damaged in" "vprof build: it scans the unit again"
cp main.o before.o
touch broken
expect 2 "$VPROF" build -- make
cmp before.o main.o && pass || fail "what could not be built again is not there again"
rm broken
expect 0 "$VPROF" build -- make
says "missing or damaged: compiling"
counted after
cmp before after && pass || fail "a lost part leaves a hole: $(cat after)"
for part in $(parts); do
	printf x | dd of="$part" bs=1 seek=30 conv=notrunc 2>/dev/null
done
expect 0 "$VPROF" build -- make
says "what vprof knew of 7 units is missing or damaged: compiling them again"
counted after
cmp before after && pass || fail "a damaged part leaves a hole: $(cat after)"
expect 0 "$VPROF" build -- make
if grep -q "missing or damaged" "$work/.err"; then fail "it is damaged for good"; else pass; fi

# A compile by hand does not trust what is not there, either.
rm -r vprof.data/build/parts
for unit in main.c u*.c; do
	expect 0 "$VPROF" cc gcc -O1 -c "$unit"
done
expect 0 "$VPROF" build -- make
if grep -q "missing or damaged" "$work/.err"; then fail "a compile left a record without its parts"; else pass; fi

# A probe in the header, and none any more: units are compiled again for it, by what is known.
expect 0 "$VPROF" build --functions described_at_length_9 -- make
says "7 of 7 units recompiled"
expect 0 "$VPROF" build --functions unit_3 -- make
counted after
grep -q '^309[^0-9]*1$' after && pass || fail "one function should have a probe: $(cat after)"

# The old parts of a changed header are removed.
parts >old
sed -i 's/a > 200/a > 201/' common.h && sed -i '1i/* moved */' common.h
expect 0 "$VPROF" build -- make
[ "$(parts | wc -l)" = 2 ] && pass || fail "what nobody names stays: $(parts | wc -l) parts"
parts | comm -12 - old | grep -q . && fail "a changed header has a part of before" || pass

# A command that only reads changes nothing.
expect 0 "$VPROF" record -- ./program
says "40 intervals"
chmod -R a-w vprof.data/build
find vprof.data/build | sort >old
expect 0 "$VPROF" doctor --quick
find vprof.data/build | sort | cmp - old && pass || fail "doctor changed something"
chmod -R u+w vprof.data/build

finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Two vprof commands at once in one data directory: the second names the first and waits, and both results are right.
. "${srcdir:-.}/tests/e2e/lib.sh"

# make_tree DIR FIRST: ten units of two functions each, and a main
make_tree()
{
	mkdir -p "$1"
	for n in $(seq "$2" $(($2 + 9))); do
		printf 'static int half%d(int x) { return x / 2; }\nint unit%d(int x) { return half%d(x) + 1; }\n' "$n" "$n" "$n" >"$1/u$n.c"
	done
	{
		seq -f 'int unit%g(int);' "$2" $(($2 + 9))
		echo '#include <vprof.h>'
		echo 'int main(void) { for (int i = 0; i < 50; i++) { VPROF_BEGIN("request", 0);'
		seq -f 'i += unit%g(i) & 0;' "$2" $(($2 + 9))
		echo 'VPROF_END("request", 0); } return 0; }'
	} >"$1/main.c"
	printf 'O = $(patsubst %%.c,%%.o,$(wildcard *.c))\nprog: $(O)\n\t$(SLOW)\n\tcc -o $@ $(O)\n%%.o: %%.c\n\tcc -O1 -c -o $@ $<\n' >"$1/Makefile"
}

# probed FILE: "21 of 21" of what a build said
probed() { sed -n 's/.* units, \([0-9]*\) functions, \([0-9]*\) of them.*/\2 of \1/p' "$1" | tail -1; }

# ---- two builds of one tree ----
make_tree one 1
cd one || exit 99
("$VPROF" build --functions all -- make SLOW='sleep 1' >../b1 2>&1; echo $? >../s1) &
wait_until test -s main.o
"$VPROF" build --no-wait -- make >"$work/.out" 2>"$work/.err"
[ $? = 4 ] && pass || fail "a second build does not fail with --no-wait: $(cat "$work/.err")"
says "build --functions all -- make" "(process " "since " "vprof.data'"
("$VPROF" build --functions unit3,half3 -- make >../b2 2>&1; echo $? >../s2) &
expect 0 "$VPROF" record -- ./prog			# of what the first has built, or the second
says "waiting for 'vprof build"
wait
[ "$(cat ../s1)" = 0 ] && [ "$(cat ../s2)" = 0 ] && pass || fail "statuses $(cat ../s1 ../s2): $(cat ../b1 ../b2)"
[ "$(probed ../b1)" = "21 of 21" ] && pass || fail "first: $(cat ../b1)"
[ "$(probed ../b2)" = "2 of 21" ] && pass || fail "second: $(cat ../b2)"
grep -q "waiting for 'vprof build --functions all" ../b2 && pass || fail "the second does not say whom it waits for: $(cat ../b2)"
expect 0 "$VPROF" build --functions all -- make
[ "$(probed "$work/.err")" = "21 of 21" ] && pass || fail "afterwards: $(cat "$work/.err")"
expect 0 "$VPROF" record -- ./prog
expect 0 "$VPROF" sql --format csv "SELECT COUNT(*) FROM function WHERE name LIKE 'unit%' AND probed"
[ "$(sed 1d "$work/.out")" = 10 ] && pass || fail "functions: $(cat "$work/.out")"

# ---- a build in the command of another's, annotate and analyze beside one ----
expect 0 "$VPROF" build -- "$VPROF" build --functions all -- make
(exec "$VPROF" build -- sh -c "touch ../begun; sleep 3; make" >../b3 2>&1) &
wait_until test -f ../begun
"$VPROF" annotate --start unit1 --end unit1 --no-wait >"$work/.out" 2>"$work/.err"
[ $? = 4 ] && [ ! -f vprof.conf ] && pass || fail "annotate goes on beside a build: $(cat "$work/.err")"
expect 0 "$VPROF" analyze 1 --no-wait
expect 0 "$VPROF" show factors 1
expect 0 "$VPROF" annotate --start unit1 --end unit1
says "waiting for"
wait
rm -f vprof.conf ../begun

# ---- the lock of one that is killed goes with it, though its children live on ----
"$VPROF" build -- sh -c 'echo $$ >../begun; exec sleep 20' >../b4 2>&1 &
builder=$!
wait_until test -s ../begun
kill -KILL $builder
sleeper=$(cat ../begun)
kill -0 "$sleeper" && pass || fail "its child is gone, too"
expect 0 "$VPROF" build --functions all --no-wait -- make
kill "$sleeper"
wait $builder 2>/dev/null
ls vprof.data/build/*.new vprof.data/build/*.tmp-* >/dev/null 2>&1 && fail "something is left in the build directory" || pass
touch "vprof.data/build/%x.o.999999999.new"
expect 0 "$VPROF" build --functions all -- make
ls vprof.data/build/*.new >/dev/null 2>&1 && fail "what a killed compiler left stays" || pass
cd ..

# ---- two trees with one data directory ----
make_tree a 1
make_tree b 11
(cd a && "$VPROF" -d ../both build --functions all -- make >../b5 2>&1; echo $? >s5) &
(cd b && "$VPROF" -d ../both build --functions all -- make >../b6 2>&1; echo $? >s6) &
wait
[ "$(cat s5 s6 2>/dev/null | tr -d '\n')" = 00 ] || [ "$(cat a/s5 b/s6 | tr -d '\n')" = 00 ] && pass || fail "two trees: $(cat b5 b6)"
expect 0 "$VPROF" -d both sql --format csv "SELECT COUNT(*) FROM function WHERE name LIKE 'unit%' AND probed"
[ "$(sed 1d "$work/.out")" = 20 ] && pass || fail "two trees: $(cat "$work/.out" b5 b6)"

# ---- two compiles of one object, as two targets of a makefile may make it ----
mkdir object
cd object || exit 99
i=0
while [ $i -lt 100 ]; do
	echo "int f$i(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * $i; return s; }"
	i=$((i + 1))
done >many.c
echo "int main(void) { return f1(2) > 100; }" >>many.c
cat >two.sh <<'END'
for round in 1 2 3; do
	cc -O1 -c many.c -o many.o & a=$!
	cc -O1 -c many.c -o many.o & b=$!
	wait $a && wait $b || exit 1
	ls "$VPROF_DIR"/build/*.scan >/dev/null && cat "$VPROF_DIR"/build/*.scan >>scans
done
cc -o many many.o
END
expect 0 "$VPROF" build --functions all -- sh two.sh
grep -q untouched scans && fail "two compiles of one object: $(grep -o '"untouched"[^,]*' scans | head -1)" || pass
expect 0 "$VPROF" sql --format csv "SELECT COUNT(*) FROM function WHERE probed"
[ "$(sed 1d "$work/.out")" = 101 ] && pass || fail "two compiles of one object: $(cat "$work/.out")"
ls vprof.data/build/*.i >/dev/null 2>&1 && fail "a text is left" || pass
cd ..

# ---- two that analyse one run, and two that analyse two ----
cd one || exit 99
("$VPROF" analyze 1 >../a1 2>&1; echo $? >../s7) &
("$VPROF" analyze 1 >../a2 2>&1; echo $? >../s8) &
expect 0 "$VPROF" analyze 2
wait
[ "$(cat ../s7 ../s8 | tr -d '\n')" = 00 ] && pass || fail "two analyses: $(cat ../a1 ../a2)"
expect 0 "$VPROF" sql --format csv "SELECT COUNT(*) FROM finding WHERE run = 1"
[ "$(sed 1d "$work/.out")" = 1 ] && pass || fail "findings: $(cat "$work/.out")"

# ---- what cannot be locked ----
rm vprof.data/lock
mkdir vprof.data/lock
expect 0 "$VPROF" analyze 1
says "cannot be locked" "one vprof build, record or analyze at a time"
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# No load is run for an interval that cannot begin or end: iterate and record stop before, and say which unit was
# compiled without probes, why, and what to do.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir ferry && cd ferry || exit 99
cat >boat.h <<'END'
struct boat { int load; };
int cast_off(struct boat *), land(struct boat *), tide(int);
END
cat >boat.c <<'END'
#include "boat.h"
int cast_off(struct boat *b) { volatile int s = 0; for (int i = 0; i < 2000; i++) s += i; return b->load + s; }
END
cat >pier.c <<'END'
#include "boat.h"
int land(struct boat *b) { return b->load + tide(1); }
END
cat >tide.c <<'END'
int tide(int n) { return n + 1; }
END
cat >main.c <<'END'
#include "boat.h"
int main(void) { struct boat b = { 1 }; for (int i = 0; i < 40; i++) { cast_off(&b); b.load += land(&b) & 1; } return 0; }
END
cat >build.sh <<'END'
set -e
for unit in boat pier tide main; do gcc -O1 $(cat $unit.flags 2>/dev/null) -c $unit.c; done
gcc boat.o pier.o tide.o main.o -o ferry
END
cat >bench.sh <<'END'
echo ran >>ran
./ferry
END
conf()			# START END
{
	printf '[build]\n\tcommand = sh build.sh\n[interval "crossing"]\n\tstart = %s\n\tend = %s\n' "$1" "$2" >vprof.conf
	rm -rf vprof.data ran
}
no_load()		# WHAT
{
	if [ -e ran ]; then fail "$1: the load was run"; else pass; fi
	rm -f ran
}

# The unit of the end is left as it is; so is another, which was not asked about.
printf '%s' -save-temps >pier.flags
conf cast_off land
expect 2 "$VPROF" iterate -- sh bench.sh
no_load "iterate"
says "end = land of 'crossing' is in no unit with probes" "pier.c' has" "-save-temps" "compile 'pier.c' in a way that vprof can instrument"
expect 2 "$VPROF" build
says "pier.c' was compiled untouched" "1 of the units has no probes" "vprof show coverage lists it with the reason"
expect 2 "$VPROF" record -- sh bench.sh
no_load "record"
says "no interval could begin and end in what was built last" "pier.c" "-save-temps" "vprof build"

# The start, a place in a line, and a function that only the text of the unit has.
for start in 'pier.c:land' 'pier.c:2' land@entry; do
	conf "$start" cast_off
	expect 2 "$VPROF" iterate -- sh bench.sh
	no_load "start = $start"
	says "pier.c'" "-save-temps"
done
# A resume.
conf cast_off cast_off
printf '\tresume = land\n' >>vprof.conf
expect 2 "$VPROF" iterate -- sh bench.sh
no_load "resume"
says "resume = land"
# A unit that only calls it is not the one to blame.
conf cast_off tide
printf '%s' -save-temps >tide.flags
expect 2 "$VPROF" iterate -- sh bench.sh
no_load "defined elsewhere"
says "end = tide of 'crossing' is in no unit with probes; '$PWD/tide.c' has"

# A second interval that works is recorded; the first is an error of build's all the same.
rm -f tide.flags
conf cast_off land
printf '[interval "start"]\n\tstart = cast_off\n\tend = cast_off\n' >>vprof.conf
expect 2 "$VPROF" build
expect 0 "$VPROF" record -- sh bench.sh
says "40 intervals"

# Commands that need no intervals are not refused.
conf cast_off land
expect 2 "$VPROF" build
"$VPROF" record --kernel -- sh bench.sh >"$work/.out" 2>"$work/.err"
says_not="no interval could begin"
if grep -qF "$says_not" "$work/.err"; then fail "record --kernel is refused"; else pass; fi

# Mended, all goes.
rm -f pier.flags
expect 0 "$VPROF" build
rm -f ran
expect 0 "$VPROF" record -- sh bench.sh
[ -e ran ] && pass || fail "the load was not run"
# With an untouched unit that holds no place: a line, and no more.
printf '%s' -save-temps >tide.flags
expect 0 "$VPROF" iterate --max-runs 1 -- sh bench.sh
says "tide.c' was compiled untouched" "1 of the units has no probes"

# Many: the first are listed, all are counted.
for i in 1 2 3 4 5 6 7 8; do
	echo "int quay_$i(int n) { return n + $i; }" >quay_$i.c
done
cat >>build.sh <<'END'
for i in 1 2 3 4 5 6 7 8; do gcc -O1 -save-temps -c quay_$i.c; done
END
rm -f tide.flags
conf cast_off land
expect 0 "$VPROF" build
says "8 of the units have no probes" "above are the first" "vprof show coverage lists them with their reasons"
[ "$(grep -c 'quay_.*was compiled untouched' "$work/.err")" = 5 ] && pass || fail "not the first five are listed"
expect 0 "$VPROF" record -- sh bench.sh
expect 0 "$VPROF" show coverage
says "8 of 12 units"

# A mark in an untouched unit that nothing else begins.
cat >main.c <<'END'
#include <vprof.h>
#include "boat.h"
int main(void) { struct boat b = { 1 }; for (int i = 0; i < 40; i++) { VPROF_BEGIN("crossing", i); cast_off(&b); VPROF_END("crossing", i); } return 0; }
END
printf '[build]\n\tcommand = sh build.sh\n' >vprof.conf
printf '%s' -save-temps >main.flags
rm -rf vprof.data ran
expect 2 "$VPROF" iterate -- sh bench.sh
no_load "a mark in an untouched unit"
says "main.c' has VPROF_BEGIN and was compiled untouched"
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Missing data is reported: runs that failed, units that were compiled untouched, places that no build has.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir kiosk && cd kiosk || exit 99
cat >kiosk.c <<'END'
struct ticket { int id; };
int stamp(struct ticket *t, int n) { volatile int s = 0; for (int i = 0; i < 3000 + 400 * n; i++) s += i; return s + t->id; }
int main(void) { struct ticket t = { 1 }; for (int i = 0; i < 50; i++) t.id += stamp(&t, i) & 1; return t.id < 0; }
END
cat >side.c <<'END'
int side_door(int n) { return n + 2; }
END

# Before there is a build annotate takes everything, afterwards it asks.
expect 0 "$VPROF" annotate --start stamp --end stamp
expect 0 "$VPROF" annotate --dry-run --start nowhere --end stamp
expect 0 "$VPROF" build --functions all -- gcc -O1 kiosk.c -o kiosk
expect 2 "$VPROF" annotate --name b --start stmp --end stamp
says "no function 'stmp'; the nearest is 'stamp'"
expect 2 "$VPROF" annotate --name b --start stamp --end other.c:stamp
says "no function 'stamp' in other.c"
expect 2 "$VPROF" annotate --name b --start "stamp key=arg2" --end "stamp key=arg1"
says "there is no arg2 in 'arg2'" "has 2 arguments" "arg1 the last"
expect 2 "$VPROF" annotate --name b --start stamp --end stamp --resume "stamp if arg0 && arg9"
says "--resume: there is no arg9"
expect 0 "$VPROF" annotate --name b --start "stamp key=arg0->id" --end "stamp key=arg0->id"
grep -q stmp vprof.conf && fail "the refused place is in vprof.conf" || pass
expect 0 "$VPROF" annotate --start stamp --end stamp

# A recording that failed is not what show looks at; one that never began leaves no run.
expect 0 "$VPROF" build --functions all -- gcc -O1 kiosk.c -o kiosk
expect 0 "$VPROF" record -- ./kiosk
expect 4 "$VPROF" record -p 999999
expect 4 "$VPROF" record --attach 1
expect 0 "$VPROF" show runs --format csv
[ "$(grep -c '' "$work/.out")" = 2 ] && pass || { fail "somebody left a run"; cat "$work/.out"; }
expect 4 "$VPROF" record -- true
expect 0 "$VPROF" show factors
says "run 2 (failed) has no results; this is run 1" stamp
expect 0 "$VPROF" show variance-tree --format json
expect 3 "$VPROF" show factors 2
expect 3 "$VPROF" export --format tuples 2
says "run 2 has no intervals"
expect 0 "$VPROF" export --format tuples
grep -q '^interval ' "$work/.out" && pass || fail "the export has no intervals"

# Units without probes are named: by the error, by build, record and coverage.
expect 0 "$VPROF" annotate --name c --start stamp --end stamp
printf '[interval "side"]\n\tstart = side_door\n\tend = side_door\n' >side.conf
expect 2 env VPROF_CONF="$PWD/side.conf" "$VPROF" -d side.data build --functions all -- \
	sh -c 'gcc -O1 -c kiosk.c && gcc -O1 -save-temps -c side.c && gcc kiosk.o side.o -o both'
says "side.c' has that word and was compiled untouched" "-save-temps"
expect 0 "$VPROF" -d both.data build --functions all -- \
	sh -c 'gcc -O1 -c kiosk.c && gcc -O1 -save-temps -c side.c && gcc kiosk.o side.o -o both'
says "1 of the units has no probes"
expect 0 "$VPROF" -d both.data record -- ./both
says "of 1 unit no function carries a probe"
expect 0 "$VPROF" -d both.data show coverage
says "2 of 2 functions carry a probe; these are not all." "1 of 2 units" "side.c was compiled untouched"

# The same holds for a compiler for another C library, and for preprocessed input; make runs neither again.
mkdir -p ../foreign/bin && cd ../foreign && cp ../kiosk/kiosk.c ../kiosk/side.c . || exit 99
printf '#!/bin/sh\necho "$*" >>"%s/runs"\nexec /usr/bin/env gcc "$@"\n' "$PWD" >bin/musl-gcc && chmod +x bin/musl-gcc
cat >compile <<'END'
gcc -O1 -c kiosk.c && musl-gcc -O1 -c side.c && gcc -E side.c | sed 's/side_door/back_door/' >back.i &&
gcc -O1 -c back.i && gcc kiosk.o side.o back.o -o all
END
expect 0 env PATH="$PWD/bin:$PATH" "$VPROF" -d all.data build --functions all -- sh ./compile
says "side.c' was compiled untouched: the compiler is for another machine or another C library" \
	"back.i' was compiled untouched: the input is preprocessed already" "2 of the units have no probes"
[ "$(grep -c side.c runs)" = 1 ] && pass || fail "musl-gcc ran $(grep -c side.c runs) times"
nm all | grep -q ' back_door$' && pass || fail "the foreign objects were not linked"
printf '[interval "side"]\n\tstart = side_door\n\tend = side_door\n' >side.conf
expect 2 env PATH="$PWD/bin:$PATH" VPROF_CONF="$PWD/side.conf" "$VPROF" -d side.data build --functions all -- sh ./compile
says "side.c' has that word and was compiled untouched: the compiler is for another machine"

# A copy of the program has its names, and coverage does not say that nothing was built.
mkdir ../copy && cp ../kiosk/kiosk ../copy && cd ../copy || exit 99
expect 0 "$VPROF" record -- ./kiosk
expect 0 "$VPROF" show coverage
says "Nothing was built with this data directory"

# A run that died before an interval was complete is not what show looks at either; one that came to its end without any is.
mkdir ../crash && cd ../crash || exit 99
cat >crash.c <<'EOF'
#include <stdlib.h>
#include <vprof.h>
__attribute__((noinline)) void ask(int n) { for (volatile int i = 0; i < n * 1000; i++) ; }
int main(int argc, char **argv)
{
	int cnt = argc > 1 ? 1 : 50;

	ask(1);
	for (int i = 0; i < cnt && argc < 3; i++) {
		VPROF_BEGIN("visit", i);
		ask(i % 4 + 1);
		if (argc > 1)
			abort();
		VPROF_END("visit", i);
	}
	return 0;
}
EOF
expect 0 "$VPROF" build --functions all -- gcc -O1 crash.c -o crash
expect 134 "$VPROF" record -- ./crash abort
expect 3 "$VPROF" show summary
says "no 'visit' interval completed in run 1"
expect 0 "$VPROF" record -- ./crash
expect 134 "$VPROF" record -- ./crash abort
expect 0 "$VPROF" show summary
says "run 3 (its command failed) has no results about intervals; this is run 2" "50 used"
expect 3 "$VPROF" show summary 3
expect 3 "$VPROF" record -- ./crash no interval
expect 3 "$VPROF" show summary
says "no interval began in run 4"
finish

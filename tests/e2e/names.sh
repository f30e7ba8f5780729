#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A program carries its plan, names and intervals: built in one place, recorded in another one without sources, vprof.conf or
# vprof.data, however it was linked and stripped.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir -p build/src && cd build/src || exit 99
cat >parts.h <<'END'
static inline int half(int n) { volatile int x = n; return x / 2; }
int brew(int n);
END
cat >brew.c <<'END'
#include "parts.h"
static int unused_one(int n) { return n + 1; }
int never(int n) { return unused_one(n); }
static int grind(int n) { volatile int s = 0; for (int i = 0; i < 20000 + n % 7 * 5000; i++) s += i; return s; }
int brew(int n) { return grind(n) + half(n); }
END
cat >shop.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <vprof.h>
#include "parts.h"
static int serve(int n) { return brew(n) + half(n); }
int main(int argc, char **argv)
{
	int (*extra)(int) = 0;
#ifdef PLUGIN
	void *library = dlopen(argv[1], RTLD_NOW);

	extra = library ? (int (*)(int))dlsym(library, "garnish") : 0;
	if (!extra)
		return 1;
#endif
	(void)argc;
	(void)argv;
	for (int i = 0; i < 60; i++) {
		VPROF_BEGIN("door", i);
		int r = serve(i);
		if (extra)
			r += extra(i);
		VPROF_END("counter", i);
		if (r == 42)
			puts("!");
	}
	return 0;
}
END
cat >garnish.c <<'END'
int garnish(int n) { volatile int s = 0; for (int i = 0; i < 9000 + n; i++) s += i; return s; }
END
cat >bar.cc <<'END'
template <typename T> struct Tap { T pour(T n) { volatile T s = 0; for (T i = 0; i < 9000 + n; i++) s = s + i; return s; } };
inline int draw(int n) { return Tap<int>().pour(n) & 1; }
extern "C" int bartend(int n) { return draw(n) + 1; }
int main() { int s = 0; for (int i = 0; i < 40; i++) s += bartend(i); return s < 0; }
END
cat >../vprof.conf <<'END'
[interval "customer"]
start = mark:door
end = mark:counter
END
cd ..

# build NAME COMMAND: from scratch, into ../away
build()
{
	expect 0 "$VPROF" build --functions "$2" -- sh -c "$3"
	mkdir -p ../away && mv "$1" ../away/ && pass || fail "'$1' was not built"
}
build shop all 'gcc -g -O1 src/shop.c src/brew.c -o shop'
build sections all 'gcc -O1 -ffunction-sections -fdata-sections -Wl,--gc-sections src/shop.c src/brew.c -o sections'
build nopie main,serve,brew,half,grind 'gcc -O1 -fno-pie -no-pie src/shop.c src/brew.c -o nopie'
build lto all 'gcc -O1 -flto src/shop.c src/brew.c -o lto'
statics=
if echo 'int main(void) { return 0; }' | gcc -static -xc - -o static 2>"$work/.err"; then
	build static all 'gcc -O1 -static src/shop.c src/brew.c -o static'
	statics=static
fi
build libbrew.so all 'gcc -O1 -fPIC -shared src/brew.c -o libbrew.so && gcc -O1 -DPLUGIN src/shop.c ./libbrew.so "-Wl,-rpath,\$ORIGIN" -o modular && gcc -O1 -fPIC -shared src/garnish.c -o garnish.so'
mv modular garnish.so ../away/
cd ..
mkdir cxx && cp build/src/bar.cc cxx/ && cd cxx || exit 99
expect 0 "$VPROF" annotate --name drink --start bartend --end bartend
build bar all 'g++ -O1 bar.cc -o bar'
cd ..
cp build/src/* away/
# The tree moves, then its sources go.
mv build elsewhere && rm -rf elsewhere/src cxx
cd away || exit 99
for how in "strip" "strip -s" "objcopy --strip-debug"; do
	cp shop "${how% *}-${how#* }" && $how "${how% *}-${how#* }" || fail "$how does not work"
done

# tree_of INTERVAL: the functions of the last run's tree
tree_of()
{
	"$VPROF" show variance-tree --interval "$1" --all --format csv 2>"$work/.err" | tr ',' '\n' | grep -oE '[A-Za-z_:<>]+' | sort -u
}

# names PROGRAM INTERVAL FUNCTION...: recorded here, the tree holds each of them
names()
{
	program=$1
	interval=$2
	shift 2
	expect 0 "$VPROF" record -- $program
	says "of '$interval'"
	expect 0 "$VPROF" show warnings
	says "the call graph here"
	tree_of "$interval" >tree
	for f; do
		grep -qxF "$f" tree && pass || { fail "$program: no $f in the tree"; cat tree; }
	done
}
for p in shop sections nopie lto $statics strip-strip strip--s objcopy---strip-debug; do
	names "./$p" customer serve brew grind half
done
names "./modular ./garnish.so" customer serve brew grind garnish
names ./bar drink bartend draw
expect 0 "$VPROF" show factors --all
says Tap::pour
[ -e vprof.conf ] && fail "somebody wrote a vprof.conf" || pass

# Most calls not recorded: what is always recorded by choice alone is not, outside intervals.
expect 0 "$VPROF" record --sample 1/2 -- ./shop
says "of 'customer'"

# The data directory's plan is used where it knows the function, the program's for the others.
cp -r ../elsewhere/vprof.data merged
cut -f2- merged/build/plan | grep -q . || fail "no plan is left"
printf 'vprof-plan 1\ndormant\t%s/build/src/brew.c\t4\tgrind\n' "$work" >merged/build/plan
expect 0 "$VPROF" -d merged record -- ./shop
"$VPROF" -d merged show variance-tree --interval customer --all --format csv >tree
grep -q serve tree && ! grep -q grind tree && pass || { fail "grind is dormant in the plan that is here"; cat tree; }

# Programs that carry their own names.
expect 0 "$VPROF" doctor --quick ./shop strip--s
says "'strip--s' carries its names, built by vprof" "interval 'customer': mark door, mark counter"
expect 0 "$VPROF" doctor --quick ./nopie
says "6 probes in 2 units"
expect 0 "$VPROF" doctor --quick ./libbrew.so
says "'./libbrew.so' carries its names"
expect 0 objcopy -R .vprof shop without
expect 0 "$VPROF" doctor --quick without
says "does not say which of its functions to record"
# vprof says before the run and in the results that the program does not name its functions.  The marks of the interval are missing, too.
missing="probes are in parts of the program that do not say which functions to record"
expect 3 "$VPROF" record -- ./without
says "'./without' does not say which of its functions to record, and there is no plan of its build in" "$missing"
export VPROF_CONF=../elsewhere/vprof.conf
expect 0 "$VPROF" record -- ./without
says "$missing" "Not all was recorded"
expect 0 "$VPROF" record -- sh -c ./without
says "$missing"
expect 0 "$VPROF" show summary --format json
says '"names-missing"'
expect 0 "$VPROF" record -- ./shop
grep -q "does not say which\|do not say which\|Not all" "$work/.err" && fail "a program that carries its names: $(cat "$work/.err")" || pass
# Probes that ask for the runtime of another vprof, in a program that was linked without it; its marks are known.
expect 0 "$VPROF" -d stranger build --functions all -- gcc -O1 -c brew.c shop.c
sed -i 's/vprof_register_[0-9]/vprof_register_0/' brew.o shop.o && gcc brew.o shop.o -o stranger.bin || fail "no stranger was built"
expect 0 "$VPROF" record -- ./stranger.bin
says "'./stranger.bin' holds probes of another version of vprof, which stay dormant: none of its functions will be recorded" \
	"1 program holds probes of another version of vprof"
# A program with the runtime of another build, which finds no recording that it knows.
sed 's/Vparena;/Vparena:/g' shop >other.bin && chmod 755 other.bin
cmp -s shop other.bin && fail "the runtime's arena has another name by now" || pass
expect 4 "$VPROF" record -- ./other.bin
says "'./other.bin' holds probes, but nothing of it came into run" "it has the runtime of another build of vprof" "after make clean"
expect 4 "$VPROF" record -- sh -c ./other.bin
says "was built with this vprof"
unset VPROF_CONF
# A section of that name may hold anything.
printf 'vprof-unit 1\nby\nlevels iq\ninterval x\ninterval x\ty\nmark m\n\0\0vprof-unit 1\nlevels i' >damaged.note
expect 0 objcopy --update-section .vprof=damaged.note strip--s damaged
expect 0 "$VPROF" doctor --quick damaged
says "1 probe in 1 unit"

finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The user's tree is byte for byte what a build without vprof would leave: after build, another plan, iterate, a
# build that is killed in the middle, and clean.  All kinds of products: objects, dependency files, a static and a
# shared library, generated sources, a precompiled header, split debug information, programs.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir project && cd project || exit 99
cat >deep.c <<'END'
#include <unistd.h>
#include "all.h"
static void slow(unsigned id) { if (id % 8 == 0) usleep(2000); }
void handle(unsigned id) { slow(id); other(id); }
END
printf '#include "all.h"\nvolatile unsigned sink;\nvoid other(unsigned id) { sink += id + generated(); }\n' >other.c
printf 'int generated(void);\nvoid handle(unsigned id), other(unsigned id);\n' >all.h
printf '#include "all.h"\nint main(void) { for (unsigned id = 1; id <= 100; id++) handle(id); return 0; }\n' >main.c
cat >Makefile <<'END'
CFLAGS = -g -MMD -fPIC -I.
all: program
program: main.o libdeep.a libother.so
	$(CC) -o $@ main.o libdeep.a -L. -lother -Wl,-rpath,'$$ORIGIN'
libdeep.a: deep.o
	$(AR) rcs $@ deep.o
libother.so: other.o generated.o
	$(CC) -shared -o $@ other.o generated.o
generated.c: Makefile
	echo 'int generated(void) { return 1; }' >$@
all.h.gch: all.h
	$(CC) $(CFLAGS) -c all.h -o $@
main.o deep.o other.o: all.h.gch
generated.o: CFLAGS += -gsplit-dwarf
clean:
	rm -f program *.a *.so *.o *.d *.dwo *.gch generated.c
-include main.d deep.d other.d
END

# snapshot NAME: every file that make does not make, with its rights, time and contents; vprof's own left out
snapshot()
{
	sed 's/^\.\///' "$work/product-names" >"$work/skip"
	find . -path ./vprof.data -prune -o -type f -printf '%P %m %T@\n' | sort |
		awk 'NR == FNR { skip[$1] = 1; next } !($1 in skip)' "$work/skip" - | sed 's/^/.\//' >"$work/$1"
	find . -path ./vprof.data -prune -o -type f -print | sort | grep -v -F -x -f "$work/product-names" |
		xargs sha256sum >>"$work/$1"
}
names()
{
	find . -path ./vprof.data -prune -o -print | grep -v -x ./vprof.data | sort
}
unchanged()
{
	snapshot now
	cmp -s "$work/before" "$work/now" && pass || { fail "$1: the user's files are not as they were"; diff "$work/before" "$work/now"; }
	names >"$work/names"
	cmp -s "$work/$2" "$work/names" && pass || { fail "$1: other files are there"; diff "$work/$2" "$work/names"; }
}

expect 0 "$VPROF" annotate --start handle --end handle
names >"$work/sources"
make -s >"$work/.out" 2>&1 || exit 99
names >"$work/built"
comm -13 "$work/sources" "$work/built" >"$work/product-names"
make -s clean
names >"$work/cleaned"
cmp -s "$work/sources" "$work/cleaned" || exit 99
snapshot before

expect 0 "$VPROF" build -- make
unchanged "build" built
expect 0 "$VPROF" build --functions all
unchanged "another plan" built
expect 0 "$VPROF" iterate -- ./program
unchanged "iterate" built
expect 0 make
unchanged "make" built

# Killed in the middle, at several moments.
for moment in 0.1 0.3 0.6 1; do
	make -s clean
	setsid "$VPROF" build --functions all -- make >"$work/.out" 2>&1 &
	build=$!
	sleep $moment
	kill -KILL -- -$build 2>"$work/.err"
	wait $build 2>"$work/.err"
	snapshot now
	cmp -s "$work/before" "$work/now" && pass || fail "killed after $moment s: the user's files are not as they were"
	names | comm -23 - "$work/built" >"$work/.more"
	# A compiler of the user's own may be killed beside its product, as without vprof.
	if [ -s "$work/.more" ]; then fail "killed after $moment s: left are $(cat "$work/.more")"; else pass; fi
	expect 0 make
	expect 0 ./program
done
expect 0 "$VPROF" build --functions all -- make
expect 0 "$VPROF" record -- ./program
says "100 intervals"
expect 0 make clean
unchanged "clean" sources
rm -rf vprof.data
unchanged "clean, without vprof.data" sources
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions that an ifunc resolver may call before the program is relocated carry no probe, and the list says why;
# other functions of the unit have one.  The programs start as they do without probes, also with the sanitizers, which
# are not ready then.
. "${srcdir:-.}/tests/instrument/lib.sh"
printf 'vprof-plan 1\nall always\n' > plan

# The resolver reaches some through calls, others through a pointer and a table.
cat > deep.c <<'END'
#include <stdio.h>
static int narrow(int x) { return x * 3; }
static int broad(int x) { return x * 4; }
static int bits(void) { return 3; }
static int features(void) { return bits() & 1; }
static int ask(int (*what)(void)) { return what(); }
static int (*pick(void))(int) { return ask(features) ? broad : narrow; }
int times(int) __attribute__((ifunc("pick")));
static int later(int x) { return times(x) + 1; }
int main(void) { printf("%d\n", later(5)); return 0; }
END
# A symbol that an asm statement makes indirect.
cat > symbol.c <<'END'
#include <stdio.h>
typedef int (*fn)(int);
static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
static int level(void) { return 2; }
fn choose_add(void) __asm__("add");
fn choose_add(void) { return level() > 1 ? two : one; }
__asm__(".type add, %gnu_indirect_function");
extern int add_it(int) __asm__("add");
int main(void) { printf("%d\n", add_it(7)); return 0; }
END
cat > named.cc <<'END'
#include <cstdio>
namespace cpu { static int level() { return 2; } }
static int low(int x) { return x - 1; }
static int high(int x) { return x - 2; }
typedef int (*fn)(int);
static fn resolve_sub() { return cpu::level() > 1 ? high : low; }
int sub(int) __attribute__((ifunc("_ZL11resolve_subv")));
int main() { std::printf("%d\n", sub(9)); }
END

# FILE EARLY... : functions without a probe
check() {
	file=$1
	shift
	$cc $flags "$file" -o plain 2> err || { echo "$cc $flags $file: does not compile plainly"; return; }
	./plain > plain.out 2> err || { echo "$cc $flags $file: does not run plainly"; return; }
	rm -rf build
	"$launch" -b build -p plan -t "$source/annotations/pthread.sync" -R "$runtime" -I "$source/annotations" -- \
		$cc $flags "$file" -o probed 2> err || { fail "$cc $flags $file: $(cat err)"; return; }
	./probed > probed.out 2> err
	status=$?
	[ $status = 0 ] && cmp -s plain.out probed.out || fail "$cc $flags $file: ends with $status: $(head -3 err)"
	"$launch" -b build -l | grep -v ' probed$' | sed 's/ [0-9]* / /' | sort > list
	printf '%s\n' "$@" | sort > want
	cmp -s want list || { fail "$cc $flags $file: without probes are"; cat list; }
}

for compiler in $compilers; do
	for flags in -O1 -Os "-O1 -fsanitize=address" "-O1 -fsanitize=thread" "-O2 -fstack-protector-all"; do
		cc=$compiler
		check deep.c 'pick ifunc resolver' 'ask an ifunc resolver calls it' 'features an ifunc resolver calls it' \
			'bits an ifunc resolver calls it'
		check symbol.c 'choose_add ifunc resolver' 'level an ifunc resolver calls it'
		cc=$(echo "$compiler" | sed 's/gcc/g++/; s/clang/clang++/')
		check named.cc 'resolve_sub ifunc resolver' 'cpu::level an ifunc resolver calls it'
	done
done
[ "$failed" = 0 ]

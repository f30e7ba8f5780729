#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions of other files that an ifunc resolver may call before the program is relocated carry no probe, in whatever
# order the files are compiled (EARLY_FULL=1: with more options): such programs start as they do without probes, also
# with sanitizers, which are not ready then.
. "${srcdir:-.}/tests/e2e/lib.sh"
cat >common.h <<'C'
static inline int mask(int x) { int m[2] = { x, 1 }; return m[0] & m[1]; }
int cpu_has(int what);
int ask(int (*what)(void));
int level(void);
int narrow(int x);
C
cat >a.c <<'C'
#include <stdio.h>
#include "common.h"
static int broad(int x) { return x * 4; }
int narrow(int x) { return x * 3; }
static int (*pick(void))(int) { return cpu_has(1) && ask(level) ? broad : narrow; }
int triple(int) __attribute__((ifunc("pick")));
int user(int x) { return triple(x) + mask(x); }
int request(int x) { return user(x); }
int main(void) { int s = 0; for (int i = 0; i < 100; i++) s += request(i); printf("%d\n", s); return 0; }
C
cat >b.c <<'C'
#include "common.h"
static int bits(int x) { return x + 2; }
static int features(int x) { return bits(x) & 3; }
int cpu_has(int what) { return features(what) != 0; }
int other(int x) { return mask(x) + bits(x); }
C
cat >c.c <<'C'
#include "common.h"
int level(void) { return 2; }
int ask(int (*what)(void)) { return what() > 1; }
int apart(int x) { return x + 1; }
C
# As plain programs do it: no array, whose frame would be the sanitizer's.
sed -i 's/int m\[2\] = { x, 1 }; return m\[0\] & m\[1\];/return x \& 1;/' common.h
expect 0 "$VPROF" annotate --start request --end request

# try COMPILER FLAGS FILES
try()
{
	cc=$1 flags=$2 files=$3
	# shellcheck disable=SC2086
	$cc $flags $files -o plain 2>err && ./plain >plain.out 2>err || { echo "$cc $flags: not plainly: $(head -1 err)"; return; }
	rm -rf vprof.data ./*.o
	cat >make.sh <<-END
		for f in $files; do
			[ -f \$f.o ] || $cc $flags -c \$f -o \$f.o || exit
		done
		$cc $flags *.o -o probed
	END
	expect 0 "$VPROF" build --functions all -- sh make.sh
	./probed >probed.out 2>err
	status=$?
	[ $status = 0 ] && cmp -s plain.out probed.out && pass || fail "$cc $flags $files: ends with $status: $(head -3 err)"
	"$VPROF" sql --format csv "SELECT name FROM function WHERE NOT probed ORDER BY name" | tail -n +2 | tr -d '\r' | tr '\n' ' ' >list
	want="ask bits cpu_has features level pick "
	[ "$(cat list)" = "$want" ] && pass || fail "$cc $flags $files: without probes are $(cat list)"
	expect 0 "$VPROF" build --functions all -- sh make.sh
	grep -q recompiled "$work/.err" && fail "$cc $flags $files: built once more, something is compiled again" || pass
	"$VPROF" record -- ./probed >recorded.out 2>err || fail "$cc $flags $files: is not recorded: $(head -3 err)"
	grep -q "^$(cat plain.out)$" recorded.out && pass || fail "$cc $flags $files: recorded it says something else"
}

for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	for flags in -O0 "-O1 -fsanitize=address"; do
		try $cc "-g $flags" "a.c b.c c.c"
	done
	try $cc "-g -O0 -fsanitize=address" "c.c b.c a.c"
	[ -n "${EARLY_FULL:-}" ] || continue
	for flags in "-O0 -fsanitize=thread" "-O1 -fsanitize=undefined" "-O0 -fsanitize=undefined" "-O1 -pg" "-O1 -finstrument-functions" \
		"-O2 -fcf-protection=full" "-O2 -fstack-protector-all" "-O1 -static" "-O2 -flto" "-Os -fPIE -pie -Wl,-z,now"; do
		try $cc "-g $flags" "b.c a.c c.c"
	done
done

# vprof says the reason, which goes when the resolver does.
rm -rf vprof.data ./*.o
try gcc -O1 "a.c b.c c.c"
expect 0 "$VPROF" show coverage
says "an ifunc resolver of another file calls it"
sed -i 's/^int triple(int) __attribute__.*/static int triple(int x) { return pick()(x); }/' a.c
rm -f a.c.o
expect 0 "$VPROF" build --functions all -- sh make.sh
[ "$("$VPROF" sql --format csv "SELECT count(*) FROM function WHERE NOT probed" | tail -n 1 | tr -d '\r')" = 0 ] && pass || fail "some stay without a probe"
finish

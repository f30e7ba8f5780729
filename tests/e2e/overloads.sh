#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Overloads are functions of their own: calls go to the right one, and each can be chosen.
. "${srcdir:-.}/tests/e2e/lib.sh"

command -v g++ >"$work/which" || exit 77
mkdir mill && cd mill || exit 99
cat >mill.h <<'END'
int grind(int n);
int grind(double n);
int grind(const char *s, int n);
int single(int n);
END
cat >a.cc <<'END'
#include "mill.h"
int grind(int n) { return grind(n * 2.0) + single(n); }
int main() { return grind(1) + grind("a", 1) == 0; }
END
cat >b.cc <<'END'
#include "mill.h"
int grind(double n) { return (int)n; }
int grind(const char *s, int n) { return *s + n + grind(2.5); }
int single(int n) { return n; }
END
cat >Makefile <<'END'
mill: a.o b.o
	g++ -o mill a.o b.o
%.o: %.cc mill.h
	g++ -c $<
END
calls() { expect 0 "$VPROF" sql "SELECT a.name || ' > ' || b.name FROM call JOIN function a ON a.key = caller JOIN function b ON b.key = callee ORDER BY 1"; }
probed() { expect 0 "$VPROF" sql "SELECT name FROM function WHERE probed ORDER BY 1"; }

expect 0 "$VPROF" annotate --start main --end main
expect 0 "$VPROF" build --functions all -- make
calls
says "grind(int) > grind(double)" "grind(int) > single" "main > grind(int)" "main > grind(const char *, int)" "grind(const char *, int) > grind(double)"
grep -q "grind(int) > grind(int)\|main > grind(double)" "$work/.out" && fail "a call goes to another overload" || pass
expect 0 "$VPROF" build --functions 'grind(const char *, int),single' -- make
probed
says "grind(const char *, int)" single
grep -q "grind(int)\|grind(double)" "$work/.out" && fail "another overload has a probe" || pass
expect 0 "$VPROF" build --functions 'grind' -- make
probed
says "grind(int)" "grind(double)" "grind(const char *, int)"
grep -q single "$work/.out" && fail "single has a probe" || pass
# A place of vprof.conf may mean one of them.
printf '[interval "main"]\n\tstart = grind(const char *, int)\n\tend = grind(const char *, int)\n' >vprof.conf
expect 0 "$VPROF" build -- make
probed
says "grind(const char *, int)"
expect 0 "$VPROF" record -- ./mill
says "1 interval"
finish

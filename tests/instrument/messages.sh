#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Compilers' messages about the user's code are the same as without vprof, in every form: colours, JSON, fix-its,
# limits; for C and C++, with warnings and with errors; with the same status, on a terminal as well.
. "${srcdir:-.}/tests/instrument/lib.sh"
asked=0
unset GCC_COLORS NO_COLOR
export TERM=xterm			# one that has colours

cat > warns.c <<'EOF'
#include <ctype.h>
#include <string.h>
#define SMALLER(a, b) ((a) < (b))
static int unused(void) { return 1; }
int falls(int x, unsigned y) { switch (x) { case 1: x++; /* fall through */ case 2: x--; } return SMALLER(x, y); }
int shadow(int x) { { int x = 2; (void)x; } if (x = 3) return isdigit(x) != 0; return 0; }
EOF
cat > wrong.c <<'EOF'
#include <stdio.h>
struct s { int a; };
int f(struct s *p) { return p->b + undeclared; }
int g(int x) { return x }
EOF
cat > warns.cc <<'EOF'
#include <string>
#include <vector>
struct B { virtual void f(int) const; };
struct D : B { void f(int); };
template <class T> T conv(T x) { int unused; return x + 1.5; }
int g(unsigned n) { std::vector<int> v; for (int i = 0; i < v.size(); i++) n += i; return conv<int>(n); }
int h(int x) { auto l = [x](int y) { int z; return x + y; }; return l(2); }
constexpr int k(int x) { int y = x; return x; }
EOF
cat > wrong.cc <<'EOF'
#include <algorithm>
#include <vector>
struct N {};
int f() { std::vector<N> v; std::sort(v.begin(), v.end()); return v; }
template <class T> int q(T t) { return t.nope(); }
int g() { return q(3); }
EOF

wrapped() {
	"$launch" -b build -p all -t "$source/annotations/pthread.sync" -R "$runtime" -- "$@"
}

# same COMPILER OPTION... FILE
same() {
	asked=$((asked + 1))
	"$@" -c -o object.o > want 2> want.err; want=$?
	wrapped "$@" -c -o object.o > got 2> got.err; got=$?
	[ $want = $got ] || fail "$*: status $got, not $want"
	cmp -s want got || { fail "$*: stdout differs"; diff want got | head; }
	cmp -s want.err got.err || { fail "$*: messages differ"; diff want.err got.err | head; }
}

for compiler in gcc clang g++ clang++; do
	command -v $compiler > which || { echo "no $compiler: left out"; continue; }
	suffix=c
	case $compiler in *++) suffix=cc ;; esac
	for file in warns.$suffix wrong.$suffix; do
		same $compiler -Wall -Wextra $file
		same $compiler -Wall -fdiagnostics-color=always $file
		same $compiler -Wall -Werror -Wfatal-errors $file
		same $compiler -Wall -Wextra -fdiagnostics-parseable-fixits -fmessage-length=60 $file
		same $compiler -w $file
		case $compiler in
		clang*)
			same $compiler -Weverything -fdiagnostics-format=msvc $file
			same $compiler -Wall -ferror-limit=1 -fno-caret-diagnostics $file
			same $compiler -Wall -Xclang -verify $file ;;
		*)
			same $compiler -Wall -fdiagnostics-format=json $file
			same $compiler -w -fdiagnostics-format=json $file
			same $compiler -Wall -fmax-errors=1 -fdiagnostics-urls=always $file
			same $compiler -Wall -fdiagnostics-plain-output -Wsystem-headers $file ;;
		esac
	done
	# On a terminal they choose colours and lengths themselves.
	if script -qec true /dev/null < /dev/null > which 2>&1; then
		for file in warns.$suffix wrong.$suffix; do
			asked=$((asked + 1))
			script -qec "$compiler -Wall -c $file -o object.o" /dev/null < /dev/null > want
			script -qec "$launch -b build -p all -R $runtime -- $compiler -Wall -c $file -o object.o" /dev/null \
				< /dev/null > got
			cmp -s want got || { fail "$compiler $file on a terminal"; diff want got | head; }
			grep -q "$(printf '\033')" want || fail "$compiler has no colours on a terminal"
		done
	fi
done
[ $asked -gt 16 ] || fail "only $asked commands"
echo "$asked commands, $failed failures"
[ $failed = 0 ]

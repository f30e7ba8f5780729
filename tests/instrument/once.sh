#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A unit without compiler messages is preprocessed once and compiled once: insertions cause no warning that the user's
# text does not.  Otherwise it would be compiled a second time, for messages that do not exist.
. "${srcdir:-.}/tests/instrument/lib.sh"

# Tail calls whose values are of types narrower than int, in branches of ?: and in operations with constants.
cat > forms.h <<'EOF'
typedef unsigned short digits;
typedef enum { RED, GREEN } colour;
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
digits outside(void);
unsigned char octet(void);
colour paint(void);
float real(void);
int whole(void);
int *place(void);
extern digits (*pointer)(void);
extern digits limit;
extern int ready;
digits branch(void);
digits other_branch(void);
digits variable(void);
digits nested(void);
digits through(void);
unsigned char masked(unsigned char n);
unsigned char cast(void);
digits result(int n);
colour coloured(void);
float floating(void);
int number(void);
int *pointed(void);
long wider(void);
digits branch(void) { return ready ? outside() : 6; }
digits other_branch(void) { return ready ? 6 : outside(); }
digits variable(void) { return ready ? outside() : SMALLER(limit, 6); }
digits nested(void) { return ready ? ready > 1 ? outside() : 3 : limit; }
digits through(void) { return ready ? pointer() : 1; }
unsigned char masked(unsigned char n) { return n ? masked((unsigned char)(n - 1)) & 3 : 3; }
unsigned char cast(void) { return ready ? (unsigned char)whole() : 7; }
digits result(int n) { digits r = 0; switch (n) { case 1: r = ready ? outside() : 6; break; default: break; } return r; }
colour coloured(void) { return ready ? paint() : RED; }
float floating(void) { return ready ? real() : 1; }
int number(void) { return ready ? octet() : whole(); }
int *pointed(void) { return ready ? place() : 0; }
long wider(void) { return ready ? whole() : 1L; }
EOF
cp forms.h forms.c
cat - forms.h > forms.cc <<'EOF'
struct shape {
	virtual unsigned short corners() const { return 0; }
	virtual bool is_round() const { return false; }
	unsigned short at_most(unsigned short most) const { return most ? corners() : 3; }
	bool rolls(int slope) const { return slope && is_round(); }
	int &size() { return n; }
	int &size_of(shape *other) { return other ? other->size() : n; }
	virtual ~shape() {}
	int n;
};
struct square : shape { unsigned short corners() const { return n ? shape::corners() : 4; } };
unsigned short use(square &s);
unsigned short use(square &s) { return s.n ? s.at_most(4) : 1; }
EOF
mkdir stub
for compiler in gcc g++ clang clang++; do
	command -v $compiler > which || { echo "no $compiler: left out"; continue; }
	printf '#!/bin/sh\necho x >> "%s/calls"\nexec %s "$@"\n' "$work" "$(cat which)" > stub/$compiler
	chmod +x stub/$compiler
done

# once FILE COMPILER OPTION...
once() {
	file=$1 compiler=$2
	shift
	"$@" -c "../$file" -o object.o > ../out 2>&1
	[ $? = 0 ] && [ ! -s ../out ] || { fail "$* $file: the user's own text: $(head -n 3 ../out)"; return; }
	shift
	: > ../calls
	"$launch" -b build -p all -R "$runtime" -- "../stub/$compiler" "$@" -c "../$file" -o object.o > ../out 2>&1 ||
		fail "$compiler $*: status $?"
	[ ! -s ../out ] || fail "$compiler $* $file: $(head -n 3 ../out)"
	calls=$(wc -l < ../calls)
	[ "$calls" = 2 ] || fail "$compiler $* $file: $calls calls of the compiler, not 2"
	nm object.o | grep -q vprof_enter || fail "$compiler $* $file: no probes"
	rm -rf build
}

strict='-Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow -Wcast-qual'
mkdir here
cd here || exit 99
for stub in ../stub/*; do
	compiler=${stub##*/}
	# shellcheck disable=SC2086 # words
	case $compiler in
	*++)
		for options in '-O0 -std=c++98' '-O2 -std=gnu++98' '-O2 -std=c++11' '-O3 -std=c++17' '-O2 -std=gnu++20'; do
			once forms.cc $compiler $options $strict
		done ;;
	*)
		for options in '-O0' '-O2 -std=c89' '-O2 -std=c99' '-O3 -std=gnu17'; do once forms.c $compiler $options $strict; done ;;
	esac
done
[ $failed = 0 ]

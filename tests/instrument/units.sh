#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A build notices nothing of the launcher: dependency files, error messages, objects, links, rebuilds.
. "${srcdir:-.}/tests/instrument/lib.sh"

same() {
	cmp -s "$2" "$3" || { fail "$1 differs"; diff "$2" "$3"; }
}

vcc() {			# PLAN COMMAND...
	plan=$1
	shift
	"$launch" -b "$work/build" -p "$plan" -t "$source/annotations/pthread.sync" -R "$runtime" -- "$@"
}

mkdir sub
echo '#define N 3' > n.h
cat > a.c <<'EOF'
#include <stdio.h>
#include "n.h"
int helper(int x);
int helper(int x) { return x + N; }
int main(void) { printf("%d\n", helper(1)); return 0; }
EOF
echo 'int lone = 3;' > data.c

# Dependency files: same names and same contents as without us, and no others.
dependencies() {	# COMPILER OPTION...
	rm -rf out && mkdir -p out/sub
	(cd out && eval "$*") 2> err || { fail "plain: $*"; cat err; }
	rm -f out/a.out; rm -rf plain; mv out plain
	mkdir -p out/sub
	compiler=$1
	shift
	(cd out && vcc all "$compiler" "$@") 2> err || { fail "launched: $*"; cat err; }
	rm -f out/a.out
	(cd plain && find . -name '*.d' | sort) > plain.list
	(cd out && find . -name '*.d' | sort) > out.list
	same "list of dependency files of $compiler $*" plain.list out.list
	for d in $(cat plain.list); do
		same "$d of $compiler $*" "plain/$d" "out/$d"
	done
}
for cc in $compilers; do
	dependencies $cc -MD -c ../a.c -o sub/a.lo
	dependencies $cc -MMD -MP -c ../a.c
	dependencies $cc -MD -MF sub/x.d -c ../a.c -o a.o
	dependencies $cc -MMD -MT target -c ../a.c
	dependencies $cc -MD ../a.c -o prog
	dependencies $cc -Wp,-MMD,sub/wp.d -c ../a.c -o a.o
done
(DEPENDENCIES_OUTPUT=env.d; export DEPENDENCIES_OUTPUT; vcc all gcc -c a.c -o a.o; mv env.d env.got
 gcc -c a.c -o a.o; mv env.d env.want)
same "DEPENDENCIES_OUTPUT" env.want env.got

# A unit with nothing to insert, and one whose parse says too little, is the compiler's own object.
gcc -g -c data.c -o want.o && vcc all gcc -g -c data.c -o got.o
same "the object of a unit without functions" want.o got.o
gcc -g -c a.c -o want.o && vcc none gcc -g -c a.c -o got.o
same "the object without a plan" want.o got.o

# What libclang does not understand (a nested function of gcc's) costs no probe, and -v reports it.
cat > nested.c <<'EOF'
int main(void) { int nested(int x) { return x - 1; } return nested(1); }
EOF
vcc all gcc nested.c -o nested && ./nested || fail "a unit with a nested function does not run"
"$launch" -b build -l | grep -qx 'main 1 probed' || fail "a function around another is not probed"
"$launch" -v -b build -p all -- gcc -c nested.c 2> got
grep -q 'nested.c: not fully understood: .*nested.c:1: function definition is not allowed here' got ||
	fail "nobody says what of nested.c was not understood"

# Errors and warnings are the compiler's own, said once, with its status.
cat > bad.c <<'EOF'
#warning mind this
int f(void) { return undeclared; }
EOF
gcc -Wall -c bad.c -o want.o 2> want; want=$?
vcc all gcc -Wall -c bad.c -o got.o 2> got; got=$?
same "messages of a failed compile" want got
[ $want = $got ] || fail "status $got instead of $want"
sed -i 's/undeclared/1/' bad.c
gcc -c bad.c -o want.o 2> want
vcc all gcc -c bad.c -o got.o 2> got
same "a #warning" want got
vcc all gcc -c no_such.c 2> got && fail "a missing source is no error"
vcc all no_such_compiler -c a.c 2> got
[ $? = 127 ] || fail "a missing compiler is not status 127"

# Warnings speak of the user's text: macros, columns, comments; each once.  -Werror is an error still.
cat > warns.c <<'EOF'
#include <ctype.h>
#include <string.h>
#define SMALLER(a, b) ((a) < (b))
static int unused(void) { return 1; }
int falls(int x, unsigned y) { switch (x) { case 1: x++; /* fall through */ case 2: x--; } return SMALLER(x, y); }
int shadow(int x) { { int x = 2; (void)x; } if (x = 3) return isdigit(x) != 0; return 0; }
int uninitialised(int x) { int y; if (x > 3) y = 1; return y; }
void overflows(char *p) { char b[4]; strcpy(b, "too long for it"); strcpy(p, b); }
EOF
for cc in $compilers; do
	for options in "" "-Wall -Wextra -O2" "-Wall -Wextra -Wshadow -pedantic -std=c99 -O2 -g" \
		"-Wall -Werror" "-Werror=parentheses -Wall" "-Wall -Wno-error -Werror -w" "-Wall -O2 -lm -Wl,-z,now"; do
		rm -f want.o got.o
		eval "$cc $options -c warns.c -o want.o" 2> want; want=$?
		eval "vcc all $cc $options -c warns.c -o got.o" 2> got; got=$?
		same "messages of $cc $options" want got
		[ $want = $got ] || fail "status $got instead of $want: $cc $options"
		[ -e want.o ] && want=yes || want=no
		[ -e got.o ] && got=yes || got=no
		[ $want = $got ] || fail "an object, $got instead of $want: $cc $options"
	done
done
[ -z "$(find build -name '*.i')" ] || fail "files are left in the build directory"
# Without a message the compiler runs twice, -E and -c; a warning costs a third run.
mkdir counted && printf '#!/bin/sh\necho run >> %s/runs\nexec gcc "$@"\n' "$work" > counted/gcc
chmod +x counted/gcc
vcc all counted/gcc -Wall -Wextra -O2 -c a.c -o got.o && [ "$(wc -l < runs)" = 2 ] || fail "more than two runs"
vcc all counted/gcc -Wall -O2 -c warns.c -o got.o 2> got && [ "$(wc -l < runs)" = 5 ] ||
	fail "a unit with warnings is not three runs"

# Comments that gcc reads are kept: no warning where the user has none, and no third run.
cat > falls.c <<'EOF'
#include "n.h"
int falls(int x)
{
	switch (x) {
	case 1:
		x++;
		/* FALL THRU */
	case 2:
		x--;	/* fallthrough */
	case 3:
		x += sizeof("/* fall through */");
		// falls through
	case 4:
		x *= N;
	}
	return x;
}
EOF
: > runs
vcc all counted/gcc -Wextra -O2 -c falls.c -o got.o 2> got && [ "$(wc -l < runs)" = 2 ] && [ ! -s got ] ||
	fail "a comment that falls through is lost"
sed 's/fallthrough/off we go/' falls.c > falls_not.c
gcc -Wextra -O2 -c falls_not.c -o want.o 2> want
vcc all gcc -Wextra -O2 -c falls_not.c -o got.o 2> got
same "messages of a unit that falls through" want got

# A unit that was compiled before: libclang is asked only for what is new in it.
asked() { grep -c 'calling init: .*libclang-' loaded; }
known() {		# PLAN WORD...: the number of the compiler's runs and of libclang's, and the object in got.o
	: > runs
	LD_DEBUG=files LD_DEBUG_OUTPUT="$work/loading" vcc "$@" counted/gcc -O2 -c known.c -o got.o || fail "known.c: $*"
	cat loading.* > loaded && rm loading.*
	echo "$(wc -l < runs) $(asked)"
}
echo '#define STEP 2' > known.h
printf '#include "known.h"\nint one(int x);\nint two(int x);\nint one(int x) { return x + STEP; }\nint two(int x) { return one(x) * 3; }\n' > known.c
# even and odd end in calls of each other, and say that their span is over before.
echo 'int odd(int n); int even(int n); int even(int n) { return n ? odd(n - 1) : 1; } int odd(int n) { return n ? even(n - 1) : 0; }' >> known.c
touch -d '1 hour ago' known.h known.c
[ "$(known none)" = "2 1" ] || fail "a new unit is not looked at"
[ "$(known none)" = "1 0" ] || fail "a unit without probes is looked at again"
# Its whole record stays, except the time and size of the object.
record=$(echo build/*got.o.scan)
sed 2d "$record" > want
touch -d '1 hour ago' "$record"
[ "$(known none)" = "1 0" ] || fail "an unchanged unit is looked at again"
sed 2d "$record" > got && cmp want got || fail "the record of an unchanged unit is another"
made=$(stat -c '%.9Y %s' got.o | tr -d .)
[ "$(sed -n 2p "$record")" = "$(printf 'made %016x %016x' $made)" ] || fail "the record does not know its object"
gcc -O2 -c known.c -o want.o && cmp want.o got.o || fail "a unit without probes is not as without us"
(C_INCLUDE_PATH=$work/other && export C_INCLUDE_PATH && [ "$(known none)" = "2 0" ]) || fail "another environment goes unnoticed"
[ "$(known none)" = "2 0" ] && [ "$(known none)" = "1 0" ] || fail "the environment of before goes unnoticed"
[ "$(known all)" = "2 0" ] || fail "libclang is asked again for another plan"
mv got.o again.o
"$launch" -b build -l | grep -qx 'two 5 probed' || fail "a known unit got no probes"
[ "$(known none)" = "1 0" ] || fail "a unit whose probes went is looked at again"
echo '#define STEP 3' > known.h && touch -d '1 hour' known.h
[ "$(known none)" = "2 1" ] || fail "a changed header goes unnoticed"
gcc -O2 -c known.c -o want.o && cmp want.o got.o || fail "a unit with a changed header is not as without us"
[ "$(known none)" = "2 0" ] || fail "a header as new as the compile is trusted"
echo '#define STEP 2' > known.h && rm build/*got.o*
[ "$(known all)" = "2 1" ] || fail "a unit without a record is not looked at"
cmp again.o got.o || fail "by its record a unit is compiled to something else"
for record in build/*got.o.scan; do printf '{' > "$record"; done
[ "$(known all)" = "2 1" ] && cmp again.o got.o || fail "a damaged record is in the way"

# Macros in debug information.  (clang takes them from a unit's own text only.)
(gcc -g3 -c warns.c -o want.o && vcc all gcc -g3 -c warns.c -o got.o) 2> err
for f in want got; do
	readelf --debug-dump=macro $f.o 2> err | grep -c 'macro : SMALLER(a,b) ((a) < (b))' > $f
done
same "the macros of -g3" want got

# Lines in debug information and __FILE__ are the user's; the name of the unit too.
cat > lines.c <<'EOF'
#include <stdio.h>

int where(void)
{
	return __LINE__; }
int main(void) { printf("%s %d\n", __FILE__, where()); return 0; }
EOF
for cc in $compilers; do
	vcc all $cc -g -gdwarf-4 lines.c -o lines
	[ "$(./lines)" = "lines.c 5" ] || fail "__FILE__ and __LINE__ with $cc"
	readelf --debug-dump=info lines 2> err | grep -q 'DW_AT_name.*lines\.c$' ||
		fail "the unit's name in debug information of $cc"
	readelf --debug-dump=decodedline lines 2> err | grep -q '^lines.c  *5 ' ||
		fail "line 5 in debug information of $cc"
done

# Every way to link.
cat > lib.c <<'EOF'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int counted(void); int counted(void)
{
	static int n;
	pthread_mutex_lock(&m);
	n++;
	pthread_mutex_unlock(&m);
	return n;
}
EOF
cat > use.c <<'EOF'
#include <stdio.h>
int counted(void);
int main(void) { counted(); printf("%d\n", counted()); return 0; }
EOF
runs() {
	name=$1
	shift
	[ "$("$@")" = 2 ] || fail "$name does not run"
}
vcc all gcc use.c lib.c -o one 2> err || { fail "two sources at once"; cat err; }
runs "two sources at once" ./one
[ -z "$(ls build/*.o build/*.i 2> err)" ] || fail "files are left in the build directory"
vcc all gcc -static use.c lib.c -o static && runs "static" ./static
vcc all gcc -no-pie -fno-pic use.c lib.c -o nopie && runs "-no-pie" ./nopie
vcc all gcc -flto -O2 use.c lib.c -o lto && runs "-flto" ./lto
vcc all gcc -x c use.c lib.c -o lang && runs "-x c" ./lang
vcc all gcc -fPIC -shared lib.c -Wl,-z,defs -o libcounted.so
vcc all gcc use.c -L. -lcounted -Wl,-rpath,. -o shared && runs "shared library" ./shared
gcc use.c -L. -lcounted -Wl,-rpath,. -o foreign && runs "shared library in a plain program" ./foreign
vcc all gcc -c use.c lib.c && gcc -r -nostdlib use.o lib.o -o both.o && vcc all gcc both.o -o r &&
	runs "-r" ./r
echo '-O1 use.c lib.c -o response' > args
vcc all gcc @args && runs "response file" ./response
mkdir masquerade && ln -s "$launch" masquerade/gcc
(PATH=$work/masquerade:$PATH vcc all gcc use.c lib.c -o masked) && runs "masquerade" ./masked

# The same libraries are linked, in whatever words; a probe may need gcc's own, where exceptions pass.
cat > thrown.cc <<'EOF'
int thrown(int n) { if (n) throw n; return 1; }
EOF
echo 'int other(int n) { return n; }' > other.cc
needed() { readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v libgcc_s | sort; }
for cc in $compilers; do
	[ $cc = gcc ] && cxx=g++ || cxx=clang++
	for words in '-shared thrown.cc' '-shared thrown.cc other.cc' '-shared -x c++ thrown.cc' '-shared thrown.cc -x c lib.c' '-shared -x c++ thrown.cc -x none other.cc'; do
		# shellcheck disable=SC2086 # words
		$cxx -fPIC $words -o plain.so 2> err && vcc all $cxx -fPIC $words -o probed.so 2>> err ||
			{ fail "$cxx $words: does not link"; cat err; continue; }
		[ "$(needed plain.so)" = "$(needed probed.so)" ] || fail "$cxx $words: needs $(needed probed.so | tr '\n' ' ')"
	done
done

# A new plan compiles again what it changes, in the directory and with the command of the first time.
rm -rf build proj && mkdir -p proj/dir
cp use.c lib.c proj
(cd proj/dir && vcc none gcc -c ../use.c -o use.o && vcc none gcc -DX -c ../lib.c -o lib.o)
cp proj/dir/use.o use.before; cp proj/dir/lib.o lib.before
printf 'vprof-plan 1\ninterval\t%s\t4\tcounted\n' "$(pwd -P)/proj/lib.c" > plan
rebuild() {
	"$launch" -b build -p "$1" -t "$source/annotations/pthread.sync" -R "$runtime" -B
}
[ "$(rebuild plan)" = "1 of 2" ] || fail "not exactly one unit is compiled again"
cmp -s proj/dir/use.o use.before || fail "use.o was touched"
cmp -s proj/dir/lib.o lib.before && fail "lib.o was not made again"
nm proj/dir/lib.o | grep -q vprof_function_ || fail "lib.o has no probe"
[ "$("$launch" -b build -l | grep -c probed)" = 1 ] || fail "not one function is probed"
[ "$(rebuild plan)" = "0 of 2" ] || fail "an unchanged plan compiles"
[ "$(rebuild none)" = "1 of 2" ] || fail "the probe is not taken out"
cmp -s proj/dir/lib.o lib.before || fail "lib.o is not as before"
echo 'int counted(void) { return missing; }' > proj/lib.c
rebuild plan > got 2>&1 && fail "a source that does not compile is no error"
grep -q 'lib.c.*missing' got || fail "the compiler's message is lost"
# Without its source a unit is left to the build: it goes, object and record.
rm proj/lib.c
[ "$(rebuild plan)" = "1 of 2" ] || fail "an object without a source is not removed"
[ ! -e proj/dir/lib.o ] || fail "the object of a vanished source is still there"
[ "$(rebuild plan)" = "0 of 1" ] || fail "a vanished source is not forgotten"

# A damaged record is status 5.
echo '{' > build/x.scan
"$launch" -b build -l 2> got
[ $? = 5 ] || fail "a damaged record is not status 5"
grep -q "another version of vprof wrote it" got && grep -q "delete 'build', and build again" got ||
	fail "what to do about a record of another vprof"

echo "$failed failures"
[ $failed = 0 ]

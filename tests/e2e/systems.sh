#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The same project under make, cmake (ninja and make), meson, autotools with libtool: it builds, iterate
# names the culprit, another plan compiles exactly what it must, and the build system agrees with
# all that: nothing is left to do, and a header that changes is noticed.
. "${srcdir:-.}/tests/e2e/lib.sh"

# One request in eight sleeps in deep6(), in a library.
mkdir sources && cd sources || exit 99
cat >deep.c <<'END1'
#include <unistd.h>
#include "deep.h"
static volatile unsigned sink;
static void deep6(unsigned id) { if (id % 8 == SLOW) usleep(3000); sink += id; }
static void deep5(unsigned id) { deep6(id); sink++; }
static void deep4(unsigned id) { deep5(id); sink++; }
void deep3(unsigned id) { deep4(id); other(id); }
END1
cat >other.c <<'END1'
#include "deep.h"
static volatile unsigned sink;
void other(unsigned id) { sink += id; }
END1
cat >deep.h <<'END1'
#define SLOW 0
void deep3(unsigned id);
void other(unsigned id);
END1
cat >main.c <<'END1'
#include <stdio.h>
#include "deep.h"
static void handle(unsigned id) { deep3(id); }
int main(void)
{
	for (unsigned id = 1; id <= 400; id++)
		handle(id);
	puts("400 requests");
	return 0;
}
END1
cat >vprof.conf <<'END1'
[interval "request"]
start = handle
end = handle
END1
cd ..

# A compiler that counts, also where a build writes down its path.
mkdir tools
for c in cc gcc c++ g++; do
	printf '#!/bin/sh\necho "$*" >>%s/runs\nexec /usr/bin/%s "$@"\n' "$work" $c >tools/$c
	chmod +x tools/$c
done
PATH=$work/tools:$PATH
: >runs
made()		# objects compiled since the last call
{
	grep -v -e conftest -e CMakeScratch -e CMakeTmp -e meson-private "$work/runs" | grep -c -e ' -c \|^-c '
	: >"$work/runs"
}

# project NAME: a copy of the sources, to be built there
project()
{
	echo "$1"
	mkdir "$work/$1" && cp "$work"/sources/* "$work/$1" && cd "$work/$1" || exit 99
}

# count WHAT NUMBER
count()
{
	n=$(made)
	[ "$n" = "$2" ] && pass || fail "$1: $n objects were compiled, not $2"
}

# exercise PROGRAM PER_UNIT COMMAND...: PER_UNIT objects are made of each of the library's two sources;
# nothing_to_do is a function that asks the build system.
exercise()
{
	program=$1
	each=$2
	shift 2
	made >"$work/.made"
	expect 0 "$VPROF" build --functions handle -- "$@"
	count "first build, and main's probe" $((each * 2 + 2))
	nothing_to_do || fail "something is left to do after the first build"
	expect 0 "$program"
	says "400 requests"
	expect 0 "$VPROF" build --functions handle,other
	count "another plan" "$each"
	nothing_to_do || fail "something is left to do after another plan"
	expect 0 "$VPROF" build --functions handle,other
	count "the same plan" 0
	expect 0 "$VPROF" record -- "$program"
	says "400 intervals"
	expect 0 "$VPROF" show execution-table --format csv
	says ",other,"
	printf '[build]\n\tcommand = %s\n' "$*" >>vprof.conf
	expect 0 "$VPROF" iterate -- "$program"
	says "▶ deep6" "every factor above 5 % is broken down"
	nothing_to_do || fail "something is left to do after iterate"
	[ -z "$(find . -name '*.Tpo')" ] && pass || fail "automake's dependency files are left"
	made >"$work/.made"
	sed 's/SLOW 0/SLOW 1/' deep.h >new.h && mv new.h deep.h
	expect 0 "$@"
	count "another header, without vprof" $((each * 2 + 1))
	nothing_to_do || fail "something is left to do after a header changed"
	expect 0 "$program"

	# The user's own error, then right again.
	made >"$work/.made"
	echo 'int broken(void) { return no_such_variable; }' >>other.c
	expect_failure "$VPROF" iterate -- "$program"
	says no_such_variable "the build ended with status"
	cp "$work/sources/other.c" other.c
	expect 0 "$@"
	nothing_to_do || fail "something is left to do after an error"
	expect 0 "$program"
	touch main.c deep.c other.c
	expect 0 "$VPROF" iterate -- "$program"
	says "▶ deep6"
	rm -rf vprof.data
	made >"$work/.made"
	touch main.c deep.c other.c
	expect 0 "$@"
	count "everything, without vprof" $((each * 2 + 1))
	nm "$program" 2>"$work/.err" | grep -q vprof_unit_in && fail "something of vprof is left" || pass
}

expect_failure()
{
	"$@" >"$work/.out" 2>"$work/.err" </dev/null && fail "'$*' does not fail" || pass
}

project make
cat >Makefile <<'END1'
CFLAGS = -O1 -g -MMD
program: main.o libdeep.a
	$(CC) -o $@ main.o libdeep.a
libdeep.a: deep.o other.o
	$(AR) rcs $@ deep.o other.o
-include main.d deep.d other.d
END1
nothing_to_do() { make -q; }
exercise ./program 1 make

# Configured before vprof was thought of: the compiler's absolute path stands in the build's files.
if command -v cmake >"$work/.which"; then
	for generator in "Unix Makefiles" Ninja; do
		[ "$generator" != Ninja ] || command -v ninja >"$work/.which" || { echo "no ninja: left out"; continue; }
		project "cmake-${generator%% *}"
		cat >CMakeLists.txt <<'END1'
cmake_minimum_required(VERSION 3.13)
project(program CXX)
set(CMAKE_CXX_FLAGS "-O1 -g")
add_library(deep SHARED deep.cc other.cc)
add_executable(program main.cc)
target_link_libraries(program deep)
END1
		for f in main deep other; do
			ln -s $f.c $f.cc
		done
		expect 0 cmake -S . -B b -G "$generator" -DCMAKE_CXX_COMPILER="$work/tools/g++"
		if [ "$generator" = Ninja ]; then
			nothing_to_do() { ninja -C b -n | grep -q "no work to do"; }
		else
			nothing_to_do() { cmake --build b | grep -q Building && return 1 || return 0; }
		fi
		exercise b/program 1 cmake --build b
	done
	# Configured under vprof: the build's files know the real compiler, and no runtime of ours.
	if command -v ninja >"$work/.which"; then
		rm -rf b
		expect 0 "$VPROF" build --functions all -- sh -c 'cmake -S . -B b -G Ninja && cmake --build b'
		grep -rl -e vprof.data -e libvprof -e 'vprof;cc' b --include='*.txt' --include='*.cmake' --include='*.ninja' && fail "cmake wrote vprof down" || pass
		rm -rf vprof.data
		touch main.c
		expect 0 cmake --build b
	fi
else
	echo "no cmake: left out"
fi

if command -v meson >"$work/.which"; then
	project meson
	cat >meson.build <<'END1'
project('program', 'c', default_options : ['buildtype=debugoptimized'])
deep = shared_library('deep', 'deep.c', 'other.c')
executable('program', 'main.c', link_with : deep)
END1
	expect 0 env CC=gcc meson setup b
	nothing_to_do() { ninja -C b -n | grep -q "no work to do"; }
	exercise b/program 1 meson compile -C b
else
	echo "no meson: left out"
fi

if command -v automake >"$work/.which" && command -v libtoolize >"$work/.which"; then
	project libtool
	cat >configure.ac <<'END1'
AC_INIT([program], [1])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
AM_PROG_AR
LT_INIT
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END1
	cat >Makefile.am <<'END1'
lib_LTLIBRARIES = libdeep.la
libdeep_la_SOURCES = deep.c other.c deep.h
bin_PROGRAMS = program
program_SOURCES = main.c
program_LDADD = libdeep.la
END1
	expect 0 sh -c 'libtoolize -q && aclocal && autoconf && automake --add-missing'
	# configure finds the same compiler, flags and functions with us in front of it.
	mkdir b plain
	(cd plain && ../configure -q CFLAGS="-O1 -g") >"$work/.out" 2>&1
	(cd b && "$VPROF" build -- ../configure -q CFLAGS="-O1 -g") >"$work/.out" 2>&1
	for log in plain b; do
		sed -e '/^PATH: /d; /: found /d; /^## Cache/,$d; s/conftest\.[0-9a-z]*//g; /^configure:[0-9]*: /!d' \
			-e "s/[0-9][0-9]*//g; s|$work/libtool/[a-z]*|BUILD|g" $log/config.log >$log.log
	done
	cmp -s plain.log b.log && [ -s b.log ] && pass || { fail "configure finds something else"; diff plain.log b.log; }
	rm -rf vprof.data
	nothing_to_do() { make -q -C b; }
	exercise b/program 2 make -C b

	# Installing links the program once more, or a plain make install links it again; then the runtime is preloaded.
	touch main.c deep.c other.c
	expect 0 "$VPROF" build --functions handle,other -- make -C b
	expect 0 make -C b install DESTDIR="$PWD/installed"
	expect 0 "$VPROF" record -- env LD_LIBRARY_PATH="$PWD/installed/usr/local/lib" \
		"$PWD/installed/usr/local/bin/program"
	says "400 intervals"
else
	echo "no automake or libtool: left out"
fi
finish

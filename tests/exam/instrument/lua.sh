# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154 # read by lib.sh; here: instrument.sh; compiler: lua_clang.sh
# Lua 5.4: an interpreter that leaves frames by longjmp, coroutines, the same sources compiled as C and as C++. The package
# has no tests: lua_checks.lua stands for them. With Debian's flags, as debian/rules makes it.
source=lua5.4 release=5.4
packages='libreadline-dev autoconf automake libtool'
: "${compiler:=gcc}"
case $compiler in
clang)	cxx=clang++ ;;
*)	cxx=g++ ;;
esac
configure="mkdir debian/libtool && cp debian/configure.ac debian/libtool/ && cd debian/libtool &&
	LIBTOOLIZE='libtoolize -i' autoreconf -f -i && CC=$compiler CXX=$cxx ./configure && cd ../.. &&
	printf '#define DEB_HOST_MULTIARCH \"none\"\n' > src/lua5.4-deb-multiarch.h"
# Not -j2: two of its makes may link the library at a time, and one removes what the other made.
# shellcheck disable=SC2016 # of sh -c
build="make linux-readline LIBTOOL=\"\$PWD/debian/libtool/libtool\" CC='$compiler -std=gnu99' CXX=$cxx"
suite="src/lua5.4 $here/instrument/lua_checks.lua"
suite_seconds=600 last_words='^the end$'
deep="src/lua5.4 $here/instrument/lua_deep.lua"

results() {
	sed -n -e 's/^ok \(.*\)/\1	ok/p' -e 's/^not ok \(.*\)/\1	failed/p'
}

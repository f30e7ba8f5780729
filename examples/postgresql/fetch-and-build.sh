#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# fetch-and-build.sh - PostgreSQL 15 from Debian's source package, built plainly or through vprof.
#
#	fetch-and-build.sh [--work DIR] plain
#	fetch-and-build.sh [--work DIR] [--vprof PROGRAM] [--functions LIST] NAME
#	fetch-and-build.sh [--work DIR] --configure-only NAME
#
# Everything lands in DIR (./postgresql-work): the package in DIR/package, one tree per NAME, and in
# DIR/install what the tree "plain" installs: clients, initdb and the files that a server reads.  Other
# trees hold vprof.conf, vprof.data and src/backend/postgres, which runs from there.
# "vprof iterate" builds by itself: --configure-only leaves a tree for it that is ready to.
# As configured here it needs no library but libc; the compiler's options are PostgreSQL's own (-O2).
# The list of source packages is a private one: the system's own apt configuration is not changed.
# Root is asked for only when a Debian package is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
release=15
work=postgresql-work vprof=vprof
functions='' tree='' configure_only=''

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
usage() { sed -n '3,17s/^# \{0,1\}//p' "$0" >&2; exit 2; }

while [ $# -gt 0 ]; do
	case $1 in
	--work)		work=${2:?--work needs a directory}; shift ;;
	--vprof)	vprof=${2:?--vprof needs a program}; shift ;;
	--functions)	functions=${2:?--functions needs a list}; shift ;;
	--configure-only) configure_only=yes ;;
	-*)		usage ;;
	*)		[ -z "$tree" ] || usage; tree=$1 ;;
	esac
	shift
done
[ -n "$tree" ] || usage
mkdir -p "$work"
work=$(cd "$work" && pwd)

configure() {
	./configure --prefix="$work/install" --without-readline --without-zlib >configure.out 2>&1 ||
		die "configure failed: $work/$tree/configure.out"
	[ "$tree" = plain ] || {
		cp "$here/vprof.conf" .
		ln -sf "$here/bench.sh" .
	}
}

build_plain() {
	make -j"$(nproc)" >build.out 2>&1 || die "the build failed: $work/plain/build.out"
	make install >install.out 2>&1 || die "the installation failed: $work/plain/install.out"
}

build_with_vprof() {
	set -- -- make -j"$(nproc)"
	[ -z "$functions" ] || set -- --functions "$functions" "$@"
	"$vprof" build "$@" >build.out 2>&1 || {
		status=$?
		tail -n 20 build.out >&2
		echo "fetch-and-build: vprof build failed: $work/$tree/build.out" >&2
		exit $status
	}
}

find_vprof
install_packages build-essential dpkg-dev
fetch_source postgresql-15 $release
extract_source postgresql-15 $release "$work/$tree" </dev/null
cd "$work/$tree"
[ -f src/Makefile.global ] || configure
if [ -n "$configure_only" ]; then echo "$work/$tree"; exit; fi
if [ "$tree" = plain ]; then build_plain; else build_with_vprof; fi
echo "$work/$tree/src/backend/postgres"

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
work=postgresql-work tree=''
configure_only=''

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
fetch_options "$@"

configure() {
	./configure --prefix="$work/install" --without-readline --without-zlib >configure.out 2>&1 ||
		die "configure failed: $work/$tree/configure.out"
	[ "$tree" = plain ] || take_configuration
}

build_plain() {
	make -j"$(nproc)" >build.out 2>&1 || die "the build failed: $work/plain/build.out"
	make install >install.out 2>&1 || die "the installation failed: $work/plain/install.out"
}

find_vprof
install_packages build-essential dpkg-dev
fetch_source postgresql-15 $release
extract_source postgresql-15 $release "$work/$tree" </dev/null
cd "$work/$tree"
[ -f src/Makefile.global ] || configure
if [ -n "$configure_only" ]; then echo "$work/$tree"; exit; fi
if [ "$tree" = plain ]; then build_plain; else build_with_vprof make -j"$(nproc)"; fi
echo "$work/$tree/src/backend/postgres"

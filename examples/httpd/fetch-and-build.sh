#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# fetch-and-build.sh - Apache httpd, APR and apr-util from Debian's source packages, plainly or through vprof.
#
#	fetch-and-build.sh [--work DIR] plain
#	fetch-and-build.sh [--work DIR] [--vprof PROGRAM] [--functions LIST] [--configure-only] NAME
#
# Everything lands in DIR (./httpd-work): the packages in DIR/package, one tree per NAME, which
# holds httpd, APR and apr-util below srclib/, and, unless it is "plain", vprof.conf and vprof.data.
# One make builds all three.  The modules are the set that httpd calls "few" and mod_deflate,
# each a shared object; the MPM is event.  It is not installed: httpd runs from the tree.
# expat and pcre2 are Debian's, and ab (apache2-utils) is the load.
# The list of source packages is a private one: the system's own apt configuration is not changed.
# Root is asked for only when a Debian package is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
release=2.4
work=httpd-work tree=''
configure_only=''

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
fetch_options "$@"

# extract: httpd with the two libraries below srclib/.  Debian's apr-config finds its headers from where APR
# is installed; the upstream one, which an APR in the tree needs, is put back.
extract() {
	[ ! -d "$work/$tree" ] || return 0
	rm -rf "$work/$tree.part"
	extract_source apache2 $release "$work/$tree.part" </dev/null
	extract_source apr 1 "$work/$tree.part/srclib/apr" </dev/null
	extract_source apr-util 1 "$work/$tree.part/srclib/apr-util" </dev/null
	(cd "$work/$tree.part/srclib/apr" && patch -s -R -p1 <debian/patches/fix_apr-config.patch) ||
		die "Debian's fix_apr-config.patch cannot be taken back: adapt $0 to this version of apr"
	mv "$work/$tree.part" "$work/$tree"
}

# configure: BUILD_DATETIME stands for the date that Debian's rules give
configure() {
	cd "$work/$tree"
	[ ! -f modules.c ] || return 0
	./configure --with-included-apr --with-mpm=event \
		--enable-mods-shared=few --enable-deflate=shared \
		--without-pgsql --without-sqlite2 --without-sqlite3 --without-ldap \
		CPPFLAGS='-DBUILD_DATETIME=\"unknown\"' >configure.out 2>&1 ||
		die "configure failed: $work/$tree/configure.out"
}

build() {
	configure
	if [ "$tree" = plain ]; then
		make -j"$(nproc)" >build.out 2>&1 || die "the build failed: $work/$tree/build.out"
		return
	fi
	if [ -n "$configure_only" ]; then take_configuration; return; fi
	build_with_vprof make -j"$(nproc)"
}

find_vprof
install_packages build-essential dpkg-dev patch apache2-utils libexpat1-dev libpcre2-dev zlib1g-dev uuid-dev libcrypt-dev
fetch_source apache2 $release
fetch_source apr 1
fetch_source apr-util 1
extract
(build)
echo "$work/$tree/httpd"

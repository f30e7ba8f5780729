#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# fetch-and-build.sh - nginx from Debian's source package, built plainly or through vprof.
#
#	fetch-and-build.sh [--work DIR] plain
#	fetch-and-build.sh [--work DIR] [--vprof PROGRAM] [--functions LIST] NAME
#
# Everything lands in DIR (./nginx-work): the package in DIR/package, one tree per NAME, which
# holds objs/nginx and, unless it is "plain", vprof.conf and vprof.data.  It is configured without
# pcre and zlib, that is without rewrite and gzip.  ab (apache2-utils) is the load.
# The list of source packages is a private one: the system's own apt configuration is not changed.
# Root is asked for only when a Debian package is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
release=1.22
work=nginx-work tree=''

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
fetch_options "$@"

build() {
	cd "$work/$tree"
	[ -f Makefile ] || ./configure --with-threads --without-http_rewrite_module \
		--without-http_gzip_module >configure.out 2>&1 ||
		die "configure failed: $work/$tree/configure.out"
	if [ "$tree" = plain ]; then
		make -j"$(nproc)" >build.out 2>&1 || die "the build failed: $work/$tree/build.out"
		return
	fi
	build_with_vprof make -j"$(nproc)"
}

find_vprof
install_packages build-essential dpkg-dev apache2-utils
fetch_source nginx $release
extract_source nginx $release "$work/$tree" </dev/null
(build)
echo "$work/$tree/objs/nginx"

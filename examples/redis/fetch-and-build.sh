#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# fetch-and-build.sh - Redis 7 from Debian's source package, built plainly or through vprof.
#
#	fetch-and-build.sh [--work DIR] plain
#	fetch-and-build.sh [--work DIR] [--vprof PROGRAM] [--functions LIST] NAME
#
# Everything lands in DIR (./redis-work): the package in DIR/package, one tree per NAME, which
# holds src/redis-server and, unless it is "plain", vprof.conf and vprof.data.  The load comes from
# the tree "plain" (redis-benchmark, redis-cli), which therefore is built first.
# MALLOC=libc: malloc is then not part of the project, and its calls carry no probes.
# The list of source packages is a private one: the system's own apt configuration is not changed.
# Root is asked for only when a Debian package is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
release=7.0
work=redis-work tree=''

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
fetch_options "$@"

build_plain() {
	cd "$work/plain"
	[ -x src/redis-server ] || make -j"$(nproc)" MALLOC=libc >build.out 2>&1 ||
		die "the build failed: $work/plain/build.out"
}

build_instrumented() {
	cd "$work/$tree"
	build_with_vprof make -j"$(nproc)" MALLOC=libc
}

find_vprof
install_packages build-essential dpkg-dev pkg-config
fetch_source redis $release
for name in plain "$tree"; do
	extract_source redis $release "$work/$name" </dev/null
done
(build_plain)
[ "$tree" = plain ] || (build_instrumented)
echo "$work/$tree/src/redis-server"

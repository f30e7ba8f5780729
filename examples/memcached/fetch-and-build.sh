#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# fetch-and-build.sh - memcached from Debian's source package, built plainly or through vprof.
#
#	fetch-and-build.sh [--work DIR] plain
#	fetch-and-build.sh [--work DIR] [--vprof PROGRAM] [--functions LIST] NAME
#
# Everything lands in DIR (./memcached-work): the package in DIR/package, one tree per NAME, which
# holds the server and, unless it is "plain", vprof.conf and vprof.data; and the load client.
# The list of source packages is a private one: the system's own apt configuration is not changed.
# Root is asked for only when a Debian package is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
release=1.6.18
work=memcached-work tree=''

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
fetch_options "$@"

build() {
	cd "$work/$tree"
	[ -f Makefile ] || ./configure >configure.out 2>&1 ||
		die "configure failed: $work/$tree/configure.out"
	if [ "$tree" = plain ]; then
		make -j"$(nproc)" >build.out 2>&1 || die "the build failed: $work/$tree/build.out"
		return
	fi
	build_with_vprof make -j"$(nproc)"
}

find_vprof
install_packages build-essential dpkg-dev libevent-dev
fetch_source memcached $release
extract_source memcached $release "$work/$tree" <<-EOF
	2737 proto_text.c ntokens = tokenize_command(command, tokens, MAX_TOKENS);
	1207 memcached.c mc_resp* resp_finish(conn *c, mc_resp *resp) {
EOF
(build)
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -pthread -o "$work/load" "$here/load.c" "$here/client.c"
echo "$work/$tree/memcached"

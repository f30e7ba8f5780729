#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# fetch-and-build.sh - MariaDB 10.11's server from Debian's source package, built plainly or through vprof.
#
#	fetch-and-build.sh [--work DIR] [--source SOURCE] plain
#	fetch-and-build.sh [--work DIR] [--source SOURCE] [--vprof PROGRAM] [--functions LIST] NAME
#	fetch-and-build.sh [--work DIR] [--source SOURCE] --configure-only NAME
#
# Everything lands in DIR (./mariadb-work): the package in DIR/package, the sources in DIR/source, one build
# directory per NAME with vprof.conf and vprof.data.  The sources are not changed, and all builds
# share them; those in SOURCE are taken instead where there are any at hand.
# "vprof iterate" builds by itself: --configure-only leaves a directory for it that is ready to.
# Builds mariadbd, with InnoDB and without the engines and plugins that can go; -O2 as Debian has it, but
# no debugging information, which vprof does not need.  sysbench, the client and the server that makes the
# database are Debian's; none of them is started by the system.
# The list of source packages is a private one: the system's own apt configuration is not changed.
# Root is asked for only when a Debian package is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
release=10.11
work=mariadb-work tree=''
configure_only='' source=''

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
fetch_options "$@"

# Plugins that are built into the server unless one says no.
extras='FEEDBACK AUTH_SOCKET PARTITION SEQUENCE USER_VARIABLES THREAD_POOL_INFO'

configure() {
	set -- -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG' \
		-DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG' -DWITHOUT_DYNAMIC_PLUGINS=ON \
		-DWITH_WSREP=OFF -DWITH_MARIABACKUP=OFF -DWITH_UNIT_TESTS=OFF -DWITH_EMBEDDED_SERVER=OFF \
		-DWITH_SSL=system -DWITH_ZLIB=system -DWITH_PCRE=system -DWITH_LIBFMT=system \
		-DWITH_NUMA=OFF -DWITH_SYSTEMD=no -DWITH_INNODB_PMEM=OFF
	for plugin in $extras; do
		set -- "$@" "-DPLUGIN_$plugin=NO"
	done
	cmake "$@" "$source" >configure.out 2>&1 || die "cmake failed: $work/$tree/configure.out"
	[ "$tree" = plain ] || take_configuration
}

build() {
	set -- make -j"$(nproc)" mariadbd
	if [ "$tree" != plain ]; then build_with_vprof "$@"; return; fi
	"$@" >build.out 2>&1 || die "the build failed: $work/plain/build.out"
}

find_vprof
install_packages build-essential dpkg-dev cmake bison libfmt-dev libncurses-dev libpcre2-dev libssl-dev zlib1g-dev \
	mariadb-client-core mariadb-server-core sysbench
if [ -z "$source" ]; then
	source=$work/source
	fetch_source mariadb $release
	extract_source mariadb $release "$source" </dev/null
fi
mkdir -p "$work/$tree"
cd "$work/$tree"
[ -f Makefile ] || configure
if [ -n "$configure_only" ]; then echo "$work/$tree"; exit; fi
build
echo "$work/$tree/sql/mariadbd"

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
work=nginx-work vprof=vprof
functions='' tree=''

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
usage() { sed -n '3,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }

while [ $# -gt 0 ]; do
	case $1 in
	--work)		work=${2:?--work needs a directory}; shift ;;
	--vprof)	vprof=${2:?--vprof needs a program}; shift ;;
	--functions)	functions=${2:?--functions needs a list}; shift ;;
	-*)		usage ;;
	*)		[ -z "$tree" ] || usage; tree=$1 ;;
	esac
	shift
done
[ -n "$tree" ] || usage
mkdir -p "$work"
work=$(cd "$work" && pwd)

build() {
	cd "$work/$tree"
	[ -f Makefile ] || ./configure --with-threads --without-http_rewrite_module \
		--without-http_gzip_module >configure.out 2>&1 ||
		die "configure failed: $work/$tree/configure.out"
	if [ "$tree" = plain ]; then
		make -j"$(nproc)" >build.out 2>&1 || die "the build failed: $work/$tree/build.out"
		return
	fi
	cp "$here/vprof.conf" .
	ln -sf "$here/bench.sh" .
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
install_packages build-essential dpkg-dev apache2-utils
fetch_source nginx $release
extract_source nginx $release "$work/$tree" </dev/null
(build)
echo "$work/$tree/objs/nginx"

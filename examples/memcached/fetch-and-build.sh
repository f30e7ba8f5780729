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
work=memcached-work vprof=vprof
functions='' tree=''

die() { echo "fetch-and-build: $*" >&2; exit 4; }
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

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"
	elif command -v sudo >/dev/null; then sudo "$@"
	else su -c "$*"
	fi
}

install_packages() {
	missing=
	for package in build-essential dpkg-dev libevent-dev; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' $package 2>/dev/null)" = installed ] ||
			missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	echo "fetch-and-build: installing$missing" >&2
	# shellcheck disable=SC2086 # a list of words
	as_root apt-get install -y --no-install-recommends $missing >&2
}

# apt with lists, cache and sources of its own; proxies and the like stay as the system has them.
fetch() {
	mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/package"
	# apt reads as its own user when it can
	[ "$(id -u)" != 0 ] || chown _apt "$work/package" 2>/dev/null || true
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
		"${DEBIAN_MIRROR:-http://deb.debian.org/debian} bookworm main" >"$work/apt/sources.list"
	cat >"$work/apt/apt.conf" <<-EOF
		Dir::Etc::SourceList "$work/apt/sources.list";
		Dir::Etc::SourceParts "-";
		Dir::State::Lists "$work/apt/lists";
		Dir::Cache "$work/apt/cache";
	EOF
	(
		export APT_CONFIG="$work/apt/apt.conf"
		cd "$work/package"
		apt-get -qq update
		apt-get -qq source --download-only --only-source memcached
	) >&2
}

dsc() { find "$work/package" -name "memcached_$release-*.dsc" 2>/dev/null | sort | tail -n 1; }

# vprof.conf names two lines; a package with other patches would move them.
check_landmarks() {
	while read -r line file text; do
		sed -n "${line}p" "$1/$file" | grep -qF "$text" ||
			die "$file:$line is not '$text': adapt vprof.conf to this version of memcached"
	done <<-EOF
		2737 proto_text.c ntokens = tokenize_command(command, tokens, MAX_TOKENS);
		1207 memcached.c mc_resp* resp_finish(conn *c, mc_resp *resp) {
	EOF
}

extract() {
	dpkg-source --no-check -x "$(dsc)" "$work/$tree.new" >/dev/null 2>&1 ||
		die "cannot extract $(dsc)"
	rm -f "$work"/memcached_*.orig.tar.*	# a copy that dpkg-source leaves
	check_landmarks "$work/$tree.new"
	mv "$work/$tree.new" "$work/$tree"
}

build() {
	cd "$work/$tree"
	[ -f Makefile ] || ./configure >configure.out 2>&1 ||
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

case $vprof in
*/*)	vprof=$(cd "$(dirname "$vprof")" && pwd)/$(basename "$vprof") ;;
esac
install_packages
[ -n "$(dsc)" ] || fetch
[ -n "$(dsc)" ] || die "Debian bookworm has no memcached $release any more"
[ -d "$work/$tree" ] || { rm -rf "$work/$tree.new"; extract; }
(build)
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -pthread -o "$work/load" "$here/load.c" "$here/client.c"
echo "$work/$tree/memcached"

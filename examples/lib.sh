# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154 # work, vprof, here: see below
#
# lib.sh - what the examples of real servers share: options, getting a source package of Debian's, building
# it, and the table of an exam.  To be read by a script (. "$here/../lib.sh"), which has set
#
#	work	the directory where everything lands
#	vprof	the program, when it calls find_vprof, build_with_vprof, in_tree or query
#	rows	when it calls row or write_results: a file, empty at first (exam_options sees to it)

script=${0##*/}
script=${script%.sh}

# What is built here is built as by hand, also in an exam that make runs: below another make PostgreSQL's does not make the
# headers that it generates.
unset MAKEFLAGS MAKELEVEL MFLAGS

die() { echo "$script: $*" >&2; exit 4; }

# ---- Options -------------------------------------------------------------------------

# usage: what the script's head says, up to its first line of code
usage() { sed -n '3,/^[^#]/{/^#/s/^# \{0,1\}//p;}' "$0" >&2; exit 2; }

# fetch_options ARGUMENT...: of a fetch-and-build.sh.  Sets work, which has a default, tree, vprof, functions,
# and configure_only and source, if the script gave them a default.
fetch_options() {
	vprof=vprof functions='' tree=''
	while [ $# -gt 0 ]; do
		case $1 in
		--work)		work=${2:?--work needs a directory}; shift ;;
		--vprof)	vprof=${2:?--vprof needs a program}; shift ;;
		--functions)	functions=${2:?--functions needs a list}; shift ;;
		--configure-only) [ "${configure_only+known}" ] || usage; configure_only=yes ;;
		--source)	[ "${source+known}" ] || usage; source=$(realpath "${2:?--source needs a directory}"); shift ;;
		-*)		usage ;;
		*)		[ -z "$tree" ] || usage; tree=$1 ;;
		esac
		shift
	done
	[ -n "$tree" ] || usage
	mkdir -p "$work"
	work=$(cd "$work" && pwd)
}

# exam_options ARGUMENT...: of an exam.sh.  The options are those of vprof, check, work, results, rounds,
# seconds and only that it has given defaults; vprof and check, '' by default, must be there.  Leaves rows empty.
exam_options() {
	while [ $# -gt 0 ]; do
		[ $# -ge 2 ] || usage
		# shellcheck disable=SC2034 # value: below
		case $1 in
		--vprof|--check) value=$(realpath "$2") ;;
		--work|--results|--rounds|--seconds|--only) value=$2 ;;
		*)		usage ;;
		esac
		eval "[ \"\${${1#--}+known}\" ]" || usage
		eval "${1#--}=\$value"
		shift 2
	done
	if [ -z "$vprof" ] || [ -z "${check-none}" ]; then usage; fi
	mkdir -p "$work" "$(dirname "$results")"
	work=$(cd "$work" && pwd)
	rows=$work/rows.tsv
	: >"$rows"
}

# ---- A source package ----------------------------------------------------------------

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"
	elif command -v sudo >/dev/null; then sudo "$@"
	else su -c "$*"
	fi
}

# install_packages NAME...: those of Debian's packages that are missing; root is asked for only then
install_packages() {
	missing=
	for package in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
			missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	echo "$script: installing$missing" >&2
	# shellcheck disable=SC2086 # a list of words
	as_root apt-get install -y --no-install-recommends $missing >&2
}

# dsc_of SOURCE VERSION: the package that was fetched, e.g. dsc_of memcached 1.6.18; VERSION may be
# the beginning of one (15 for 15.18)
dsc_of() {
	find "$work/package" -name "$1_$2[-.]*.dsc" 2>/dev/null | sort | tail -n 1
}

# fetch_source SOURCE VERSION: into $work/package, unless it is there already.  apt has lists, cache and
# sources of its own; proxies and the like stay as the system has them.
fetch_source() {
	[ -z "$(dsc_of "$@")" ] || return 0
	mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/package"
	# apt reads as its own user when it can
	[ "$(id -u)" != 0 ] || chown _apt "$work/package" 2>/dev/null || true
	mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
	signed='signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'
	echo "deb-src [$signed] $mirror bookworm main" >"$work/apt/sources.list"
	cat >"$work/apt/apt.conf" <<-EOF_CONF
		Dir::Etc::SourceList "$work/apt/sources.list";
		Dir::Etc::SourceParts "-";
		Dir::State::Lists "$work/apt/lists";
		Dir::Cache "$work/apt/cache";
	EOF_CONF
	(
		export APT_CONFIG="$work/apt/apt.conf"
		cd "$work/package" || exit
		apt-get -qq update
		apt-get -qq source --download-only --only-source "$1"
	) >&2
	[ -n "$(dsc_of "$@")" ] || die "Debian bookworm has no $1 $2 any more"
}

# extract_source SOURCE VERSION DIR: DIR is there whole or not at all.  From stdin "LINE FILE TEXT" for
# each place that vprof.conf names by line: a package with other patches would move it.
extract_source() {
	[ ! -d "$3" ] || return 0
	rm -rf "$3.new"
	dpkg-source --no-check -x "$(dsc_of "$1" "$2")" "$3.new" >/dev/null 2>&1 ||
		die "cannot extract $(dsc_of "$1" "$2")"
	rm -f "$(dirname "$3")/$1_$2"*.orig.tar.*	# copies that dpkg-source leaves
	while read -r line file text; do
		sed -n "${line}p" "$3.new/$file" | grep -qF "$text" ||
			die "$file:$line is not '$text': adapt vprof.conf to this version of $1"
	done
	mv "$3.new" "$3"
}

# is_older_than_vprof PROGRAM: than vprof, or than the runtime that is linked into it
is_older_than_vprof() {
	[ -n "$(find "$vprof" "${vprof%/*}/libvprof.a" -newer "$1" 2>/dev/null)" ]
}

# find_vprof: $vprof as a path that holds in other directories as well
find_vprof() {
	case $vprof in
	*/*)	vprof=$(cd "$(dirname "$vprof")" && pwd)/$(basename "$vprof") ;;
	esac
}

# take_configuration: and the load, which stand beside the script, into the current directory
take_configuration() {
	cp "$here/vprof.conf" .
	ln -sf "$here/bench.sh" .
}

# build_with_vprof COMMAND...: the build of the tree in the current directory, with $functions, if there are any
build_with_vprof() {
	take_configuration
	set -- -- "$@"
	[ -z "$functions" ] || set -- --functions "$functions" "$@"
	"$vprof" build "$@" >build.out 2>&1 || {
		status=$?
		tail -n 20 build.out >&2
		echo "$script: vprof build failed: $PWD/build.out" >&2
		exit $status
	}
}

# pair_compiler DIR FILE: DIR/gcc compiles what `vprof build` hands it with what FILE has in place of vprof's probes: two
# readings of the clock, or another tool's events.  FILE stands beside pair.awk.
pair_compiler() {
	mkdir -p "$1"
	cat >"$1/gcc" <<-EOF_GCC
		#!/bin/sh
		for word; do
			case \$word in
			*.i) awk -v pair="$2" -f "${2%/*}/pair.awk" "\$word" >"\$word.new" && mv "\$word.new" "\$word" ;;
			esac
		done
		exec $(command -v gcc) "\$@"
	EOF_GCC
	chmod +x "$1/gcc"
}

# ---- The table of an exam ------------------------------------------------------------

step() { echo "== $*"; }

# row NAME VALUE UNIT TARGET true|false; TARGET - is for information only
row() { printf '%s\t%s\t%s\t%s\t%s\n' "$@" >>"$rows"; }

# holds EXPRESSION: true or false, as awk sees it
holds() { awk "BEGIN { print ($1) ? \"true\" : \"false\" }"; }

# in_tree NAME COMMAND...
in_tree() { (cd "$work/$1" && shift && "$@"); }

# query NAME QUERY: the one number that QUERY gives in the project NAME
query() { in_tree "$1" "$vprof" sql --format csv "$2" | tail -n 1; }

# value_of NAME FILE: of one line "NAME VALUE" of a client's report
value_of() { awk -v name="$1" '$1 == name { print $2 }' "$2"; }

median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# ratio COLUMN FILE: the column divided by the first, the median over the rounds
ratio() { awk -v c="$1" '{ print $c / $1 }' "$2" | median; }

# sources_changed NAME: sources of the tree NAME which are not as in the tree "plain", but for the
# tree's own name: what a build generates may hold it (APR's exports.c)
sources_changed() {
	find "$work/plain" -name '*.[ch]' | while read -r file; do
		other=$work/$1/${file#"$work/plain/"}
		cmp -s "$file" "$other" || sed "s|$work/$1|$work/plain|g" "$other" | cmp -s "$file" - ||
			echo "$file"
	done | wc -l
}

# write_results FILE: the rows as JSON, and printed as a table; fails where a target is missed
write_results() {
	{
		printf '{"schema":"vprof.bench/1","host":{"cpus":%d,"kernel":"%s","cpu":"%s"},\n"rows":[' \
			"$(nproc)" "$(uname -r)" \
			"$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1 | tr -d '\\"')"
		awk -F'\t' '{
			printf "%s\n{\"name\":\"%s\",\"value\":%s,\"unit\":\"%s\",\"target\":%s,\"ok\":%s}",
				(NR > 1 ? "," : ""), $1, $2, $3, ($4 == "-" ? "null" : "\"" $4 "\""), $5
		}' "$rows"
		printf '\n]}\n'
	} >"$1"
	awk -F'\t' '{ printf "%-44s %12.6g %-10s %-12s %s\n", $1, $2, $3, ($4 == "-" ? "" : $4),
		($4 == "-" ? "" : $5 == "true" ? "ok" : "MISSED") }' "$rows"
	! grep -q 'false$' "$rows"
}

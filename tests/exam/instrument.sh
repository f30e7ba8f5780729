#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# instrument.sh - real projects with every function probed: they build as always, and pass their own
# tests as always.  `make exam-instrument` runs it.
#
#	instrument.sh --vprof PROGRAM [--work DIR] [--results FILE] [--only NAME,...] [--rounds N] [--jobs N] [--fresh]
#
# Each project is Debian's source package, twice: DIR/NAME/plain, and DIR/NAME/probed, which is built by
# "vprof build --functions all".  instrument/NAME.sh says how; instrument/lib.sh has the stages:
#
#	build		both from scratch, N times (1) in turn: the time, and vprof's cache is cold
#	coverage	functions, how many of them carry a probe, why the others do not
#	tree		what a plain build does not make or change, ours does not either
#	suite		the project's own tests on both sides, compared test by test
#	recorded	some of them once more, under "vprof record"
#
# and what single projects add (instrument/rebuild.sh, instrument/unharmed.sh, instrument/stack.sh).  Many suites mostly wait:
# with --jobs 2 two projects are examined at a time, which changes seconds, but hardly the processor
# time of one build divided by that of the next.  Every stage leaves its
# rows in DIR/NAME; one that did is left out the next time, unless --fresh asks for all.  Prints a table
# and writes it as FILE (results/instrument.json); exit 1 where a target is missed.
# Root is asked for only when a Debian package is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
all='postgresql redis memcached sqlite leveldb apr nginx libxkbcommon
	lua lua_clang mawk mawk_clang jimtcl jimtcl_clang'
# shellcheck disable=SC2034 # fresh and rounds are lib.sh's
vprof='' work=instrument-work results=results/instrument.json only='' rounds=1 jobs=1 fresh=''

# shellcheck disable=SC1091 # checked by themselves
. "$here/../../examples/lib.sh"
usage() { sed -n '6s/^#	\{0,1\}//p' "$0" >&2; exit 2; }

# shellcheck disable=SC2034
while [ $# -gt 0 ]; do
	case $1 in
	--fresh)	fresh=yes; shift; continue ;;
	esac
	[ $# -ge 2 ] || usage
	case $1 in
	--vprof)	vprof=$(realpath "$2") ;;
	--work)		work=$2 ;;
	--results)	results=$2 ;;
	--only)		only=$(echo "$2" | tr , ' ') ;;
	--rounds)	rounds=$2 ;;
	--jobs)		jobs=$2 ;;
	*)		usage ;;
	esac
	shift 2
done
[ -n "$vprof" ] || usage
for project in $only; do
	[ -f "$here/instrument/$project.sh" ] || die "no project '$project': there are $all"
done
# Variables that a build system or vprof would take from the environment.
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS MAKELEVEL MFLAGS DESTDIR
export LC_ALL=C.UTF-8 NO_COLOR=1
mkdir -p "$work" "$(dirname "$results")"
work=$(cd "$work" && pwd)
rows=$work/rows.tsv

# shellcheck disable=SC1091
. "$here/instrument/lib.sh"
install_packages build-essential dpkg-dev time
exam_all
: >"$rows"
for project in ${only:-$all}; do
	all_rows "$project" >>"$rows"
done
# shellcheck disable=SC2086 # a list of words
print_projects ${only:-$all} | tee "$work/projects.md"
write_results "$results"

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# servers.sh - the first sentence on servers that vprof has no preset for.  `make exam-servers` runs it.
#
#	servers.sh --vprof PROGRAM [--work DIR] [--results FILE] [--only SERVER,...] [--seconds N] [--functions all] [--fresh]
#
# Each server is Debian's source package, with a small patch that plants causes (servers/NAME.patch), built once by "vprof
# build" with the interval of servers/NAME.sh.  Each has three causes, which the environment or the clients switch on: one planted
# lock or queue, one planted I/O or upstream, one of the server's own.  A case is recorded twice, with and without its cause:
#
#	the truth	the clients' log: how much less the latency varies without the cause; below half the case says nothing
#			(the machine was too busy, say), and is done again, three times at most
#	the question	which function or peer the first sentence names, that of causes[0] in the JSON of "vprof show causes"
#
# servers/NAME.sh has the accepted answers: functions, or "peer", the upstream; after a slash functions that call them.  Outcomes:
#
#	named		the cause's function or peer causes it, or may cause it, or is what requests wait for before the interval
#	honest		it is not known; or it may be another one; or the interval may begin too late; or a caller's, and what that
#			calls has no probe yet
#	INNOCENT	another one causes it, without a doubt
#
# The functions that carry a probe are those that "vprof build" chooses, or with --functions all as it may advise: all.  Each stage
# leaves its file in DIR/NAME; one that did, of this vprof, is left out the next time, unless --fresh asks for all.  Prints a table and
# writes it as FILE (results/servers.json); exit 1 where a target is missed.  Root is asked for only when a Debian package is missing.
# shellcheck disable=SC2154 # a server's file sets them
set -eu

here=$(cd "$(dirname "$0")" && pwd)
all=$(cd "$here/servers" && printf '%s\n' *.patch | sed 's/\.patch$//' | tr '\n' ' ')
vprof='' work=servers-work results=results/servers.json only='' seconds=10 functions='' fresh=''

# shellcheck disable=SC1091 # checked by themselves
. "$here/../../examples/lib.sh"
usage() { sed -n '6s/^#	\{0,1\}//p' "$0" >&2; exit 2; }

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
	--seconds)	seconds=$2 ;;
	--functions)	functions=$2 ;;
	*)		usage ;;
	esac
	shift 2
done
[ -n "$vprof" ] || usage
for name in $only; do
	[ -f "$here/servers/$name.sh" ] || die "no server '$name': there are $all"
done
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS DESTDIR
export LC_ALL=C.UTF-8 NO_COLOR=1
mkdir -p "$work" "$(dirname "$results")"
work=$(cd "$work" && pwd)
rows=$work/rows.tsv
# The exam is not about other load on the machine: the runs take little of the CPU, and get that at once.
undisturbed=
for command in 'nice -n -10' 'chrt -r 1'; do
	! $command true 2>/dev/null || undisturbed=$command
done

say() { echo "$(date +%H:%M:%S) $name: $*"; }

# about NAME: what servers/NAME.sh says
about() {
	name=$1 dir=$work/$1
	packages='' configure=true plant_in=.
	# shellcheck disable=SC1090 # a server's file
	. "$here/servers/$name.sh"
	answers=$dir/answers${functions:+.$functions}
	mkdir -p "$answers"
}

# logged FILE COMMAND...: in the tree; what it says is in FILE, and said when it fails
logged() {
	file=$dir/$1
	shift
	(cd "$dir/tree" && "$@") >"$file" 2>&1 </dev/null || { tail -n 20 "$file" >&2; die "$name: '$*' failed: $file"; }
}

# The tree with the plants, configured and built: as a newcomer does, whose first build ends with the question what an interval is.
make_tree() {
	# shellcheck disable=SC2086 # lists of words
	install_packages build-essential dpkg-dev patch python3 $packages
	fetch_source "$source" "$release"
	rm -rf "$dir/tree"
	extract_source "$source" "$release" "$dir/tree" </dev/null
	cp "$here/servers/plant.h" "$dir/tree/$plant_in/"
	say "configure"
	logged patch.out patch -p1 --no-backup-if-mismatch -i "$here/servers/$name.patch"
	logged configure.out sh -c "$configure"
	say "build"
	(cd "$dir/tree" && "$vprof" build -- sh -c "$build") >"$dir/first.build.out" 2>&1 </dev/null ||
		grep -q 'annotate --suggest' "$dir/first.build.out" || die "$name: does not build: $dir/first.build.out"
	(cd "$dir/tree" && "$vprof" annotate --suggest) >"$dir/suggest.out" 2>&1 || true	# it is not what is examined
	eval "logged annotate.out \"\$vprof\" annotate $(echo "$interval" | tr '\n' ' ')"
	touch "$dir/made"
}

# With the probes that are asked for, and by this vprof.
build_server() {
	if [ ! -f "$dir/made" ] || [ -n "$fresh" ]; then
		rm -f "$dir/made" "$dir/built" "$dir"/answers*/*
		make_tree
	fi
	if [ "$(cat "$dir/built" 2>/dev/null)" = "${functions:-chosen}" ] && ! is_older_than_vprof "$dir/built"; then
		return 0
	fi
	say "build, functions ${functions:-chosen}"
	rm -f "$dir/tree/$program"	# it has a runtime of vprof's, which may be another by now
	# shellcheck disable=SC2086 # words, if there are any
	logged build.out "$vprof" build ${functions:+--functions $functions} -- sh -c "$build"
	echo "${functions:-chosen}" >"$dir/built"
}

free_ports() {
	/usr/bin/python3 -c 'import socket
s = [socket.socket() for i in range(2)]
for x in s: x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])'
}

# variance FILE: of the clients' latencies
variance() {
	awk '{ t = $2 / 1e6; n++; s += t; q += t * t } END { printf "%.6f\n", n ? q / n - s / n * (s / n) : 0 }' "$1"
}

# record_case CASE ON: ON is CASE, or none
record_case() {
	run=$2.$(date +%s)
	free_ports >"$dir/ports"
	# shellcheck disable=SC2086 # nothing, or words
	logged "$2.record.out" $undisturbed "$vprof" record -o "$run" -- sh "$here/servers/run.sh" "$name" "$2" "$dir" "$seconds"
	mv "$dir/$2.log" "$answers/$1.$2.clients"
}

# judge CASE ACCEPTED...
judge() {
	case=$1
	shift
	(cd "$dir/tree" && "$vprof" show causes --format json "$run" >"$answers/$case.json" && "$vprof" show causes "$run" >"$answers/$case.txt") \
		2>"$answers/$case.err" || die "$name: no answer: $answers/$case.err"
	read -r _ upstream <"$dir/ports"
	/usr/bin/python3 "$here/servers/judge.py" "$answers/$case.json" "$upstream" "$@"
}

# one_case CASE ACCEPTED...: until the cause is what makes the clients' latency vary.  ANSWERS/CASE.case: case, truth, verdict, sentence
one_case() {
	case=$1
	if [ -f "$answers/$case.case" ] && ! is_older_than_vprof "$answers/$case.case"; then
		say "$case: done before"
		return 0
	fi
	build_server
	for try in 1 2 3; do
		say "$case: recording, try $try"
		record_case "$case" none
		record_case "$case" "$case"
		truth=$(awk -v off="$(variance "$answers/$case.none.clients")" -v on="$(variance "$answers/$case.$case.clients")" \
			'BEGIN { printf "%.3f", (on > 0 ? 1 - off / on : 0) }')
		[ "$(holds "$truth >= 0.5")" = false ] || break
		say "$case: the cause has only $truth of the clients' variance"
	done
	verdict=$(judge "$@")
	[ "$(holds "$truth >= 0.5")" = true ] || verdict="void${verdict#"${verdict%%	*}"}"
	printf '%s\t%s\t%s\n' "$case" "$truth" "$verdict" >"$answers/$case.case"
	say "$case: $(cut -f 3- "$answers/$case.case")"
}

# exam NAME: in a process of its own: what one server's file defines is not there for the next
exam() (
	about "$1"
	if [ -n "$fresh" ]; then build_server; fi
	fresh=''
	echo "$cases" | sed '/^$/d' | while read -r case accepted; do
		# shellcheck disable=SC2086 # a list of words
		one_case "$case" $accepted </dev/null
	done
)

# all_cases: "SERVER CASE TRUTH VERDICT SENTENCE" each
all_cases() {
	for name in ${only:-$all}; do
		cat "$work/$name/answers${functions:+.$functions}"/*.case 2>/dev/null | sed "s/^/$name	/" || true
	done
}

# outcomes WORD...: how many cases ended so
outcomes() { all_cases | cut -f 4 | grep -cxE "$(echo "$*" | tr ' ' '|')" || true; }

for name in ${only:-$all}; do
	exam "$name"
done
: >"$rows"
all_cases | while IFS='	' read -r name case truth verdict _; do
	row "$name.$case.truth" "$truth" "of the clients' variance" ">= 0.5" "$(holds "$truth >= 0.5")"
	row "$name.$case.named" "$([ "$verdict" = named ] && echo 1 || echo 0)" "" - true
done
cases_cnt=$(outcomes named honest INNOCENT)
named=$(outcomes named)
innocent=$(outcomes INNOCENT)
least=$(awk "BEGIN { printf \"%d\", $cases_cnt * 16 / 18 }")
[ -n "$only" ] || row cases "$cases_cnt" cases ">= 18" "$(holds "$cases_cnt >= 18")"
row named "$named" cases ">= $least" "$(holds "$named >= $least && $named > 0")"
row innocent "$innocent" cases 0 "$(holds "$innocent == 0")"
all_cases | awk -F'\t' '{ printf "%-11s %-9s truth %5.1f %%  %-8s %s\n", $1, $2, 100 * $3, $4, $5 }' | tee "$work/sentences.txt"
write_results "$results"

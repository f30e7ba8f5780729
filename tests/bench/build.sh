#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# build.sh - how much longer a build takes through vprof: the projects of exam-instrument, from Debian's sources.
#
#	build.sh [--work DIR] [--units N] [--seconds S] [--rounds N] [--results FILE] [--prepare yes] [PROJECT]...
#
# Processor time (user and system) of N units spread over the project, everything after everything else
# in each round, on whatever else the machine does; medians of the ratios to the plain build:
#
#	preprocess	-E of each unit alone
#	first		vprof build, the one function of one more unit in the plan; nothing known of the units,
#			each of which has to be looked at before there can be a plan
#	no probes	the same again, of the units that have nothing of ours in them, neither that function nor a lock or queue
#			of their own that a table names: to those units compiled plainly.  Each twice, plainly first and
#			last, for what a machine drifts in a minute is as much as the target
#	all probed	vprof build --functions all; nothing known of the units
#	again		the same, objects removed
#	unchanged	vprof build with nothing to compile, seconds of processor time
#
# --seconds: of those N units as many, spread evenly, as a plain compile of takes that long, but one at least; a round
# takes about eleven times that.
#
# --prepare: the sources are fetched and each project is built plainly once, for its commands, which takes most of the
# time; steps whose result is in --work already are skipped.  It measures nothing.
#
# Prints a table and writes FILE (results/build.json); exit 1 where "all probed" is beyond 2.0 or "no probes" beyond 1.1.
# Targets are ratios of what one machine did within seconds, so it need not be quiet.
set -eu

srcdir=$(cd "$(dirname "$0")/../.." && pwd)
here=$srcdir/tests/exam			# for the projects' files
work=bench-build-work units=24 rounds=3 results=results/build.json projects='' prepare='' seconds=''
all='redis postgresql memcached nginx apr sqlite leveldb'
extra=bench_extra			# a unit, and the function in it, of our own
vprof=${VPROF:-./vprof}
# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$srcdir/examples/lib.sh"
usage() { sed -n '6s/^# \{0,1\}//p' "$0" >&2; exit 2; }

while [ $# -gt 0 ]; do
	case $1 in
	--work)		work=${2:?}; shift ;;
	--units)	units=${2:?}; shift ;;
	--seconds)	seconds=${2:?}; shift ;;
	--rounds)	rounds=${2:?}; shift ;;
	--results)	results=${2:?}; shift ;;
	--prepare)	prepare=${2:?}; shift ;;
	-*)		usage ;;
	*)		[ -f "$here/instrument/$1.sh" ] || die "no project '$1': there are $all"
			projects="$projects $1" ;;
	esac
	shift
done
find_vprof
mkdir -p "$work" "$(dirname "$results")"
work=$(cd "$work" && pwd)
rows=$work/rows.tsv
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS MAKELEVEL MFLAGS

# Compilers that write down "cd DIR && COMPILER ARG..." before they compile.
make_loggers() {
	mkdir -p "$work/log"
	for name in cc gcc c++ g++; do
		cat >"$work/log/$name" <<-EOF
			#!/bin/sh
			line="cd '\$PWD' && $name"
			for word; do line="\$line '\$(printf %s "\$word" | sed "s/'/'\\\\\\\\''/g")'"; done
			printf '%s\n' "\$line" >>"\$BENCH_LOG"	# at once: others write to it, too
			exec $(command -v $name) "\$@"
		EOF
		chmod +x "$work/log/$name"
	done
}

# log_project NAME: $BENCH_LOG gets the commands of its build
log_project() (
	packages='' configure=''
	# shellcheck disable=SC1090 # a project's file
	. "$here/instrument/$1.sh"
	# shellcheck disable=SC2086 # a list of words
	install_packages $packages
	# shellcheck disable=SC2154 # source and release are the file's
	fetch_source "$source" "$release"
	extract_source "$source" "$release" "$work/$1" </dev/null
	cd "$work/$1" || exit
	export PATH="$work/log:$PATH"
	BENCH_LOG=/dev/null sh -c "$configure"
	# shellcheck disable=SC2154
	sh -c "$build"
)

# make_project NAME: $work/NAME-bench/Makefile compiles the units, one rule a unit
make_project() {
	dir=$work/$1-bench
	! grep -qs '^-include chosen' "$dir/Makefile" || return 0
	mkdir -p "$dir"
	# One that was interrupted goes on: what it compiled is in the log.
	BENCH_LOG=$dir/log log_project "$1" >"$dir/build.out" 2>&1 || die "the build of $1 failed: $dir/build.out"
	grep -e " '-c'" "$dir/log" | grep -v -e conftest -e autotest -e CMakeScratch -e CMakeTmp -e meson-private |
	grep -e "\.\(c\|cc\|cpp\)'" | sort -u |
	awk -v wanted="$units" -v dir="$dir" -v extra="$extra" '
		{ line[NR] = $0 }
		END {
			step = NR > wanted ? NR / wanted : 1
			for (i = 1; i <= NR; i += step) {
				command = line[int(i)]
				gsub(/ '\''-o'\'' '\''[^'\'']*'\''/, "", command)
				gsub(/\$/, "$$", command)
				expand = command
				sub(/ '\''-c'\''/, " -E", expand)
				objects = objects " " ++n ".o"
				rules = rules n ".o:\n\t@" command " -o " dir "/" n ".o\n" \
					n ".i:\n\t@" expand " -o " dir "/" n ".i\n"
			}
			print "OBJECTS =" objects "\n-include chosen.mk\nall: $(OBJECTS) " extra ".o\n" \
				"texts: $(OBJECTS:.o=.i)\n" rules
			print extra ".o: " extra ".c\n\t@cc -c " extra ".c -o " extra ".o"
		}' >"$dir/Makefile.new"
	printf 'int %s(int n)\n{\n\treturn n;\n}\n' "$extra" >"$dir/$extra.c"
	mv "$dir/Makefile.new" "$dir/Makefile"
}

# Every k-th unit, so that a plain compile takes no more than $seconds.
choose_units() {
	rm -f chosen.mk ./*.o
	[ -n "$seconds" ] || return 0
	[ -s plain.seconds ] || spent make >plain.seconds
	sed -n 's/^OBJECTS = //p' Makefile | tr ' ' '\n' | awk -v limit="$seconds" -v all="$(cat plain.seconds)" '
		BEGIN { step = all > limit ? all / limit : 1; printf "OBJECTS =" }
		NR >= next_one { printf " %s", $1; next_one = (next_one ? next_one : 1) + step }
		END { print "" }' >chosen.mk
}

# spent COMMAND...: seconds of processor time, on stdout
spent() {
	(
		"$@" >run.out 2>&1 || die "'$*' failed: $PWD/run.out"
		times >times.out		# not into a pipe: there, times would be those of a shell without children
		awk 'NR == 2 {
			for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); sum += t[1] * 60 + t[2] }
			printf "%.2f ", sum
		}' times.out
	)
}

through_vprof() {
	spent "$vprof" build --functions "$1" -- make
}

# The objects without a place that vprof knew of as it wrote their records.
bare_objects() {
	"$(dirname "$vprof")/tests/instrument/launch" -b vprof.data/build -o | sed 's/.*[/]//' | grep '^[0-9]'
}

# One line: seconds of plain, preprocess, first, of units without probes (plainly, no probes twice, plainly), all
# probed, again, unchanged.  The extra
# unit is in "first" alone: it is there before, where it has no probe or is not asked for.
round() {
	rm -rf ./*.o ./*.i vprof.data
	make "$extra.o" >run.out 2>&1 || die "'make $extra.o' failed: $PWD/run.out"
	spent make
	spent make texts
	rm -f ./*.o
	through_vprof "$extra"
	bare=$(bare_objects)
	# shellcheck disable=SC2086 # lists of words
	for through in plainly vprof vprof plainly; do
		rm -f $bare
		case $through in
		plainly) spent make $bare ;;
		vprof)	through_vprof "$extra" ;;
		esac
	done
	rm -rf ./[0-9]*.o vprof.data
	through_vprof all
	rm -f ./[0-9]*.o
	through_vprof all
	through_vprof all
	echo
}

# measured NAME COLUMNS TARGET [PLAIN]: a row of the sum of COLUMNS to that of PLAIN (1); TARGET - for none
measured() {
	value=$(awk -v columns="$2" -v plain="${4:-1}" '
		function sum(list,   n, i, c, s) {
			n = split(list, c, " ")
			for (i = 1; i <= n; i++)
				s += $(c[i])
			return s
		}
		{ print sum(columns) / sum(plain) }' seconds | median)
	ok=true
	[ "$3" = - ] || ok=$(holds "$value <= $3")
	row "$project: $1" "$value" ratio "$3" "$ok"
}

bench() {
	project=$1
	make_project "$1"
	cd "$work/$1-bench"
	choose_units
	[ -z "$prepare" ] || return 0
	: >seconds
	for _ in $(seq "$rounds"); do round >>seconds; done
	bare=$(bare_objects)
	row "$1: units" "$(find . -name '[0-9]*.o' | wc -l)" units - true
	row "$1: plain" "$(awk '{ print $1 }' seconds | median)" s - true
	measured preprocess 2 -
	measured first 3 -
	# shellcheck disable=SC2086 # a list of words
	row "$1: units without probes" "$(printf '%s\n' $bare | wc -l)" units - true
	measured 'no probes' '5 6' 1.1 '4 7'
	measured 'all probed' 8 2.0
	measured again 9 -
	row "$1: unchanged" "$(awk '{ print $10 }' seconds | median)" s - true
}

: >"$rows"
make_loggers
for project in ${projects:-$all}; do (bench "$project"); done
[ -n "$prepare" ] || write_results "$results"

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# build.sh - how much longer a build takes through vprof: redis 7 (C) and leveldb (C++), from Debian's sources.
#
#	build.sh [--work DIR] [--units N] [--rounds N] [redis|leveldb]...
#
# Processor time (user and system) of N units spread over the project, everything after everything else
# in each round, on whatever else the machine does; medians of the ratios to the plain build:
#
#	preprocess	-E of each unit alone
#	no probes	vprof build, one function of one unit in the plan; nothing known of the units
#	  again		the same, objects removed: what the next build costs
#	all probed	vprof build --functions all; nothing known of the units
#	  again
set -eu

srcdir=$(cd "$(dirname "$0")/../.." && pwd)
work=bench-build-work units=24 rounds=3 projects=''
vprof=${VPROF:-./vprof}
# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$srcdir/examples/lib.sh"
usage() { sed -n '4,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }

while [ $# -gt 0 ]; do
	case $1 in
	--work)		work=${2:?}; shift ;;
	--units)	units=${2:?}; shift ;;
	--rounds)	rounds=${2:?}; shift ;;
	redis|leveldb)	projects="$projects $1" ;;
	*)		usage ;;
	esac
	shift
done
find_vprof
mkdir -p "$work"
work=$(cd "$work" && pwd)

# A compiler that writes down "cd DIR && COMPILER ARG..." before it does what it is told.
make_logger() {
	mkdir -p "$work/log"
	for name in cc c++; do
		cat >"$work/log/$name" <<-EOF
			#!/bin/sh
			line="cd '\$PWD' && $name"
			for word; do line="\$line '\$(printf %s "\$word" | sed "s/'/'\\\\\\\\''/g")'"; done
			printf '%s\n' "\$line" >>"\$BENCH_LOG"	# at once: others write to it, too
			exec /usr/bin/$name "\$@"
		EOF
		chmod +x "$work/log/$name"
	done
}

commands_of_redis() {
	fetch_source redis 7.0
	extract_source redis 7.0 "$work/redis" </dev/null
	make -C "$work/redis/src" -j"$(nproc)" MALLOC=libc CC="$work/log/cc" redis-server
}

commands_of_leveldb() {
	install_packages cmake
	fetch_source leveldb 1.23
	extract_source leveldb 1.23 "$work/leveldb" </dev/null
	cmake -S "$work/leveldb" -B "$work/leveldb/build" -DCMAKE_BUILD_TYPE=Release -DLEVELDB_BUILD_TESTS=OFF \
		-DLEVELDB_BUILD_BENCHMARKS=OFF -DCMAKE_CXX_COMPILER="$work/log/c++"
	make -C "$work/leveldb/build" -j"$(nproc)" leveldb
}

# make_project NAME: $work/NAME-bench/Makefile compiles the units, one rule a unit
make_project() {
	dir=$work/$1-bench
	[ ! -f "$dir/Makefile" ] || return 0
	mkdir -p "$dir"
	: >"$dir/log"
	BENCH_LOG=$dir/log "commands_of_$1" >"$dir/build.out" 2>&1 || die "the build of $1 failed: $dir/build.out"
	grep -e " '-c'" "$dir/log" | grep -v -e conftest -e CMakeScratch -e CMakeTmp | sort -u |
	awk -v wanted="$units" -v dir="$dir" '
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
			texts = objects
			gsub(/\.o/, ".i", texts)
			print "all:" objects "\ntexts:" texts "\n" rules
		}' >"$dir/Makefile.new"
	mv "$dir/Makefile.new" "$dir/Makefile"
}

# spent COMMAND...: seconds of processor time, on stdout
spent() {
	(
		"$@" >run.out 2>&1 || die "'$*' failed: $PWD/run.out"
		times >times.out		# not into a pipe: it would tell of a shell without children
		awk 'NR == 2 {
			for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); sum += t[1] * 60 + t[2] }
			printf "%.2f ", sum
		}' times.out
	)
}

through_vprof() {
	rm -f ./*.o
	spent "$vprof" build --functions "$1" -- make
}

# One line: seconds of plain, preprocess, no probes, again, all probed, again.
round() {
	rm -rf ./*.o ./*.i vprof.data
	spent make
	spent make texts
	through_vprof "$1"
	through_vprof "$1"
	rm -rf vprof.data
	through_vprof all
	through_vprof all
	echo
}

# A function that one unit defines alone.
lone_function() {
	rm -rf ./*.o vprof.data
	"$vprof" build --functions all -- make >run.out 2>&1 || die "vprof build failed: $PWD/run.out"
	"$vprof" sql --format csv "SELECT name FROM function GROUP BY name HAVING count(*) = 1 ORDER BY name LIMIT 1" |
		tail -n 1
}

bench() {
	make_project "$1"
	cd "$work/$1-bench"
	function=$(lone_function)
	: >seconds
	for _ in $(seq "$rounds"); do round "$function" >>seconds; done
	echo "$1: $(grep -c '\.o:$' Makefile) units, plain $(awk '{ print $1 }' seconds | median) s"
	column=1
	for name in 'preprocess' 'no probes' '  again' 'all probed' '  again'; do
		column=$((column + 1))
		printf '%-12s %5.2f\n' "$name" "$(ratio $column seconds)"
	done
}

make_logger
for project in ${projects:-redis leveldb}; do (bench "$project"); done

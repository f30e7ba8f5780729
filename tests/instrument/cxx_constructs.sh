#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Everything in C++ that holds the body of a function (tests/instrument/cxx/), with all functions probed: each body is
# entered and left by its probe as often as it says so itself, the output is that of the plain program, and so is the
# number of frames at each place.  Functions that cannot take a probe are in the file's "without" comments.
#
# CXX_CONSTRUCTS=all (make exam-instrument): every installed compiler with every standard that it supports, also optimized.  Inlining,
# and so the number of frames, depends on a function's size: -O2 is compared without frames; tails.sh checks the stack.  Functions
# without probes because of calls that may throw are left out there.
. "${srcdir:-.}/tests/instrument/lib.sh"
cases=$source/tests/instrument/cxx
tried=0

gcc -std=gnu11 -O1 -I"$source" -c "$cases/counts.c" -o "$work/counts.o" || exit 99

# Can the compiler do that at all?
has() {			# COMPILER STANDARD
	echo 'int main() { return 0; }' > "$work/empty.cc"
	[ "$2" = gnu17 ] && mv "$work/empty.cc" "$work/empty.c"
	"$1" "-std=$2" -c "$work"/empty.c* -o "$work/empty.o" 2> "$work/err"
	status=$?
	rm -f "$work"/empty.c*
	return $status
}

one() {			# COMPILER STANDARD FILE FLAGS [VARIABLE=VALUE]
	what="$1 -std=$2 $4 $(basename "$3")"
	tried=$((tried + 1))
	rm -rf "$work/build"
	echo '^$' > "$work/tails"
	# shellcheck disable=SC2086 # flags are words
	"$1" "-std=$2" $4 -w "$3" "$work/counts.o" -o "$work/plain" 2> "$work/err" ||
		{ fail "$what: the plain program does not compile"; cat "$work/err"; return; }
	# shellcheck disable=SC2086
	"$launch" -b "$work/build" -p all -t "$source/annotations/pthread.sync" -- \
		"$1" "-std=$2" $4 -w "$3" "$work/counts.o" -o "$work/probed" 2> "$work/err" ||
		{ fail "$what: does not compile"; cat "$work/err"; return; }
	env "${5:-LC_ALL=C}" "$work/plain" > "$work/plain.out"; plain=$?
	env "${5:-LC_ALL=C}" COUNTS="$work/counts" "$work/probed" > "$work/probed.out"; probed=$?
	[ $plain = 0 ] && [ $probed = 0 ] || fail "$what: exits with $plain, with probes $probed"
	diff "$work/plain.out" "$work/probed.out" || fail "$what: output differs"
	"$launch" -b "$work/build" -P
	"$launch" -b "$work/build" -l > "$work/list"
	# Without optimization this is no reason.
	[ -z "${5:-}" ] || sed -i '/a tail call behind calls that may throw$/ { s/^.* \([0-9]*\) a tail .*/^line \1:/
		w '"$work/tails"'
		d
	}' "$work/list"
	grep '^line' "$work/counts" | grep -v -f "$work/tails" && fail "$what: calls and probes do not agree"
	grep -q '^[0-9]* bodies' "$work/counts" || fail "$what: nothing was counted"
	sort "$work/list" | uniq -d | grep . && fail "$what: is there twice"
	sed -n 's/^.*without: //p' "$3" > "$work/without"
	grep -v ' probed$' "$work/list" | grep -v -F -f "$work/without" &&
		fail "$what: has no probe"
	return 0
}

# unit, language, the least standard that it needs: those from there on
units='gnu.c:c:gnu17 cxx11.cc:c++:11 cxx14.cc:c++:14 cxx17.cc:c++:17 cxx20.cc:c++:20 cxx23.cc:c++:23'

each() {		# COMPILER CXX_COMPILER all|latest|first
	for unit in $units; do
		file=$cases/${unit%%:*} least=${unit##*:}
		if [ "$least" = gnu17 ]; then
			has "$1" gnu17 && one "$1" gnu17 "$file" -O1
			continue
		fi
		for standard in 11 14 17 20 23; do
			[ "$standard" -ge "$least" ] || continue
			# In make check gcc tries each with the latest, clang each with the first that has it.
			[ "${CXX_CONSTRUCTS:-}" = all ] || [ "$3" != latest ] || [ "$standard" = 23 ] || continue
			[ "${CXX_CONSTRUCTS:-}" = all ] || [ "$3" != first ] || [ "$standard" = "$least" ] || continue
			name=c++$standard
			has "$2" "$name" || name=c++2b
			has "$2" "$name" || continue
			one "$2" "$name" "$file" ''
			[ "${CXX_CONSTRUCTS:-}" != all ] || one "$2" "$name" "$file" -O2 COUNTS_FRAMES=no
		done
	done
}

if [ "${CXX_CONSTRUCTS:-}" = all ]; then
	for version in '' -11 -12 -13 -14 -15 -16 -17 -18 -19 -20 -21 -22; do
		command -v "g++$version" > "$work/which" && each "gcc$version" "g++$version" all
		command -v "clang++$version" > "$work/which" && each "clang$version" "clang++$version" all
	done
else
	each gcc g++ latest
	[ "$compilers" = gcc ] || each clang clang++ first
fi
echo "$tried programs, $failed failures"
[ "$failed" = 0 ] && [ "$tried" -gt 0 ]

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make bench-compile: processor time of `vprof build --functions all` of one unit of many small functions, all inlined in one,
# divided by the plain compile's: the shape in which probes cost a compiler most.  By gcc and clang, at -O0 and -O2, at two
# lengths: where the second ratio is as the first, the cost is linear.  Medians of ROUNDS (3) turns, plain and probed.
# Prints a table, writes results/compile.json; exit 1 where a target is missed.
set -u
top=$(cd "${srcdir:-.}" && pwd)
. "$top/tests/exam/table.sh"
vprof=$PWD/vprof
results=$PWD/results
rounds=${ROUNDS:-3}
work=$(mktemp -d "${TMPDIR:-/tmp}/vprof-bench-compile.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS MAKEFLAGS MAKELEVEL MFLAGS
cd "$work" || exit 99

# generate N: N functions, and one that calls all of them
generate()
{
	awk -v n="$1" 'BEGIN {
		print "#include <stdio.h>"
		for (i = 0; i < n; i++)
			printf "static int step_%d(int x)\n{\n\tint y = x ^ %d;\n\n\tfor (int i = 0; i < (x & 3); i++)\n\t\ty += i * %d;\n\treturn y & 8 ? y - %d : y;\n}\n\n", i, i, i % 7, i
		print "int request(int x)\n{"
		for (i = 0; i < n; i++)
			printf "\tx = step_%d(x);\n", i
		print "\treturn x;\n}\n\nint main(void)\n{\n\tprintf(\"%d\\n\", request(3));\n\treturn 0;\n}"
	}' >unit.c
}

# seconds COMMAND...: processor time of its children, too
seconds()
{
	sh -c '"$@" >log 2>&1 || exit 1; times' sh "$@" | tail -1 | awk '{
		for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += part[1] * 60 + part[2] } print sum }'
}

"$vprof" annotate --start request --end request >log 2>&1 || { cat log; exit 99; }
for compiler in gcc clang; do
	command -v $compiler >/dev/null || { echo "no $compiler: its rows are left out"; continue; }
	for level in -O0 -O2; do
		for length in 500 2000; do
			generate $length
			: >ratios
			for i in $(seq "$rounds"); do
				rm -rf vprof.data
				plain=$(seconds $compiler $level unit.c -o plain)
				probed=$(seconds "$vprof" build --functions all -- $compiler $level unit.c -o probed)
				awk "BEGIN { printf \"%.3f\n\", ($probed) / ($plain) }" >>ratios
			done
			ratio=$(median <ratios)
			row "$compiler $level, $length functions" "$(printf %.2f "$ratio")" "times plain" 2.0 "$ratio <= 2.0"
		done
	done
done
write_results "$results/compile.json"
exit $bad

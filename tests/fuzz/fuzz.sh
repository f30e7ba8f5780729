#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
#	fuzz.sh [TARGET...]	every target (targets.c) under libFuzzer, AddressSanitizer and UBSan
#
#	FUZZ_SECONDS=60		for all of them together
#	CLANG=clang		the compiler
#
# Part of make check (a minute), of make soak (half an hour) and of make fuzz (minutes=N).  What it finds
# is kept in fuzz/found/ of the build directory, and goes on from there; what breaks something is in
# fuzz/broken/.  To keep a broken input for good, copy it to tests/fuzz/corpus/TARGET/ and name it
# after what it broke.
#
# Without clang and its fuzzer there is nothing to do here: skipped (77); replay runs the kept files.
set -u
here=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
seconds=${FUZZ_SECONDS:-60}
clang=${CLANG:-clang}
corpus=$here/tests/fuzz/corpus
mkdir -p fuzz || exit 99

echo 'int LLVMFuzzerTestOneInput(const void *p, unsigned long n) { (void)p; (void)n; return 0; }' >fuzz/try.c
"$clang" -fsanitize=fuzzer,address,undefined -o fuzz/try fuzz/try.c >fuzz/try.log 2>&1 || {
	echo "fuzz: '$clang' cannot build for libFuzzer (Debian: clang libclang-rt-14-dev): skipped"
	exit 77
}
[ -f store/schema.inc ] || { echo "fuzz: run it in the build directory"; exit 99; }
env -u MAKEFLAGS -u MFLAGS make -s -j"$(nproc)" -f "$here/tests/fuzz/fuzz.mk" srcdir="$here" CLANG="$clang" \
	LIBS="$(pkg-config --libs libzstd sqlite3 gsl inih jansson)" fuzz/fuzz || exit 99

[ $# -gt 0 ] || set -- $(ls "$corpus")
each=$(((seconds + $# - 1) / $#))
export ASAN_OPTIONS="allocator_may_return_null=1:max_allocation_size_mb=2048:quarantine_size_mb=16:handle_abort=1"
export UBSAN_OPTIONS=print_stacktrace=1
bad=0
for target; do
	mkdir -p "fuzz/found/$target" fuzz/broken
	FUZZ_TARGET=$target fuzz/fuzz -max_total_time="$each" -timeout=60 -rss_limit_mb=2048 -max_len=65536 \
		-print_final_stats=1 -verbosity=1 -artifact_prefix="fuzz/broken/$target-" \
		"fuzz/found/$target" "$corpus/$target" >"fuzz/$target.log" 2>&1
	status=$?
	awk -v target="$target" -v status=$status '
		/ cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") places = $(i + 1) }
		/^stat::number_of_executed_units/ { runs = $2 }
		/^stat::peak_rss_mb/ { rss = $2 }
		END { printf "%-8s %9d inputs %6d places %5d MB  %s\n", target, runs, places, rss,
			status ? "BROKEN" : "ok" }' "fuzz/$target.log"
	[ $status = 0 ] || {
		bad=1
		tail -n 60 "fuzz/$target.log"
	}
done
exit $bad

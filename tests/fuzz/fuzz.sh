#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
#	fuzz.sh [TARGET...]	every target (targets.c) under libFuzzer, AddressSanitizer and UBSan
#
#	FUZZ_SECONDS=60		of processor time, for all of them together
#	FUZZ_JOBS=1		targets at the same time
#	CLANG=clang		the compiler
#
# Part of make check (a minute), of make soak (half an hour) and of make fuzz (minutes=N).  Its finds
# are kept in fuzz/found/ of the build directory, and the next run goes on from there; inputs that break something are in
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
	LIBS="$(pkg-config --libs libzstd zlib sqlite3 gsl inih jansson)" fuzz/fuzz || exit 99

[ $# -gt 0 ] || set -- $(ls "$corpus")
each=$(((seconds + $# - 1) / $#))

# Files that a killed target leaves in memory go with this directory.
FUZZ_DIR=$(mktemp -d /dev/shm/vprof-fuzz-XXXXXX) || exit 99
export FUZZ_DIR
trap 'rm -rf "$FUZZ_DIR"' EXIT
trap 'exit 1' HUP INT TERM
# The sanitizer would measure all of the text after each hit of strstr(), which takes for ever in long JSON.
ASAN_OPTIONS="allocator_may_return_null=1:max_allocation_size_mb=2048:quarantine_size_mb=16:handle_abort=1"
export ASAN_OPTIONS="$ASAN_OPTIONS:intercept_strstr=0"
export UBSAN_OPTIONS=print_stacktrace=1

# In a shell of its own: of what that shell ran, "times" knows the processor time, as 1m2.5s.
run_target() (
	target=$1
	FUZZ_TARGET=$target FUZZ_SECONDS=$each fuzz/fuzz -timeout=1200 -rss_limit_mb=2048 -max_len=65536 -dict="$here/tests/fuzz/times.dict" \
		-print_final_stats=1 -verbosity=1 -artifact_prefix="fuzz/broken/$target-" \
		"fuzz/found/$target" "$corpus/$target" >"fuzz/$target.log" 2>&1
	status=$?
	times >"fuzz/$target.times"
	awk -v target="$target" -v status=$status '
		FILENAME ~ /times$/ && FNR == 2 {
			for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); cpu += 60 * t[1] + t[2] }
		}
		/ cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") places = $(i + 1) }
		/^stat::number_of_executed_units/ { runs = $2 }
		/^stat::accepted_percent/ { accepted = $2 " % accepted  " }
		/^stat::peak_rss_mb/ { rss = $2 }
		END { printf "%-12s %9d inputs %6d places %5d MB %s %5.0f s  %s\n", target, runs, places, rss, accepted, cpu,
			status ? "BROKEN" : "ok" }' "fuzz/$target.times" "fuzz/$target.log" | tee "fuzz/$target.line"
	[ $status = 0 ] && return
	tail -n 60 "fuzz/$target.log"
	# The input, for a reader who has this output but not the machine.
	sed -n 's/.*Test unit written to //p' "fuzz/$target.log" | while read -r broken; do
		echo "$broken, gzip -9 and base64:"
		gzip -9nc "$broken" | base64 | head -c 20000
	done
)

mkdir -p fuzz/broken
rm -f fuzz/*.line
running=0
for target; do
	mkdir -p "fuzz/found/$target"
	run_target "$target" &
	running=$((running + 1))
	[ $running -lt "${FUZZ_JOBS:-1}" ] || { wait; running=0; }
done
wait
cat fuzz/*.line | awk -v targets=$# '
	{ cpu += $(NF - 2) }
	$NF == "ok" { ok++ }
	END {
		printf "%d s of processor time, %d of %d targets are ok\n", cpu, ok, targets
		exit ok != targets
	}'

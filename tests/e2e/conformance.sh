#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Primitives behave the same without vprof, built by vprof and not recorded, recorded, and recorded with
# the runtime preloaded: error codes, timeouts, owners that died, cancellation (tests/waits/conformance.c).
# So do calls that look at their caller (dlsym) and calls that the headers rename (_FORTIFY_SOURCE).
. "${srcdir:-.}/tests/e2e/lib.sh"

cp "$top/tests/waits/conformance.c" .
printf '[interval "request"]\nstart = main\nend = main\n' >vprof.conf

same()
{
	expect 0 timeout 60 "$@"
	# vprof's own messages go to stderr.
	diff want .out >diff.out && pass || { fail "$*: another result"; head -20 diff.out; }
}

for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	for flags in "-O0" "-O2 -D_FORTIFY_SOURCE=2 -D_FILE_OFFSET_BITS=64" "-O2 -no-pie -Wl,-z,now" "-O2 -static" "-O1 -masm=intel"; do
		build="$compiler -std=gnu11 -D_GNU_SOURCE -Wall -Werror -pthread $flags conformance.c -o"
		expect 0 $build plain
		timeout 60 ./plain >want </dev/null
		expect 0 "$VPROF" build --functions all -- $build built
		same ./built
		same "$VPROF" record -- ./built
	done
	# Linked without us: the runtime is preloaded.
	expect 0 "$VPROF" build --functions all -- $compiler -D_GNU_SOURCE -O2 -pthread -c conformance.c
	expect 0 $compiler -pthread conformance.o -o unlinked
	./plain >want </dev/null
	same ./unlinked
	same "$VPROF" record -- ./unlinked
	same "$VPROF" record --order -- ./built
done
[ "$(wc -l <want)" -gt 150 ] || fail "the program says too little"

finish

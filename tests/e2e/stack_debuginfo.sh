#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof does not look for separate debugging information while it records: unpacking the C library's takes 53 ms, fetching it from a
# server seconds, in which stacks are lost.  Here it is a pipe without a writer, so opening it would block for ever.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
command -v objcopy >/dev/null || { echo "objcopy is missing: skipped"; exit 77; }

# Most of the time is in a function without call frame information, where libdw would ask the debugging information for it.
cat >bare.c <<'END'
#include <time.h>
#include <unistd.h>

__asm__(".globl bare\n.type bare, @function\nbare:\n1:\tdec %rdi\n\tjnz 1b\n\tret\n.size bare, . - bare\n");
void bare(unsigned long cnt);

int main(int argc, char **argv)
{
	while (clock() < CLOCKS_PER_SEC)		/* of processor time */
		bare(1000000);
	return argc > 1 ? unlink(argv[1]) : 0;
}
END
gcc -Wall -Wextra -Werror -O1 -g bare.c -o whole || exit 99
objcopy --only-keep-debug whole bare.debug && objcopy --strip-all --add-gnu-debuglink=bare.debug whole bare || exit 99

# of FUNCTION: how often it was on the CPU
of() { "$VPROF" show samples --format csv | awk -F, -v name="$1" '$1 == name && $4 == "cpu" { n += $5 } END { print n + 0 }'; }

mv bare.debug bare.kept && mkfifo bare.debug || exit 99
expect 3 timeout 60 "$VPROF" record --kernel=require --stacks -- ./bare bare.debug
[ ! -e bare.debug ] && pass || fail "the program did not come to its end"
says "of the stacks pass through 'bare', which has no symbols there"

# When it has ended names are looked up there.
mv bare.kept bare.debug
expect 3 "$VPROF" record --kernel=require --stacks -- ./bare
[ "$(of bare)" -gt 100 ] && pass || fail "by the separate information: $(of bare) samples"

# A file that is gone by then is known as it was.
expect 3 "$VPROF" record --kernel=require --stacks -- ./whole whole
[ ! -e whole ] && [ "$(of bare)" -gt 100 ] && pass || fail "of a program that is no more: $(of bare) samples"

finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Lines of progress stand on standard error where that is a terminal, and only there: how far a recompilation and a recording are, and
# that a run is analysed.  The program's own output is unchanged.
. "${srcdir:-.}/tests/e2e/lib.sh"

has_terminals || { echo "script(1) has no terminal here"; exit 77; }
prints()
{
	for line; do
		grep -qE "$line" "$work/.out" && pass || fail "no line '$line': $(tr '\r' '\n' <"$work/.out")"
	done
}
cat >work.c <<'C'
#include <stdio.h>
#include <unistd.h>
void deeper(unsigned id) { usleep(id % 50 ? 1000 : 5000); }
C
cat >prog.c <<'C'
#include <stdio.h>
#include <unistd.h>
void deeper(unsigned id);
void handle(unsigned id) { deeper(id); }
int main(int argc, char **argv)
{
	printf("it begins\n");
	for (unsigned id = 1; id <= (argc > 1 ? 300 : 2600); id++)
		handle(id);
	printf("%s ends\n", *argv);
	return 0;
}
C
cat >Makefile <<'C'
prog: prog.o work.o
	$(CC) -o $@ prog.o work.o
.c.o:
	$(CC) -O1 -c $<
C
printf '[interval "request"]\n\tstart = handle\n\tend = handle\n' >vprof.conf
expect 0 "$VPROF" build -- make
expect 0 script -qec "$VPROF record -- ./prog >said" /dev/null
prints "vprof: recording [0-9]+ s, [0-9][0-9,]* intervals, p99 [0-9.]+ ms" "vprof: analysing run 1"
printf 'it begins\n./prog ends\n' | cmp -s - said && pass || fail "the program said something else: $(cat said)"
expect 0 script -qec "$VPROF iterate --threshold 0 --max-runs 2 -- ./prog short" /dev/null
prints "vprof: recompiling [0-9]+ of [0-9]+ units" "vprof: run 1/2"
expect 0 "$VPROF" record -- ./prog short
grep -q "recording\|analysing" "$work/.err" && fail "progress without a terminal: $(cat "$work/.err")" || pass
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof iterate: finds the way from the root to the culprit automatically; and what may go wrong on the way.
. "${srcdir:-.}/tests/e2e/lib.sh"

# A program whose culprit is six calls down: one request in eight sleeps in deep6.
mkdir project && cd project || exit 99
cat >deep.c <<'END'
#include <unistd.h>
static volatile unsigned sink;
void deep6(unsigned id) { if (id % 8 == 0) usleep(3000); sink += id; }
static void idle6(unsigned id) { sink += id; }
void deep5(unsigned id) { deep6(id); idle6(id); }
void deep4(unsigned id) { deep5(id); sink++; }
void deep3(unsigned id) { deep4(id); sink++; }
void deep2(unsigned id) { deep3(id); sink++; }
void deep1(unsigned id) { deep2(id); sink++; }
void never(unsigned id) { deep1(id); sink++; }
void decoy(unsigned id) { for (unsigned i = 0; i < 20000; i++) sink += i ^ id; }
void handle(unsigned id) { deep1(id); decoy(id); if (id > 100000) never(id); }
END
cat >main.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void handle(unsigned id);
int main(int argc, char **argv)
{
	unsigned cnt = argc > 1 ? (unsigned)atoi(argv[1]) : 400;

	for (unsigned id = 1; id <= cnt; id++)
		handle(id);
	printf("%u requests\n", cnt);
	return argc > 2 ? atoi(argv[2]) : 0;
}
END
cat >Makefile <<'END'
CFLAGS = -O1 -g
program: main.o deep.o
	$(CC) -o $@ main.o deep.o
clean:
	rm -f program *.o
END
expect 2 "$VPROF" iterate -- ./program
says "which command builds"
expect 0 "$VPROF" annotate --start handle --end handle
printf '[build]\n\tcommand = make\n[iterate]\n\tk = 2\n' >>vprof.conf

# Both policies; the paper's needs a run a level, the other does not.
expect 0 "$VPROF" iterate -- ./program
says "run 1/12" "▶ deep6" "every factor above 5 % is broken down" "policy budget, k 2"
grep -q "run 3/" "$work/.err" && fail "budget needs more than two runs" || pass
expect 0 "$VPROF" show factors
says deep6
expect 0 "$VPROF" iterate --policy paper -- ./program
says "run 7/12" "+ deep6" "▶ deep6" "every factor above 5 % is broken down"
expect 0 "$VPROF" show runs
says "budget, from 1" "paper, from 2" "deep6" closed
expect 0 "$VPROF" iterate --policy paper --max-runs 2 -- ./program
says "run 2/2" "but 2 runs were made"
expect 0 "$VPROF" sql "SELECT stop FROM iteration ORDER BY run DESC LIMIT 1"
says max-runs

# The document alone on stdout; the program's own output beside it.
expect 0 "$VPROF" iterate --format json -- ./program
says '"schema": "vprof.iterate/1"' '"reason": "closed"' '"function": "deep6"' "400 requests"
grep -q "requests" "$work/.out" && fail "the program writes into the document" || pass

# Nothing to find; too little; a command that fails, or is not there.
expect 0 "$VPROF" iterate --threshold 0.999 -- ./program
expect 3 "$VPROF" iterate -- ./program 20
says "too few intervals"
expect 3 "$VPROF" iterate -- ./program 0
says "no interval" "'handle', where an interval starts, resumes or ends, was never called"
expect 7 "$VPROF" iterate -- ./program 400 7
says "ended with status 7" "the command failed" "deep6"
expect 0 "$VPROF" iterate --ignore-status -- ./program 400 7
expect 127 "$VPROF" iterate -- ./no-such-program
expect 4 "$VPROF" iterate -- true
says "nothing that run"
expect 2 "$VPROF" iterate --policy cheap -- ./program
says "budget or paper"
expect 2 "$VPROF" iterate --overhead 7 -- ./program
expect 2 "$VPROF" iterate --max-runs 0 -- ./program

# The build breaks: the compiler's words, and the project builds again afterwards.
cp deep.c good.c
echo 'int broken(void) { return no_such_variable; }' >>deep.c
expect 2 "$VPROF" iterate -- ./program
says no_such_variable
mv good.c deep.c && touch deep.c
expect 0 "$VPROF" iterate -- ./program
says "▶ deep6"

# It breaks between two runs: the linker's words, what was found so far, and a project that builds.
cp Makefile good
printf 'program: main.o deep.o\n\ttest ! -e broken || { echo no linking today; exit 1; }\n\tcc -o $@ main.o deep.o\n' >Makefile
expect 0 make
printf '#!/bin/sh\ntouch broken\n./program\n' >break.sh
chmod +x break.sh
expect 2 "$VPROF" iterate --policy paper -- ./break.sh
says "no linking today" "the build ended with status 2" "▶ handle" "ended after 1 run: it failed, see above"
rm broken
expect 0 make
expect 0 ./program
rm break.sh
printf '#!/bin/sh\n./program\n' >break.sh
chmod +x break.sh
expect 0 "$VPROF" iterate --policy paper -- ./break.sh
says "1 run of it is complete" "▶ deep6"
mv good Makefile

# The number of calls of tiny varies, and is too large for a probe.  The last run is within the budget.
mkdir ../hot && cp main.c Makefile vprof.conf ../hot && cd ../hot || exit 99
cat >deep.c <<'END'
static volatile unsigned sink;
__attribute__((noinline)) void tiny(unsigned i) { sink += i; }
void rare(unsigned id) { sink += id; }
void handle(unsigned id) { rare(id); for (unsigned i = 0; i < id % 8 * 5000; i++) tiny(i); }
END
expect 0 "$VPROF" iterate -- ./program
# On a busy machine the line is about the machine.
if grep -q "▶ waiting for a CPU" "$work/.out"; then says "what is left to record is called too often"
else says "calls more that is not recorded"; fi
# How dear tiny's probe was in the first run depends on the machine (35 to 87 % here): so dear that the second build has
# none, or not, and then it is the third that has none.
grep -q "ended after [23] runs: what is left to record is called too often" "$work/.out" && pass ||
	{ fail "another end than that the rest is called too often"; cat "$work/.out"; }
costs="SELECT max(probe_cost) > 0.05, min(probe_cost) < 0.05 FROM iteration"
# The cost of a probe is measured on a machine that may be busy: once more, if it was too busy.
"$VPROF" sql --format csv "$costs" | grep -q 1,1 || "$VPROF" iterate --restart -- ./program >"$work/again" 2>&1
expect 0 "$VPROF" sql --format csv "$costs"
says 1,1
cd ../project || exit 99

# Control-C: the run is analysed, the answer stands.
cat >slow.sh <<'END'
#!/bin/sh
./program
kill -INT 0
sleep 5
END
chmod +x slow.sh
expect 130 setsid "$VPROF" iterate -- ./slow.sh
says "interrupted" "▶ deep6"
expect 0 "$VPROF" show runs
expect 0 "$VPROF" build
expect 0 ./program
finish

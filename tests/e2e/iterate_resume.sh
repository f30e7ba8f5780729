#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof iterate continues where it was interrupted; if something changed it says so and begins anew.
. "${srcdir:-.}/tests/e2e/lib.sh"

# The paper's policy needs five runs to get to deep4.
mkdir project && cd project || exit 99
cat >deep.c <<'END'
#include <unistd.h>
static volatile unsigned sink;
void deep4(unsigned id) { if (id % 8 == 0) usleep(2000); sink += id; }
void deep3(unsigned id) { deep4(id); sink++; }
void deep2(unsigned id) { deep3(id); sink++; }
void deep1(unsigned id) { deep2(id); sink++; }
void handle(unsigned id) { deep1(id); sink++; }
END
cat >main.c <<'END'
void handle(unsigned id);
int main(void) { for (unsigned id = 1; id <= 100; id++) handle(id); return 0; }
END
printf 'program: main.o deep.o\n\tcc -o program main.o deep.o\n' >Makefile

# Its run number $(cat when) ends as the file how says.
cat >bench.sh <<'END'
#!/bin/sh
echo >>runs
./program
[ "$(wc -l <runs)" = "$(cat when)" ] || exit 0
case $(cat how) in
kill) kill -KILL $PPID; exit 0 ;;
interrupt) kill -INT 0; sleep 5 ;;
fail) exit 9 ;;
esac
END
chmod +x bench.sh
expect 0 "$VPROF" annotate --start handle --end handle
printf '[build]\n\tcommand = make\n' >>vprof.conf

# next WHAT AT: the run number AT of the following commands ends so
next()
{
	: >runs
	echo "$1" >how
	echo "$2" >when
}

# plans FIRST_RUN: how many functions each run of an iteration recorded, and why it ended
plans()
{
	"$VPROF" sql --format csv "SELECT group_concat(recorded_cnt || ':' || added_cnt, ' '), max(stop)
		FROM iteration WHERE first_run = $1 AND ifnull(stop, '') NOT IN ('interrupted', 'command-failed')"
}

# The rounds without an interruption.
next nothing 0
expect 0 "$VPROF" iterate --policy paper -- ./bench.sh
says "run 5/12" "▶ deep4"
whole=$(plans 1)
case $whole in
*"1:1 2:1 3:1 4:1 5:1,closed"*) pass ;;
*) fail "the plans were $whole" ;;
esac

# Killed in its third run: two are whole, the third is made again.
next kill 3
expect 137 "$VPROF" iterate --policy paper -- ./bench.sh
expect 0 "$VPROF" show runs
expect 0 "$VPROF" iterate --policy paper -- ./bench.sh
says "continuing the iteration that began with run 6: 2 runs" "run 2/12" "run 3/12" "run 5/12" "▶ deep4"
if grep -q "run 1/12" "$work/.err"; then fail "it begins anew"; else pass; fi
if [ "$(plans 6)" = "$whole" ]; then pass; else fail "another plan after going on: $(plans 6)"; fi
expect 0 "$VPROF" iterate --policy paper --format json -- ./bench.sh
says '"reason": "closed"'

# Control-C, a command that fails; the whole document has the runs before, too.
next interrupt 2
expect 130 setsid "$VPROF" iterate --policy paper -- ./bench.sh
says "the same command continues"
expect 0 "$VPROF" iterate --policy paper --format json -- ./bench.sh
says "1 run of it is complete" '"reason": "closed"'
count=$(grep -c '"variance_drift"' "$work/.out")
if [ "$count" = 5 ]; then pass; else fail "the document has $count runs"; fi
next fail 4
expect 9 "$VPROF" iterate --policy paper -- ./bench.sh
expect 0 "$VPROF" iterate --policy paper -- ./bench.sh
says "3 runs of it are complete" "▶ deep4"

# More runs than it was allowed before; an iteration that came to its end begins anew.
next nothing 0
expect 0 "$VPROF" iterate --policy paper --max-runs 2 -- ./bench.sh
expect 0 "$VPROF" iterate --policy paper --max-runs 2 -- ./bench.sh
says "run 1/2"
expect 0 "$VPROF" iterate --policy paper --max-runs 9 -- ./bench.sh
says "2 runs of it are complete" "run 3/9" "▶ deep4"
expect 0 "$VPROF" iterate --policy paper -- ./bench.sh
says "run 1/12"

# anew WORDS COMMAND...: an interrupted iteration is not gone on with, because of WORDS
anew()
{
	words=$1
	shift
	next kill 2
	expect 137 "$VPROF" iterate --policy paper -- ./bench.sh
	next nothing 0
	"$@"
	says "$words" "run 1/"
}
anew "its command was" expect 0 "$VPROF" iterate --policy paper -- sh ./bench.sh
anew "its policy was paper" expect 0 "$VPROF" iterate -- ./bench.sh
anew "its k was 3" expect 0 "$VPROF" iterate --policy paper --k 1 -- ./bench.sh
anew "run 1/12" expect 0 "$VPROF" iterate --policy paper --restart -- ./bench.sh
# shellcheck disable=SC2317
edit_and_iterate()
{
	echo "$1" >>"$2"
	expect 0 "$VPROF" iterate --policy paper -- ./bench.sh
}
anew "the sources were changed" edit_and_iterate '/* ... */' deep.c
anew "vprof.conf was changed" edit_and_iterate '# ...' vprof.conf

# --ask: an answer that was given holds, the question that was not answered comes again.
has_terminals || { echo "no pseudo-terminal to be had, --ask is left out"; finish; }
next nothing 0
# shellcheck disable=SC2016
expect 0 sh -c 'printf "y\nq\n" | script -qec "$1" /dev/null' sh \
	"$VPROF iterate --ask --policy paper -- ./bench.sh"
says "you ended it"
# shellcheck disable=SC2016
expect 0 sh -c 'printf "n\n" | script -qec "$1" /dev/null' sh \
	"$VPROF iterate --ask --policy paper -- ./bench.sh"
says "2 runs of it are complete" "deep1 › sleep wait (" "calls functions that are not recorded yet: deep2" "but what you declined"
finish

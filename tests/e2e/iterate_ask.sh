#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof iterate --ask: the question for each factor, the source on request, no, quit, end of the input.
. "${srcdir:-.}/tests/e2e/lib.sh"
has_terminals || { echo "no pseudo-terminal to be had: script(1), /dev/pts"; exit 77; }

mkdir project && cd project || exit 99
cat >deep.c <<'END'
#include <unistd.h>
static volatile unsigned sink;
/* One in eight sleeps. */
static void
slow(unsigned id)
{
	if (id % 8 == 0)
		usleep(3000);
}
void middle(unsigned id) { slow(id); sink++; }
void other(unsigned id) { sink += id; }
void handle(unsigned id) { middle(id); other(id); }
END
cat >main.c <<'END'
void handle(unsigned id);
int main(void) { for (unsigned id = 1; id <= 100; id++) handle(id); return 0; }
END
printf 'program: main.o deep.o\n\tcc -o program main.o deep.o\n' >Makefile
expect 0 "$VPROF" annotate --start handle --end handle
printf '[build]\n\tcommand = make\n' >>vprof.conf

# answered STATUS ANSWERS OPTION...: iterate on a terminal of its own, on which ANSWERS are typed
answered()
{
	status=$1 answers=$2
	shift 2
	# shellcheck disable=SC2059
	printf "$answers" >"$work/.typed"
	# shellcheck disable=SC2016
	expect "$status" sh -c 'script -qec "$1" /dev/null <"$2"' sh \
		"$VPROF iterate --ask --restart $* -- ./program" "$work/.typed"
}

# silent TEXT: the output does not have it
silent()
{
	if grep -qF -e "$1" "$work/.out"; then
		fail "somebody said '$1'"
	else
		pass
	fi
}

# Without a terminal it is an error, before anything is built.
expect 2 "$VPROF" iterate --ask -- ./program
says "needs a terminal"
if [ -e program ]; then fail "it builds first"; else pass; fi

# paper, level by level: handle yes; middle: its source, nonsense, yes; slow calls nothing more.
answered 0 'y\ns\nwhat?\nYes\n' --policy paper
says "handle › sleep wait" "calls functions that are not recorded yet: middle, other" "run 3/" "▶ slow" \
	"is broken down to its end" "    10  void middle(unsigned id) { slow(id); sink++; }" "y: the next run records"
silent "declined"
silent "    11  "

# No is no: slow is never recorded.
answered 0 's\ny\nn\n' --policy paper
says "run 2/" "▶ middle › sleep wait" "but what you declined" "void handle(unsigned id)"
silent "run 3/"
expect 0 "$VPROF" sql --format csv "SELECT stop FROM iteration ORDER BY run DESC LIMIT 1"
says closed

# Quit, the end of the input, Control-C: vprof prints what it found.
answered 0 'y\nq\n' --policy paper
says "▶ middle › sleep wait" "you ended it"
answered 0 'y\n' --policy paper
says "▶ middle › sleep wait" "you ended it"
rm -f "$work/.out"
# shellcheck disable=SC2016
expect 130 sh -c '{
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		grep -q "go deeper" "$2" && break
		sleep 0.5
	done
	printf "\003"
	sleep 0.2
} | script -qefc "$1" /dev/null' sh "$VPROF iterate --ask --restart --policy paper -- ./program" "$work/.out"
says "▶ handle › sleep wait" "it was interrupted"

# Policy budget goes deeper at once: nothing is left to ask for.
answered 0 'q\n'
says "▶ slow"
silent "go deeper?"
finish

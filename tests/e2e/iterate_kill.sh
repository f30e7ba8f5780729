#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Killing vprof iterate at random moments, the whole group or vprof alone, or by Control-C, never leaves a
# project that does not build, a store that does not open, or a source that was changed.
#
#	KILLS=100 SEED=7 tests/e2e/iterate_kill.sh	more of them
. "${srcdir:-.}/tests/e2e/lib.sh"
kills=${KILLS:-10}
seed=${SEED:-$(date +%s)}
echo "seed $seed, $kills kills"

mkdir project && cd project || exit 99
cat >deep.c <<'END'
#include <unistd.h>
static volatile unsigned sink;
void deep4(unsigned id) { if (id % 8 == 0) usleep(1000); sink += id; }
void deep3(unsigned id) { deep4(id); sink++; }
void deep2(unsigned id) { deep3(id); sink++; }
void deep1(unsigned id) { deep2(id); sink++; }
void handle(unsigned id) { deep1(id); sink++; }
END
# Some work for the compiler: it is to be hit, too.
for i in 1 2 3; do
	awk -v n="$i" 'BEGIN {
		for (i = 0; i < 300; i++)
			printf "int work_%d_%d(int x) { return x * %d + x %% %d; }\n", n, i, i, i + 1
		printf "void deep1(unsigned); void unit_%d(unsigned id) { deep1(id + %d); }\n", n, n }' >unit$i.c
done
cat >main.c <<'END'
void handle(unsigned id);
int main(void) { for (unsigned id = 1; id <= 100; id++) handle(id); return 0; }
END
cat >Makefile <<'END'
objects = main.o deep.o unit1.o unit2.o unit3.o
program: $(objects)
	gcc -o $@ $(objects)
%.o: %.c
	gcc -O2 -g -c $<
END
expect 0 "$VPROF" annotate --start handle --end handle
printf '[build]\n\tcommand = make\n' >>vprof.conf
cksum ./*.c vprof.conf Makefile >../sums

now_ms()
{
	echo $(($(date +%s%N) / 1000000))
}

# How long it takes undisturbed.
began=$(now_ms)
expect 0 "$VPROF" iterate --policy paper -- ./program
says "▶ deep4"
whole_ms=$(($(now_ms) - began))

# strays PGID: waits for what a killed vprof had started
strays()
{
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		kill -0 "-$1" 2>/dev/null || return 0
		sleep 0.5
	done
	kill -KILL "-$1"
	fail "kill $kill left processes that did not end"
}

kill=0
while [ "$kill" -lt "$kills" ]; do
	kill=$((kill + 1))
	# Every third time everything is compiled anew, so that the first build is hit as well.
	[ $((kill % 3)) = 0 ] && rm -f program ./*.o
	restart=
	[ $((kill % 2)) = 0 ] && restart=--restart
	pause=$(awk -v s="$((seed + kill))" -v t="$whole_ms" 'BEGIN { srand(s); printf "%.3f", rand() * t / 1000 }')
	# A script's background processes ignore SIGINT.
	# shellcheck disable=SC2086
	setsid env --default-signal=INT "$VPROF" iterate --policy paper $restart -- ./program >../said 2>&1 </dev/null &
	pid=$!
	sleep "$pause"
	case $((kill % 4)) in
	0) how="-KILL $pid" ;;
	1) how="-INT -$pid" ;;
	*) how="-KILL -$pid" ;;
	esac
	# shellcheck disable=SC2086
	kill $how 2>/dev/null
	wait "$pid" 2>/dev/null
	strays "$pid"
	echo "kill $how after $pause s"
	failed_before=$failed

	# The user's own build works, without vprof, and so does the program.
	expect 0 make
	expect 0 ./program
	expect 0 cksum ./*.c vprof.conf Makefile
	if cmp -s "$work/.out" ../sums; then pass; else fail "a source was changed"; fi
	expect 0 "$VPROF" sql --format csv "PRAGMA integrity_check"
	says ok
	"$VPROF" show runs >/dev/null 2>&1 || fail "show runs does not work"
	expect 0 "$VPROF" build
	[ "$failed" = "$failed_before" ] || { sed 's/^/  said: /' ../said; break; }
done
expect 0 "$VPROF" iterate --policy paper -- ./program
says "▶ deep4"
finish

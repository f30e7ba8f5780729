#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The conclusions of the benchmarks' awk programs: the worked examples at their heads, and others.
. "${srcdir:-.}/tests/e2e/lib.sh"
bench=$top/tests/bench

# says EXPECTED COMMAND...: its output, lines joined by "; "
says()
{
	want=$1
	shift
	said=$("$@" 2>&1 | awk '{ printf "%s%s", (NR > 1 ? "; " : ""), $0 }')
	if [ "$said" = "$want" ]; then pass; else fail "'$*' says '$said', not '$want'"; fi
}

# From their order alone: with five no two of them say 95 %; of ten the second and the ninth do (2 * 11 / 1024 is 0.021);
# of twenty the sixth and the fifteenth (2 * 21,700 / 2^20 is 0.041).
median_of() { seq 1 "$1" | awk -f "$bench/median_ci95.awk"; }
says "3 1 5 5" median_of 5
says "5 2 9 10" median_of 10
says "10 6 15 20" median_of 20

# 97 where 99 are served beside it, the mean of 100 and 98, is 2.0202 % less; 99 where it is 100, 1 %.
cat >counted <<'END'
off 0 1000000 100
on 1000000 2000000 97
off 2000000 3000000 98
on 3000000 4000000 99
off 4000000 5000000 102
END
says "2.0202; 1" awk -f "$bench/turns.awk" counted
# Several things are attached in turns, and one of them is asked for; one turn here has half the time.
cat >three <<'END'
off 0 1000000 100
empty 1000000 2000000 99
off 2000000 3000000 100
clock 3000000 3500000 49
off 3500000 4500000 100
END
says "1" awk -v what=empty -f "$bench/turns.awk" three
says "2" awk -v what=clock -f "$bench/turns.awk" three
says "" awk -f "$bench/turns.awk" three

# pgbench's logs, one a client: what ended in a turn counts, what ended between two does not.
cat >turns <<'END'
off 1000000 2000000
on 2100000 3100000
off 3200000 4200000
END
cat >log.1 <<'END'
0 1 500 0 1 100000
0 2 500 0 1 900000
0 3 500 0 2 50000
0 4 500 0 2 100000
0 5 500 0 3 200000
END
cat >log.2 <<'END'
1 1 500 0 0 999999
1 2 500 0 3 150000
1 3 500 0 4 199999
1 4 500 0 4 200000
END
says "50" awk -f "$bench/turns.awk" turns log.1 log.2
finish

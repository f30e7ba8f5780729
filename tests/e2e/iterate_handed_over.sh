#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof iterate, one level a run (--policy paper), finds the function that takes the time although its caller only hands over to it: the caller's span ends before that call, so
# the time is in none of its callers that the first run knows.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >main.c <<'END'
#include <stdlib.h>

void done(int n);
static volatile unsigned long sum;
static void (*volatile handlers[2])(int);

static void generic(int n, int twice)
{
	for (int i = 0; i < n * (twice + 1); i++)
		sum += (unsigned long)i;
	done(n);
}
void quick(int n) { sum += (unsigned long)n; }
void slow(int n) { generic(n, 1); }

void request(int n, int kind)
{
	handlers[kind](n);
	sum++;
}

int main(void)
{
	handlers[0] = quick;
	handlers[1] = slow;
	srand(1);
	for (int i = 0; i < 3000; i++)
		request(rand() % 200000, rand() % 2);
	return 0;
}
END
cat >done.c <<'END'
static volatile int last;
void done(int n) { last = n; }
END
printf 'prog: main.c done.c\n\t$(CC) -O2 -o $@ main.c done.c\n' >Makefile
expect 0 "$VPROF" annotate --start request --end request
expect 0 "$VPROF" build -- make -B
expect 0 "$VPROF" sql "SELECT f.name || ' ' || g.name || ' ' || c.tail FROM call c JOIN function f ON f.key = c.caller JOIN function g ON g.key = c.callee"
says "slow generic 1" "generic done 1"
expect 0 "$VPROF" iterate --policy paper --k 1 -- ./prog
expect 0 "$VPROF" show factors --format json
python3 - "$work/.out" <<'END' && pass || { fail "what takes the time was not found"; cat "$work/.out"; }
import json, sys
factors = json.load(open(sys.argv[1]))["factors"]		# on a busy machine the first is the run queue
sys.exit(not any("generic" in (f["function"] or "") for f in factors))
END
finish

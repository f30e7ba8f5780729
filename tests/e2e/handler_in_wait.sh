#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Intervals in the handler of a signal that interrupts a wait: what the handler did is theirs, and no wait.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >ticker.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;

/* Loops, not time: what others take of the CPU is not its own. */
void collect(int loops)
{
	for (volatile int i = 0; i < loops * 1000; i++)
		;
}

void count(void) { collect(20); }

void tick(void)
{
	count();
	collect(ticks % 4 ? 100 : 1500);
	ticks++;
}

static void handle(int sig)
{
	(void)sig;
	tick();
}

int main(void)
{
	struct itimerval every = { { 0, 15000 }, { 0, 15000 } };
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
	int ends[2];
	char c;

	if (pipe(ends) < 0)
		return 1;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (ticks < 120)
		if (ticks < 60)
			usleep(100000);
		else if (fork() == 0) {		/* the child lets the parent read, after some ticks */
			usleep(200000);
			_exit(write(ends[1], "x", 1) != 1);
		} else if (read(ends[0], &c, 1) != 1)
			return 2;
	return 0;
}
END
printf '[interval "tick"]\nstart = tick\nend = tick\n' >vprof.conf
expect 0 "$VPROF" build --functions all -- cc -O1 -g -o ticker ticker.c
expect 0 "$VPROF" record -- ./ticker
culprit collect
"$VPROF" show intervals --format csv >rows
[ "$(tail -n +2 rows | wc -l)" -ge 120 ] && pass || fail "$(wc -l <rows) lines for 120 ticks"
"$VPROF" export --format csv --intervals all -o parts.csv && python3 - <<'P' && pass || fail "waits: $(grep wait: parts.csv | head -3); calls: $(grep -c collect parts.csv)"
import csv
rows = list(csv.DictReader(line for line in open("parts.csv") if not line.startswith("#")))
waits = sum(int(r["nanoseconds"]) for r in rows if r["part"].startswith("wait:") and "run" not in r["part"])
all_ns = sum(int(r["nanoseconds"]) for r in rows)
assert waits < all_ns / 100, (waits, all_ns)
assert len({r["interval"] for r in rows if r["part"].startswith("collect")}) >= 119
P
finish

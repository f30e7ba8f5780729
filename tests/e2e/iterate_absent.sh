#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The build makes a server and a program that checks it.  Through a pointer the server might call functions of both, so that the census has
# all of them.  The command runs the server alone: after that iterate compiles nothing of the other program, and says so.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >server.c <<'C'
typedef void fn(int);
void heavy(int id);
void light(int id);
fn *table[] = { light, heavy };
__attribute__((noinline)) void handle(int id) { table[id % 2](id); }
int main(void)
{
	for (int id = 0; id < 2000; id++)
		handle(id);
	return 0;
}
C
cat >work.c <<'C'
#include <unistd.h>
static volatile unsigned sink;
void tiny(int id) { sink += (unsigned)id; }
void heavy(int id) { for (int i = 0; i < 200; i++) tiny(i); if (id % 64 == 1) usleep(200); }
void light(int id) { tiny(id); }
C
cat >check.c <<'C'
#include <stdio.h>
typedef void fn(int);
static volatile int sink;
static void deeper(int id) { sink += id; }
void fake(int id) { deeper(id); }
fn *checked[] = { fake };
int main(void) { checked[0](1); puts("checked"); return 0; }
C
cat >Makefile <<'C'
all: server check
server: server.o work.o
	$(CC) -o $@ server.o work.o
check: check.o
	$(CC) -o $@ check.o
.c.o:
	$(CC) -O1 -c $<
C
printf '[interval "request"]\n\tstart = handle\n\tend = handle\n' >vprof.conf
expect 0 "$VPROF" build -- make
expect 0 "$VPROF" iterate --max-runs 1 -- ./server
grep -q "fake" vprof.data/build/plan && pass || fail "the census leaves it out anyway: $(cat vprof.data/build/plan)"
of_check=$(stat -c %i.%Y check.o) of_work=$(stat -c %i.%Y work.o)
for _ in 1 2 3 4 5; do			# on a machine that others use the first run may leave nothing to look into
	expect 0 "$VPROF" iterate --restart --overhead 0.001 --max-runs 3 -- ./server
	grep -q "run 2/3" "$work/.err" && break
done
says "1 of 3 units are in no program that ran: they are not compiled again" "run 2/3"
[ "$(stat -c %i.%Y check.o)" = "$of_check" ] && pass || fail "check.o was compiled again"
[ "$(stat -c %i.%Y work.o)" != "$of_work" ] && pass || fail "work.o was not: nothing was seen here"
finish

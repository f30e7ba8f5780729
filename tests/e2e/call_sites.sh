#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Each place of a recorded run's tree has the line that calls it, though functions have other numbers in the run
# than in the sources: the order of the link is not that of the files.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir project && cd project || exit 99
cat >alpha.c <<'END'
static volatile unsigned sink;
void last(unsigned id) { for (unsigned i = 0; i < 100 + id % 7 * 100; i++) sink += i; }
void first(unsigned id) { last(id); sink++; }
END
cat >beta.c <<'END'
void last(unsigned id);
void first(unsigned id);
static volatile unsigned sink;
void both(unsigned id) { first(id); last(id); sink++; }
END
cat >zeta.c <<'END'
void first(unsigned id);
void both(unsigned id);
static volatile unsigned sink;
void handle(unsigned id)
{
	both(id);
	first(id);
	sink++;
}
int main(void)
{
	for (unsigned id = 1; id <= 200; id++)
		handle(id);
	return 0;
}
END
cat >Makefile <<'END'
server: zeta.o beta.o alpha.o
	$(CC) -o $@ zeta.o beta.o alpha.o
.c.o:
	$(CC) -O1 -g -c $<
END
printf '[interval "request"]\n\tstart = handle\n\tend = handle\n' >vprof.conf
expect 0 "$VPROF" build --functions all -- make
expect 0 "$VPROF" record -- ./server
"$VPROF" sql --format csv "SELECT function, call_site FROM node WHERE kind = 'function' AND function NOT IN ('handle', 'main')
	ORDER BY function, call_site" | tail -n +2 >sites
cat >expected <<'END'
both,zeta.c:6
first,beta.c:4
first,zeta.c:7
last,alpha.c:3
last,alpha.c:3
last,beta.c:4
END
cmp -s expected sites && pass || { fail "not where it is called"; diff expected sites; }
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Calls that no source shows: through dlsym(), or from a library that calls back.  A run reveals them.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir project && cd project || exit 99
cat >server.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static volatile unsigned sink;
static void refill(unsigned id) { if (id % 4 == 0) usleep(1000); sink += id; }
void plugin(unsigned id) { refill(id); sink++; }
int by_value(const void *a, const void *b) { sink++; return *(const int *)a - *(const int *)b; }
void sort(int *values) { qsort(values, 3, sizeof(*values), by_value); sink++; }
void handle(unsigned id)
{
	void *found = dlsym(RTLD_DEFAULT, "plugin");
	int values[3] = { 3, (int)id, 1 };

	sort(values);
	((void (*)(unsigned))found)(id);
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
server: server.c
	$(CC) -O1 -g -rdynamic -o $@ server.c -ldl
END
printf '[interval "request"]\n\tstart = handle\n\tend = handle\n' >vprof.conf
expect 0 "$VPROF" build --functions all -- make
expect 0 "$VPROF" show call-graph --below handle
says sort
grep -q plugin "$work/.out" && fail "the sources do not show who calls plugin" || pass
expect 0 "$VPROF" record -- ./server
expect 0 "$VPROF" show call-graph --below handle
says "plugin (observed)" refill "by_value (observed)"
expect 0 "$VPROF" show call-graph --format json
says '"observed": true'
expect 0 "$VPROF" sql "SELECT f.name || '>' || g.name AS edge FROM observed_call o
	JOIN function f ON f.key = o.caller JOIN function g ON g.key = o.callee"
says "handle>plugin" "sort>by_value"
[ "$(grep -c '>' "$work/.out")" = 2 ] && pass || fail "main calls handle, the sources say so"

# The build's graph keeps them, and so iterate gets from handle to refill.
expect 0 "$VPROF" build -- make -B
expect 0 "$VPROF" show call-graph --below handle
says "plugin (observed)"
printf '[build]\n\tcommand = make\n' >>vprof.conf
expect 0 "$VPROF" iterate --policy paper -- ./server
says "▶ refill" "every factor above 5 % is broken down"
finish

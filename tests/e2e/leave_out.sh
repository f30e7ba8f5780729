#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# [callgraph] leave-out: calls of error-reporting functions count neither for heights nor for iterate.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir project && cd project || exit 99
cat >server.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile unsigned sink;
static void format(const char *text) { fputs(text, stderr); sink++; }
static void complain(const char *text) { format(text); sink++; }
static void err_begin(const char *text) { complain(text); sink++; }
_Noreturn void die(const char *text) { complain(text); exit(1); }
static void give_up(void) __attribute__((noreturn));
static void give_up(void) { die("enough\n"); }
void leaf(unsigned id) { if (id % 4 == 0) usleep(500); if (id > 100000) err_begin("id\n"); sink++; }
void handle(unsigned id) { leaf(id); if (id > 200000) give_up(); if (id > 300000) die("id\n"); }
int main(void)
{
	for (unsigned id = 1; id <= 200; id++)
		handle(id);
	return 0;
}
END
printf 'server: server.c\n\t$(CC) -O1 -g -o $@ server.c\n' >Makefile
printf '[interval "request"]\n\tstart = handle\n\tend = handle\n' >vprof.conf

# format 0, complain 1, err_begin 2, leaf 3, handle 4; die, give_up are noreturn.
expect 0 "$VPROF" build -- make
expect 0 "$VPROF" show call-graph
says "calls of 2 functions are left out" "die (left out)" "give_up (left out)" "     4  handle "
expect 0 "$VPROF" show call-graph --format json
says '"left_out": true'
printf '[callgraph]\n\tleave-out = err_*\n\tleave-out = ereport\n' >>vprof.conf
expect 0 "$VPROF" build -- make
says "nothing in the build has this name: leave-out = ereport"
expect 0 "$VPROF" show call-graph
says "calls of 3 functions are left out" "err_begin (left out)" "     1  handle " "     0  leaf "
expect 0 "$VPROF" show call-graph --below handle
says "err_begin (left out)" "give_up (left out)"
if grep -q complain "$work/.out"; then fail "what is left out is a way down"; else pass; fi
expect 0 "$VPROF" show call-graph --above complain
says err_begin leaf handle
expect 0 "$VPROF" show coverage --format csv
says "handle,server.c,12,1," "leaf,server.c,11,1," "complain,server.c,6,0," "die,server.c,8,0,"

# An empty value drops what is built in, and what was listed before.
printf '\tleave-out =\n' >>vprof.conf
expect 0 "$VPROF" show call-graph
says "8 functions, 9 calls" "     4  handle "
if grep -q "left out" "$work/.out"; then fail "nothing is left out"; else pass; fi
printf '\tleave-ot = x\n' >>vprof.conf
expect 2 "$VPROF" show call-graph
says "did you mean 'leave-out'"
finish

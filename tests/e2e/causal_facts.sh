#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Warnings of vprof causal whose reasons are planted: a lock that its holder takes again at once, sleeps until a time.
. "${srcdir:-.}/tests/e2e/lib.sh"

cp "$top/tests/e2e/causal/orders.c" . || exit 99
expect 0 "$VPROF" build --functions all -- ${REAL_CC:-cc} -O1 -D_GNU_SOURCE orders.c -o orders -lpthread

# ask MODE: an experiment with the program in that mode; lacks CODE: it does not warn of that
ask()
{
	"$VPROF" causal --target hold --speedups 50 --for 3s --format json -- ./orders "$1" >.out 2>.err
	case $? in 0 | 3) pass ;; *) fail "causal: $(cat .err)" ;; esac
}
lacks()
{
	grep -q "\"code\": \"$1\"" .out && fail "$1 is said: $(grep -A1 "$1" .out)" || pass
}
ask greedy
says '"code": "unfair-lock"' "releases of a lock, which grab takes"
lacks deadline
ask turns
lacks unfair-lock
lacks deadline
ask until
says '"code": "deadline"'
lacks unfair-lock
finish

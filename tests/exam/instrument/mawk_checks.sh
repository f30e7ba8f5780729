#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What mawk's own tests leave out: calls, getline, deep texts, errors that leave functions by longjmp or exit. Run in its tree.
set -u

check() {	# NAME WANT PROGRAM [FILE...]
	name=$1 want=$2
	shift 2
	got=$(./mawk "$@" 2>&1 </dev/null)
	if [ "$got" = "$want" ]; then echo "ok $name"; else echo "not ok $name"; echo "$got" | head -n 3; fi
}

repeated() { awk -v s="$1" -v n="$2" 'BEGIN { while (n--) printf "%s", s }' </dev/null; }

check recursion 150 'function f(n) { return n ? 1 + f(n - 1) : 0 } BEGIN { print f(150) }'
check "too deep" "mawk: program limit exceeded: eval stack size=1024" 'function f(n) { return 1 + f(n + 1) } BEGIN { f(0) }'
check "calls with arrays" 100 'function g(n, a) { a[n]; return n > 1 ? g(n - 1, a) : length(a) } BEGIN { print g(100) }'
check fibonacci 10946 'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } BEGIN { print f(21) }'
check "parentheses" 1 "BEGIN { print $(repeated '(' 90)1$(repeated ')' 90) }"
check "groups of a pattern" 1 "BEGIN { print \"a\" ~ /$(repeated '(' 40)a$(repeated ')' 40)/ }"
check "exit in a function" "before
end" 'function f(n) { if (!n) exit; f(n - 1) } BEGIN { print "before"; f(50); print "not here" } END { print "end" }'
check "getline from a command" 5000 'BEGIN { while (("seq 5000" | getline line) > 0) n++; print n }'
check "commands" 30 'BEGIN { for (i = 0; i < 30; i++) { c = "echo " i; c | getline x; close(c); n += x == i } print n }'
check "a pipe to a command" "1
2
3" 'BEGIN { for (i = 3; i; i--) print i | "sort" }'
check "long strings" 524288 'BEGIN { s = "x"; while (length(s) < 500000) s = s s; gsub(/x/, "ab", s); gsub(/ab/, "c", s); print length(s) }'
check "many fields" 65536 'BEGIN { s = "f "; while (n++ < 16) s = s s; $0 = s; print NF }'
check "arrays" 200000 'BEGIN { for (i = 0; i < 200000; i++) a[i % 7, i]; for (k in a) n++; print n }'
check "splits" "3 b" 'BEGIN { print split("a1b2c", p, /[0-9]/), p[2] }'
check "an error in the text" "mawk: line 1: missing ) near }" 'BEGIN { print ( }'
check "division" "inf" 'BEGIN { print 1 / 0 }'
check "printf" "  3.14|a   |ff" 'BEGIN { printf "%6.2f|%-4s|%x\n", 3.14159, "a", 255 }'
echo "the end"

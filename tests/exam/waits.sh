#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make exam-waits: a program of known waits (tests/waits), built by vprof with every function probed, is
# recorded; which thread waited, in which class, how long and because of which other is compared with what the program
# says itself.  ROUNDS waits a case (default 100), CASES: only those.  Prints a table and writes
# results/waits.json; exit 1 if a case has less than LEAST (default 0.99) of its waits right, or all cases together
# less than 0.99 of theirs (tests/waits/check.awk says what is compared; not where CASES chooses some).
# UNJUDGED: cases that are run, and not compared.
# LINK says how the program finds the runtime: linked (default) or preloaded.
set -u
top=$(cd "${srcdir:-.}" && pwd)
vprof=$PWD/vprof
results=${RESULTS:-$PWD/results}
rounds=${ROUNDS:-100}
work=$(mktemp -d "${TMPDIR:-/tmp}/vprof-exam-waits.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS MAKEFLAGS MAKELEVEL MFLAGS

mkdir -p "$work/library" "$work/project/tests/waits"
cp "$top"/tests/waits/* "$work/project/tests/waits/"
cd "$work/project" || exit 99
mv tests/waits/library.[ch] ../library/
gcc -shared -fPIC -O1 -D_GNU_SOURCE ../library/library.c -o ../library/liblibrary.so || exit 99
cat >vprof.conf <<'END'
[interval "request"]
	start = request
	end = request
[sync]
	acquire = own_acquire(arg0)
	release = own_release(arg0)
	acquire = asleep_acquire(arg0, spins=no)
	release = asleep_release(arg0)
	acquire = opaque_lock(arg0)
	release = opaque_unlock(arg0)
END
cat >build.sh <<'END'
set -e
flags="-Wall -Wextra -Werror -O1 -g -D_GNU_SOURCE -I. -isystem ../library"
for f in waits locks conds files special system own processes; do
	gcc -std=gnu11 $flags -c tests/waits/$f.c
done
g++ -std=c++20 $flags -c tests/waits/cxx.cc
${LINKER:-g++} ./*.o -o waits -L../library -llibrary -Wl,-rpath,"$PWD/../library" -lpthread
END
[ "${LINK:-linked}" = preloaded ] && LINKER=$(command -v g++) && export LINKER
if ! "$vprof" build --functions all -- sh build.sh >build.log 2>&1; then
	cat build.log
	exit 99
fi
# shellcheck disable=SC2086
"$vprof" record -- ./waits "$rounds" truth ${CASES:-} >record.log 2>&1 || { cat record.log; exit 99; }
"$vprof" export >tuples || exit 99
awk -v least="${LEAST:-0.99}" -f tests/waits/check.awk truth tuples |
	awk -v unjudged=" ${UNJUDGED:-} " 'index(unjudged, " " $1 " ") == 0' >table

awk 'BEGIN { printf "%-30s %-6s %7s %8s %7s %8s %10s\n", "case", "class", "waits", "classed", "waker", "length", "error us" }
	{ printf "%-30s %-6s %7d %8d %7d %8d %10.1f%s\n", $1, $2, $3, $4, $5, $6, $7, $8 ? "  MISSED" : "" }' table
bad=$(awk '{ n += $8 } END { print n + 0 }' table)
# If cases are chosen, each counts by itself.
all_good=yes
[ -n "${CASES:-}" ] || all_good=$(awk '{ for (i = 3; i <= 6; i++) n[i] += $i }
	END { for (i = 4; i <= 6; i++) bad += n[i] < n[3] * 0.99; print bad ? "no" : "yes" }' table)
cnt=$(wc -l <table)
mkdir -p "$results"
{
	printf '{"schema":"vprof.bench/1",\n "host":{"cores":%s,"kernel":"%s","load":"%s"},\n "rows":[' \
		"$(nproc)" "$(uname -r)" "$(cut -d' ' -f1 /proc/loadavg)"
	awk '{
		for (i = 4; i <= 6; i++) {
			what = i == 4 ? "classed right" : i == 5 ? "waker right" : "length right"
			printf "%s\n  {\"name\":\"%s: %s\",\"value\":%.3f,\"unit\":\"of its waits\",\"target\":0.99,\"ok\":%s}",
				n++ ? "," : "", $1, what, $i / $3, ($i >= $3 - int($3 * 0.01 + 0.999)) ? "true" : "false"
		}
	}' table
	printf ']}\n'
} >"$results/waits.json"
echo "$((cnt - bad)) of $cnt cases right, $(awk '{ n += $3 } END { print n + 0 }' table) waits ($results/waits.json)"
[ "$bad" = 0 ] && [ "$all_good" = yes ] && [ "$cnt" -gt 0 ]

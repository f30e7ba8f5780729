#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A function called from several places of another: iterate tells them apart.  How often each place calls is known by construction; factors
# still sum over places, the program does what it did, and warnings that are errors stay away.  C and C++, gcc and clang, with
# calls inside calls, in return statements and conditions, methods in a row, and places that say nothing because they cannot.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir project && cd project || exit 99
cat >common.h <<'END'
long add(long a, long n);
long twice(long a);
void note(long n);
long total(void);
END
cat >add.c <<'END'
#include <unistd.h>
#include "common.h"
static long sum;
long add(long a, long n) { usleep((unsigned)(20 + n % 7 * 40)); return a + n; }
long twice(long a) { usleep(20); return 2 * a; }
void note(long n) { usleep(10); sum += n; }
long total(void) { return sum; }
END
cat >prog.c <<'END'
#include <stdio.h>
#include "common.h"
long handle(long id);
long handle(long id)
{
	long a = 0;

	if (id % 3)
		a = add(id, 3);
	a += add(a, 5);
	a = add(
		add(a, 6),
		twice(a) % 1);
	for (int i = 0; i < 2; i++)
		note(a);
	if (id % 2)
		note(1);
	return id % 4 ?
		(short)add(a, 1) :
		(short)add(a, 2);
}
int main(void)
{
	for (long id = 0; id < 120; id++)
		note(handle(id));
	printf("%ld\n", total());
	return 0;
}
END
cat >prog.cc <<'END'
#include <cstdio>
#include <string>
extern "C" {
#include "common.h"
}
struct row {
	long sum = 0;
	row &put(long n) { sum += add(sum, n); return *this; }
	long put(const char *text) { return sum += add(sum, text[0] % 5); }
	operator long() const { return sum; }
};
static row made(long n) { row r; r.put(n); return r; }
template<typename T> long of(T n)
{
	return 1 + (n > 100 ? add(n, 1) : add(
		n, 2));
}
long handle(long id)
{
	row r;

	r.put(id).put(id % 4);
	if (id % 3)
		r.put(std::string("text").c_str());
	r.put((std::string("a") + "b").c_str());
	const row &kept = made(1),
		  &other = made(2);
	auto late = [&](long n) { return add(n, 1) + add(n, 2); };
	long a = add(kept, 4);
	a = id % 4 ?
		add(a, other) :
		add(a, 1);
	return a + of(id) + late(1) + r;
}
int main()
{
	for (long id = 0; id < 120; id++)
		note(handle(id));
	std::printf("%ld\n", total());
	return 0;
}
END
cat >Makefile <<'END'
W = -Wall -Wextra -Wconversion -Werror -Wno-unused-command-line-argument
prog: main.o add.o
	$(LD) -o $@ main.o add.o
main.o: $(SOURCE)
	$(LD) $(O) $(W) -c $(SOURCE) -o $@
add.o: add.c
	$(CC) $(O) $(W) -c add.c
END
printf '[interval "request"]\n\tstart = handle\n\tend = handle\n' >vprof.conf

# asks CALLER CALLEE: in the plan on disk.  A name of C++ stands there without parameters.
asks()
{
	"$VPROF" sql --format csv "SELECT 'sites	' || a.file || '	' || a.line || '	' || substr(a.name || '(', 1, instr(a.name || '(', '(') - 1)
		|| '	' || b.file || '	' || b.line || '	' || substr(b.name || '(', 1, instr(b.name || '(', '(') - 1)
		FROM function a, function b WHERE a.name = '$1' AND b.name = '$2'" | sed -n 's/"//g; 2p' >>vprof.data/build/plan
}

# told LANGUAGE COMPILER COMPILER-THAT-LINKS SOURCE OPTIMIZATION CALLER CALLEE...
told()
{
	command -v "$2" >/dev/null && command -v "$3" >/dev/null || return
	rm -rf vprof.data ./*.o prog
	export CC="$2" LD="$3" SOURCE="$4" O="$5"
	expect 0 make
	./prog >plain
	rm -f ./*.o prog
	expect 0 "$VPROF" build --functions all -- make
	language=$1 what="$*" caller=$6 cc="$2" ld="$3"
	shift 6
	for callee; do
		asks "$caller" "$callee"
	done
	"$VPROF" sql "SELECT name FROM function" >names
	[ "$(grep -c '^sites' vprof.data/build/plan)" = $# ] && pass || fail "$what: not in the plan: $(cat vprof.data/build/plan names)"
	rm -f ./*.o prog
	expect 0 make CC="$VPROF cc $cc" LD="$VPROF cc $ld"
	expect 0 "$VPROF" record -- ./prog
	set -- "$language" "$what"
	./prog | cmp -s - plain && pass || fail "$*: the program does something else"
	"$VPROF" sql --format csv "SELECT f.function, f.call_site, round(f.calls_per_interval * 120) FROM node f JOIN node p ON f.parent = p.id
		AND f.finding = p.finding WHERE p.function IN ('handle', 'handle(long)') AND f.kind = 'function' AND f.finding = (SELECT max(finding) FROM node)
		ORDER BY f.function, f.call_site" | tail -n +2 >sites
	cmp -s "expected.$1" sites && pass || { fail "$*: places that call"; diff "expected.$1" sites; }
	[ "$("$VPROF" sql --format csv "SELECT count(*) FROM run WHERE function_cnt > (SELECT count(*) FROM function)" | tail -n 1)" = 0 ] && pass ||
		fail "$*: places count as functions"
	"$VPROF" show factors --all --threshold -1 --format json >factors
	"$VPROF" show variance-tree --format json >tree
	python3 ../sums.py >verdict
	grep -q wrong verdict && fail "$*: $(cat verdict)" || pass
}
cat >../sums.py <<'END'
import json
nodes, factors = json.load(open("tree"))["nodes"], json.load(open("factors"))["factors"]
def inside(n, name):		# below a call of itself
    while n["parent"] is not None:
        n = nodes[n["parent"]]
        if n["function"] == name and n["kind"] == "function":
            return True
places = [n for n in nodes if n["kind"] == "function" and n["function"].startswith("add") and not inside(n, n["function"])]
share = sum(n["share"] for n in places)
f = [f for f in factors if f["kind"] == "function" and f["function"].startswith("add")]
for n in places:	# the inner of two calls sleeps for 260 us at least, the outer for 20
    if n["call_site"] == "prog.c:12" and n["mean_ns"] < 260e3:
        print("wrong", n)
print("ok" if len(places) > 3 and len(f) == 1 and abs(f[0]["share"] - share) < 1e-6 else "wrong", share, f)
END
cat >expected.c <<'END'
add,prog.c:10,120
add,prog.c:11,120
add,prog.c:12,120
add,prog.c:19,90
add,prog.c:20,30
add,prog.c:9,80
note,prog.c:15,240
note,prog.c:17,60
twice,prog.c:13,120
END
cat >expected.cc <<'END'
add,prog.cc:29,120
add,prog.cc:31,90
add,prog.cc:32,30
handle::{lambda},prog.cc:28,120
made,"prog.cc:26,prog.cc:27",240
of,prog.cc:33,120
row::operator long,"prog.cc:29,prog.cc:31,prog.cc:33",330
row::put(const char *),prog.cc:24,80
row::put(const char *),prog.cc:25,120
row::put(long),prog.cc:22,240
END
told c gcc gcc prog.c -O2 handle add note
told c clang clang prog.c -O1 handle add note
told cc gcc g++ prog.cc -O2 handle add made "row::put(const char *)"
told cc clang clang++ prog.cc -O0 handle add made "row::put(const char *)"

# iterate asks for it by itself: for what has a share of the variance, which on a machine that others use is chance.
export CC=gcc LD=gcc SOURCE=prog.c O=-O2
rm -rf vprof.data ./*.o prog
expect 0 "$VPROF" build -- make
for try in 1 2 3 4 5; do
	"$VPROF" iterate --restart --threshold 0 --overhead 1 --max-runs 2 -- ./prog >out 2>err
	grep -q "next: the calls of add in handle, each by its place (prog.c:10,prog.c:11,prog.c:12,prog.c:19,prog.c:20,prog.c:9)" err && break
done
"$VPROF" sql --format csv "SELECT call_site FROM node WHERE function = 'add' AND finding = (SELECT max(finding) FROM node) ORDER BY call_site" |
	tr -d '\n' | grep -q "prog.c:10prog.c:11prog.c:12prog.c:19prog.c:20prog.c:9" && pass || fail "iterate, $try: $(cat err)"
finish

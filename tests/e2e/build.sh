#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof build: every way to put the launcher in front of the compiler, and what may go wrong.
. "${srcdir:-.}/tests/e2e/lib.sh"

mkdir -p project/src && cd project || exit 99
cat >src/work.c <<'END'
#include "work.h"
static int leaf(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ n; return s; }
int middle(int n) { return n > 3 ? leaf(n) + leaf(n / 2) : leaf(n); }
END
cat >src/work.h <<'END'
int middle(int n);
END
cat >src/main.c <<'END'
#include <stdio.h>
#include "work.h"
static int handle(int n) { return middle(n); }
int main(void) { int s = 0; for (int i = 0; i < 500; i++) s += handle(i); printf("%d\n", s); return 0; }
END
cat >Makefile <<'END'
CFLAGS = -O1 -g -Wall -Wextra -Werror -MMD
program: main.o work.o
	$(CC) -o $@ main.o work.o
%.o: src/%.c
	$(CC) $(CFLAGS) -c -o $@ $<
clean:
	rm -f program *.o *.d
-include main.d work.d
END
make -s && ./program >../expected && make -s clean || exit 99
find . -type f | sort | xargs sha256sum >../before

# No interval is defined.
expect 2 "$VPROF" build -- make
says "VPROF_BEGIN"

expect 0 "$VPROF" annotate --start handle --end handle --dry-run
says '[interval "request"]'
[ ! -e vprof.conf ] && pass || fail "--dry-run wrote vprof.conf"
expect 0 "$VPROF" annotate --start handle --end handle
expect 0 "$VPROF" build -- make
says "probed"
expect 0 ./program
cmp -s "$work/.out" ../expected && pass || fail "the instrumented program says something else"
expect 0 "$VPROF" record -- ./program
says "500 intervals"
cmp -s "$work/.out" ../expected && pass || fail "recording changed the program's output"
expect 0 "$VPROF" show factors --all
says middle

# The sources are as they were.
find . -type f | grep -v -e vprof -e program -e '\.[od]$' | sort | xargs sha256sum >../after
cmp -s ../before ../after && pass || fail "the build changed the user's files"

# The remembered command; another plan recompiles what changes and keeps the answer right.
expect 0 "$VPROF" build --functions leaf,middle,handle
expect 0 "$VPROF" record -- ./program
expect 0 "$VPROF" show variance-tree --min-share 0
says leaf
expect 0 "$VPROF" build --functions all
says "of them probed"
printf '# these\nleaf  # the smallest\n\n' >list
expect 0 "$VPROF" build --functions list
says "1 of them probed"

# If most calls are not recorded, the probes stand aside; nothing else in the plan changes.
calls_of() { nm main.o | sed -n 's/^ *w \(vprof_\(enter\|leave\).*\)$/\1/p' | sort | tr '\n' ' '; }
expect 0 "$VPROF" build --functions handle
[ "$(calls_of)" = "vprof_enter vprof_leave " ] && pass || fail "a probe calls '$(calls_of)'"
# A runtime that expects other things of its probes has no say in these.
echo 'void vprof_register(unsigned char *sites, unsigned n) { while (n--) { *sites = 2; sites += 32; } }' >old.c
expect 0 gcc main.o work.o old.c -o old
expect 0 ./old
cmp -s "$work/.out" ../expected && pass || fail "with an older runtime the program says something else"
rm old old.c
if [ "$(uname -m)" = x86_64 ]; then
	expect 0 "$VPROF" build --functions handle --sampled
	says "1 of 2 units recompiled"
	[ "$(calls_of)" = "vprof_enter_aside vprof_leave_aside " ] && pass || fail "aside a probe calls '$(calls_of)'"
	expect 0 "$VPROF" record --sample 1/8 -- ./program
	grep -q "build --sampled" "$work/.err" && fail "--sampled is advised" || pass
	expect 0 "$VPROF" build --functions all --sampled
	expect 0 "$VPROF" record -- ./program
	expect 0 "$VPROF" show execution-table --format csv
	says leaf
	expect 0 "$VPROF" build --functions handle
	expect 0 "$VPROF" record --sample 1/8 -- ./program
	says "build --sampled"
	expect 0 "$VPROF" record --sample 1/7 -- ./program
	grep -q "build --sampled" "$work/.err" && fail "--sampled is advised" || pass
	cp vprof.conf ../conf
	printf '[record]\nsample = 1/8\n' >>vprof.conf
	expect 0 "$VPROF" build --functions handle
	nm main.o | grep -q vprof_enter_aside && pass || fail "[record] sample: the probe does not stand aside"
	mv ../conf vprof.conf
	expect 0 "$VPROF" build --functions handle
fi
expect 2 "$VPROF" build --functions leef
says "the nearest is 'leaf'"

# CC= and masquerade and no build tool at all.
make -s clean
expect 0 make CC="$VPROF cc gcc"
cmp -s "$work/.out" /dev/null || :
expect 0 "$VPROF" record -- ./program
make -s clean
expect 0 "$VPROF" build -- sh -c 'gcc -O2 -Isrc src/main.c src/work.c -o program'
expect 0 "$VPROF" record -- ./program
says "500 intervals"

# The compiler by its path; a ccache in front of it knows nothing of plans; one behind the launcher.
make -s clean
expect 0 "$VPROF" build --functions middle -- make CC="$(command -v gcc)"
expect 0 "$VPROF" record -- ./program
says "500 intervals"
if command -v ccache >"$work/.which"; then
	export CCACHE_DIR="$work/ccache"
	for cc in "ccache gcc" "$(command -v ccache) gcc" "$VPROF cc ccache gcc"; do
		for function in leaf middle leaf; do
			make -s clean
			expect 0 "$VPROF" build --functions "$function" -- make CC="$cc"
			expect 0 "$VPROF" record -- ./program
			expect 0 "$VPROF" show execution-table --format csv
			awk -F, 'NR > 1 && $2 !~ /^wait:/ { print $2 }' "$work/.out" | sort -u | tr '\n' ' ' >"$work/.found"
			grep -qx "$function other " "$work/.found" && pass ||
				fail "with CC='$cc' and a probe in $function: $(cat "$work/.found")"
		done
	done
else
	echo "no ccache: left out"
fi

# A compiler is started as without vprof: with what the user preloads, without what catches compilers.
mkdir ../spy && cat >../spy/gcc <<END
#!/bin/sh
echo "preloaded: \$LD_PRELOAD" >>"$work/spied"
exec $(command -v gcc) "\$@"
END
chmod +x ../spy/gcc
for preloaded in '' libm.so.6 'libm.so.6:libdl.so.2'; do
	make -s clean
	rm -f ../spied
	expect 0 env PATH="$work/spy:$PATH" LD_PRELOAD="$preloaded" "$VPROF" build --functions leaf -- make CC=gcc
	[ "$(sort -u ../spied)" = "preloaded: $preloaded" ] && pass ||
		fail "with LD_PRELOAD='$preloaded' a compiler found $(sort -u ../spied)"
done

# cc --print shows the text that is compiled: the probe and the user's text, without the headers' text.
expect 0 "$VPROF" build --functions handle -- make
expect 0 "$VPROF" cc --print src/main.c
says '{ 0, { 0 }, 3, ' 'lines of headers'
grep -A 5 '^static int handle(int n) {$' "$work/.out" | sed 's/(.*//' | tr '\n\t' '|>' >"$work/.found"
grep -qx 'static int handle|>char vprof_here_0 __attribute__|>if |>struct vprof_later vprof_later_0 .*|>struct vprof_span vprof_span_ .*|>return middle|' "$work/.found" && pass ||
	fail "probes are not on lines of their own: $(cat "$work/.found")"
grep -q '__pid_t\|vprof_enter' "$work/.out" && fail "declarations are printed" || pass
expect 0 "$VPROF" cc --print src/work.c
says "nothing is inserted into"
expect 2 "$VPROF" cc --print src/wrok.c
says "no unit of the last build" "src/work.c"

# show coverage lists what libclang does not understand, also of a unit that is known from before.
echo 'int outer(int n) { int inner(int x) { return x + n; } return inner(1); }' >nested.c
for functions in outer leaf; do
	rm -f nested.o
	expect 0 "$VPROF" build --functions $functions -- gcc -c nested.c
	expect 0 "$VPROF" show coverage
	says "functions and calls may be missing" "nested.c:1: " "all that were seen could"
done
expect 0 "$VPROF" show coverage --format json
says '"misread": [' 'function definition is not allowed here'
rm nested.o

# A macro may be a very long line: broken where it changes nothing.
cat >long.c <<'END'
int puts(const char *);
#define TWICE(x) x x
#define MANY(x) TWICE(TWICE(TWICE(x)))
void long_line(void) { MANY(puts("It's \" one line, and stays that");) int n = 1; n += ' '; (void)n; }
END
expect 0 "$VPROF" build --functions long_line -- gcc -c long.c
expect 0 "$VPROF" cc --print long.c
awk '/^void long_line/ { on = 1 } on && length() > 150 { bad = 1 }
	{ whole += gsub(/puts\("It.s \\" one line, and stays that"\);/, "") }
	END { exit bad || whole != 8 }' "$work/.out" && pass ||
	fail "a long line is broken in a string, or not at all"
rm long.o

# A place that is nowhere; a build that compiles nothing; one that fails.
sed 's/start  = handle/start  = handel/' vprof.conf >x && cp vprof.conf good.conf && mv x vprof.conf
make -s clean
expect 2 "$VPROF" build -- make
says handel handle
mv good.conf vprof.conf

# So is a key that does not compile there, and a mark where the sources have none.
cp vprof.conf good.conf
sed 's/^ *key .*//; s/end    *= \(.*\)/end = \1\nkey = arg0->no_such_field/' good.conf >vprof.conf
make -s clean
expect 2 "$VPROF" build -- make
says 'cannot be put there' 'did not compile' "is 'key = arg0->no_such_field' a C expression"
sed 's/start  = handle/start  = mark:handle/' good.conf >vprof.conf
make -s clean
expect 2 "$VPROF" build -- make
says 'start = mark:handle' 'no source has a VPROF_ macro'
mv good.conf vprof.conf
rm -rf vprof.data
make -s clean && make -s
expect 4 "$VPROF" build -- make
says "make clean"
make -s clean
echo 'int broken(void) { return no_such_variable; }' >>src/work.c
expect 2 "$VPROF" build -- make
says no_such_variable
finish

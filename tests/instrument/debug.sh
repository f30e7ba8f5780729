#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Tools that point at a place in an instrumented program point at the user's source: debuggers, core dumps, addr2line, assert, __FILE__,
# sanitizers.  Each is asked about the plain and about the probed program.
. "${srcdir:-.}/tests/instrument/lib.sh"
mkdir src "sub dir"
asked=0
export LC_ALL=C.UTF-8

cat > "sub dir/deep.h" <<'EOF'
static inline int
from_header(int n)
{
	return n * 2;
}
#define FAIL_IN_MACRO(n) \
	do { if ((n) == 6) abort(); } while (0)
EOF
cat > src/way.c <<'EOF'
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "deep.h"

static int third(int n)
{
	int local = from_header(n);

	FAIL_IN_MACRO(n);
	if (n == 7)
		abort();
	if (n == 8)
		assert(local < 3);
	if (n == 9) {
		char *p = malloc(4);

		free(p);
		return *p;
	}
	if (n == 10)
		return 1 << (n + 30);
	printf("%s:%d %s %d\n", __FILE__, __LINE__, __func__, local);
	return local;
}

static int
second(int n)
{
	int x = third(n);

	return x + 1;
}

#line 100 "gram mar.y"
int first(int n)
{
	return second(n) + 1;
}
#line 41 "src/way.c"

int main(int argc, char **argv)
{
	return first(argc > 1 ? atoi(argv[1]) : 1) < 0;
}
EOF
cat > src/race.c <<'EOF'
#include <pthread.h>
static int shared;
static void
touch(void)
{
	shared++;
}
static void *
worker(void *a)
{
	touch();
	return a;
}
int main(void)
{
	pthread_t t;

	pthread_create(&t, 0, worker, 0);
	pthread_join(t, 0);
	touch();
	pthread_create(&t, 0, worker, 0);
	touch();
	pthread_join(t, 0);
	return 0;
}
EOF

# make COMPILER OPTION... SOURCE: plain/prog and probed/prog; each is made and kept where the other is, since
# debug information may be beside it
build() {
	rm -rf plain probed build && mkdir plain probed
	"$@" -I"sub dir" -o prog -pthread 2> err || return 1
	for f in prog*; do mv "$f" plain; done
	"$launch" -b build -p all -t "$source/annotations/pthread.sync" -R "$runtime" -- \
		"$@" -I"sub dir" -o prog -pthread 2> err || { fail "$*"; cat err; return 1; }
	for f in prog*; do mv "$f" probed; done
	"$launch" -b build -l > list
	grep -v ' probed$' list && fail "$*: not all are probed"
	return 0
}

# Addresses, process numbers, and names of what is loaded may differ.
normalised() {
	sed -E 's/0x[0-9a-f]+/X/g; s/==[0-9]+==/==P==/; s/\((LWP|pid=|tid=)[^)]*\)/()/g; s/\(BuildId[^)]*\)//
		s/\([^()]*prog\+?X?\) *//g; s/T[0-9]+ \(.*(finished|running)/T (/; s/pid=[0-9]+//; s/ +$//
		s/[Pp]rocess [0-9]+/process/; s/\.[0-9]+/.N/' | grep -v -E '^(Shadow|  X:|=>X)|_libthread|warning:|debuginfod|^\[|Downloading'
}

# same WHAT COMMAND...: says the same in plain/ and in probed/
same() {
	what=$1
	shift
	asked=$((asked + 1))
	for kind in plain probed; do
		rm -f prog* core && cp $kind/prog* . && "$@" > raw 2>&1
		normalised < raw > $kind.said
	done
	[ -s plain.said ] || fail "$what: nobody says anything"
	cmp -s plain.said probed.said || { fail "$what differs"; diff plain.said probed.said; }
}

debugger() {
	gdb -q -batch -nx -ex 'set width 0' -ex 'set debuginfod enabled off' "$@" < /dev/null | grep -E '^#|^[0-9]|^\$|^Line|^Current source|signal SIG'
}

# In a core dump, too, where one can be made.
backtrace() {
	debugger -ex "run $1" -ex bt -ex 'frame function third' -ex 'print local' -ex 'print n' \
		-ex 'info line first' -ex 'info source' -ex 'generate-core-file core' ./prog
	[ ! -e core ] || debugger -ex bt ./prog core
}

stepped() {
	debugger -ex 'break way.c:10' -ex 'run 1' -ex bt -ex next -ex next -ex 'print local' -ex up -ex 'print n' ./prog
}

for compiler in $compilers; do
	for options in "-g" "-g -gdwarf-4" "-g -gdwarf-5" "-g -gsplit-dwarf" "-ggdb3" "-g1" "-g -O1 -fno-inline -fno-ipa-sra" \
		"-g -flto" "-g -gz" "-g -fdebug-prefix-map=$work=/elsewhere"; do
		[ "$compiler" = gcc ] || case $options in *ipa-sra*) options="-g -O1 -fno-inline" ;; esac
		# shellcheck disable=SC2086
		build "$compiler" $options src/way.c || { echo "$compiler $options: left out"; continue; }
		same "$compiler $options: output" ./prog 1
		same "$compiler $options: assert" ./prog 8
		if command -v gdb > which && debugger -ex 'run 1' -ex bt plain/prog > which 2>&1; then
			case $options in
			*O1* | -g1*) same "$compiler $options: backtrace" sh -c 'gdb -q -batch -nx -ex "run 7" -ex bt ./prog 2>&1 | grep "^#" |
				sed "s/^\(#[0-9]* *\).* in /\1/; s/(.*) at/ at/"' ;;
			*) same "$compiler $options: backtrace" backtrace 7
			   same "$compiler $options: backtrace from a macro" backtrace 6
			   same "$compiler $options: steps" stepped ;;
			esac
		fi
		# addr2line of binutils 2.40 mistakes one file for another where there are several.
		same "$compiler $options: addr2line" sh -c 'for f in second third main; do
			nm prog | awk -v f=$f "\$3 == f { print \$1 }" | xargs -r addr2line -f -e prog; done; echo asked'
	done
	for sanitizer in address:9 undefined:10; do
		build "$compiler" -g -O0 -fsanitize=${sanitizer%:*} src/way.c || { echo "$compiler $sanitizer: left out"; continue; }
		for n in 8 ${sanitizer#*:}; do
			same "$compiler -fsanitize=${sanitizer%:*}, case $n" ./prog $n
		done
	done
	if build "$compiler" -g -O0 -fsanitize=thread src/race.c; then
		same "$compiler -fsanitize=thread" sh -c 'setarch -R ./prog 2>&1 | grep -c "in touch" | sed "s/[1-9]/some/"
			setarch -R ./prog 2>&1 | grep -o "touch .*race.c:[0-9:]*\|worker .*race.c:[0-9:]*" | sort -u'
	fi
done
[ "$asked" -gt 20 ] || fail "only $asked questions"
echo "$asked questions, $failed failures"
[ $failed = 0 ]

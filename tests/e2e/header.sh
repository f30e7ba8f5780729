#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# <vprof.h>: every macro compiles as C99 and C++11 without a warning, enabled or not; with
# -DVPROF_DISABLE nothing is evaluated and nothing of vprof is left.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >all.c <<'END'
#include <vprof.h>
#include <stdio.h>

static int calls;
static int count(int x) { calls++; return x; }

int main(void)
{
	int lock = 0, i;
	void *queue = &lock;
	const void *task = queue;
	unsigned long long key = 7;
	struct { unsigned bits : 3; } s = { 2 };
	char text[17] = "00f067aa0ba902b7";

	for (i = 0; i < 5; i++) {
		VPROF_BEGIN("request", count(i));
		{ VPROF_SCOPE("outer"); VPROF_SCOPE("inner"); lock = i; }
		VPROF_PAUSE();
		VPROF_RESUME("request", i);
		VPROF_ENQUEUE(queue, task);
		VPROF_DEQUEUE(queue, task);
		VPROF_ACQUIRE(&lock);
		VPROF_ACQUIRED(&lock);
		VPROF_RELEASE(&lock);
		VPROF_SPIN_BEGIN(&lock);
		VPROF_SPIN_END(&lock);
		VPROF_FALSE_WAKEUP();
		VPROF_WORK("rows", i);
		VPROF_TRACE("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", i);
		VPROF_TRACE(text, s.bits);
		VPROF_CALL(text);
		VPROF_CALL(key);
		if (i == 4)
			VPROF_ABORT("request", i);
		else
			VPROF_END("request", i);
	}
	VPROF_BEGIN("other", key);
	VPROF_END("other", s.bits);
	printf("calls %d\n", calls);
	return 0;
}
END
cp all.c all.cc
strict="-pedantic -Wall -Wextra -Wshadow -Werror"
# What C++ projects ask for beyond that.
strict_cxx="-Wold-style-cast -Wzero-as-null-pointer-constant -Wconversion -Wsign-conversion"

compiles()
{
	command -v "$1" >/dev/null || return
	expect 0 "$@" $strict -I"$top/annotations" -o all
	expect 0 ./all
	says "calls 0"
	nm all >symbols
}

for compiler in "gcc -std=c99 all.c" "clang -std=c99 all.c" "g++ -std=c++11 $strict_cxx all.cc" \
	"clang++ -std=c++11 $strict_cxx all.cc"; do
	compiles $compiler
	compiles $compiler -DVPROF_DISABLE
	grep -q vprof symbols && fail "$compiler -DVPROF_DISABLE: something of vprof is left"
done

command -v g++ >/dev/null && compiles g++ -std=c++11 $strict_cxx -Wuseless-cast all.cc -DVPROF_DISABLE

# Under vprof every macro does something; -pedantic -Werror still holds.
expect 0 "$VPROF" build -- gcc -std=c99 $strict all.c -o all
expect 0 "$VPROF" record -o all -- ./all
says "calls 5" "4 intervals of 'request'"
expect 0 "$VPROF" export all
says " aborted" " outer " " inner " "creation " "work 2 rows 1"
if command -v g++ >/dev/null; then
	expect 0 "$VPROF" build -- g++ -std=c++11 $strict $strict_cxx all.cc -o all
	expect 0 "$VPROF" record -o cxx -- ./all
	says "calls 5" "4 intervals of 'request'"
fi
finish

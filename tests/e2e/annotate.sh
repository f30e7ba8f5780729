#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# vprof annotate --write: marks in the sources as a patch; the marked program is the interval.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >s.c <<'END'
/* a server */
#include <stdio.h>

struct req { long id; };
#define GIVE(x) return (x)

static int send_reply(struct req *r, int code)
{
	if (code > 3) return printf("return %d", code) > 0 ? 1 : 0; /* return */
	return code +
	       (int)r->id;
}

static void enqueue(struct req *r)
{
	if (r->id < 0)
		return;
	r->id++;
}

static int by_macro(int x) { GIVE(x); }

int main(void)
{
	int sum = 0;
	for (int i = 0; i < 300; i++) {
		struct req r = { i };
		enqueue(&r);
		sum += send_reply(&r, by_macro(i % 3));
	}
	printf("%d\n", sum);
	return 0;
}
END
cp s.c original.c
expect 2 "$VPROF" annotate --write --start enqueue --end send_reply
says "vprof build -- make"
expect 2 "$VPROF" build -- cc -O1 -o s s.c
expect 0 ./s
cp "$work/.out" expected

expect 0 "$VPROF" annotate --write --dry-run --start enqueue --end send_reply --key 'arg0->id'
cmp -s s.c original.c && pass || fail "--dry-run changed the source"
says '+	VPROF_BEGIN("request", (r->id));' '+#include <vprof.h>'
expect 2 "$VPROF" annotate --write --start enqueue --end no_such
expect 2 "$VPROF" annotate --write --start by_macro --end by_macro
says "is in a macro"
cmp -s s.c original.c && pass || fail "a refused mark changed the source"

expect 0 "$VPROF" annotate --write --start s.c:18 --end send_reply --key r
cp "$work/.out" the.patch
[ "$(grep -c VPROF_ s.c)" = 3 ] && pass || fail "three marks, $(grep -c VPROF_ s.c) lines"
expect 0 "$VPROF" build -- cc -O1 -o s s.c
expect 2 "$VPROF" annotate --write --start enqueue --end send_reply --key 'arg0->id'
says "has a VPROF_BEGIN of that name already"
[ "$(grep -c VPROF_ s.c)" = 3 ] && pass || fail "marks in marks"
expect 0 "$VPROF" record -- ./s
says "300 intervals of 'request'"
cmp -s "$work/.out" expected && pass || fail "the marked program says something else"

# It also builds and runs without vprof, and without the runtime.
expect 0 cc -O1 -Wall -Wextra -Werror -I"$top/annotations" -o plain s.c
expect 0 ./plain
cmp -s "$work/.out" expected && pass || fail "the marked program, built plainly, says something else"
expect 0 cc -O1 -DVPROF_DISABLE -I"$top/annotations" -o plain s.c

# A place with a key and a condition of its own: in vprof.conf as it was given, in the source as C.
expect 0 "$VPROF" annotate --dry-run --start 'enqueue key=arg0->id + 1 if arg0->id > 9' --end send_reply
says 'start  = enqueue key=arg0->id + 1 if arg0->id > 9'
cp s.c marked.c
cp original.c s.c
expect 2 "$VPROF" build -- cc -O1 -o s s.c
expect 0 "$VPROF" annotate --write --dry-run --start 'enqueue if arg0->id > 9' \
	--end 'send_reply key=arg0 if ret' --key 'arg0->id'
says '+	if (r->id > 9) VPROF_BEGIN("request", (r->id));' \
	'if (vprof_result) VPROF_END("request", (r)); vprof_result;'
expect 2 "$VPROF" annotate --dry-run --start 'enqueue if' --end send_reply
says "if is followed by an expression"
cp marked.c s.c

# Which of nested ones counts stays the user's line.
printf '[interval "request"]\nstart = enqueue\nnested = inner\nend = enqueue\n[run]\n' >nested.conf
VPROF_CONF=nested.conf expect 0 "$VPROF" annotate --start send_reply --end send_reply
grep -q '^ *nested = inner$' nested.conf && grep -q '^ *start *= send_reply' nested.conf && pass || fail "$(cat nested.conf)"
VPROF_CONF=nested.conf expect 0 "$VPROF" annotate --name other --start send_reply --end send_reply
[ "$(grep -c nested nested.conf)" = 1 ] && pass || fail "another interval's: $(cat nested.conf)"

if command -v patch >/dev/null; then
	expect 0 patch -R -p0 -i the.patch
	cmp -s s.c original.c && pass || fail "the patch does not undo"

	# As the message says; a link, and the permissions, are the user's.
	mkdir -p real && mv s.c real/s.c && ln -s real/s.c s.c && chmod 640 real/s.c
	expect 2 "$VPROF" build -- cc -O1 -o s s.c
	expect 0 "$VPROF" annotate --write --start s.c:18 --end send_reply
	says "undo with: patch -R -p0, "
	cp "$work/.out" the.patch
	[ -L s.c ] && [ "$(stat -c %a real/s.c)" = 640 ] && grep -q VPROF_BEGIN real/s.c && pass || fail "$(ls -l s.c real)"
	expect 0 patch -R -p0 -i the.patch
	cmp -s s.c original.c && pass || fail "the patch does not undo: $(head -2 the.patch)"
	mkdir -p elsewhere && cd elsewhere || exit 99
	expect 0 "$VPROF" -d ../vprof.data annotate --write --start s.c:18 --end send_reply
	says "undo with: patch -R -p0 -d /, "
	cp "$work/.out" ../the.patch
	expect 0 patch -R -p0 -d / -i "$work/the.patch"
	cd .. && cmp -s s.c original.c && pass || fail "the patch from elsewhere does not undo"
fi
finish

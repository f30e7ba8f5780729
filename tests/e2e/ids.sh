#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Ids of intervals: said by macros and by vprof.conf, as integers and text of every form; what is no id is unknown, and no ids cost no event.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >p.cc <<'C'
#include <vprof.h>
#include <cstdio>
#include <cstring>
struct request { char traceparent[56]; unsigned long long span; int parent; };
static void interval(const char *trace, unsigned long long span)
{
	VPROF_TRACE(trace, span);
	VPROF_BEGIN("mark", 1);
	VPROF_END("mark", 1);
}
__attribute__((noinline)) void serve(request *r, int depth)
{
	VPROF_CALL(r->span + 1);
	if (depth)
		serve(r, depth - 1);
}
__attribute__((noinline)) void plain(void)
{
	asm volatile("");
}
int main()
{
	request r = { "00-000000000000000000000000000000aa-00000000000000bb-01", 0xcc, 0xdd };
	char text[] = "00-0AF7651916CD43dd8448eb211c80319c-b7ad6b7169203331-01";

	interval("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", 5);
	interval("4bf92f3577b34da6a3ce929d0e0e4736", 0);
	interval("nothing of the kind", 0);			// unknown
	interval("00-0af7651916cd43dd-b7ad6b7169203331-01", 0);	// a trace too short
	interval("00-0af7651916cd43dd8448eb211c80319c", 0);	// no span
	interval("00-0af7651916cd43dd8448eb211c80319c-b7ad6b71-01", 0);	// ... too short
	interval(nullptr, 6);
	VPROF_TRACE(text, text);				// the span of a traceparent
	VPROF_BEGIN("mark", 2);
	VPROF_TRACE(17, 18);					// of the inner one, which is no interval of its own
	VPROF_BEGIN("mark", 2);
	VPROF_CALL(text);
	VPROF_CALL("00f067aa0ba902b7");
	VPROF_CALL("too long to be a span of sixteen digits");
	VPROF_END("mark", 2);
	VPROF_END("mark", 2);
	VPROF_TRACE(0x1234, 0);					// an integer
	VPROF_BEGIN("mark", 3);
	VPROF_END("mark", 3);
	serve(&r, 1);
	plain();
	return 0;
}
C
cat >vprof.conf <<'C'
[interval "serve"]
    start  = serve@entry
    end    = serve@return
    trace  = arg0->traceparent
    span   = arg0->span
    parent = arg0->parent
[interval "plain"]
    start = plain
    end = plain
C
expect 0 "$VPROF" build -- g++ -O1 p.cc -o p
expect 0 "$VPROF" record -o run -- ./p
"$VPROF" export --format tuples run >run.tuples 2>/dev/null
cat >expected <<'E'
mark 00000000000000000000000000000000 0000000000000006 0000000000000000
mark 00000000000000000000000000001234 0000000000000000 0000000000000000
mark 0af7651916cd43dd8448eb211c80319c 0000000000000005 b7ad6b7169203331
mark 0af7651916cd43dd8448eb211c80319c b7ad6b7169203331 b7ad6b7169203331
mark 4bf92f3577b34da6a3ce929d0e0e4736 0000000000000000 0000000000000000
serve 000000000000000000000000000000aa 00000000000000cc 00000000000000dd
E
awk '$1 == "interval" { name[$2] = $3 } $1 == "ids" { print name[$2], $3, $4, $5 }' run.tuples | sort >got
cmp -s expected got && pass || fail "ids: $(diff expected got)"
printf '00000000000000cd\n00000000000000cd\n00f067aa0ba902b7\nb7ad6b7169203331\n' >expected
awk '$1 == "remote-call" && $3 !~ /^0*$/ { print $3 }' run.tuples | sort >got
cmp -s expected got && pass || fail "calls: $(diff expected got)"
# A change of the ids is a change of the build.
sed -i 's/arg0->parent/arg0->parent + 1/' vprof.conf
expect 0 "$VPROF" build -- g++ -O1 p.cc -o p
expect 0 "$VPROF" record -o changed -- ./p
"$VPROF" export --format tuples changed 2>/dev/null | grep -q '^ids .* 00000000000000de$' && pass || fail "the changed parent is not in the run"
sed -i 's/arg0->parent + 1/arg9->parent/' vprof.conf
"$VPROF" build -- g++ -O1 p.cc -o p >build.log 2>&1
grep -q "no such argument" build.log && pass || fail "arg9: $(cat build.log)"
finish

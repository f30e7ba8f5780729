#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# import of perfetto: the forms that its writers use (perfetto_forms.py), what is left out, damage.
. "${srcdir:-.}/tests/e2e/lib.sh"

read_form()	# NAME
{
	python3 "$top/tests/e2e/perfetto_forms.py" "$1" >"$1.pftrace"
	expect 0 "$VPROF" import --from perfetto "$1.pftrace" -o "$1"
}
form()		# NAME WANTED: the intervals as "name start latency", in the order of time
{
	read_form "$1"
	"$VPROF" export --format tuples "$1" 2>/dev/null | python3 -c '
import sys
rows = [line.split() for line in sys.stdin if line.startswith("interval ")]
print("".join("%s %s %d;" % (r[2], r[4], int(r[6]) - int(r[4])) for r in sorted(rows, key=lambda r: int(r[4]))))' >got
	[ "$(cat got)" = "$2" ] && pass || fail "$1: $(cat got), not $2"
}
damage()	# NAME WORDS...
{
	python3 "$top/tests/e2e/perfetto_forms.py" "$1" >"$1.pftrace"
	expect 5 "$VPROF" import --from perfetto "$1.pftrace"
	shift
	says "$@"
}

form plain 'a 10000 5000;'
says "2 spans, 2 functions"
form instants 'a 10000 5000;'
form threads 'a 10000 5000;'
says "2 spans, 2 functions, 1 intervals"
form tracks 'a 10000 5000;b 11000 5000;'
form no_track 'a 10000 5000;'
form any_order 'a 10000 5000;'
form named_ends 'a 10000 5000;'
form interned 'a 10000 5000;'
form interned_of_two 'a 10000 5000;b 11000 5000;'
form interned_again 'a 10000 5000;b 20000 1000;'
form lost 'a 10000 5000;'
says "2 packets are left out"
form category 'cat 10000 5000;'
form no_name '(no%20name) 10000 5000;'
form defaults 'a 10000 5000;b 11000 5000;'
form thread_of_sequence 'a 10000 5000;b 11000 5000;'
form compressed 'a 10000 5000;'
form legacy 'a 10000 5000;b 20000 1000;'
form legacy_async 'r 10000 10000;r 12000 28000;'
form legacy_local 'r 10000 10000;r 12000 28000;'
form clocks 'a 10000 5000;b 30100 1000;'
form primary 'a 5000 5000;'
form incremental 'a 10000 5000;b 25000 1000;'
read_form no_relation
says "1 events are left out: no snapshot of clocks"
form unknown_fields 'a 10000 5000;'
read_form not_utf8
LC_ALL=C grep -q "$(printf '\033')" .out .err && fail "a name drives the terminal" || pass
expect 0 "$VPROF" import --from perfetto --interval b plain.pftrace -o only_b
says "1 interval of 'b'"
expect 0 "$VPROF" import --from perfetto --start b --end b plain.pftrace
expect 0 "$VPROF" import --from perfetto plain.pftrace tracks.pftrace
says "4 spans"
expect 3 "$VPROF" import --from perfetto --interval c plain.pftrace
says "none of the 2 spans is named 'c'"

read_form cut
says "cut.pftrace: byte " "the file was cut off"
damage cut_first "byte 0: this packet is damaged"
damage inside "byte $(python3 "$top/tests/e2e/perfetto_forms.py" inside | python3 -c 'import sys; print(2 + sys.stdin.buffer.read()[1])')" "damaged"
damage group "this packet is damaged"
damage bomb "a compressed packet is larger than any tracer writes"
damage packed_twice "damaged"
damage packed_damaged "damaged"
printf 'plain text' >text
expect 5 "$VPROF" import --from perfetto text
says "a packet of a Perfetto trace was expected"
echo '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"a"}]' >chrome.json
expect 5 "$VPROF" import --from perfetto chrome.json
says "vprof import --from chrome-trace chrome.json"
gzip -k plain.pftrace
expect 5 "$VPROF" import --from perfetto plain.pftrace.gz
says "zcat"
: >empty
expect 3 "$VPROF" import --from perfetto empty
finish

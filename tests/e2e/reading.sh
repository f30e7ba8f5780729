#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What doc/reading.md explains is what vprof prints: each command on the page is run on the demo's server, and every word of the
# output shown there (names, columns, footers; not numbers) is in the real one.  Every main view is explained.
# The functions are fixed to those of the page's run, because iterate may go further on a busy machine.
. "${srcdir:-.}/tests/e2e/lib.sh"
page=$top/doc/reading.md

cp "$top"/examples/logserver/logserver.c "$top"/examples/logserver/Makefile "$top"/examples/logserver/vprof.conf .
expect 0 "$VPROF" build --functions enqueue_request,handle_request,queue_push,queue_pop,log_append,log_write,flush_log,parse_request,hash_payload,cache_get,send_reply -- make
# A run that others kept from the CPU for longer than the server's flush takes has another answer, and rightly: once more.
busy=yes
for try in 1 2 3; do
	"$VPROF" record --sample 15/16 -- ./logserver >record.out 2>&1 || fail "record: $(cat record.out)"
	"$VPROF" show summary >summary.out 2>&1
	grep -q "^▶ flush_log (logserver.c:[0-9]*) causes 99" summary.out && { busy=; break; }
	echo "try $try: $(grep '^▶' summary.out)"
done

# blocks/N.command and blocks/N.shown
mkdir blocks
awk '/^```/ { inside = !inside; n += inside; next }
	inside && /^\$ / { print substr($0, 3) >("blocks/" n ".command"); next }
	inside { print >("blocks/" n ".shown") }' "$page"

# Its lines but those of fewer than ten samples, which are chance.
words()
{
	awk '!($1 ~ /^[0-9]$/ && $2 == "0.0")' "$1" | grep -oE '[A-Za-z_]{3,}' | sort -u
}

for block in blocks/*.command; do
	command=$(sed 's/^vprof //' "$block")
	COLUMNS=100 "$VPROF" $command >real 2>&1 && pass || fail "vprof $command: $(cat real)"	# as on the page
	COLUMNS=200 "$VPROF" $command --all >>real 2>/dev/null	# what is on other ranks in this run
	words "${block%.command}.shown" >shown.words
	words real >real.words
	missing=$(comm -23 shown.words real.words)
	[ -s shown.words ] && pass || fail "doc/reading.md shows no output of 'vprof $command'"
	[ -n "$busy" ] || [ -z "$missing" ] && pass ||
		fail "doc/reading.md shows of 'vprof $command' what it does not print: $(echo $missing); it prints: $(head -40 real)"
done

for view in summary variance-tree causes factors tail slow-vs-fast critical-path histogram wait-graph criticality samples; do
	cat blocks/*.command | grep -qE "^vprof show $view( |\$)" && grep -q "^## $view: " "$page" && pass ||
		fail "doc/reading.md does not explain $view"
done
[ -z "$busy" ] || [ "$failed" != 0 ] || { echo "the machine is too busy to compare what is printed"; exit 77; }
finish

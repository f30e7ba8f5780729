#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The recipe of doc/ci.md, as it stands there, on the demo: with a regression planted into the head, and with none.
. "${srcdir:-.}/tests/e2e/lib.sh"

sed -n '/^```sh$/,/^```$/p' "$top/doc/ci.md" | grep -v '^```' >recipe.sh
[ "$(grep -c vprof recipe.sh)" = 3 ] && pass || fail "doc/ci.md has another recipe: $(cat recipe.sh)"
PATH=$(dirname "$VPROF"):$PATH
export PATH
for side in base same worse; do
	mkdir $side
	sed 's/define REQUESTS 1500/define REQUESTS 700/' "$top/examples/logserver/logserver.c" >$side/logserver.c
	cp "$top/examples/logserver/Makefile" "$top/examples/logserver/vprof.conf" $side
	printf '#!/bin/sh\n"$(dirname "$0")"/logserver\n' >$side/bench.sh
	chmod +x $side/bench.sh
done
# The writer holds the lock three times as long.
sed -i 's/define FLUSH_US 60000/define FLUSH_US 180000/' worse/logserver.c
grep -q 'FLUSH_US 180000' worse/logserver.c && pass || fail 'nothing is planted'

export GITHUB_STEP_SUMMARY="$work/summary.md"
RUNS=3 BASE=$work/base HEAD=$work/worse sh -e recipe.sh >.out 2>.err
status=$?
if [ $status = 3 ] && machine_is_busy; then		# there three runs a side may be too few, and say so
	grep -q 'runs a side would tell' .out && pass || fail "open, and not why: $(cat .out .err)"
	rm -f summary.md
	RUNS=8 BASE=$work/base HEAD=$work/worse sh -e recipe.sh >.out 2>.err
	status=$?
fi
[ $status = 1 ] && pass || fail "the planted regression: $status, not 1: $(cat .out .err)"
grep -q '^::error .*title=vprof gate::p99>+10%25 is violated' .out && pass || fail "no error: $(cat .out)"
at=$(grep -n 'void log_append' worse/logserver.c | cut -d: -f1)	# its body begins on the next line
grep -q "^::error file=logserver.c,line=$((at + 1))," .out && grep -m 1 '^| [0-9.]* % |' summary.md | grep -qF 'log\_append' && grep -q '^| p99 |' summary.md && pass || fail "$(cat .out summary.md)"
# On a busy machine the gate may or may not show that nothing changed; but it must not report a regression.
RUNS=3 GATE='p99>+100%' BASE=$work/base HEAD=$work/same sh -e recipe.sh >.out 2>.err
case $? in 0 | 3) pass ;; *) fail "a regression where there is none: $(cat .out .err)" ;; esac
grep -q '^::error' .out && fail "an error: $(cat .out)" || pass
# No function moved between the two checkouts.
vprof -d same/vprof.data diff diff1.base diff1.head --format json >.json 2>.err
grep -q '"match": "same"' .json && ! grep -q '"match": "moved"' .json && pass || fail "matches: $(grep '"match"' .json | sort | uniq -c)"
finish

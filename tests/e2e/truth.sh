#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A handful of the planted programs of make exam-truth, through the whole tool: a join of which nobody known is to blame
# at first, a function that no root leads to, waits for a lock, two kinds of requests.  What a busy machine did is told
# from what vprof does by a second try: a mistake of vprof's is there again.
ONLY="background_lock join pipeline kinds" FIX=0 RESULTS=$(mktemp -d) && export ONLY FIX RESULTS || exit 99
"${srcdir:-.}/tests/exam/truth.sh" || { echo "once more:"; "${srcdir:-.}/tests/exam/truth.sh"; }
status=$?
rm -rf "$RESULTS"
exit $status

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A few of the planted programs of make exam-truth, through the whole tool: a join whose waker is unknown at first, a function to which
# no root leads, waits for a lock, two kinds of requests.  A second try separates a busy machine's effects from vprof's errors, which
# would occur again.
ONLY="background_lock join pipeline kinds" FIX=0 RESULTS=$(mktemp -d) && export ONLY FIX RESULTS || exit 99
"${srcdir:-.}/tests/exam/truth.sh" || { echo "once more:"; "${srcdir:-.}/tests/exam/truth.sh"; }
status=$?
rm -rf "$RESULTS"
exit $status

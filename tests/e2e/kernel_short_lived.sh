#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# record --kernel of a script: the programs that it starts one after the other are one vertex of the wait-graph, by name, through
# generations; and the run lasts as long as they do, not as long as the recording.
. "${srcdir:-.}/tests/e2e/lib.sh"

needs_kernel_recorder
cat >one.sh <<'END'
sleep 0.05
true | sleep 0.03
END
expect 3 "$VPROF" record --kernel=require -- sh -c 'for i in 1 2 3 4 5 6; do sh one.sh; done'
expect 0 "$VPROF" show wait-graph --all
grep -Eq '^(sh \([0-9]* |sh \()6 short-lived' "$work/.out" && pass || { fail "the six scripts are not one"; cat "$work/.out"; }
grep -Eq '^sleep \((6|12) short-lived|^sleep \([0-9]* \+1\)' "$work/.out" && pass || { fail "what they start is not one"; cat "$work/.out"; }

# Attaching the programs takes half a second, which is not part of the run.  (If no thread waited for a device, there is no device to check;
# tests/unit/trace/test_kernel.c has one.)
expect 0 "$VPROF" export --format tuples
awk '$1 == "segment" { if (!n++ || $4 < first) first = $4; if ($2 < 2 ^ 48 && (!m++ || $4 < thread)) thread = $4 }
	END { exit !(n && first == thread) }' "$work/.out" && pass || fail "a device begins before the first thread"
finish

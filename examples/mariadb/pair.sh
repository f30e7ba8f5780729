#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# pair.sh - the same load on the plain server and on this build directory's, one right after the other.
#
#	pair.sh FILE [SETTING [OPTION OF sysbench ...]]
#
# Appends "PLAIN OWN", transactions per second, to FILE: on a machine that has other work to do, only
# what was measured together can be compared.  Run by "vprof record" it measures the recorded server,
# since there is nothing to record in the plain one.  The exit status is the second bench.sh's.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
file=$(realpath -m "$1")
shift

tps() { sed -n 's/^ *transactions: .*(\([0-9.]*\) per sec.*/\1/p' "$1"; }

said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
MARIADBD=${PLAIN:-../plain}/sql/mariadbd "$here/bench.sh" "$@" >"$said/plain"
status=0
"$here/bench.sh" "$@" >"$said/own" || status=$?
cat "$said/own"
echo "$(tps "$said/plain") $(tps "$said/own")" >>"$file"
exit $status

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make exam-demo: the planted cause is named first, every time, also on a busy machine.
# RUNS times `vprof demo --check` (default 20) while as many processes as there are cores burn CPU.
# Prints a table and writes results/demo.json; exit 1 if one run named something else.
set -u
top=$(cd "${srcdir:-.}" && pwd)
. "$top/tests/exam/table.sh"
vprof=$PWD/vprof
runs=${RUNS:-20}
work=$(mktemp -d "${TMPDIR:-/tmp}/vprof-exam-demo.XXXXXX") || exit 99
burners=
trap 'kill $burners 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
for i in $(seq "$(nproc)"); do
	(while :; do :; done) &
	burners="$burners $!"
done

good=0
for i in $(seq "$runs"); do
	if "$vprof" demo --check -C "$work/demo" >/dev/null 2>"$work/err"; then
		good=$((good + 1))
	fi
	printf '%2d  %s\n' "$i" "$(tail -1 "$work/err")"
	rm -rf "$work/demo"
done
row "planted cause named first, all cores busy" "$good" "of $runs runs" "$runs" "$good == $runs"
write_results results/demo.json
exit $bad

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# run.sh - one run of one server: upstream, server, clients; what `vprof record` is given.
#
#	run.sh SERVER CASE DIR SECONDS
#
# In DIR are tree/ (the build) and ports; CASE is none or a case of SERVER.sh.  The clients' log is DIR/CASE.log: a line
# "START_NS LATENCY_NS" a request.
# shellcheck disable=SC2154 # SERVER.sh sets them
set -eu

here=$(cd "$(dirname "$0")" && pwd)
name=$1 case=$2 dir=$3 seconds=$4
read -r port upstream <"$dir/ports"
export EXAM_CAUSE="$case" EXAM_PORT="$port" EXAM_UPSTREAM="$upstream" EXAM_DIR="$dir"
began=

# begin COMMAND...: in the background, ended at the end
begin() {
	"$@" >>"$dir/$case.out" 2>&1 </dev/null &
	began="$! $began"
}

# shellcheck disable=SC2329 # the trap's
end() {
	for pid in $began; do
		kill -TERM "$pid" 2>/dev/null || true
		wait "$pid" || true
	done
}

# python SCRIPT ARGUMENT...: takes the shell's place, as begin's kill is for the program; without the recording, which is not of it
python() {
	script=$here/$1.py
	shift
	exec env -u LD_PRELOAD -u VPROF_ARENA /usr/bin/python3 -u "$script" "$@"
}

# shellcheck disable=SC1090
. "$here/$name.sh"
: >"$dir/$case.out"
trap end EXIT
trap 'exit 99' INT TERM
serve
(python client "$protocol" "$case" "$seconds" "$dir/$case.log.new")
mv "$dir/$case.log.new" "$dir/$case.log"

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every JSON document that vprof prints is as its schema in doc/schema says (vprof-formats(5)), and each schema refuses
# a field that is missing or misspelt.  Skipped (exit 77) without a validator: python3-jsonschema.
. "${srcdir:-.}/tests/e2e/lib.sh"
validate=$top/tests/e2e/validate.py
schemas=$top/doc/schema
python3 "$validate" "$schemas" >.out 2>&1
case $? in 77 | 127) cat .out; exit 77 ;; esac
mkdir documents

# document NAME COMMAND...: what it prints as JSON is documents/NAME.json; a run without intervals (3) has a document as well,
# but not of wait-graph --slow
document()
{
	file=$work/documents/$1.json
	command=$2
	shift 2
	"$VPROF" "$command" --format json "$@" >"$file" 2>"$work/.err" </dev/null
	case $? in
	0) pass ;;
	3) [ -s "$file" ] && pass || { case "$* " in *"--slow "*) rm "$file" ;; *) fail "vprof $command $*: no document" ;; esac } ;;
	*) fail "vprof $command $*: $(cat "$work/.err")" ;;
	esac
}

# every_view NAME RUN
views=$("$VPROF" show nosuch 2>&1 | sed -n 's/^ *→ //p' | tr -d ,)
[ "$(echo $views | wc -w)" -ge 16 ] && pass || fail "vprof show nosuch lists no views: $views"
every_view()
{
	for view in $views; do
		document "$1-$view" show "$view" "$2"
	done
	document "$1-all" show factors "$2" --all
	document "$1-paper" show factors "$2" --paper --all --threshold 0
	document "$1-cause" show variance-tree "$2" --by cause
	document "$1-paths" show critical-path "$2" --slowest 3
	document "$1-waker" show execution-table "$2" --charge waker
	document "$1-slow" show wait-graph "$2" --slow --all
	document "$1-quantile" show tail "$2" --quantile 0.5
	"$VPROF" causal --predict "$2" >.out 2>&1
	case $? in 0) document "$1-predicted" show causal "$2" ;; 3 | 4) pass ;; *) fail "causal --predict $2: $(cat .out)" ;; esac
}

# Imported traces: hedges, pairs across the tree, devices, stacks, SIDs of 64 bits, nothing completed, no interval at all.
for golden in tree cross_hedge cross_many holder_waits_for_disk timed_out dropped root_only ranking nothing_completed \
		whole_cascade whole_device_idle whole_stacks whole_slow whole_groups; do
	"$VPROF" import --from tuples "$top/tests/golden/$golden.tuples" -o "$golden" >.out 2>&1
	case $? in 0 | 3) pass ;; *) fail "import of $golden: $(cat .out)" ;; esac	# 3: no interval was completed
	every_view "$golden" "$golden"
done
# Threads without a name, and long enough for a sample.
printf 'vprof-tuples 1\ninterval 1 r 1 0 1 5000000\nsegment 1 1 0 5000000 running\n' >nameless.tuples
expect 0 "$VPROF" import --from tuples nameless.tuples -o nameless
every_view nameless nameless
grep -q '"thread": null' documents/nameless-samples.json && pass || fail "the sampled thread has a name"
document diff diff tree tree --gate 'p99>+10%'
document diff-plain diff tree tree
document sql sql "SELECT number, name, started_ns / 2.0, NULL FROM run"

# A run of a project: iterate, a run with intervals in full and root-only ones, what it called.
mkdir project && cd project || exit 99
cp "$top"/examples/logserver/logserver.c "$top"/examples/logserver/Makefile .
expect 0 "$VPROF" annotate --start handle_request --end handle_request --name request
expect 0 "$VPROF" build -- make
document iterate iterate --max-runs 2 -- ./logserver
"$VPROF" record --sample 1/2 -o sampled -- ./logserver >.out 2>&1 && pass || fail "record: $(cat .out)"
every_view sampled sampled
document doctor doctor --quick
document demos demo --list
document source show source handle_request
cd ..

# Not every class of wait is in a document here: arrived, busy, handed-over and parked need the kernel's side.
{
	sed -n '/^#define TRACE_STATES/,/^$/s/.*X(.*"\(.*\)").*/\1/p' "$top/trace/model.h"
	sed -n '/^#define WAIT_CLASSES/,/^$/s/.*X(.*"\(.*\)").*/\1/p' "$top/trace/wait_classes.h"
} | sort >classes
[ "$(grep -cxE 'running|lock|parked' classes)" = 3 ] && pass || fail "the classes of waits: $(cat classes)"
for list in state wait; do
	python3 -c 'import json, sys
for name in json.load(open(sys.argv[1]))["$defs"][sys.argv[2]]["enum"]:
	if name:
		print(name)' "$schemas/common.json" $list | sort | diff classes - >.out && pass || fail "common.json, $list: $(cat .out)"
done
python3 "$validate" "$schemas" documents/*.json >.out 2>&1 && pass || fail "documents and schemas: $(cat .out)"
cat .out
# The validator notices mistakes in schemas and documents.
python3 "$validate" --mutate "$schemas" documents/*.json >.out 2>&1 && pass || fail "what the schemas do not notice: $(cat .out)"
cat .out
finish

# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154 # set by instrument.sh and the project's file
#
# lib.sh - the stages of `make exam-instrument`; read by instrument.sh, after examples/lib.sh.
#
# A project's file, NAME.sh, sets
#
#	source, release		Debian's package, and the beginning of its version
#	packages		Debian packages that it needs to build and to be tested
#	language		C or C++: how many of its functions have to be probed
#	configure		once, plainly, before anything is measured ('' where there is nothing to do)
#	build			plainly, and under vprof build
#	suite, suite_seconds	the project's tests, and how long they may take
#	last_words		what the suite says when it has come to its end, for grep; '' where none
#	recorded, conf		the same under vprof record; with this vprof.conf; '' for none
#	logged			yes: what the compiler is called with is to be logged (DIR/NAME/compiled)
#	as_nobody		yes: the suite must not run as root
#	deep			what recurses deeply, and ends well; stack.sh compares the stack that it needs; '' for none
#	deep_least		KiB of stack that it has with probes, however little it needs without (0)
#	deep_once		what has to be done once, in each tree, before deep is run
#	extra			more stages: extra=rebuild is stage_rebuild() of rebuild.sh here, which says
#				what else it asks for
#
# The commands are text for sh -c, in the tree.  results() reads what the suite said and prints
# "TEST<tab>ok", "TEST<tab>failed" or "TEST<tab>skipped", one line a test.

say() { echo "$(date +%H:%M:%S) $name: $*"; }

# about NAME: what there is to know of a project
about() {
	name=$1 dir=$work/$1
	packages='' configure='' last_words='' suite='' recorded='' conf='' as_nobody='' logged='' extra='' compiler=''
	deep='' deep_once='' deep_least=0
	language=C suite_seconds=1800
	# shellcheck disable=SC1090 # a project's file
	. "$here/instrument/$name.sh"
	[ -z "$deep" ] || extra="$extra stack"
	for file in $extra; do
		# shellcheck disable=SC1090
		. "$here/instrument/$file.sh"
	done
	mkdir -p "$dir"
}

# exam NAME: all stages of one project
exam() {
	about "$1"
	[ -z "$fresh" ] || rm -f "$dir"/*.rows
	stages='build coverage tree suite'
	[ -z "$recorded" ] || stages="$stages recorded"
	for stage in $stages $extra; do
		[ ! -f "$dir/$stage.rows" ] || { say "$stage: done before"; continue; }
		say "$stage"
		rows=$dir/$stage.rows.new
		: >"$rows"
		"stage_$stage"
		mv "$rows" "$dir/$stage.rows"
	done
	echo "$stages $extra" >"$dir/stages"
}

# exam_some: one project after the other that no other process has taken.  Each in a process of its own: what
# one defines is not there for the next; what does not get to its end leaves no stages.
exam_some() {
	for project in ${only:-$all}; do
		mkdir "$work/taken.$$/$project" 2>/dev/null || continue
		set +e
		(set -e; exam "$project")
		set -e
	done
}

# exam_all: packages, sources and configure first, one after the other; then --jobs projects at a time
exam_all() {
	rm -rf "$work/taken.$$"
	mkdir "$work/taken.$$"
	for project in ${only:-$all}; do
		rm -f "$work/$project/stages"
		(about "$project"; prepare)
	done
	n=1 others=
	while [ $n -lt "$jobs" ]; do
		exam_some &
		others="$others $!"
		n=$((n + 1))
	done
	exam_some
	for pid in $others; do
		wait "$pid"
	done
	rm -rf "$work/taken.$$"
}

# all_rows NAME: the rows of its stages
all_rows() {
	name=$1
	finished=$([ -f "$work/$1/stages" ] && echo 1 || echo 0)
	rows=/dev/stdout fact finished "$finished" "" 1 "$finished == 1"
	[ "$finished" = 1 ] || return 0
	tr ' ' '\n' <"$work/$1/stages" | while read -r stage; do
		[ -z "$stage" ] || cat "$work/$1/$stage.rows"
	done
}

# fact NAME VALUE UNIT TARGET EXPRESSION: a row of this project; true where awk finds EXPRESSION true
fact() { row "$name.$1" "$2" "$3" "$4" "$(holds "$5")"; }

# ---- Trees ---------------------------------------------------------------------------

# Both trees, configured, as they are before the first build: SIDE.tar.
prepare() {
	# shellcheck disable=SC2086 # a list of words
	install_packages $packages
	fetch_source "$source" "$release"
	for side in plain probed; do
		[ ! -f "$dir/$side.tar" ] || continue
		rm -rf "${dir:?}/$side"
		extract_source "$source" "$release" "$dir/$side" </dev/null
		say "$side: configure"
		(cd "$dir/$side" && sh -c "$configure") >"$dir/$side.configure" 2>&1 ||
			die "$name: configure failed: $dir/$side.configure"
		tar -C "$dir" -cf "$dir/$side.tar.new" "$side"
		mv "$dir/$side.tar.new" "$dir/$side.tar"
	done
}

# restore SIDE [AS]: the tree as it was before the build
restore() {
	to=${2:-$1}
	rm -rf "${dir:?}/$to"
	mkdir "$dir/$to"
	tar -C "$dir/$to" --strip-components=1 -xf "$dir/$1.tar"
	[ "$1" = plain ] || [ -z "$conf" ] || cp "$conf" "$dir/$to/vprof.conf"
}

# listing TREE: one line "PATH<tab>SUM" a file, and one of what else there is to know of each path;
# without what vprof says that it makes
listing() (
	cd "$1" || exit
	find . \( -path ./vprof.data -o -path ./vprof.conf \) -prune -o -type f -print0 |
		xargs -0r sha256sum | sed 's/^\([^ ]*\) [ *]\(.*\)/\2	\1/'
	find . \( -path ./vprof.data -o -path ./vprof.conf \) -prune -o -printf '%p (mode)\t%y %m %l\n'
)

# differences BEFORE AFTER: paths that are new, changed or gone
differences() {
	awk -F'\t' 'NR == FNR { sum[$1] = $2; next }
		!($1 in sum) { print "new\t" $1; next }
		{ if (sum[$1] != $2) print "changed\t" $1; delete sum[$1] }
		END { for (path in sum) print "gone\t" path }' "$1" "$2" | sort
}

# kill_leftovers TREE: servers that a suite has left behind: whatever runs a program of the tree
kill_leftovers() {
	for exe in /proc/[0-9]*/exe; do
		case $(readlink "$exe" 2>/dev/null) in
		"$1"/*)	pid=${exe#/proc/}; kill -KILL "${pid%/exe}" 2>/dev/null || true ;;
		esac
	done
}

# ---- build ---------------------------------------------------------------------------

# timed FILE COMMAND...: seconds, and processor seconds of user and system
timed() {
	file=$1
	shift
	/usr/bin/time -f '%e %U %S' -o "$file" "$@"
}

# make_tools: a gcc that logs what it compiles, for both sides; the log is the plain side's
make_tools() {
	mkdir -p "$dir/tools"
	[ -n "$logged" ] || return 0
	cat >"$dir/tools/gcc" <<-END_TOOL
		#!/bin/sh
		case "\$PWD: \$* " in
		$dir/plain*" -c "*)	printf '%s\\n' "\$PWD" "\$@" '' >>$dir/compiled ;;
		esac
		exec $(command -v gcc) "\$@"
	END_TOOL
	chmod +x "$dir/tools/gcc"
}

build_plain() (
	cd "$dir/plain" || exit
	rm -f "$dir/compiled"
	timed "$dir/plain.time" sh -c "$build" >"$dir/plain.build" 2>&1 ||
		die "$name: does not build without vprof: $dir/plain.build"
)

build_probed() (
	cd "$dir/probed" || exit
	timed "$dir/probed.time" "$vprof" build --functions all -- sh -c "$build" >"$dir/probed.build" 2>&1 ||
		die "$name: does not build under vprof: $dir/probed.build"
)

stage_build() {
	make_tools
	saved=$PATH
	PATH=$dir/tools:$PATH
	: >"$dir/times"
	round=1
	while [ $round -le "$rounds" ]; do
		for side in plain probed; do
			restore $side
			listing "$dir/$side" >"$dir/$side.before"
			say "build $round of $rounds: $side"
			build_$side
			listing "$dir/$side" >"$dir/$side.after"
		done
		# Seconds plain and probed, processor seconds plain and probed.
		awk '{ wall[NR] = $1; cpu[NR] = $2 + $3 }
			END { print wall[1], wall[2], cpu[1], cpu[2] }' "$dir/plain.time" "$dir/probed.time" >>"$dir/times"
		round=$((round + 1))
	done
	PATH=$saved
	fact build.plain "$(awk '{ print $1 }' "$dir/times" | median)" s - 1
	fact build.probed "$(awk '{ print $2 }' "$dir/times" | median)" s - 1
	fact build.processor_plain "$(awk '{ print $3 }' "$dir/times" | median)" s - 1
	fact build.processor_probed "$(awk '{ print $4 }' "$dir/times" | median)" s - 1
	fact build.ratio "$(awk '{ print $2 / $1 }' "$dir/times" | median)" "of plain" - 1
	# Other load on the machine makes both builds longer, not equally: processor time is judged.
	ratio=$(awk '{ print $4 / $3 }' "$dir/times" | median)
	fact build.processor_ratio "$ratio" "of plain" "<= 2.0" "$ratio <= 2.0"
}

# ---- coverage ------------------------------------------------------------------------

# ask QUERY: of the probed tree's database, without the header line
ask() { (cd "$dir/probed" && "$vprof" sql --format csv "$1" | tail -n +2); }

stage_coverage() {
	units=$(ask "SELECT count(*) FROM unit")
	untouched=$(ask "SELECT count(*) FROM unit WHERE untouched IS NOT NULL")
	functions=$(ask "SELECT count(*) FROM function")
	probed=$(ask "SELECT count(*) FROM function WHERE probed")
	fact units "$units" count "> 0" "$units > 0"
	fact units_untouched "$untouched" count 0 "$untouched == 0"
	fact functions "$functions" count "> 0" "$functions > 0"
	least=0.999
	[ "$language" = C ] || least=0.96
	share=$(awk "BEGIN { printf \"%.4f\", $probed / ($functions ? $functions : 1) }")
	fact probed "$share" "of them" ">= $least" "$share >= $least"
	ask "SELECT skipped, count(*) FROM function WHERE NOT probed GROUP BY 1 ORDER BY 2 DESC" >"$dir/skipped.csv"
	ask "SELECT source, untouched FROM unit WHERE untouched IS NOT NULL" >"$dir/untouched.csv"
	cat "$dir/skipped.csv" "$dir/untouched.csv"
}

# ---- tree ----------------------------------------------------------------------------

# Lists files that one build (probed or plain) made, changed or removed and the other did not.
stage_tree() {
	for side in plain probed; do
		differences "$dir/$side.before" "$dir/$side.after" >"$dir/$side.differences"
	done
	diff "$dir/plain.differences" "$dir/probed.differences" | grep '^[<>]' >"$dir/tree.differences" || true
	cnt=$(wc -l <"$dir/tree.differences")
	head -n 20 "$dir/tree.differences"
	fact tree_differences "$cnt" paths 0 "$cnt == 0"
}

# ---- suite ---------------------------------------------------------------------------

# in_side TREE COMMAND...: in the tree; as user nobody where root is not wanted.  Then the tree is root's again, as
# vprof leaves what others own alone.
in_side() (
	cd "$1" || exit
	shift
	if [ -n "$as_nobody" ] && [ "$(id -u)" = 0 ]; then
		chown -R nobody .
		status=0
		setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups env -u TMPDIR HOME="$PWD" "$@" ||
			status=$?
		chown -R "$(id -u)" .
		exit $status
	else
		"$@"
	fi
)

# numbered: the second test of the same name becomes NAME (2)
numbered() {
	awk -F'\t' '{ n = ++seen[$1]; print $1 (n > 1 ? " (" n ")" : "") "\t" $2 }'
}

# run_suite SIDE FILE COMMAND...: what it says to FILE.out, its tests to FILE.results
run_suite() {
	side=$1 file=$2
	shift 2
	status=0
	in_side "$dir/$side" timeout --kill-after=30 "$suite_seconds" "$@" \
		>"$file.out" 2>&1 </dev/null || status=$?
	kill_leftovers "$dir/$side"
	cut -c 1-300 "$file.out" >"$file.cut"	# some print megabytes a line
	mv "$file.cut" "$file.out"
	results <"$file.out" | numbered >"$file.results"
	if [ "${file#*.suite.}" != "$file" ] && ! grep -q "$last_words" "$file.out"; then
		echo "(the suite came to its end)	failed" >>"$file.results"
	fi
	say "$side: $(wc -l <"$file.results") tests, $(grep -c 'failed$' "$file.results" || true) failed, status $status"
	case $status in
	124|137)	say "$side: stopped after $suite_seconds s" ;;
	esac
}

# best FILE...: each test's best outcome in some runs
best() {
	cat "$@" | awk -F'\t' '{ if ($2 == "ok" || !($1 in o) || o[$1] == "failed") o[$1] = $2 }
		END { for (t in o) print t "\t" o[t] }' | sort
}

# wavering FILE...: how many tests have more than one outcome
wavering() { cat "$@" | sort -u | cut -f 1 | uniq -d | wc -l; }

# compare STAGE: the tests of both sides, from the files SIDE.STAGE.N.results
compare() {
	for side in plain probed; do
		best "$dir/$side.$1".*.results >"$dir/$side.$1.best"
	done
	# A test that did not run counts as one that failed.
	awk -F'\t' 'NR == FNR { plain[$1] = $2; next } { probed[$1] = $2 }
		END {
			for (t in plain)
				if (plain[t] != (t in probed ? probed[t] : "missing"))
					print t "\t" plain[t] "\t" (t in probed ? probed[t] : "missing")
			for (t in probed)
				if (!(t in plain))
					print t "\tmissing\t" probed[t]
		}' "$dir/plain.$1.best" "$dir/probed.$1.best" | sort >"$dir/$1.differences"
}

# run_both STAGE PLAIN PROBED: both commands; where they differ, up to three times, because tests fail
# by chance too: what counts is the best outcome on each side
run_both() {
	run=1
	rm -f "$dir"/*."$1".[0-9].*
	while [ $run -le 3 ]; do
		run_suite plain "$dir/plain.$1.$run" sh -c "$2"
		eval "run_suite probed \"\$dir/probed.$1.$run\" $3"
		compare "$1"
		[ -s "$dir/$1.differences" ] || break
		say "$1: run $run: $(wc -l <"$dir/$1.differences") tests differ"
		head -n 5 "$dir/$1.differences"
		run=$((run + 1))
	done
	tests=$(wc -l <"$dir/plain.$1.best")
	failed=$(grep -c 'failed$' "$dir/plain.$1.best" || true)
	cnt=$(wc -l <"$dir/$1.differences")
	fact "$1.tests" "$tests" count "> 0" "$tests > 0"
	fact "$1.failed_plain" "$failed" tests - 1
	fact "$1.different" "$cnt" tests 0 "$cnt == 0"
	stopped=$(grep -c '^(the suite' "$dir/plain.$1.best" || true)
	fact "$1.stopped_plain" "$stopped" times 0 "$stopped == 0"
	fact "$1.wavering_plain" "$(wavering "$dir/plain.$1".*.results)" tests - 1
	fact "$1.wavering_probed" "$(wavering "$dir/probed.$1".*.results)" tests - 1
}

stage_suite() { run_both suite "$suite" "sh -c \"\$suite\""; }

# ---- recorded ------------------------------------------------------------------------

stage_recorded() {
	run_both recorded "$recorded" "\"\$vprof\" record --ignore-status -- sh -c \"\$recorded\""
	intervals=$(ask "SELECT total(count) FROM finding WHERE run = (SELECT max(number) FROM run)")
	fact recorded.intervals "$intervals" count "> 0" "$intervals > 0"
	lost=$(ask "SELECT lost_records FROM run ORDER BY number DESC LIMIT 1")
	fact recorded.lost "$lost" records - 1
	rm -rf "$dir/probed/vprof.data/runs"
}

# ---- The table for readers -----------------------------------------------------------

# print_projects NAME...: one line a project; the stack is what deep needs, in KiB, without and with probes
print_projects() {
	echo "| project | units | functions | probed | build time | tests | failed plainly | different with probes | stack | with probes |"
	echo "|---|---|---|---|---|---|---|---|---|---|"
	for project; do
		all_rows "$project" | awk -F'\t' -v project="$project" '
			function kib(name) { return name in v ? v[name] : "none" }
			{ sub(/^[^.]*\./, "", $1); v[$1] = $2 }
			END { printf "| %s | %d | %d | %.2f %% | %.2f | %d | %d | %d | %s | %s |\n", project, v["units"],
				v["functions"], 100 * v["probed"], v["build.processor_ratio"], v["suite.tests"],
				v["suite.failed_plain"], v["suite.different"], kib("stack.plain"), kib("stack.probed") }'
	done
}

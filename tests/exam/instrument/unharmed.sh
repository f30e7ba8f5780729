# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154 # set by lib.sh and the project's file
#
# unharmed.sh - the user's tree, byte for byte: vprof build is killed in the middle again and again, then
# goes through; vprof iterate is killed, then goes through; make clean.  After each of these nothing is
# changed, gone or new but what a plain build and its tests make (and vprof.data, vprof.conf).
#
# A project's file sets iterated: what vprof iterate runs, and clean: how its build system cleans.

# unharmed_count: paths that differ and should not.  automake's .Tpo files are there while the compiler
# runs: a plain make that is killed leaves them as well.
unharmed_count() {
	listing "$dir/killed" >"$dir/killed.now"
	differences "$dir/killed.before" "$dir/killed.now" |
		awk -F'\t' 'NR == FNR { made[$1 " " $2] = 1; next }
			($1 " " $2) in made || $2 ~ /\.Tpo( \(mode\))?$/ { next }
			{ print }' "$dir/killed.made" - >"$dir/killed.differences"
	sed 's/^/    /' "$dir/killed.differences" | head -n 5 >&2
	wc -l <"$dir/killed.differences"
}

# killed_after SECONDS COMMAND...: in the tree, in a session of its own, killed with all its processes
killed_after() (
	seconds=$1
	shift
	cd "$dir/killed" || exit
	setsid "$@" >"$dir/killed.out" 2>&1 </dev/null &
	leader=$!
	sleep "$seconds"
	kill -s KILL -- "-$leader" 2>/dev/null && echo "$seconds" >>"$dir/killed.times"
	wait "$leader" 2>/dev/null || true
	kill_leftovers "$dir/killed"
)

# kill_often SECONDS COMMAND...: what takes SECONDS is killed after an eighth of them, begun again and
# killed again, seven times; how many paths were found harmed, in all
kill_often() {
	eighth=$(awk "BEGIN { print $1 / 8 }")
	shift
	harmed=0
	for time in 1 2 3 4 5 6 7; do
		killed_after "$eighth" "$@"
		harmed=$((harmed + $(unharmed_count)))
	done
	say "killed $time times" >&2
	echo $harmed
}

stage_unharmed() {
	restore probed killed
	listing "$dir/killed" >"$dir/killed.before"
	rm -f "$dir/killed.times"
	listing "$dir/plain" >"$dir/killed.now"
	differences "$dir/plain.before" "$dir/killed.now" >"$dir/killed.made"
	whole=$(awk '{ print $2 }' "$dir/times" | median)
	harmed=$(kill_often "$whole" "$vprof" build --functions all -- sh -c "$build")
	fact unharmed.build_killed "$harmed" paths 0 "$harmed == 0"
	(cd "$dir/killed" && "$vprof" build --functions all -- sh -c "$build") >"$dir/killed.build" 2>&1 ||
		die "$name: does not build after it was killed: $dir/killed.build"
	harmed=$(unharmed_count)
	fact unharmed.build "$harmed" paths 0 "$harmed == 0"

	(cd "$dir/killed" && timed "$dir/killed.time" "$vprof" iterate --max-runs 3 --ignore-status -- \
		sh -c "$iterated") >"$dir/killed.iterate" 2>&1 ||
		[ -s "$dir/killed.iterate" ] || die "$name: iterate: $dir/killed.iterate"
	harmed=$(unharmed_count)
	fact unharmed.iterate "$harmed" paths 0 "$harmed == 0"
	harmed=$(kill_often "$(awk '{ print $1 }' "$dir/killed.time")" \
		"$vprof" iterate --max-runs 3 --ignore-status --restart -- sh -c "$iterated")
	fact unharmed.iterate_killed "$harmed" paths 0 "$harmed == 0"
	times=$(wc -l <"$dir/killed.times")
	fact unharmed.kills "$times" times ">= 7" "$times >= 7"

	(cd "$dir/killed" && sh -c "$clean") >"$dir/killed.clean" 2>&1
	rm -rf "$dir/killed/vprof.data"
	restore plain cleaned
	(cd "$dir/cleaned" && sh -c "$build" && sh -c "$iterated" && sh -c "$clean") >"$dir/cleaned.out" 2>&1
	listing "$dir/killed" | grep -v '\.Tpo' >"$dir/killed.now"
	listing "$dir/cleaned" | sed "s|$dir/cleaned|$dir/killed|g" >"$dir/cleaned.now"
	differences "$dir/cleaned.now" "$dir/killed.now" >"$dir/killed.differences"
	cnt=$(wc -l <"$dir/killed.differences")
	fact unharmed.clean "$cnt" paths 0 "$cnt == 0"
	rm -rf "$dir/killed" "$dir/cleaned"
}

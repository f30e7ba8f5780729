# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154 # set by lib.sh and the project's file
#
# unharmed.sh - the user's tree, byte for byte: vprof build is killed in the middle again and again, then
# goes through; vprof iterate is killed, then goes through; make clean.  After each of these nothing is
# changed, gone or new but what a plain build makes (and vprof.data, vprof.conf).
#
# A project's file sets iterated: what vprof iterate runs, and clean: how its build system cleans.

# What a plain build makes or changes: the second column of plain.differences.  automake's .Tpo files
# are there while the compiler runs: a plain make that is killed leaves them as well.
unharmed_count() {
	listing "$dir/killed" >"$dir/killed.now"
	differences "$dir/killed.before" "$dir/killed.now" |
		awk -F'\t' 'NR == FNR { made[$1 " " $2] = 1; next }
			($1 " " $2) in made || $2 ~ /\.Tpo( \(mode\))?$/ { next }
			# a directory gets another time only, a file of the build may not be there yet
			{ print }' "$dir/plain.differences" - >"$dir/killed.differences"
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
	kill -KILL -- "-$leader" 2>/dev/null && echo "$seconds" >>"$dir/killed.times"
	wait "$leader" 2>/dev/null || true
	kill_leftovers "$dir/killed"
)

# kill_often SECONDS COMMAND...: what takes SECONDS, killed after 1/8, 2/8 ... 7/8 of them; how many
# paths were found harmed, in all
kill_often() {
	whole=$1
	shift
	harmed=0
	for eighths in 1 2 3 4 5 6 7; do
		killed_after "$(awk "BEGIN { print $whole * $eighths / 8 }")" "$@"
		harmed=$((harmed + $(unharmed_count)))
	done
	echo $harmed
}

stage_unharmed() {
	restore probed killed
	listing "$dir/killed" >"$dir/killed.before"
	rm -f "$dir/killed.times"
	whole=$(awk '{ print $2 }' "$dir/times" | median)
	# Each time from the beginning again: what was compiled before is not compiled once more.
	# shellcheck disable=SC2016 # of sh -c
	harmed=$(kill_often "$whole" sh -c 'eval "$0" >/dev/null 2>&1; exec "$@"' "$clean" \
		"$vprof" build --functions all -- sh -c "$build")
	fact unharmed.build_killed "$harmed" paths 0 "$harmed == 0"
	(cd "$dir/killed" && "$vprof" build --functions all -- sh -c "$build") >"$dir/killed.build" 2>&1 ||
		die "$name: does not build after it was killed: $dir/killed.build"
	fact unharmed.build "$(unharmed_count)" paths - 1

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
	(cd "$dir/cleaned" && sh -c "$build" && sh -c "$clean") >"$dir/cleaned.out" 2>&1
	listing "$dir/killed" | grep -v '\.Tpo' >"$dir/killed.now"
	listing "$dir/cleaned" | sed "s|$dir/cleaned|$dir/killed|g" >"$dir/cleaned.now"
	differences "$dir/cleaned.now" "$dir/killed.now" >"$dir/killed.differences"
	cnt=$(wc -l <"$dir/killed.differences")
	fact unharmed.clean "$cnt" paths 0 "$cnt == 0"
	rm -rf "$dir/killed" "$dir/cleaned"
}

# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154 # set by lib.sh and the project's file
#
# unharmed.sh - the user's tree, byte for byte: vprof build is killed in the middle again and again, then
# goes through; so does vprof iterate; make clean.  After each of these nothing is changed, gone or new but
# what a plain build and its tests make there (and vprof.data, vprof.conf).
#
# A project's file sets iterated: what vprof iterate runs, some of its tests; clean: how its build
# system cleans; killed_leaves: what a plain make of it leaves, too, when it is killed, for grep -E; and mend:
# what it takes, also without vprof, before one that was killed builds again.

kills=7 mend=${mend:-true}

# unharmed_count: paths that differ and should not
unharmed_count() {
	listing "$dir/killed" >"$dir/killed.now"
	differences "$dir/killed.before" "$dir/killed.now" |
		awk -F'\t' 'NR == FNR { made[$1 " " $2] = 1; next }
			!(($1 " " $2) in made) { sub(/ \(mode\)$/, "", $2); print $1 "\t" $2 }' "$dir/killed.made" - |
		sort -u | grep -v -E "$killed_leaves" >"$dir/killed.differences" || true
	sed 's/^/    /' "$dir/killed.differences" | head -n 5 >&2
	wc -l <"$dir/killed.differences"
}

objects_made() { find "$dir/killed" -path "$dir/killed/vprof.data" -prune -o -name '*.o' -print | wc -l; }

# killed_after SECONDS COMMAND...: in the tree, killed with all the processes of its group (timeout makes
# one).  Fails if it ended before.
killed_after() (
	seconds=$1
	shift
	cd "$dir/killed" || exit
	status=0
	timeout -s KILL "$seconds" "$@" >"$dir/killed.out" 2>&1 </dev/null || status=$?
	kill_leftovers "$dir/killed"
	[ $status = 137 ]
)

# kill_often NAME SECONDS COMMAND...: what takes SECONDS is killed at random moments and begun again, so that
# a build is in the middle of another object each time, and begun from scratch when it ended too early.
# Tells how many paths were found harmed, and at how many kills some objects were made, and not all.
kill_often() {
	what=$1 seconds=$2
	shift 2
	harmed=0 killed=0 middle=0 tries=0
	whole=$(find "$dir/plain" -name '*.o' | wc -l)
	while [ $tries -lt $((4 * kills)) ]; do
		if [ $killed -ge $kills ] && { [ "$what" != build ] || [ $middle -ge 3 ]; }; then
			break
		fi
		tries=$((tries + 1))
		moment=$(awk -v seed="$(od -An -N2 -tu2 /dev/urandom)" -v most="$seconds" -v kills="$kills" \
			'BEGIN { srand(seed); printf "%.2f", 2 * rand() * most / kills }')
		if killed_after "$moment" "$@"; then
			made=$(objects_made)
			say "$what: killed after $moment s; objects: $made of $whole"
			killed=$((killed + 1))
			[ "$made" = 0 ] || [ "$made" -ge "$whole" ] || middle=$((middle + 1))
			harmed=$((harmed + $(unharmed_count)))
		elif [ "$what" = build ]; then
			restore probed killed
		fi
	done
	fact "unharmed.${what}_kills" $killed times ">= $kills" "$killed >= $kills"
	fact "unharmed.${what}_killed" $harmed paths 0 "$harmed == 0"
}

unharmed_build() {
	kill_often build "$(awk '{ print $2 }' "$dir/times" | median)" "$vprof" build --functions all -- sh -c "$build"
	fact unharmed.build_in_the_middle "$middle" times ">= 3" "$middle >= 3"
	(cd "$dir/killed" && sh -c "$mend" && "$vprof" build --functions all -- sh -c "$build") \
		>"$dir/killed.build" 2>&1 ||
		die "$name: does not build after it was killed: $dir/killed.build"
	harmed=$(unharmed_count)
	fact unharmed.build "$harmed" paths 0 "$harmed == 0"
}

unharmed_iterate() {
	(cd "$dir/killed" && timed "$dir/killed.time" "$vprof" iterate --max-runs 3 --ignore-status -- \
		sh -c "$iterated") >"$dir/killed.iterate" 2>&1 || true	# what it found is not the question
	runs=$(cd "$dir/killed" && "$vprof" sql --format csv "SELECT count(*) FROM run" | tail -n 1)
	fact unharmed.iterate_runs "$runs" runs ">= 1" "$runs >= 1"
	harmed=$(unharmed_count)
	fact unharmed.iterate "$harmed" paths 0 "$harmed == 0"
	kill_often iterate "$(tail -n 1 "$dir/killed.time" | cut -d' ' -f1)" \
		"$vprof" iterate --max-runs 3 --ignore-status --restart -- sh -c "$iterated"
	(cd "$dir/killed" && "$vprof" build --functions all) >"$dir/killed.again" 2>&1 ||
		die "$name: does not build after iterate was killed: $dir/killed.again"
	harmed=$(unharmed_count)
	fact unharmed.build_again "$harmed" paths 0 "$harmed == 0"
}

# The same as a plain build that is cleaned, except for the trees' own names.
unharmed_clean() {
	(cd "$dir/killed" && sh -c "$clean") >"$dir/killed.clean" 2>&1
	rm -rf "$dir/killed/vprof.data"
	restore probed cleaned
	(cd "$dir/cleaned" && sh -c "$build" && sh -c "$iterated" && sh -c "$clean") >"$dir/cleaned.out" 2>&1
	for tree in killed cleaned; do
		listing "$dir/$tree" | sed "s|$dir/$tree|TREE|g" >"$dir/$tree.now"
	done
	differences "$dir/cleaned.now" "$dir/killed.now" | sed 's/ (mode)$//' | sort -u |
		grep -v -E "$killed_leaves" >"$dir/killed.differences" || true
	head -n 5 "$dir/killed.differences" | sed 's/^/    /'
	cnt=$(wc -l <"$dir/killed.differences")
	fact unharmed.clean "$cnt" paths 0 "$cnt == 0"
}

stage_unharmed() {
	restore probed killed
	listing "$dir/killed" >"$dir/killed.before"
	listing "$dir/plain" >"$dir/killed.now"
	differences "$dir/plain.before" "$dir/killed.now" >"$dir/killed.made"
	unharmed_build
	unharmed_iterate
	unharmed_clean
	rm -rf "$dir/killed" "$dir/cleaned"
}

# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154 # set by lib.sh and the project's file
#
# stack.sh - probes need little stack: what the project's file calls deep, a short command that recurses as deep as the
# program lets one, says the same with probes in 1.2 times the stack (ulimit -s) that it needs without them.
#
# The needed size is found by bisection, in KiB, with addresses that are not random. Recorded, threads have the same limit
# for their stacks. There the runtime takes some KiB of each, whatever the program needs, so a project that recurses nowhere may
# say how much is little for it: deep_least.

most_stack=65536

# deep_in SIDE KB FILE [COMMAND...]: it ends well with this stack, COMMAND (vprof record --) around it, and says what it says
# with much; FILE gets what it says
deep_in() {
	side=$1 file=$3
	limit=$2
	shift 3
	status=0
	export deep limit
	# shellcheck disable=SC2016 # of sh -c
	in_side "$dir/$side" "$@" sh -c 'ulimit -S -s $limit && exec setarch -R timeout -k 5 60 sh -c "$deep"' \
		>"$file" 2>"$dir/stack.err" </dev/null || status=$?
	kill_leftovers "$dir/$side"
	[ $status = 0 ] && cmp -s "$file" "$dir/stack.want"
}

# needed_by SIDE: KiB, in steps of 4
needed_by() {
	low=8 high=$most_stack
	while [ $((high - low)) -gt 4 ]; do
		middle=$(((low + high) / 8 * 4))
		if deep_in "$1" $middle "$dir/stack.out"; then
			high=$middle
		else
			low=$middle
		fi
	done
	echo "$high"
}

stage_stack() {
	for side in plain probed; do
		[ -z "$deep_once" ] || in_side "$dir/$side" sh -c "$deep_once" >"$dir/stack.once" 2>&1 </dev/null ||
			die "$name: '$deep_once' fails: $dir/stack.once"
	done
	: >"$dir/stack.want"
	deep_in plain $most_stack "$dir/stack.much" || [ $status = 0 ] || die "$name: '$deep' fails without probes"
	[ -s "$dir/stack.much" ] || die "$name: '$deep' says nothing"
	mv "$dir/stack.much" "$dir/stack.want"
	plain=$(needed_by plain)
	probed=$(needed_by probed)
	most=$((plain * 6 / 5))
	[ $most -ge "$deep_least" ] || most=$deep_least
	same=0 recorded_same=0
	deep_in probed $most "$dir/stack.out" && same=1
	# If no interval completes, vprof ends with 3.
	deep_in probed $most "$dir/stack.out" "$vprof" record -- || [ $status != 3 ] ||
		! cmp -s "$dir/stack.out" "$dir/stack.want" || status=0
	[ $status != 0 ] || recorded_same=1
	rm -rf "$dir/probed/vprof.data/runs"
	say "stack: $plain KiB, with probes $probed"
	fact stack.plain "$plain" KiB - 1
	fact stack.probed "$probed" KiB - 1
	fact stack.given "$most" KiB - 1
	fact stack.same "$same" "with what is given" 1 "$same == 1"
	fact stack.recorded_same "$recorded_same" "with what is given" 1 "$recorded_same == 1"
}

# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154 # set by lib.sh and the project's file
#
# stack.sh - probes need little stack: what the project's file calls deep, a short command that recurses as deep as the
# program lets one, says the same with probes in 1.2 times the stack (ulimit -s) that it needs without them.
#
# What it needs is found by bisection, in KiB, with addresses that are not random. Recorded, threads have the same limit
# for their stacks.

most_stack=65536

# deep_in SIDE KB FILE: it ends well with this stack, and says what it says with much; FILE gets what it says
deep_in() (
	cd "$dir/$1" || exit
	ulimit -S -s "$2" 2>/dev/null || exit
	setarch -R timeout -k 5 60 sh -c "$deep" >"$3" 2>/dev/null </dev/null || exit
	cmp -s "$3" "$dir/stack.want"
)

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

# deep_recorded KB: under vprof record, the program alone with this stack
deep_recorded() (
	cd "$dir/probed" || exit
	export deep limit="$1"
	# shellcheck disable=SC2016 # of sh -c
	"$vprof" record --ignore-status -- sh -c 'ulimit -S -s $limit && exec setarch -R sh -c "$deep"' \
		>"$dir/stack.out" 2>"$dir/stack.err" </dev/null
	cmp -s "$dir/stack.out" "$dir/stack.want"
)

stage_stack() {
	(cd "$dir/plain" && ulimit -S -s $most_stack && sh -c "$deep") >"$dir/stack.want" 2>/dev/null </dev/null ||
		die "$name: '$deep' fails without probes"
	[ -s "$dir/stack.want" ] || die "$name: '$deep' says nothing"
	plain=$(needed_by plain)
	probed=$(needed_by probed)
	limit=$((plain * 6 / 5))
	same=0 recorded_same=0
	deep_in probed $limit "$dir/stack.out" && same=1
	deep_recorded $limit && recorded_same=1
	rm -rf "$dir/probed/vprof.data/runs"
	say "stack: $plain KiB, with probes $probed"
	fact stack.plain "$plain" KiB - 1
	fact stack.probed "$probed" KiB - 1
	fact stack.same "$same" "in 1.2 times plain" 1 "$same == 1"
	fact stack.recorded_same "$recorded_same" "in 1.2 times plain" 1 "$recorded_same == 1"
}

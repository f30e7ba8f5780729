#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# exam.sh - Apache httpd 2.4 and APR through `vprof iterate`, checked.  `make exam-httpd` runs it.
#
#	exam.sh --vprof PROGRAM --check PROGRAM [--work DIR] [--results FILE] [--rounds N]
#
#	1. all		httpd, APR and apr-util with a probe in every function: none fails to compile, no
#			source is changed, every reply is right
#	2. iterate	vprof iterate --k 3 ends by itself; among its first three factors are the planted
#			cause, mod_deflate's compression, and the handoff from listener to worker, a
#			queue wait that says what the worker was in; the tree adds up; each request that
#			httpd logged was one interval, and those without an end are connections that
#			the client did not use: ab opens a few more than it has requests
#	3. keep-alive	the same over connections that stay open: each request an interval, and at most
#			one interval without an end for each connection that the client closes
#	4. proof	httpd's own access log, recorded and not: whose latencies vary
#	5. pairs	requests per second with the last plan, off and recorded, next to plain
#
# Prints a table and writes it as FILE (./results/httpd.json); exit 1 where a target is missed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
vprof='' check='' work=httpd-work rows='' results=results/httpd.json rounds=3

# shellcheck disable=SC1091 # lib.sh is checked by itself
. "$here/../lib.sh"
exam_options "$@"

# The findings of the latest run, of the interval that is its subject.
latest="(SELECT id FROM finding WHERE run = (SELECT max(number) FROM run) ORDER BY count DESC LIMIT 1)"

# loaded TREE NAME COMMAND...: bench.sh has compared the replies
loaded() {
	tree=$1 name=$2
	shift 2
	status=0
	in_tree "$tree" "$@" >"$work/$name.txt" 2>&1 || status=$?
	[ $status -eq 0 ] || tail -n 20 "$work/$name.txt" >&2
	row "$name.status" $status status 0 "$(holds "$status == 0")"
}

exam_all() {
	step "a probe in every function"
	"$here/fetch-and-build.sh" --work "$work" plain >/dev/null
	rm -rf "$work/all"
	"$here/fetch-and-build.sh" --work "$work" --vprof "$vprof" --functions all all >/dev/null
	functions=$(query all "SELECT count(*) FROM function")
	unprobed=$(query all "SELECT count(*) FROM function WHERE NOT probed")
	untouched=$(query all "SELECT count(*) FROM unit WHERE untouched IS NOT NULL")
	row all.functions "$functions" count ">= 3000" "$(holds "$functions >= 3000")"
	row all.functions_unprobed "$unprobed" count 0 "$(holds "$unprobed == 0")"
	row all.units_not_instrumented "$untouched" count 0 "$(holds "$untouched == 0")"
	changed=$(sources_changed all)
	row all.sources_changed "$changed" count 0 "$(holds "$changed == 0")"
	loaded all all.load ./bench.sh
	loaded all all.recorded "$vprof" record --buffer 512 -- ./bench.sh --requests 5000
}

# intervals_are NAME FILE: each logged request one interval of either kind, in the latest run of the tree "plan"
intervals_are() {
	logged=$(value_of log_requests "$2" | tail -n 1)
	completed=$(query plan "SELECT sum(count + dropped_lost +
		ifnull((SELECT root_only_count FROM probing WHERE finding = f.id), 0))
		FROM finding f WHERE run = (SELECT max(number) FROM run)")
	row "$1.intervals_minus_requests" $((completed - ${logged:-0})) count 0 \
		"$(holds "$completed == ${logged:-0}")"
}

# endless_are NAME TARGET: intervals that were begun and have no end
endless_are() {
	endless=$(query plan "SELECT sum(dropped_open + dropped_aborted) FROM finding
		WHERE run = (SELECT max(number) FROM run)")
	row "$1.intervals_without_end" "$endless" count "<= $2" "$(holds "$endless <= $2")"
}

# mod_deflate's part: its functions and their bodies.
of_deflate="file LIKE '%/mod_deflate.c'"

exam_iterate() {
	step "vprof iterate"
	rm -rf "$work/plan"
	"$here/fetch-and-build.sh" --work "$work" --configure-only plan >/dev/null
	loaded plan iterate "$vprof" iterate --k 3 --buffer 512 -- ./bench.sh
	cat "$work/iterate.txt"
	runs=$(query plan "SELECT count(*) FROM iteration")
	row iterate.runs "$runs" count "<= 8" "$(holds "$runs <= 8 && $runs > 0")"
	ended=$(query plan "SELECT count(*) FROM iteration WHERE stop IN ('closed', 'too-dear', 'unresolved')")
	row iterate.ended_by_itself "$ended" count 1 "$(holds "$ended == 1")"
	for view in runs variance-tree factors; do
		in_tree plan "$vprof" show $view | tee "$work/plan.$view.txt"
		in_tree plan "$vprof" show $view --format json >"$work/plan.$view.json"
	done
	selected=$(query plan "SELECT selected FROM iteration ORDER BY run DESC LIMIT 1")
	echo "selected: $selected"
	deflate=$(query plan "SELECT ifnull(max(share), 0) FROM latest_factor WHERE $of_deflate")
	row iterate.deflate_share "$deflate" share ">= 0.05" "$(holds "$deflate >= 0.05")"
	named=0
	echo "$selected" | grep -qw deflate_out_filter && named=1
	row iterate.deflate_among_first_three $named count 1 "$(holds "$named == 1")"
	queue=$(query plan "SELECT total(share) FROM factor WHERE finding = $latest AND wait = 'queue'")
	row handoff.queue_wait_share "$queue" share "> 0" "$(holds "$queue > 0")"
	named=$(query plan "SELECT total(share) FROM node WHERE finding = $latest AND kind = 'blame' AND
		function IS NOT NULL AND parent IN (SELECT id FROM node WHERE finding = $latest AND
		wait = 'queue' AND kind = 'wait')")
	row handoff.queue_wait_with_a_name "$(awk "BEGIN { print $named / $queue }")" "of it" ">= 0.5" \
		"$(holds "$named >= 0.5 * $queue")"
	intervals_are check "$work/iterate.txt"
	endless_are check 54
	"$check" "$work/plan.variance-tree.json" "$work/plan.factors.json" >"$work/check.tsv" || true
	[ -s "$work/check.tsv" ] || row check 1 status 0 false
	# How many there are was just compared.
	# those without an end have a row of their own
	sed '/^intervals	/d; /^intervals_\(aborted\|open\)	/d; s/^/check./' "$work/check.tsv" >>"$rows"
}

exam_keep_alive() {
	step "keep-alive"
	loaded plan keep_alive "$vprof" record --buffer 512 -- ./bench.sh --keep-alive --requests 5000
	intervals_are keep_alive "$work/keep_alive.txt"
	# what ab closes at its end: 50 connections and twice 2, and as many that it did not use
	endless_are keep_alive 108
}

# deflate_share FILE: how much of the variance of %D, over all requests, is that of compressed ones
deflate_share() {
	awk '/^log_[a-z]*_requests/ { n[substr($1, 5, length($1) - 13)] = $2 }
		/^log_[a-z]*_mean_us/ { m[substr($1, 5, length($1) - 12)] = $2 }
		/^log_[a-z]*_sd_us/ { s[substr($1, 5, length($1) - 10)] = $2 }
		END {
			for (i in n) { N += n[i]; T += n[i] * m[i] }
			for (i in n) {
				v = n[i] * (s[i] ^ 2 + (m[i] - T / N) ^ 2)
				all += v
				if (i == "text")
					text = v
			}
			print text / all
		}' "$1"
}

exam_proof() {
	step "proof"
	loaded plain proof.plain "$here/bench.sh"
	share=$(deflate_share "$work/proof.plain.txt")
	row proof.plain_variance_of_text "$share" share ">= 0.3" "$(holds "$share >= 0.3")"
}

exam_pairs() {
	step "throughput in $rounds rounds"
	rm -f "$work/pairs"
	round=1
	while [ "$round" -le "$rounds" ]; do
		loaded plain pair.plain "$here/bench.sh"
		loaded plan pair.dormant ./bench.sh
		loaded plan pair.recorded "$vprof" record --buffer 512 -- ./bench.sh
		for kind in plain dormant recorded; do
			value_of small_per_second "$work/pair.$kind.txt"
		done | paste -s -d ' ' >>"$work/pairs"
		round=$((round + 1))
	done
	row pairs.plain "$(cut -d ' ' -f 1 "$work/pairs" | median)" requests/s - true
	row pairs.dormant_to_plain "$(ratio 2 "$work/pairs")" ratio - true
	row pairs.recorded_to_plain "$(ratio 3 "$work/pairs")" ratio - true
}

exam_all
exam_iterate
exam_keep_alive
exam_proof
exam_pairs
write_results "$results"

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make bench-causal: vprof causal and Coz (Debian: coz-profiler) of the same program (tests/bench/causal_meet.c), against what is
# gained where it is really faster.  4 ms of computing beside 2 ms: of the 4 ms (a) half is gained and no more, of the 2 ms (b) nothing.
#
#	SECONDS_EACH=40 tests/bench/causal.sh		in the build directory
#
# Both run for SECONDS.  The truth is measured before, between and after; where its halves differ by over a point the machine
# was not quiet, and no row counts.  Coz is built and asked as it needs it: -gdwarf-4 -gstrict-dwarf, one line, its own measure
# (throughput).  Its prediction for each speedup is compared with the truth at that speedup, interpolated linearly between measured ones.
# Prints a table and writes results/causal_bench.json; exit 1 if vprof's mean error on (a) is above a quarter of Coz's; 77 without coz.
set -u
top=$(cd "${srcdir:-.}" && pwd)
. "$top/tests/exam/table.sh"
vprof=$PWD/vprof
results=${RESULTS:-$PWD/results}
seconds=${SECONDS_EACH:-40}
items=${ITEMS:-150}
command -v coz >/dev/null || { echo "coz is missing: apt-get install coz-profiler"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/vprof-bench-causal.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS MAKEFLAGS MAKELEVEL MFLAGS
export NO_COLOR=1 LC_ALL=C.UTF-8
cd "$work" || exit 99
cp "$top/tests/bench/causal_meet.c" . || exit 99
gcc -DCOZ -O1 -gdwarf-4 -gstrict-dwarf causal_meet.c -o coz_meet -lpthread -ldl || exit 99
"$vprof" build --functions all -- gcc -O1 -g causal_meet.c -o meet -lpthread >build.log 2>&1 || { cat build.log; exit 99; }

# truth PART: what 0, 25 ... 100 % less really take, a line each "PART SPEED MS"
truth()
{
	for less in 0 25 50 75 100; do
		case $1 in a) pair="$less 0" ;; b) pair="0 $less" ;; esac
		# shellcheck disable=SC2086
		echo "$1 $less $(./meet $pair "$items")"
	done >>truth.$2
}

# of PART: "SPEED GAIN" in per cent, of all that was measured, or of truth.1, truth.2
of()
{
	part=$1
	shift
	awk -v part="$part" '
		$1 == part { ms[$2] += $3; n[$2]++ }
		END { for (s = 0; s <= 100; s += 25) print s, 100 * (1 - ms[s] / n[s] / (ms[0] / n[0])) }' "$@"
}

# errors FILE PART: "MEAN LARGEST" of the lines "SPEED GAIN" of FILE, in points
errors()
{
	awk '
		FNR == NR { truth[$1] = $2; next }
		{
			low = int($1 / 25) * 25
			t = low == 100 ? truth[100] : truth[low] + (truth[low + 25] - truth[low]) * ($1 - low) / 25
			e = $2 - t; e = e < 0 ? -e : e
			sum += e; n++; if (e > most) most = e
		}
		END { if (n) printf "%.2f %.2f\n", sum / n, most; else print "-1 -1" }' "truth.of.$2" "$1"
}

ask_vprof()
{
	from=$(date +%s)
	timeout -k 20 $((seconds + 60)) "$vprof" causal --target "$1" --metric p50 --for "${seconds}s" --format json -- ./meet >"vprof.$2.json" 2>"vprof.$2.log"
	echo "$(($(date +%s) - from))" >"vprof.$2.took"
	"$vprof" show causal --format csv | awk -F, '$7 == "p50" && $4 > 0 { print $3 * 100, $9 * 100 }' >"vprof.$2"
}

ask_coz()
{
	line=$(grep -n "/\* the $1 \*/" causal_meet.c | cut -d: -f1)
	rm -f profile.coz
	timeout -s TERM -k 5 "$seconds" coz run --fixed-line "causal_meet.c:$line" --- ./coz_meet >/dev/null 2>"coz.$2.log"
	awk -F '[\t=]' '
		$1 == "experiment" { speed = sprintf("%.0f", $5 * 100) + 0; took = $7 }
		$1 == "throughput-point" { ns[speed] += took; items[speed] += $5 }
		END {
			if (items[0])
				for (s in items)
					if (s > 0 && items[s])
						print s, 100 * (1 - ns[s] / items[s] / (ns[0] / items[0]))
		}' profile.coz >"coz.$2"
}

truth a 1; truth b 1
ask_vprof critical a; truth a 2; truth b 2
ask_coz "critical line" a; truth a 1; truth b 1
ask_vprof beside b; truth a 2; truth b 2
ask_coz "line beside" b; truth a 1; truth b 1
off=0
for part in a b; do
	of $part truth.1 truth.2 >truth.of.$part
	of $part truth.1 >half.1
	of $part truth.2 >half.2
	off=$(paste half.1 half.2 | awk -v off="$off" '{ e = $2 - $4; e = e < 0 ? -e : e; if (e > off) off = e } END { printf "%.2f", off }')
done
echo "the truth, by halves of what was measured: $off points off"
for part in a b; do
	read -r vprof_mean vprof_most <<-END
		$(errors vprof.$part $part)
	END
	read -r coz_mean coz_most <<-END
		$(errors coz.$part $part)
	END
	echo "$part: really $(awk '{ printf " %.1f", $2 }' truth.of.$part); vprof $(awk '{ printf " %.1f", $2 }' vprof.$part) in $(cat vprof.$part.took) s; Coz" \
		"$(sort -n coz.$part | awk '$1 % 25 == 0 { printf " %d: %.1f", $1, $2 }') in $seconds s"
	if awk "BEGIN { exit !($off <= 1) }"; then
		[ $part = a ] && target="$(awk "BEGIN { printf \"%.2f\", $coz_mean / 4 }")" || target=1.0
		row "$part: vprof, mean error" "$vprof_mean" points "$target" "$vprof_mean >= 0 && $vprof_mean <= $target"
	else
		printf '%-48s %10s %-14s not counted: the machine was not quiet\n' "$part: vprof, mean error" "$vprof_mean" points
	fi
	printf '%-48s %10s %-14s\n' "$part: vprof, largest error" "$vprof_most" points "$part: Coz, mean error" "$coz_mean" points \
		"$part: Coz, largest error" "$coz_most" points
done
write_results "$results/causal_bench.json"
exit $bad

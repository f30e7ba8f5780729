#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make exam-truth: programs whose cause is planted (tests/exam/truth/), through the whole tool.
#
#	ONLY="chain join" ROUNDS=3 tests/exam/truth.sh		in the build directory
#
# Each program is built with vprof build, iterated with vprof iterate --k 3, and compared with its own book: it writes down
# how long each of its planted functions really took in each interval.  The head of each source says what it plants:
#
#	truth: function f .62		has that share of the variance (wait CLASS f: its waits; -: of no function)
#	truth: wait lock f because g	... of which g is the reason
#	left: function f .9		of what the noted work leaves
#	forbidden: function g		is no cause: at most 2 %
#	also: function h		may be named beside the planted: what these are called by
#	says: TEXT			show factors says so
#	warns: CODE			... and warns of it; never of mixture or drift without that, or may-warn: CODE
#	fix: NAME function f		with the plant NAME fixed the variance falls by the gain that was reported for f
#
# Every factor that had 5 % in this run must be among the first three, unless three others of its book had more, its share
# within 3 points of the truth of this run, or its confidence interval around it; nothing forbidden above 2 %.  If the
# machine made a run other than planned by more than 10 points it is repeated, up to TRIES (6) times; the last one counts.
# A run with a wrong answer is repeated once, too.
# If it still was then, only shares are judged, not what came first.
# Prints precision, recall, error; writes results/truth.json; exit 1 on a miss.
set -u
top=$(cd "${srcdir:-.}" && pwd)
. "$top/tests/exam/table.sh"
vprof=$PWD/vprof
results=${RESULTS:-$PWD/results}
rounds=${ROUNDS:-1}
tries=${TRIES:-6}
here=$top/tests/exam/truth
work=$(mktemp -d "${TMPDIR:-/tmp}/vprof-exam-truth.XXXXXX") || exit 99
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS MAKEFLAGS MAKELEVEL MFLAGS TRUTH_OFF TRUTH_BOOK
export NO_COLOR=1 LC_ALL=C.UTF-8
programs=${ONLY:-$(cd "$here" && ls ./*.c ./*.cc | sed 's|^\./||; s/\.cc*$//' | grep -v '^truth$')}
sums=$work/sums

# plan WORD: what follows it in the head of the source
plan()
{
	sed -n "s|^ \* $1: ||p" "$source"
}

prepare()
{
	mkdir -p "$work/$program" && cd "$work/$program" || exit 99
	cp "$here/truth.h" "$source" . && cp "$work/truth.o" truth.o || exit 99
	case $source in
	*.cc) echo "program: $program.cc; g++ -O1 -g -Wall -Wextra -o program $program.cc truth.o -pthread" ;;
	*) echo "program: $program.c; gcc -O1 -g -Wall -Wextra -o program $program.c truth.o -pthread" ;;
	esac >Makefile
	"$vprof" build -- make >build.log 2>&1 || { cat build.log; exit 99; }
}

run_once()
{
	"$vprof" iterate --restart --k 3 -- ./program >iterate.txt 2>iterate.log </dev/null || { cat iterate.log; exit 99; }
	latest="(SELECT min(id) FROM finding WHERE run = (SELECT max(run) FROM finding))"
	"$vprof" sql --format csv "SELECT start_ns, root_only FROM interval WHERE finding = $latest
		ORDER BY start_ns" >intervals.csv
	"$vprof" show factors --all --format csv >factors.csv 2>/dev/null
	"$vprof" show factors >factors.txt 2>&1
	"$vprof" sql --format csv "SELECT f.wait, f.function, b.function, b.share FROM factor f JOIN because_of b
		ON b.finding = f.finding AND b.factor = f.id WHERE f.finding = $latest" >because.csv
	"$vprof" sql --format csv "SELECT selected FROM iteration ORDER BY run DESC LIMIT 1" |
		sed '1d; s/^"//; s/"$//' >selected.txt
	awk -f "$here/check.awk" "$source" truth.book intervals.csv factors.csv because.csv selected.txt >table || exit 99
}

# Checks the answers in words.  Adds to $misses.
check_words()
{
	plan says >words
	while read -r text; do
		grep -qF -e "$text" factors.txt && continue
		echo "               nobody said '$text'"
		misses=$((misses + 1))
	done <words
	"$vprof" sql --format csv "SELECT DISTINCT code FROM warning WHERE finding = $latest" | sed 1d >codes
	for code in mixture drift; do
		plan warns | grep -qx "$code" && wanted=1 || wanted=0
		grep -qx "$code" codes && given=1 || given=0
		[ $wanted = $given ] && continue
		plan may-warn | grep -qx "$code" && continue
		# The machine may drift, and add a population of its own.
		[ $wanted = 0 ] && [ "${off%.*}" -ge 3 ] && continue
		[ $given = 1 ] && echo "               warned of $code" || echo "               not warned of $code"
		misses=$((misses + 1))
	done
}

variance()
{
	awk -F ';' 'NR > 1 { t = ($2 - $1) / 1000; n++; s += t; q += t * t }
		END { printf "%.1f\n", q / n - s / n * (s / n) }' "$1"
}

# The program without the plant, and as it is, in turns, until the smallest variance of each stands for two turns, nine at most:
# what the machine does only adds.
make_turns()
{
	stood=0
	for i in 1 2 3 4 5 6 7 8 9; do
		TRUTH_BOOK=on ./program && TRUTH_OFF=$name TRUTH_BOOK=off ./program || exit 99
		before="$on_us2 $off_us2"
		on_us2=$(printf '%s\n' "$(variance on)" "${on_us2:-1e30}" | sort -g | head -1)
		off_us2=$(printf '%s\n' "$(variance off)" "${off_us2:-1e30}" | sort -g | head -1)
		[ "$before" = "$on_us2 $off_us2" ] && stood=$((stood + 1)) || stood=0
		[ $stood = 2 ] && break
	done
}

# Reported against made.  The report is of a run with more of the machine, so ns^2 are compared; where it held up the planted
# function itself they differ by that, and both are done anew, twice at most: a mistake of vprof's would be there each time.
check_fixes()
{
	plan fix >fixes
	while read -r name label; do
		on_us2=
		off_us2=
		for again in 0 1 2; do
			[ $again = 0 ] || run_once
			make_turns
			told_ns2=$("$vprof" sql --format csv "SELECT variance_ns2 FROM finding WHERE id = $latest" | tail -1)
			gain=$(awk -v label="$label" -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
				$at["kind"] ($at["wait"] == "" ? "" : " " $at["wait"]) " " $at["function"] == label {
					print $at["gain"] }' factors.csv)
			made=$(awk "BEGIN { printf \"%.1f\", 100 * (1 - $off_us2 / $on_us2) }")
			told=$(awk "BEGIN { printf \"%.1f\", 100 * ${gain:-99} * $told_ns2 / 1e6 / $on_us2 }")
			good=$(awk "BEGIN { d = $made - $told; m = 10 + .05 * ($made < 0 ? -($made) : $made)
				print d * d <= m * m }")
			[ "$good" = 0 ] || break
		done
		printf '%-14s %-26s %7s %8.1f %8.1f %6s  %s\n' "fixed" "$label" "" "$made" "$told" "" \
			"$([ "$good" = 1 ] || echo 'WRONG GAIN')$([ $again = 0 ] || echo " ($again more)")"
		[ "$good" = 1 ] || misses=$((misses + 1))
		echo "$made $told" >>"$work/gains"
	done <fixes
}

exam()
{
	again=0
	for try in $(seq "$tries"); do
		run_once
		read -r _ planned found listed true error off misses <<-SUM
			$(tail -1 table)
		SUM
		unsaid=$misses
		check_words >said
		awk "BEGIN { exit !($off <= 10) }" || continue
		[ "$misses" = "$unsaid" ] && break
		# A drift is seen by chance one time in twenty; what vprof takes for one is there again.
		[ $again = 1 ] && break
		again=1
	done
	printf '\n%s: %s runs of iterate, %s intervals%s\n' "$program" "$("$vprof" sql --format csv "SELECT count(*)
		FROM iteration WHERE first_run = (SELECT max(first_run) FROM iteration)" | tail -1)" \
		"$(($(wc -l <intervals.csv) - 1))" "$([ "$try" = 1 ] || echo ", try $try")"
	printf '%-14s %-26s %7s %8s %8s %6s\n' "" "% of the variance" planned truth told +-
	sed '$d' table
	cat said
	[ "${FIX:-1}" = 0 ] || [ "$round" != 1 ] || check_fixes
	echo "$program $planned $found $listed $true $error $off $misses" >>"$sums"
}

gcc -O1 -Wall -Wextra -Werror -c "$here/truth.c" -o "$work/truth.o" || exit 99
: >"$work/gains"
for program in $programs; do
	source=$(ls "$here/$program".c*) || exit 99
	prepare
	for round in $(seq "$rounds"); do
		exam
	done
done

printf '\n'
cnt=$(awk '{ print $1 }' "$sums" | sort -u | wc -l)
recall=$(awk '{ p += $2; f += $3 } END { printf "%.3f", p ? f / p : 1 }' "$sums")
precision=$(awk '{ l += $4; t += $5 } END { printf "%.3f", l ? t / l : 1 }' "$sums")
error=$(awk '{ f += $3; e += $6 } END { printf "%.2f", f ? e / f : 0 }' "$sums")
missed=$(awk '{ m += $8 } END { print m + 0 }' "$sums")
row "programs" "$cnt" "" 12 "$cnt >= 12 || \"${ONLY:-}\" != \"\""
row "recall: of what had 5 %, first three" "$recall" "of 1" 1 "$recall >= 1"
row "precision: of what was named, planted" "$precision" "of 1" 0.9 "$precision >= .9"
row "mean error of a share" "$error" points 3 "$error <= 3"
if [ -s "$work/gains" ]; then
	gain=$(awk '{ d = $1 - $2; s += d < 0 ? -d : d } END { printf "%.2f", s / NR }' "$work/gains")
	row "mean error of a gain, really fixed" "$gain" points 10 "$gain <= 10"
fi
row "misses" "$missed" "" 0 "$missed == 0"
write_results "$results/truth.json"
exit $bad

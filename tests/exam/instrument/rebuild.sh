# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154 # set by lib.sh and the project's file
#
# rebuild.sh - another plan compiles exactly the units that it must.
#
# The plan begins with every function, each by its name: nothing is to be done.  Then 1 function loses its
# probe, 20 others, 100 others; then all get theirs back; at last a small inline function of a header loses
# its own.  Objects that were compiled again show by inode and time.  The units that have to be are found
# without vprof: a unit holds a function if, after "gcc -E", there is its '{' on its line of its file;
# units that hold one of the functions in which two plans differ have to be compiled.
#
#	src/backend/access/heap/heapam.c:heap_insert	is in heapam.o and in no other
#	src/include/utils/float.h:float8_mi		is in 20 of them
#
# Every unit of the build is asked, so a unit that was compiled and holds none is found as well.
#
# A project's file sets header_function, FILE:NAME, and logged, so that there are commands to preprocess.

# compile_commands: "DIRECTORY<tab>OBJECT<tab>COMMAND" for each object of the plain build, from what its
# compiler was called with; the command preprocesses
compile_commands() {
	awk 'BEGIN { RS = ""; FS = "\n" }
		{
			command = "gcc -E"
			object = ""
			for (i = 2; i <= NF; i++) {
				if ($i == "-o") {
					object = $(++i)
				} else if ($i ~ /^-M[FTQ]$/) {
					i++
				} else if ($i !~ /^(-c|-MD|-MMD|-MP)$/) {
					gsub(/\047/, "\047\\\047\047", $i)
					command = command " \047" $i "\047"
				}
			}
			print $1 "\t" object "\t" command
		}' "$dir/compiled"
}

# holders: "OBJECT<tab>FILE:NAME" for each unit and each of the candidates in it; two processors at work
holders() {
	compile_commands >"$dir/commands"
	[ -s "$dir/commands" ] || die "$name: no compilation was logged"
	find "$dir/plain" -type l -name '*.[ch]' | while read -r link; do
		real=$(realpath "$link")
		echo "${link#"$dir/plain/"} ${real#"$dir/plain/"}"
	done >"$dir/links"
	awk -v file="$dir/commands." '{ print >(file (NR % 2)) }' "$dir/commands"
	holders_of "$dir/commands.0" >"$dir/holders.0" &
	holders_of "$dir/commands.1" >"$dir/holders.1"
	wait $!
	sort -u "$dir/holders.0" "$dir/holders.1"
}

holders_of() {
	while IFS='	' read -r directory object command; do
		(cd "$directory" && eval "$command" 2>/dev/null) |
			awk -v directory="$directory" -v root="$dir/plain/" -v object="$object" '
			function resolve(path) {
				if (path !~ /^\//)
					path = directory "/" path
				while (sub(/\/\.\//, "/", path)) ;
				while (sub(/\/[^\/]*[^\/.][^\/]*\/\.\.\//, "/", path)) ;
				if (index(path, root) == 1)
					path = substr(path, length(root) + 1)
				return path in link ? link[path] : path
			}
			FILENAME ~ /links$/ { link[$1] = $2; next }
			FILENAME ~ /candidates$/ { wanted[$1 SUBSEP $2] = $3; next }
			/^# [0-9]+ "/ {
				line = $2 - 1
				given = $0
				sub(/^# [0-9]+ "/, "", given); sub(/".*/, "", given)
				if (!(given in real))
					real[given] = resolve(given)
				file = real[given]
				next
			}
			{ line++ }
			(file, line) in wanted && /\{/ {
				print resolve(object) "\t" file ":" wanted[file, line]
			}' "$dir/links" "$dir/candidates" -
	done <"$1"
}

# candidates: "FILE LINE NAME" of functions to choose from, in an order without meaning; the '{' stands
# alone on its line, and the name is used once in its file
candidates() {
	ask "SELECT file, line, name FROM function WHERE probed AND file LIKE '$dir/probed/%.c'
		GROUP BY file, name HAVING count(*) = 1 ORDER BY key LIMIT 500" |
		while IFS=, read -r file line function; do
			[ "$(sed -n "${line}p" "$file")" != "{" ] ||
				echo "${file#"$dir/probed/"} $line $function"
		done | head -n 121
	ask "SELECT file, line, name FROM function WHERE probed AND name = '${header_function#*:}'
		AND file = '$dir/probed/${header_function%:*}'" | tr , ' ' | sed "s|^$dir/probed/||"
}

# all_but FIRST LAST: the names of all functions but the candidates from FIRST to LAST
all_but() {
	awk -v first="$1" -v last="$2" 'NR == FNR { if (FNR >= first && FNR <= last) left_out[$1 ":" $3] = 1; next }
		!($0 in left_out)' "$dir/candidates" "$dir/plan.all"
}

objects() { (cd "$dir/probed" && find . -type f -name '*.o' -printf '%P\t%i %T@\n' | sort); }

# change NAME: from plan.old to plan.new
change() {
	objects >"$dir/objects.old"
	(cd "$dir/probed" && timed "$dir/rebuild.time" "$vprof" build --functions "$dir/plan.new") \
		>"$dir/rebuild.$1.out" 2>&1 || die "$name: rebuild failed: $dir/rebuild.$1.out"
	objects >"$dir/objects.new"
	comm -13 "$dir/objects.old" "$dir/objects.new" | cut -f 1 | sort -u >"$dir/rebuilt"
	comm -3 "$dir/plan.old" "$dir/plan.new" | tr -d '\t' >"$dir/plan.differences"
	awk -F'\t' 'NR == FNR { differs[$0] = 1; next } $2 in differs { print $1 }' \
		"$dir/plan.differences" "$dir/holders" | sort -u >"$dir/must"
	mv "$dir/plan.new" "$dir/plan.old"
	less=$(comm -13 "$dir/rebuilt" "$dir/must" | wc -l)
	more=$(comm -23 "$dir/rebuilt" "$dir/must" | wc -l)
	say "$1: $(wc -l <"$dir/rebuilt") objects compiled, $less too few, $more too many"
	comm -3 "$dir/rebuilt" "$dir/must" | head -n 5
	least=1
	[ "$1" != same ] || least=0
	units=$(wc -l <"$dir/must")
	fact "rebuild.$1.units" "$units" units ">= $least" "$units >= $least"
	fact "rebuild.$1.too_few" "$less" units 0 "$less == 0"
	fact "rebuild.$1.too_many" "$more" units 0 "$more == 0"
	fact "rebuild.$1.time" "$(cut -d' ' -f1 "$dir/rebuild.time")" s - 1
}

stage_rebuild() {
	candidates >"$dir/candidates"
	cnt=$(wc -l <"$dir/candidates")
	[ "$cnt" = 122 ] || die "$name: $cnt functions to choose from, not 122"
	say "which unit holds what"
	objects >"$dir/objects.all"
	holders >"$dir/holders"
	nowhere=$(awk -F'\t' 'NR == FNR { held[$2] = 1; next } { split($0, w, " ") }
		!((w[1] ":" w[3]) in held)' "$dir/holders" "$dir/candidates" | wc -l)
	searched=$(wc -l <"$dir/commands")
	objects_cnt=$(wc -l <"$dir/objects.all")
	fact rebuild.searched "$searched" units ">= $objects_cnt" "$searched >= $objects_cnt"
	fact rebuild.nowhere "$nowhere" functions 0 "$nowhere == 0"
	ask "SELECT DISTINCT file || ':' || name FROM function WHERE probed" | sed "s|^$dir/probed/||" | sort >"$dir/plan.all"
	cp "$dir/plan.all" "$dir/plan.old"
	for step in same 1 20 100 121 header; do
		case $step in
		same|121)	cp "$dir/plan.all" "$dir/plan.new" ;;
		1)		all_but 1 1 >"$dir/plan.new" ;;
		20)		all_but 1 21 >"$dir/plan.new" ;;
		100)		all_but 1 121 >"$dir/plan.new" ;;
		header)		all_but 122 122 >"$dir/plan.new" ;;
		esac
		change $step
	done
}

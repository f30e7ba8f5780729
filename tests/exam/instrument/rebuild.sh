# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154 # set by lib.sh and the project's file
#
# rebuild.sh - another plan compiles exactly the units that it must.
#
# The plan goes from one function to another one, to 20, to 100, back to 20, and to these with a small
# inline function of a header.  What is compiled again shows in the objects (inode and time).  What has to
# be is found without vprof: a unit holds a function if, after "gcc -E", there is its '{' on its line
# of its file; units that hold one of the functions in which two plans differ have to be compiled.
#
#	src/backend/access/heap/heapam.c:heap_insert	is in heapam.o and in no other
#	src/include/lib/ilist.h:dlist_push_tail		is in 60 of them
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

# holders CANDIDATES: "OBJECT<tab>FILE:NAME" for each unit and each of the functions in it
holders() {
	compile_commands >"$dir/commands"
	[ -s "$dir/commands" ] || die "$name: no compilation was logged"
	while IFS='	' read -r directory object command; do
		(cd "$directory" && eval "$command" 2>/dev/null) |
			awk -v directory="$directory" -v root="$dir/plain/" -v object="$object" '
			function resolve(path) {
				if (path !~ /^\//)
					path = directory "/" path
				while (sub(/\/\.\//, "/", path)) ;
				while (sub(/\/[^\/]*[^\/.][^\/]*\/\.\.\//, "/", path)) ;
				return index(path, root) == 1 ? substr(path, length(root) + 1) : path
			}
			NR == FNR { wanted[$1 SUBSEP $2] = $3; next }
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
			}' "$1" -
	done <"$dir/commands" | sort -u
}

# candidates: "FILE LINE NAME" of functions to choose from, in an order without meaning; the '{' stands
# alone on its line, and the name is used once in its file
candidates() {
	ask "SELECT file, line, name FROM function WHERE probed AND file LIKE '$dir/probed/%.c'
		GROUP BY file, name HAVING count(*) = 1 ORDER BY key LIMIT 400" |
		while IFS=, read -r file line function; do
			[ "$(sed -n "${line}p" "$file")" != "{" ] ||
				echo "${file#"$dir/probed/"} $line $function"
		done | head -n 101
	ask "SELECT file, line, name FROM function WHERE probed AND name = '${header_function#*:}'
		AND file = '$dir/probed/${header_function%:*}'" | tr , ' ' | sed "s|^$dir/probed/||"
}

# plan FIRST COUNT [header]: the plan's file from the candidates
plan() {
	awk -v first="$1" -v cnt="$2" -v header="${3:-}" -v special="$header_function" '{ name = $1 ":" $3 }
		name == special { if (header) print name; next }
		NR >= first && NR < first + cnt { print name }' "$dir/candidates" | sort
}

objects() { (cd "$dir/probed" && find . -name '*.o' -printf '%P\t%i %T@\n' | sort); }

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
	[ "$cnt" = 102 ] || die "$name: $cnt functions to choose from, not 102"
	say "which unit holds what"
	holders "$dir/candidates" >"$dir/holders"
	nowhere=$(awk -F'\t' 'NR == FNR { held[$2] = 1; next } { split($0, w, " ") }
		!((w[1] ":" w[3]) in held)' "$dir/holders" "$dir/candidates" | wc -l)
	fact rebuild.nowhere "$nowhere" functions 0 "$nowhere == 0"
	# From every function to one: everything is compiled.
	plan 101 1 >"$dir/plan.old"
	(cd "$dir/probed" && "$vprof" build --functions "$dir/plan.old") >"$dir/rebuild.base.out" 2>&1 ||
		die "$name: rebuild failed: $dir/rebuild.base.out"
	for step in 1 20 100 20_again header; do
		case $step in
		header)		plan 1 20 header >"$dir/plan.new" ;;
		20_again)	plan 1 20 >"$dir/plan.new" ;;
		*)		plan 1 "$step" >"$dir/plan.new" ;;
		esac
		change "$step"
	done
	cp "$dir/plan.old" "$dir/plan.new"
	change same
}

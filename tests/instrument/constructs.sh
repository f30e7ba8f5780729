#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Each construct of constructs*.txt, compiled plainly and through the launcher with every function
# probed: the output must be the same, not recorded and recorded, and each function probed or skipped
# as the table says.  Every other program has its probes aside (vprof build --sampled).
# CONSTRUCTS_SHARE=0, 1 or 2: every third program; else all of them.
. "${srcdir:-.}/tests/instrument/lib.sh"
tried=0 number=0

# One file per case: NAME.c or NAME.cc, and NAME.meta with its keys.
twice=$(cat "$source"/tests/instrument/constructs*.txt | grep '^== ' | sort | uniq -d)
[ -z "$twice" ] || { echo "constructs: two are called $twice"; exit 99; }
awk -v dir="$work" '
	FNR == 1	{ name = "" }
	/^== /	{ name = $2; code = 0; ext = "c"; next }
	name == ""	{ next }
	/^lang: c\+\+/	{ if (!code) ext = "cc" }
	!code && /^--$/	{ code = 1; next }
	!code	{ print > (dir "/" name ".meta") }
	code	{ print > (dir "/" name "." ext) }
' "$source"/tests/instrument/constructs*.txt

value() {		# META KEY DEFAULT
	v=$(sed -n "s/^$2: //p" "$1")
	echo "${v:-$3}"
}

fail() {
	echo "FAIL: $name $compiler -std=$std: $*"
	failed=$((failed + 1))
}

# Recorded as well: every function all the time.  No interval is defined, so nothing comes of it (3).
recorded() {
	rm -rf "$work/data" && mkdir -p "$work/data/build" || exit 99
	printf 'vprof-plan 1\nall always\n' > "$work/data/build/plan"
	"$runtime/vprof" -d "$work/data" record -- \
		sh -c '"$0" > "$1.out"; echo $? > "$1.status"' "$work/probed" "$work/recorded" 2> "$work/err"
	[ $? = 3 ] || { fail "is not recorded"; cat "$work/err"; }
	[ "$(cat "$work/recorded.status")" = $plain ] && cmp -s "$work/plain.out" "$work/recorded.out" ||
		fail "output differs when recorded"
}

one() {			# name, file, compiler, std and plan are set
	rm -rf "$work/build" && mkdir "$work/build" || exit 99
	if ! $compiler -std=$std $flags "$file" -o "$work/plain" 2> "$work/err"; then
		fail "the plain program does not compile"; cat "$work/err"
		return
	fi
	"$launch" -b "$work/build" -p "$plan" -t "$source/annotations/pthread.sync" -R "$runtime" \
		-I "$source/annotations" -- $compiler -std=$std $flags "$file" -o "$work/probed" \
		2> "$work/err" || { fail "does not compile"; cat "$work/err"; return; }
	"$work/plain" > "$work/plain.out"; plain=$?
	"$work/probed" > "$work/probed.out"; probed=$?
	[ $plain = $probed ] && cmp -s "$work/plain.out" "$work/probed.out" || fail "output differs"
	recorded
	"$launch" -b "$work/build" -P > "$work/places"
	grep untouched "$work/places" && fail "compiled untouched"
	"$launch" -b "$work/build" -l > "$work/list"
	: > "$work/named"
	for e in $expect; do
		function=$(echo "$e" | sed 's/\(.\)=.*/\1/; s/operator_bool/operator bool/; :a; s/\(([^)]*\)_/\1 /; ta')
		state=$(echo "$e" | sed 's/^[^=]*=//; s/_/ /g')
		case $e in *__label__*) state="__label__ has to come first in the body";; esac
		awk -v f="$function" -v s="$state" '
			index($0, f " ") == 1 { rest = substr($0, length(f) + 2)
				sub(/^[0-9]+ /, "", rest); if (rest == s) found = 1 }
			END { exit !found }' "$work/list" ||
			{ fail "$function is not '$state':"; cat "$work/list"; }
		printf '%s\n' "$function" >> "$work/named"
	done
	[ "$others" = any ] || awk 'FILENAME != ARGV[2] { named[$0] = 1; next }
		!/ probed$/ { n = $0; sub(/ [0-9]+ .*/, "", n); if (!(n in named)) { print; bad = 1 } }
		END { exit bad }' "$work/named" "$work/list" || fail "so much is not probed"
}

printf 'vprof-plan 1\nall always\n' > "$work/in_place"
printf 'vprof-plan 1\nsampled\nall always\n' > "$work/aside"

# CONSTRUCTS=name,name...: only those
for meta in "$work"/*.meta; do
	name=$(basename "$meta" .meta)
	case ",${CONSTRUCTS:-$name}," in *",$name,"*) ;; *) continue ;; esac
	file=$(ls "$work/$name".c*)
	expect=$(value "$meta" expect '')
	flags=$(value "$meta" flags '')
	others=$(value "$meta" others any)
	for compiler in $(value "$meta" cc 'gcc clang'); do
		case $file in *.cc) compiler=$(echo "$compiler" | sed 's/gcc/g++/; s/clang/clang++/');; esac
		command -v "$compiler" > "$work/which" || continue
		for std in $(value "$meta" std ''); do
			number=$((number + 1))
			[ "${CONSTRUCTS_SHARE:-$((number % 3))}" = $((number % 3)) ] || continue
			tried=$((tried + 1))
			[ $((number % 2)) = 0 ] && plan=$work/aside || plan=$work/in_place
			one
		done
	done
done
echo "$tried programs, $failed failures"
[ "$failed" = 0 ] && [ "$tried" -gt 0 ]

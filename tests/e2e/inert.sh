#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Names with line feeds, escape sequences and other control characters: no view, format or message lets them through.
. "${srcdir:-.}/tests/e2e/lib.sh"

evil='%0aFORGED%1b[2J%0d%09%c2%9b%07%e2%80%ae'
i=0
{
	echo vprof-tuples 1
	while [ $i -lt 60 ]; do
		t=$((i * 1000))
		for tid in 1 2; do echo "segment $tid $((tid == 1 ? i + 1 : 0)) $t $((t + 100)) running"; done
		echo "interval $((i + 1)) request$evil 1 $t 1 $((t + 300 + i % 7 * 50))"
		echo "segment 1 $((i + 1)) $((t + 100)) $((t + 200 + i % 7 * 50)) lock"
		echo "segment 2 - $((t + 100)) $((t + 200 + i % 7 * 50)) running"
		echo "segment 1 $((i + 1)) $((t + 200 + i % 7 * 50)) $((t + 300 + i % 7 * 50)) running"
		echo "wakeup 1 2 $((t + 200 + i % 7 * 50))"
		echo "invocation 1 $((i + 1)) f$evil@s$evil.c:3 $t $((t + 300 + i % 7 * 50))"
		echo "invocation 1 $((i + 1)) g$evil@s$evil.c:4 $((t + 10)) $((t + 250 + i % 7 * 50))"
		echo "invocation 2 - h$evil@s$evil.c:5 $((t + 10)) $((t + 200 + i % 7 * 50))"
		echo "work $((i + 1)) rows$evil $((i % 7))"
		i=$((i + 1))
	done
	echo "interval 1000 other$evil 2 60000 2 60010"
	echo "segment 2 1000 60000 60010 running"
	echo "call f$evil g$evil"
	echo "call g$evil h$evil"
	echo "thread 1 thread t$evil"
	echo "thread 2 thread u$evil"
	echo "stack 1 10 20 f$evil@s$evil.c:3;g$evil"
} | sed 's/segment 2 0 /segment 2 - /' >evil.tuples
run=$(printf 'r\nFORGED\033[2J')
expect 0 "$VPROF" import --from tuples evil.tuples -o "$run"
cp "$work/.err" import.err

# inert FILE WHAT: only line feeds, none of them a name's
inert()
{
	if LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|^[\s"|]*FORGED|\xc2\x9b|\xe2\x80\xae' "$1"; then
		fail "$2: $(LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]|^[\s"|]*FORGED|\xc2\x9b|\xe2\x80\xae' "$1" | head -2 | cat -v)"
	else
		pass
	fi
}

inert import.err import
"$VPROF" causal --predict "$run" >"$work/.out" 2>"$work/.err"
inert "$work/.out" "causal --predict"
inert "$work/.err" "causal --predict, stderr"
shown=0
for view in $(views); do
	for format in text json csv dot folded svg; do
		for more in "" --all; do
			# shellcheck disable=SC2086
			"$VPROF" show "$view" --format $format $more >"$work/.out" 2>"$work/.err"
			[ $? = 0 ] && shown=$((shown + 1))
			inert "$work/.out" "show $view --format $format $more"
			inert "$work/.err" "show $view --format $format $more, stderr"
		done
	done
done
[ $shown -ge 60 ] && pass || fail "only $shown views were shown"
for format in text json csv; do
	"$VPROF" sql --format $format "SELECT name, command FROM run" >"$work/.out" 2>&1
	grep -v '^FORGED' "$work/.out" >rest
	[ $format = csv ] || cp "$work/.out" rest		# a field with lines is in quotes there
	inert rest "sql $format"
	"$VPROF" sql --format $format "SELECT * FROM factor" >"$work/.out" 2>&1
	grep -v '^FORGED' "$work/.out" >rest
	[ $format = csv ] || cp "$work/.out" rest
	inert rest "sql factors $format"
done
"$VPROF" export --format tuples >"$work/.out" 2>"$work/.err"
grep -v '%C2' "$work/.out" | LC_ALL=C grep -v "$(printf '\302\233')" >rest
inert rest export
inert "$work/.err" "export, stderr"
[ "$(grep -c FORGED "$work/.out")" -gt 100 ] && pass || fail "export lost the names"
cp "$work/.out" exported
expect 0 "$VPROF" import --from tuples exported -o again

# ---- messages ----
name=$(printf 'x\nvprof: FORGED\n→ FORGED\033[2J')
printf 'vprof-tuples 1\ninterval 1 r%%0aFORGED 1 5 1 3\n' >"$name"
for command in "show $name" "show factors $name" "show runs --format $name" "analyze $name" "merge 1 $name" "import --from tuples" \
	"sql" "export --format $name" "record --attach" "nonsense$name" "record --sample $name" "show call-graph --above $name"; do
	first=${command%%"$name"*}
	# shellcheck disable=SC2086
	"$VPROF" $first "$name" >"$work/.out" 2>"$work/.err" </dev/null
	[ $? != 0 ] || [ "${first#show call}" != "$first" ] && pass || fail "no error: $first"
	inert "$work/.err" "$first, message"
	grep -q '^vprof: FORGED\|^→ FORGED' "$work/.out" "$work/.err" && fail "a message was forged: $first: $(cat "$work/.err")" || pass
done
"$VPROF" record -- "./$name" >"$work/.out" 2>"$work/.err"
inert "$work/.err" "record, message"
grep -q '^vprof: FORGED\|^→ FORGED' "$work/.err" && fail "record: a message was forged: $(cat "$work/.err")" || pass
printf '[interval "a"]\n\tstart = f\n\tend = f\n\tkex\033[2J = 1\n' >vprof.conf
"$VPROF" build -- true >"$work/.out" 2>"$work/.err"
inert "$work/.err" "vprof.conf, message"
"$VPROF" doctor >"$work/.out" 2>"$work/.err"
inert "$work/.out" "doctor"
finish

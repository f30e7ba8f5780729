#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The README and the man pages show what works: their commands are run, their example tree is the demo's output except
# for the numbers, their examples are accepted.
. "${srcdir:-.}/tests/e2e/lib.sh"
readme=$top/README.md

# "Your own server": the block's commands, in a project that has what they name.
mkdir -p bin && ln -s "$VPROF" bin/vprof && PATH=$PWD/bin:$PATH
cp "$top"/examples/logserver/logserver.c "$top"/examples/logserver/Makefile .
printf '#!/bin/sh\nexec ./logserver\n' >bench.sh && chmod +x bench.sh
awk '/^## Your own server/ { on = 1 } /^## memcached/ { on = 0 } on && /^\$ / { print substr($0, 3) }' \
	"$readme" >commands
[ "$(wc -l <commands)" -ge 5 ] && pass || fail "the README shows no commands"
while read -r line; do
	expect 0 sh -c "$line"
done <commands

# The tree at the top: the same labels in a real one.  Whether two functions are one line there or two
# depends on the numbers, so the real one has a line for each, and the functions of a chain are taken one by one.
# A run that others kept from the CPU for longer than the demo's flush takes has another answer, and rightly: once more.
for try in 1 2 3; do
	rm -rf "$work/demo"
	"$VPROF" demo -C "$work/demo" >demo.out 2>&1 || fail "the demo"
	tail -1 demo.out | grep -q "flush_log (logserver.c:[0-9]*) causes" && break
	echo "try $try: $(tail -1 demo.out)"
done
(cd "$work/demo" && "$VPROF" show variance-tree --no-collapse) >demo.tree 2>&1 || fail "the demo's tree"
labels='s/^[^├└]*[├└]─ \([a-z_]*\( › [a-z_]*\)*\( [a-z_]*\)\{0,1\}\( ([a-z]*)\)\{0,1\}\) .*/\1/p'
chains='{ gsub(/ › /, "\n") } 1'
awk '/^```/ { n++ } n == 1' "$readme" | sed -n "$labels" | awk "$chains" | sed 's/ $//' >shown
sed -n "$labels" demo.tree | awk "$chains" | sed 's/ $//' >printed
for label in $(tr ' ' '~' <shown | grep -v hash_payload); do
	grep -qxF -e "$(echo "$label" | tr '~' ' ')" printed && pass ||
		fail "the README's tree has '$label', the demo's has not: $(cat demo.tree)"
done
[ "$(wc -l <shown)" -ge 4 ] && pass || fail "the README shows no tree"
tail -1 demo.out | grep -q "flush_log (logserver.c:[0-9]*) causes .*: log_append › lock wait (logserver.c:[0-9]*) because of flush_log, which sleeps" && pass ||
	fail "the demo does not end with its answer: $(tail -1 demo.out)"

# The benchmark's table has a row a policy; its figures are not looked at.
for policy in budget paper; do
	grep -qE "^\| \`$policy\` \| [0-9]+ \| [0-9]+ \| [0-9] of 3 \| [^|]* \|$" "$readme" && pass ||
		fail "the README has no row for --policy $policy"
done

# Each preset of a server has a recipe page, whose commands and options there are; `make recipes` runs them.  Those that no
# tried have a page that says so.
for preset in "$top"/examples/*/vprof.conf; do
	server=$(basename "$(dirname "$preset")")
	[ "$server" != logserver ] && [ "$server" != causal ] || continue	# those of vprof demo
	if grep -qE "^UNTRIED = (.* )?$server( |\$)" "$top/examples/local.am"; then
		grep -q 'not yet a recipe' "$top/examples/$server/README.md" && pass || fail "the page of $server does not say that it was not tried"
		continue
	fi
	"$top/examples/recipe.sh" --list "$server" >recipe || fail "no recipe for $server"
	grep -qE '^vprof (record|iterate)' recipe && pass || fail "the recipe for $server records nothing"
	sed -n 's/ *#.*//; s/^vprof //p' recipe | while read -r subcommand options; do
		"$VPROF" "$subcommand" --help >help || exit 1
		for option in $options; do
			case $option in
			--[a-z]*)	grep -q -e " $option" help || { echo "$subcommand $option"; exit 1; } ;;
			esac
		done
	done && pass || fail "the recipe for $server names what there is not"
	grep -qE "^RECIPES = (.* )?$server( |\$)" "$top/examples/local.am" && pass || fail "$server is not among the RECIPES"
done

# The pages' examples.
sed -n '/^\.Bd -literal -offset indent/,/^\.Ed/p' "$top/doc/vprof-tuples.5" | grep -v '^\.' >page.tuples
expect 0 "$VPROF" import --from tuples page.tuples
sed -n '/^\.Bd -literal -offset indent/,/^\.Ed/p' "$top/doc/vprof.conf.5" | grep -v '^\.' >vprof.conf
# Without a build nothing knows f.
expect 0 "$VPROF" -d unbuilt.data annotate --name other --start f --end g
finish

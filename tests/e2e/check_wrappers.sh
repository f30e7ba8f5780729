#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# scripts/check-wrappers sees a primitive that is taken out of the tables, out of the wrappers, and one that stands twice.
. "${srcdir:-.}/tests/e2e/lib.sh"
check="$top/scripts/check-wrappers"

fresh()
{
	rm -rf tree
	mkdir -p tree/annotations
	cp "$top"/annotations/*.sync tree/annotations
	file=$(cd "$top" && find runtime -name wrappers.h)
	mkdir -p "tree/$(dirname "$file")"
	cp "$top/$file" "tree/$file"
}

fresh
expect 0 env srcdir=tree "$check"

for name in sem_post usleep read flock sendmmsg; do
	fresh
	sed -i "/^builtin $name /d" tree/annotations/*.sync
	expect 1 env srcdir=tree "$check"
	says "$file: $name ("
	fresh
	sed -i "s/X(\([a-z_ ]*\), $name,/X(\1, other_$name,/" "tree/$file"
	expect 1 env srcdir=tree "$check"
	says ": $name has no row in $file" "$file: other_$name ("
done

# A whole table that RUNTIME_WRAPPERS does not name any more.
fresh
sed -i 's/\tSLEEP_WRAPPERS(X)/\t/' "tree/$file"
expect 1 env srcdir=tree "$check"
says ': nanosleep has no row' ': thrd_sleep has no row'

fresh
echo 'builtin sem_post release' >>tree/annotations/sleep.sync
expect 1 env srcdir=tree "$check"
says 'sem_post stands at annotations/pthread.sync:'

# It does not take an empty list for a right one.
fresh
: >"tree/$file"
expect 99 env srcdir=tree "$check"

finish

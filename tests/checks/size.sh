#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# scripts/check-size in a copy of the sources: it passes as they are, and fails where a file, a function, a folder or
# ARCHITECTURE.md is made longer than it may be.
top=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd) || exit 99
command -v ctags >/dev/null 2>&1 || { echo "no ctags"; exit 77; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
rooms=$(sed -n 's/^rooms="\(.*\)"$/\1/p' "$top/scripts/check-size")
(cd "$top" && cp -R --parents ARCHITECTURE.md $(find $rooms -name '*.[ch]' -o -name '*.cc') "$work") || exit 99
bad=0

check()
{
	srcdir=$work "$top/scripts/check-size" > "$work/log" 2>&1
}

# found WHAT: only that is found.
found()
{
	if check || ! grep -q "^$1" "$work/log" || [ "$(wc -l < "$work/log")" != 1 ]; then
		echo "FAIL: '$1' is not what is found:"
		cat "$work/log"
		bad=1
	fi
}

# fill DIR N: new files in DIR, until there are N.
fill()
{
	mkdir -p "$work/$1"
	i=$(find "$work/$1" -maxdepth 1 '(' -name '*.[ch]' -o -name '*.cc' ')' | wc -l)
	while [ "$i" -lt "$2" ]; do
		i=$((i + 1))
		: > "$work/$1/planted_$i.c"
	done
}

check || { echo "FAIL: as it is:"; cat "$work/log"; bad=1; }
for room in base store trace/read analysis/tree tests/unit/report; do
	fill $room 30
	check || { echo "FAIL: 30 files in $room:"; cat "$work/log"; bad=1; }
	fill $room 31
	found "$room/: 31 source files"
	rm "$work/$room"/planted_*
done

{ echo 'void planted(void)'; echo '{'; yes '	;' | head -n 57; echo '}'; } > "$work/store/planted.c"
check || { echo "FAIL: a function of 60 lines:"; cat "$work/log"; bad=1; }
{ echo 'void planted(void)'; echo '{'; yes '	;' | head -n 59; echo '}'; } > "$work/store/planted.c"
found "store/planted.c: planted() 62 lines"
yes '' | head -n 601 > "$work/store/planted.c"
found "store/planted.c: 601 lines"
rm "$work/store/planted.c"

yes '' | head -n 151 > "$work/ARCHITECTURE.md"
found "ARCHITECTURE.md: 151 lines"
exit $bad

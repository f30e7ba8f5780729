# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# As deep in C as mawk gets: functions, and the groups of a pattern. Run in its tree.
pattern=a n=0
while [ $n -lt 9 ]; do	# doubles each time
	pattern="($pattern)|(b$pattern)" n=$((n + 1))
done
./mawk 'function f(n) { return n ? 1 + f(n - 1) : 0 } BEGIN { print f(190) }' || exit
exec ./mawk "BEGIN { print \"a\" ~ /$pattern/ }"

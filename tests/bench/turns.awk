# SPDX-License-Identifier: GPL-3.0-or-later
# turns.awk - of each turn with something attached how many per cent less were served a second than in the two beside it.
#
#	awk -f turns.awk [-v what=empty] TURNS			each turn has its count; of those "on", or what is said
#	awk -f turns.awk [-v what=empty] TURNS LOG...		pgbench -l's logs, from which they are counted; each in order of time
#
#	off 100 in 1 s, on 97 in 1 s, off 98 in 1 s, on 99 in 1 s, off 102 in 1 s: "2.0202", "1"
FILENAME == ARGV[1] {
	n = NR
	attached[n] = $1 == (what != "" ? what : "on")
	from[n] = $2
	to[n] = $3
	served[n] = $4
	next
}
FNR == 1 { at = 1 }
{
	us = $5 * 1000000 + $6
	while (at <= n && to[at] <= us)
		at++
	if (at <= n && us >= from[at])
		served[at]++
}
function rate(i) { return served[i] / (to[i] - from[i]) }
END {
	for (i = 2; i < n; i++)
		if (attached[i] && rate(i - 1) + rate(i + 1) > 0)
			print 100 * (1 - 2 * rate(i) / (rate(i - 1) + rate(i + 1)))
}

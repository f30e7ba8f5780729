# SPDX-License-Identifier: GPL-3.0-or-later
# median_ci95.awk - of sorted numbers, one a line: the median (the lower one of two), from where to where it is with 95 %,
# and how many there are.  From their order alone: half of all values are below the median, so how many of these are is as
# with a coin.
#
#	sort -g | awk -f median_ci95.awk		1 2 3 4 5 6 7 8 9 10: "5 2 9 10"
#
# With fewer than six no two of them say 95 %: the first and the last.
{ v[NR] = $1 + 0 }
END {
	for (k = 1; k <= NR / 2; k++) {
		p = 0.5 ^ NR
		for (below = i = 0; i < k; i++) {
			below += p
			p *= (NR - i) / (i + 1)
		}
		if (below > 0.025)
			break
	}
	k -= k > 1
	print v[int((NR + 1) / 2)], v[k], v[NR + 1 - k], NR
}

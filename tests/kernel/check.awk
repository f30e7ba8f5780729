# SPDX-License-Identifier: GPL-3.0-or-later
# check.awk - what the kernel recorder says of waits whose reason is known (truth.c):
#
#	awk -f check.awk TRUTH TUPLES	->	CASE CLASS WAITS BLOCKED CLASSED WAKER
#
# The program made WAITS waits; BLOCKED of them were off the CPU for another reason than the run queue; the longest such time
# counts, without what lies before or after the wait.  CLASSED of them have the right class, WAKER the right waker of the
# last wake-up in it.  A preemption is right if the time in the run queue is more than everything else.  For fsync a thread of the kernel (the journal's) may
# stand between the program and the disk.
FNR == 1 { file++ }
file == 1 { n++; name[n] = $1; class[n] = $2; tid = $3; start[n] = $4; end[n] = $5; waker[n] = $6; next }
$1 == "thread" { kind[$2] = $3; called[$2] = $4 }
$1 == "segment" && $2 == tid && $6 != "running" { s++; from[s] = $4; to[s] = $5; state[s] = $6 }
$1 == "wakeup" && $2 == tid { w++; by[w] = $3; at[w] = $4 }
END {
	first = 1
	first_wakeup = 1
	for (i = 1; i <= n; i++) {
		best = 0
		length_of = 0
		queue = 0
		while (first <= s && to[first] <= start[i])
			first++
		for (j = first; j <= s && from[j] < end[i]; j++) {
			inside = (to[j] < end[i] ? to[j] : end[i]) - (from[j] > start[i] ? from[j] : start[i])
			if (state[j] == "runnable") {
				queue += inside
			} else if (inside > length_of) {
				best = j
				length_of = inside
			}
		}
		if (!(name[i] in waits))
			order[++cases] = name[i]
		waits[name[i]]++
		class_of[name[i]] = class[i]
		if (class[i] == "runnable") {
			if (queue + length_of > 500000) {
				blocked[name[i]]++
				classed[name[i]] += queue > length_of
				wakers[name[i]] += queue > length_of
				if (ENVIRON["VERBOSE"] && queue <= length_of)
					print name[i], start[i], end[i], "in the run queue for", queue, "but", \
						state[best], from[best], to[best] > "/dev/stderr"
			}
			continue
		}
		if (!best)
			continue
		blocked[name[i]]++
		classed[name[i]] += state[best] == class[i]
		who = ""
		while (first_wakeup <= w && at[first_wakeup] <= from[best])
			first_wakeup++
		for (j = first_wakeup; j <= w && at[j] <= to[best]; j++)
			who = by[j]
		right = who == waker[i] || (who != "" && kind[who] == waker[i])
		if (name[i] == "fsync" && called[who] ~ /^(jbd2|kworker|xfs|btrfs)/)
			right = 1
		wakers[name[i]] += right
		if (ENVIRON["VERBOSE"] && (!right || state[best] != class[i]))
			print name[i], start[i], from[best], to[best], state[best], "woken by", who, called[who], \
				"not", waker[i] > "/dev/stderr"
	}
	for (i = 1; i <= cases; i++)
		print order[i], class_of[order[i]], waits[order[i]], blocked[order[i]] + 0, \
			classed[order[i]] + 0, wakers[order[i]] + 0
}

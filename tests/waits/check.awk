# SPDX-License-Identifier: GPL-3.0-or-later
# check.awk - compares the waits that a run recorded with what is true of them:
#
#	awk -v least=0.99 -f check.awk TRUTH TUPLES	->	CASE CLASS ROUNDS CLASSED WAKER LENGTH ERROR_US BAD
#
# TRUTH has lines CASE CLASS WAITER_TID START_NS END_NS WAKER_TID (0: nobody of the run; -1: its own time-out), TUPLES is what
# `vprof export` writes.  CLASSED of ROUNDS waits were found in the right class and no other, WAKER had
# the right last waker, LENGTH were as long as the program's own clock says, within 5 % or 50 us; the
# median error is ERROR_US.  A case passes (BAD 0) if each of
# the three misses no more than its share (0.99: one in a hundred, begun) of the rounds.  A thread that did not
# block (less than 100 us: the machine was busy elsewhere) did not wait, and does not count.
BEGIN { TIMER = 284773511593984 }	# TID_TIMER of trace/model.h
FNR == 1 { file++ }
file == 1 {
	if ($5 - $4 < 100000)
		next
	n++
	name[n] = $1; class[n] = $2; tid[n] = $3; start[n] = $4; end[n] = $5; waker[n] = $6
	if (!($1 in rounds))
		order[++cases] = $1
	rounds[$1]++
	class_of[$1] = $2
	# The rounds of one thread do not overlap and come in order.
	first[$3] = ($3 in first) ? first[$3] : n
	last[$3] = n
	next
}
$1 == "segment" && ($2 in first) && $6 != "running" {
	for (i = seek($2, $4); i && i <= last[$2]; i = next_of($2, i)) {
		if (start[i] >= $5)
			break
		from = $4 > start[i] ? $4 : start[i]
		to = $5 < end[i] ? $5 : end[i]
		if (to <= from)
			continue
		if ($6 == class[i])
			found[i] += to - from
		else
			other[i] += to - from
	}
}
$1 == "wakeup" && ($2 in first) {
	i = seek($2, $4)
	if (i && $4 > start[i] && $4 <= end[i] && $4 >= woken[i]) {
		woken[i] = $4
		woken_by[i] = $3
	}
}

# The first round of a thread that ends at t or later.
function seek(thread, t,	low, high, middle)
{
	if (!(thread in count))
		index_thread(thread)
	low = 1
	high = count[thread] + 1
	while (low < high) {
		middle = int((low + high) / 2)
		if (end[round[thread, middle]] < t)
			low = middle + 1
		else
			high = middle
	}
	return low > count[thread] ? 0 : round[thread, low]
}
function index_thread(thread,	i)
{
	for (i = first[thread]; i <= last[thread]; i++)
		if (tid[i] == thread) {
			round[thread, ++count[thread]] = i
			place[i] = count[thread]
		}
}
function next_of(thread, i)
{
	return place[i] < count[thread] ? round[thread, place[i] + 1] : last[thread] + 1
}
function absolute(x) { return x < 0 ? -x : x }
function allowed(length_ns) { return length_ns * 0.05 > 50000 ? length_ns * 0.05 : 50000 }
function median_error(c,	i, j, k, cnt, list, t)
{
	cnt = 0
	for (i = 1; i <= n; i++)
		if (name[i] == c)
			list[++cnt] = absolute(end[i] - start[i] - found[i]) / 1000
	for (j = 2; j <= cnt; j++)
		for (k = j; k > 1 && list[k] < list[k - 1]; k--) {
			t = list[k]; list[k] = list[k - 1]; list[k - 1] = t
		}
	return list[int((cnt + 1) / 2)]
}
END {
	for (i = 1; i <= n; i++) {
		classed[name[i]] += found[i] > other[i] && other[i] + 0 <= 50000
		# A number that the kernel gave twice (exec: a new program in it) has more above 2^32.
		known[name[i]] += waker[i] < 0 ? woken_by[i] == TIMER \
				: waker[i] == woken_by[i] % 4294967296 && woken_by[i] != TIMER
		right[name[i]] += absolute(end[i] - start[i] - found[i]) <= allowed(end[i] - start[i])
	}
	for (i = 1; i <= cases; i++) {
		c = order[i]
		may_miss = int(rounds[c] * (1 - least) + 0.999)
		enough = rounds[c] - may_miss
		printf "%s %s %d %d %d %d %.1f %d\n", c, class_of[c], rounds[c], classed[c], known[c],
			right[c], median_error(c),
			classed[c] < enough || known[c] < enough || right[c] < enough
	}
}

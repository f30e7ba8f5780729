#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make exam-kernel: what the kernel recorder says of waits whose reason is known (tests/kernel/truth.c: nothing
# there is instrumented), and what must hold of any run, on a load of switches that race with wake-ups
# (perf bench sched messaging, if perf is there): a thread's states touch and add up to its life, every wait that
# ended has a waker, time running is what the kernel charged, nothing is lost.  ROUNDS waits a case (default 50).
# Time that the host of a virtual machine takes from a CPU counts as running, for the thread has the CPU and goes on with
# nothing, and is not in the kernel's accounts, which leave stolen time out.  So stolen time is read as well, and a row
# says how much it was.  (The ratio was 1.79 once: the tracepoint is silent at some threads' switches, and a thread that came back
# by one of them seemed to have run all the while; recorder/bpf/task_state.h has what is done about it.)
# Prints a table and writes results/kernel.json; exit 1 if a wait has a wrong class or more than one in a hundred
# the wrong waker; 77 where the kernel recorder is not permitted.
set -u
top=$(cd "${srcdir:-.}" && pwd)
. "$top/tests/exam/table.sh"
vprof=$PWD/vprof
results=${RESULTS:-$PWD/results}
rounds=${ROUNDS:-50}
# The disk's waits want a disk: not the memory that /tmp may be.
work=$(mktemp -d "$PWD/exam-kernel.XXXXXX") || exit 99
space=vprof$$
answerer=
end()
{
	[ -n "$answerer" ] && kill "$answerer" && wait "$answerer" 2>/dev/null
	ip link del "vp$$" 2>/dev/null
	ip netns del "$space" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
trap 'exit 99' INT TERM
unset VPROF_DIR VPROF_CONF CC CXX CFLAGS MAKEFLAGS MAKELEVEL MFLAGS
cd "$work" || exit 99

# recorded COMMAND: it ran and the kernel's side is there (3: no interval, for nothing is instrumented)
recorded()
{
	rm -rf vprof.data
	"$vprof" record --kernel=require -- sh -c "$1" >log 2>&1
	status=$?
	if [ $status != 3 ]; then
		cat log
		grep -q "kernel recorder" log && exit 77
		exit 99
	fi
	"$vprof" export --format tuples >tuples || exit 99
}

gcc -Wall -Wextra -Werror -O1 -g -D_GNU_SOURCE "$top/tests/kernel/truth.c" -o truth -lpthread || exit 99
recorded "./truth $rounds file >truth.txt" || exit
awk -f "$top/tests/kernel/check.awk" truth.txt tuples >table
printf '%-14s %-9s %7s %8s %8s %7s\n' case class waits blocked classed waker
awk '{ printf "%-14s %-9s %7d %8d %8d %7d\n", $1, $2, $3, $4, $5, $6 }' table
blocked=$(awk '{ n += $4 } END { print n + 0 }' table)
row "waits that blocked, in the right class" "$(awk '{ n += $4; m += $5 } END { printf "%.4f", m / n }' table)" \
	"of $blocked" 1 "$(awk '{ n += $4; m += $5 } END { print n - m }' table) == 0"
row "waits that blocked, with the right waker" "$(awk '{ n += $4; m += $6 } END { printf "%.4f", m / n }' table)" \
	"of $blocked" 0.99 "$(awk '{ n += $4; m += $6 } END { print m / n }' table) >= 0.99"
row "cases that blocked at least once" "$(awk '$4 > 0 { n++ } END { print n + 0 }' table)" "of 13" 13 \
	"$(awk '$4 > 0 { n++ } END { print n + 0 }' table) == 13"

# The disk: of the direct reads, writes and fsyncs each takes it while the program waits, and it is idle (queue) or busy
# (running) at any time; idle until a thread of the run, or an unknown one, brings the next request.
awk '
	FNR == 1 { file++ }
	file == 1 && $6 == "disk" { n++; from[n] = $4; to[n] = $5 }
	file == 2 && $1 == "thread" && $3 == "disk" { disk[$2] = 1 }
	file == 3 && $1 == "segment" && $2 in disk {
		m++; tid[m] = $2; start[m] = $4; end[m] = $5; busy[m] = $6 == "running"
		holes += m > 1 && tid[m - 1] == $2 && end[m - 1] != $4
	}
	file == 3 && $1 == "wakeup" && $2 in disk { brought++ }
	END {
		for (i = 1; i <= n; i++)
			for (j = 1; j <= m; j++)
				if (busy[j] && start[j] < to[i] && end[j] > from[i]) { seen++; break }
		print n + 0, seen + 0, holes + 0, brought + 0
	}' truth.txt tuples tuples >disk
read -r operations busy holes brought <disk
row "disk: operations in which it was busy" "$(awk "BEGIN { printf \"%.3f\", $busy / $operations }")" "of $operations" 0.99 \
	"$busy / $operations >= 0.99"
row "disk: states that do not touch" "$holes" segments 0 "$holes == 0"
row "disk: requests whose bringer is known" "$brought" requests "$rounds" "$brought >= $rounds"

# A network interface (one end of a pair, where two of them may be made): of questions sent by it each ends its idle time, by
# the thread that asks, and the answer is what it lets that thread go on with.
if ip netns add "$space" 2>/dev/null && ip link add "vp$$" type veth peer name "vq$$" netns "$space" 2>/dev/null; then
	gcc -Wall -Wextra -Werror -O1 -g -D_GNU_SOURCE "$top/tests/kernel/packets.c" -o packets || exit 99
	ip address add 198.18.251.1/30 dev "vp$$" && ip link set "vp$$" up &&
		ip -n "$space" address add 198.18.251.2/30 dev "vq$$" && ip -n "$space" link set "vq$$" up || exit 99
	ip netns exec "$space" ./packets answer 198.18.251.2 &
	answerer=$!
	sleep 0.2
	recorded "./packets ask 198.18.251.2 $rounds >truth.txt" || exit
	awk -v called="vp$$" '
		FNR == 1 { file++ }
		file == 1 { n++; tid = $1; asked[n] = $2; from[n] = $3; to[n] = $4 }
		file == 2 && $1 == "thread" && $3 == "nic" && $4 == called { nic = $2 }
		file == 3 && $1 == "segment" && $2 == tid && $6 == "io" { w++; off[w] = $4; on[w] = $5 }
		file == 3 && $1 == "segment" && $2 == nic { holes += seen && at != $4; seen = 1; at = $5 }
		file == 3 && $1 == "wakeup" && $2 == tid && $3 == nic { answer[$4] = 1; a++; answered[a] = $4 }
		file == 3 && $1 == "wakeup" && $2 == nic && $3 == tid { b++; brought[b] = $4 }
		END {
			for (i = 1; i <= n; i++) {
				is_blocked = is_answered = is_brought = 0
				for (j = 1; j <= w; j++)
					is_blocked += off[j] >= from[i] && off[j] < to[i]
				for (j = 1; j <= a; j++)
					is_answered += answered[j] > from[i] && answered[j] <= to[i]
				for (j = 1; j <= b; j++)
					is_brought += brought[j] > asked[i] && brought[j] < from[i]
				blocked += is_blocked > 0
				right += is_blocked && is_answered
				sent += is_brought > 0
			}
			print n + 0, blocked + 0, right + 0, sent + 0, holes + 0
		}' truth.txt tuples tuples >nic
	read -r asked blocked right sent holes <nic
	row "network: waits for an answer, by the interface" "$(awk "BEGIN { printf \"%.3f\", $right / ($blocked + !$blocked) }")" \
		"of $blocked" 0.99 "$blocked > 0 && $right / $blocked >= 0.99"
	row "network: questions that ended its idle time" "$(awk "BEGIN { printf \"%.3f\", $sent / $asked }")" "of $asked" 0.99 \
		"$sent / $asked >= 0.99"
	row "network: states that do not touch" "$holes" segments 0 "$holes == 0"
fi

if command -v perf >/dev/null; then
	stolen=$(awk '$1 == "cpu" { print $9; exit }' /proc/stat)
	recorded 'perf bench sched messaging -g 5 -l 400 >/dev/null; times >times.txt'
	awk '
		$1 == "thread" { kind[$2] = $3; called[$2] = $4 }
		$1 == "wakeup" { last[$2] = last[$2] " " $4 }
		$1 == "segment" && $2 < 2^48 {
			n++; tid[n] = $2; from[n] = $4; to[n] = $5; state[n] = $6
		}
		END {
			for (i = 1; i <= n; i++) {
				if (called[tid[i]] !~ /^(sh|perf|sched-messaging|vprof)$/)
					continue
				if (i > 1 && tid[i - 1] == tid[i]) {
					touch += from[i] != to[i - 1]
					pairs++
				}
				if (state[i] == "running")
					running += to[i] - from[i]
				else if (state[i] != "runnable" && tid[i + 1] == tid[i]) {
					waits++
					m = split(last[tid[i]], at, " ")
					if (!(tid[i] in seen))
						seen[tid[i]] = 1
					while (seen[tid[i]] <= m && at[seen[tid[i]]] <= from[i])
						seen[tid[i]]++
					woken += seen[tid[i]] <= m && at[seen[tid[i]]] <= to[i]
				}
			}
			print pairs, touch + 0, waits, woken + 0, running / 1e9
		}' tuples >sums
	read -r pairs holes waits woken running <sums
	charged=$(awk '{ for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); s += t[1] * 60 + t[2] } } END { print s }' times.txt)
	stolen=$(awk -v before="$stolen" -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { print ($9 - before) / hz; exit }' /proc/stat)
	row "races: neighbouring states that do not touch" "$holes" "of $pairs" 0 "$holes == 0"
	row "races: waits that ended, with a waker" "$(awk "BEGIN { printf \"%.5f\", $woken / $waits }")" "of $waits" \
		0.999 "$woken / $waits >= 0.999"
	row "races: CPU time that the host took meanwhile" "$stolen" s 0 1
	row "races: running time over CPU time charged" "$(awk "BEGIN { printf \"%.3f\", $running / $charged }")" \
		"of $charged s" 1 "$running / $charged > 0.97 && $running < 1.03 * ($charged + $stolen)"
	lost=$("$vprof" show runs --format json | awk -F: '/"lost_records"/ { gsub(/[ ,]/, "", $2); print $2; exit }')
	row "races: records lost" "${lost:--1}" records 0 "${lost:--1} == 0"
fi

write_results "$results/kernel.json"
exit $bad

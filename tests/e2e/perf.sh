#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# import --from perf: the output of perf script as a run; and, where perf may record, that of a program whose waits are known.
. "${srcdir:-.}/tests/e2e/lib.sh"

cat >script.txt <<'EOF'
# comments, blank lines and stacks are passed over

w 40/40 [000] 0.000001000: raw_syscalls:sys_enter: NR 202 (1000, 80, 2, 0, 0, 0)
w 40/40 [000] 0.000002000: sched:sched_switch: prev_comm=w prev_pid=40 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
	ffffffff8d1234 __schedule+0x10 ([kernel.kallsyms])
	    7f0bff22b5e0 __lll_lock_wait+0x30 (/usr/lib/x86_64-linux-gnu/libc.so.6)

h 40/41 [001] 0.000502000: sched:sched_waking: comm=w pid=40 prio=120 target_cpu=000
swapper 0/0 [000] 0.000512000: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=w next_pid=40 next_prio=120
w 40/40 [000] 0.001001000: sched:sched_stat_runtime: comm=w pid=40 runtime=489000 [ns]
EOF
expect 2 "$VPROF" import --from dtrace script.txt
says "there are: tuples, perf"
expect 2 "$VPROF" import --from tuples --comm w script.txt
says "--comm and --pid are for --from perf"
expect 2 "$VPROF" import --from perf --pid 4x script.txt
says "found '4x'"
expect 5 "$VPROF" import --from perf none.txt
expect 3 "$VPROF" import --from perf --pid 7 script.txt
says "none of its 2 threads" "--comm"
{ cat script.txt; echo "w 40/40 [000] 0.00"; } >damaged.txt
expect 5 "$VPROF" import --from perf damaged.txt
says "damaged.txt:11: expected COMM TID [CPU] SECONDS" "→ perf script --ns"
grep -v sched_switch script.txt >none.txt
expect 3 "$VPROF" import --from perf none.txt
says "no sched_switch" "→ perf record -a"
[ ! -e vprof.data/runs/001 ] && pass || fail "something was stored"

expect 0 "$VPROF" import --from perf script.txt
says "run 1: 2 threads, 0.001 s, 1 waits, 1 wake-ups" "vprof show wait-graph" "the input has no interrupts"
expect 0 "$VPROF" export --format tuples 1
says "segment 40 - 2000 512000 lock" "wakeup 40 41 502000" "thread 41 thread h"
expect 0 "$VPROF" show wait-graph --format json
says '"direct_ns": 500000'		# up to the wake-up; then it was ready to run
expect 0 "$VPROF" show samples --period 1000 --format json
says '"samples": 500' '"samples": 10,'
grep -v waking script.txt >fewer.txt
expect 0 sh -c '"$VPROF" import --from perf --comm w -o few - <fewer.txt'
says "the input has no wake-ups"
# As perf script --show-lost-events says it.
{ cat script.txt; echo "h 40/41 [001] 0.001002000: PERF_RECORD_LOST lost 555"
echo "w 40/40 [000] 0.001003000: PERF_RECORD_LOST lost 12"; } >lost.txt
expect 0 "$VPROF" import --from perf -o lost lost.txt
says "perf had lost 567 events"

# Events before the recording have the time 0, frames have no object, 40 has no certain waker; then the same as ftrace prints it.
{ sed '2!d' fewer.txt; echo "w 40/40 [000] 0.000000000: PERF_RECORD_COMM: w:40/40"
sed 's/ 0\.00/ 7.00/; s/ (.*)$//' script.txt | sed 's/sched_waking\(.*\)target_cpu=000/sched_wakeup\1target_cpu=001/'; } >odd.txt
expect 0 "$VPROF" import --from perf -o odd odd.txt
says ": 2 threads, 0.001 s, 1 waits, 0 wake-ups" "the input has no sched_waking" "1, printed for" "there is no wait-graph"
sed -n '3,4p; 8,10p' script.txt | sed 's/^\([a-z]*\) [0-9]*.\([0-9]*\) \[/  \1-\2  (  40) [/; s/\] /] d..2. /; s/sched://' >ftrace.txt
expect 0 "$VPROF" import --from perf -o ftrace ftrace.txt
says ": 2 threads, 0.001 s, 1 waits, 1 wake-ups" "vprof show wait-graph"

# For real.
perf record -q -a -e sched:sched_switch -o probe.data -- true >/dev/null 2>&1 || {
	echo "perf may not record here: its own output was not tried"
	finish
}
cat >program.c <<'EOF'
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;
static void pause_ms(long ms)
{
	struct timespec t = { 0, ms * 1000000 };
	nanosleep(&t, NULL);
}
static void *hold(void *unused)
{
	pthread_setname_np(pthread_self(), "holder");
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&lock);
		if (i == 0)
			pthread_barrier_wait(&start);
		pause_ms(5);
		pthread_mutex_unlock(&lock);
		pause_ms(2);
	}
	return unused;
}
static void *want(void *unused)
{
	pthread_setname_np(pthread_self(), "wanter");
	pthread_barrier_wait(&start);
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		pause_ms(4);
	}
	return unused;
}
int main(void)
{
	pthread_t a, b;
	pthread_barrier_init(&start, NULL, 2);
	pthread_create(&a, NULL, hold, NULL);
	pthread_create(&b, NULL, want, NULL);
	pthread_join(a, NULL);
	return pthread_join(b, NULL);
}
EOF
expect 0 cc -O1 -pthread -o program program.c
# Other load on the machine may be more than perf has room for: try again.
for _ in 1 2 3 4 5; do
	expect 0 perf record -q -a -m 1024 -o perf.data \
		-e 'sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new,sched:sched_process_fork' \
		-e 'sched:sched_process_exec,sched:sched_process_exit,irq:*,timer:*,raw_syscalls:sys_enter' -- ./program
	perf script -i perf.data --ns --show-lost-events -F comm,pid,tid,cpu,time,event,trace >perf.txt 2>/dev/null
	grep -q PERF_RECORD_LOST perf.txt || break
done
expect 0 "$VPROF" import --from perf --comm program -o live perf.txt
expect 0 "$VPROF" export --format tuples live
# Every lock wait of wanter is ended by holder. They sleep 80 and 140 ms, of which a busy machine takes the time until
# they are off the CPU: a tenth at most.
awk '$1 == "thread" { name[$2] = $4 }
     $1 == "segment" { cnt++; tid[cnt] = $2; from[cnt] = $4; to[cnt] = $5; class[cnt] = $6 }
     $1 == "wakeup" { wakes++; woken[wakes] = $2; waker[wakes] = $3; at[wakes] = $4 }
     END {
	for (i = 1; i <= cnt; i++) {
		total[name[tid[i]], class[i]] += to[i] - from[i]
		if (name[tid[i]] != "wanter" || class[i] != "lock") continue
		right = 0
		for (k = 1; k <= wakes; k++)
			if (woken[k] == tid[i] && at[k] > from[i] && at[k] <= to[i]) right = name[waker[k]] == "holder"
		if (right) good++; else bad++
	}
	printf "waits for the lock: %d by holder, %d not, %.1f ms; slept %.1f and %.1f ms\n", good, bad,
		total["wanter", "lock"] / 1e6, total["wanter", "sleep"] / 1e6, total["holder", "sleep"] / 1e6
	exit !(good >= 5 && bad == 0 && total["wanter", "lock"] > 5e6 && total["wanter", "sleep"] >= 72e6 &&
	       total["holder", "sleep"] >= 126e6)
     }' "$work/.out" && pass || fail "perf's own output came out wrong"
expect 0 "$VPROF" show wait-graph live
says "wanter" "holder"
finish

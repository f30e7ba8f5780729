/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_perf_script.c - what perf script prints, read and merged; every answer worked out by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/cmocka_all.h"
#include "trace/perf/perf_line.h"
#include "trace/perf/perf_script.h"
#include "trace/tuples/tuples.h"

#define TIMER "284773511593984"		/* 1 << 48 | WAKER_TIMER << 40 */
#define DISK "282574754676736"		/* ... | WAKER_DISK << 40 | 254 << 20 */

static struct perf_script_stats stats;

static char *tuples_of(const char *script, const struct perf_choice *choice)
{
	struct kernel_trace k = { 0 };
	struct diag diag = DIAG_INIT;
	struct trace *t = trace_new();
	char *text = NULL;
	size_t len;
	FILE *out;

	if (perf_script_parse(script, strlen(script), "script", choice, &k, &stats, &diag))
		fail_msg("%s", diag.text);
	kernel_merge(t, &k);
	kernel_release(&k);
	out = open_memstream(&text, &len);
	assert_int_equal(tuples_write(out, t), 0);
	fclose(out);
	trace_free(t);
	return text;
}

static void assert_tuples(const char *script, const struct perf_choice *choice, const char *expected)
{
	char *text = tuples_of(script, choice);

	assert_string_equal(text, expected);
	free(text);
}

static void assert_refused(const char *script, const char *message, int status)
{
	struct kernel_trace k = { 0 };
	struct diag diag = DIAG_INIT;

	assert_true(perf_script_parse(script, strlen(script), "script", NULL, &k, &stats, &diag) < 0);
	assert_int_equal(diag.status, status);
	if (!strstr(diag.text, message))
		fail_msg("\"%s\" does not say \"%s\"", diag.text, message);
	kernel_release(&k);
}

static void assert_damage(const char *script, const char *message)
{
	assert_refused(script, message, EXIT_DATA);
}

static void test_line(void **state)
{
	static const char line[] = "  Web [7] Content 40/41 [012]  11618.242631007:   sched:sched_waking: comm=a pid=3 b pid=9 x=1\n";
	struct perf_line l;
	struct perf_text t;
	uint32_t number;

	(void)state;
	assert_int_equal(perf_line_parse(line, sizeof(line) - 1, &l), PERF_EVENT);
	assert_true(perf_text_is(l.comm, "Web [7] Content"));
	assert_int_equal(l.pid, 40);
	assert_int_equal(l.tid, 41);
	assert_int_equal(l.cpu, 12);
	assert_int_equal(l.ns, 11618242631007);
	assert_true(perf_text_is(l.event, "sched_waking"));
	assert_true(perf_field_number(&l, "pid", &number));
	assert_int_equal(number, 9);
	assert_true(perf_field_until(&l, "comm", "pid", &t));
	assert_true(perf_text_is(t, "a pid=3 b"));
	assert_false(perf_field(&l, "id", &t));
}

static enum perf_line_kind kind_of(const char *line)
{
	struct perf_line l;

	return perf_line_parse(line, strlen(line), &l);
}

static void test_line_kinds(void **state)
{
	(void)state;
	assert_int_equal(kind_of(""), PERF_NOTHING);
	assert_int_equal(kind_of("# captured on: Sun"), PERF_NOTHING);
	assert_int_equal(kind_of("\t    7f0bff22b5e0 read+0x10 (/usr/lib/libc.so.6)"), PERF_NOTHING);
	assert_int_equal(kind_of("\tffffffff8d1234"), PERF_NOTHING);
	assert_int_equal(kind_of("dd 40 [000] 1.000001: sched:sched_switch:"), PERF_EVENT);
	assert_int_equal(kind_of(":-1 40/-1 [000] 1.000001: cycles: "), PERF_EVENT);
	assert_int_equal(kind_of("dd 40 [000] 1.0000000001: cycles:"), PERF_DAMAGED);
	assert_int_equal(kind_of("dd 40 [000] 99999999999999999999.000001: cycles:"), PERF_DAMAGED);
	assert_int_equal(kind_of("dd 40 1.000001: sched:sched_switch: x"), PERF_DAMAGED);
	assert_int_equal(kind_of("dd 4x [000] 1.000001: sched:sched_switch: x"), PERF_DAMAGED);
	assert_int_equal(kind_of("Segmentation fault"), PERF_DAMAGED);
}

/* The example of perf_tasks.c, in microseconds; 40 blocks in futex(FUTEX_WAIT_PRIVATE, 2): a mutex. */
#define LOCKED \
	"w 40/40 [000] 0.000001: raw_syscalls:sys_enter: NR 202 (1000, 80, 2, 0, 0, 0)\n" \
	"w 40/40 [000] 0.000002: sched:sched_switch: prev_comm=w prev_pid=40 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n" \
	"h 40/41 [001] 0.000005: sched:sched_waking: comm=w pid=40 prio=120 target_cpu=000\n" \
	"swapper 0/0 [000] 0.000007: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=w next_pid=40 next_prio=120\n"

static void test_lock(void **state)
{
	(void)state;
	assert_tuples(LOCKED
		"h 40/41 [001] 0.000009: sched:sched_switch: prev_comm=h prev_pid=41 prev_prio=120 prev_state=R+ ==> next_comm=x y next_pid=50 next_prio=120\n"
		"x y 50/50 [001] 0.000012: sched:sched_switch: prev_comm=x y prev_pid=50 prev_prio=120 prev_state=R ==> next_comm=h next_pid=41 next_prio=120\n", NULL,
		"vprof-tuples 1\n"
		"segment 40 - 1000 2000 running\n"
		"segment 40 - 2000 7000 lock\n"
		"segment 40 - 7000 12000 running\n"
		"segment 41 - 1000 9000 running\n"
		"segment 41 - 9000 12000 runnable\n"
		"segment 50 - 1000 9000 other\n"	/* first heard of when it came in */
		"segment 50 - 9000 12000 running\n"
		"wakeup 40 41 5000\n"
		"thread 40 thread w\n"
		"thread 41 thread h\n"
		"thread 50 thread x%20y\n");
	assert_int_equal(stats.switches, 4);
	assert_int_equal(stats.tasks, 3);
	assert_true(stats.no_interrupts);
	assert_false(stats.no_waking);
	assert_false(stats.no_syscalls);
}

/* Only w is selected: its waker still has a name. */
static void test_choice(void **state)
{
	static const char *const comms[] = { "w" };
	static const uint32_t pids[] = { 77 };
	struct perf_choice by_name = { .comms = comms, .comm_cnt = 1 }, nobody = { .pids = pids, .pid_cnt = 1 };
	struct kernel_trace k = { 0 };
	struct diag diag = DIAG_INIT;

	(void)state;
	assert_tuples(LOCKED
		"h 41/41 [001] 0.000009: sched:sched_switch: prev_comm=h prev_pid=41 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120\n"
		"w 40/40 [000] 0.000010: sched:sched_process_fork: comm=w pid=40 child_comm=w child_pid=60\n", &by_name,
		"vprof-tuples 1\n"
		"segment 40 - 1000 2000 running\n"
		"segment 40 - 2000 7000 lock\n"
		"segment 40 - 7000 10000 running\n"
		"wakeup 40 41 5000\n"
		"thread 40 thread w\n"
		"thread 41 thread h\n"
		"thread 60 thread w\n");	/* made by it */
	assert_int_equal(stats.chosen, 2);
	assert_true(perf_script_parse(LOCKED, strlen(LOCKED), "script", &nobody, &k, &stats, &diag) < 0);
	assert_non_null(strstr(diag.text, "none of its 2 threads"));
	assert_int_equal(diag.status, EXIT_NO_EVIDENCE);
	kernel_release(&k);
}

/* Threads come and go; the number 60 is used twice.  No wait: S without a waker or a system call is other. */
static void test_lives(void **state)
{
	(void)state;
	assert_tuples(
		"m 40/40 [000] 0.000001: sched:sched_process_fork: comm=m pid=40 child_comm=m child_pid=60\n"
		"m 40/40 [000] 0.000002: sched:sched_wakeup_new: comm=m pid=60 prio=120 target_cpu=001\n"
		"swapper 0/0 [001] 0.000004: sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=m next_pid=60 next_prio=120\n"
		"c1 40/60 [001] 0.000006: sched:sched_process_exit: comm=c1 pid=60 prio=120\n"
		"c1 40/60 [001] 0.000007: sched:sched_switch: prev_comm=c1 prev_pid=60 prev_prio=120 prev_state=R+ ==> next_comm=z next_pid=70 next_prio=120\n"
		"z 70/70 [001] 0.000008: sched:sched_switch: prev_comm=z prev_pid=70 prev_prio=120 prev_state=S ==> next_comm=c1 next_pid=60 next_prio=120\n"
		":-1 -1/-1 [001] 0.000009: sched:sched_switch: prev_comm=c1 prev_pid=60 prev_prio=120 prev_state=X ==> next_comm=swapper/1 next_pid=0 next_prio=120\n"
		"m 40/40 [000] 0.000010: sched:sched_wakeup_new: comm=m pid=60 prio=120 target_cpu=001\n"
		"swapper 0/0 [001] 0.000012: sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=c2 next_pid=60 next_prio=120\n"
		"c2 40/60 [001] 0.000020: sched:sched_stat_runtime: comm=c2 pid=60 runtime=8000 [ns]\n", NULL,
		"vprof-tuples 1\n"
		"segment 40 - 1000 20000 running\n"
		"segment 60 - 1000 4000 runnable\n"
		"segment 60 - 4000 6000 running\n"
		"segment 70 - 1000 7000 other\n"
		"segment 70 - 7000 8000 running\n"
		"segment 70 - 8000 20000 other\n"
		"segment 4294967356 - 10000 12000 runnable\n"
		"segment 4294967356 - 12000 20000 running\n"
		"creation 40 1000 60 1000\n"
		"creation 40 10000 4294967356 10000\n"
		"thread 40 thread m\n"
		"thread 60 thread c1\n"
		"thread 70 thread z\n"
		"thread 4294967356 thread c2\n");
}

/* burn 17 runs while interrupts come in for 40: a disk's, and a timer's; then a waking before the switch. */
static void test_interrupts(void **state)
{
	(void)state;
	assert_tuples(
		"w 40/40 [000] 0.000001: raw_syscalls:sys_enter: NR 17 (3, 7ffe, 1000, 0, 0, 0)\n"
		"w 40/40 [000] 0.000002: sched:sched_switch: prev_comm=w prev_pid=40 prev_prio=120 prev_state=D ==> next_comm=burn next_pid=17 next_prio=120\n"
		"burn 17/17 [000] 0.000004: irq:irq_handler_entry: irq=36 name=virtio1-req.0\n"
		"burn 17/17 [000] 0.000005: block:block_rq_complete: 254,0 R () 2048 + 8 [0]\n"
		"burn 17/17 [000] 0.000006: sched:sched_waking: comm=w pid=40 prio=120 target_cpu=000\n"
		"burn 17/17 [000] 0.000006: irq:irq_handler_exit: irq=36 ret=handled\n"
		"burn 17/17 [000] 0.000007: sched:sched_switch: prev_comm=burn prev_pid=17 prev_prio=120 prev_state=R+ ==> next_comm=w next_pid=40 next_prio=120\n"
		"w 40/40 [000] 0.000008: raw_syscalls:sys_exit: NR 17 = 4096\n"
		"w 40/40 [000] 0.000009: raw_syscalls:sys_enter: NR 230 (1, 0, 7ffe, 0, 0, 0)\n"
		"w 40/40 [000] 0.000010: sched:sched_switch: prev_comm=w prev_pid=40 prev_prio=120 prev_state=S ==> next_comm=burn next_pid=17 next_prio=120\n"
		"burn 17/17 [000] 0.000015: timer:hrtimer_expire_entry: hrtimer=0x1 function=hrtimer_wakeup now=15000\n"
		"burn 17/17 [000] 0.000016: sched:sched_waking: comm=w pid=40 prio=120 target_cpu=000\n"
		"burn 17/17 [000] 0.000017: timer:hrtimer_expire_exit: hrtimer=0x1\n"
		"burn 17/17 [000] 0.000018: sched:sched_switch: prev_comm=burn prev_pid=17 prev_prio=120 prev_state=R+ ==> next_comm=w next_pid=40 next_prio=120\n", NULL,
		"vprof-tuples 1\n"
		"segment 17 - 1000 2000 other\n"
		"segment 17 - 2000 7000 running\n"
		"segment 17 - 7000 10000 runnable\n"
		"segment 17 - 10000 18000 running\n"
		"segment 40 - 1000 2000 running\n"
		"segment 40 - 2000 7000 io\n"
		"segment 40 - 7000 10000 running\n"
		"segment 40 - 10000 18000 sleep\n"
		"segment " DISK " - 2000 6000 running\n"
		"segment " TIMER " - 10000 16000 running\n"
		"wakeup 40 " DISK " 6000\n"
		"wakeup 40 " TIMER " 16000\n"
		"thread 17 thread burn\n"
		"thread 40 thread w\n"
		"thread " DISK " disk disk%20254,0\n"
		"thread " TIMER " timer timer\n");
	assert_false(stats.no_interrupts);
}

/* perf records entries of timers, softirqs and interrupts already, and exits not yet: 17 wakes 40, once it has been switched to. */
static void test_missing_exits(void **state)
{
	static const char *const entries[] = {
		"timer:hrtimer_expire_entry: hrtimer=0x1 function=tick_sched_timer now=1",
		"softirq_entry: vec=1 [action=TIMER]", "irq:irq_handler_entry: irq=36 name=virtio1-req.0",
	};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		snprintf(text, sizeof(text), "w 40/40 [000] 0.000001: %s\n"
			"w 40/40 [000] 0.000002: raw_syscalls:sys_enter: NR 202 (1000, 80, 2, 0, 0, 0)\n"
			"w 40/40 [000] 0.000003: sched:sched_switch: prev_comm=w prev_pid=40 prev_prio=120 prev_state=S ==> next_comm=h next_pid=17 next_prio=120\n"
			"h 17/17 [000] 0.000005: sched:sched_waking: comm=w pid=40 prio=120 target_cpu=000\n"
			"h 17/17 [000] 0.000005: sched:sched_switch: prev_comm=h prev_pid=17 prev_prio=120 prev_state=R+ ==> next_comm=w next_pid=40 next_prio=120\n",
			entries[i]);
		assert_tuples(text, NULL,
			"vprof-tuples 1\n"
			"segment 17 - 1000 3000 other\n"
			"segment 17 - 3000 5000 running\n"
			"segment 40 - 1000 3000 running\n"
			"segment 40 - 3000 5000 lock\n"
			"wakeup 40 17 5000\n"
			"thread 17 thread h\n"
			"thread 40 thread w\n");
	}
}

/* As libtraceevent's plugins print them; sched_wakeup counts where there is no sched_waking. */
static void test_short_form(void **state)
{
	(void)state;
	assert_tuples(
		"w 40 [000] 0.000002: sched:sched_switch: w:40 [120] D ==> swapper/0:0 [120]\n"
		"a:b 41 [001] 0.000005: sched:sched_wakeup: w:40 [120] success=1 CPU:000\n"
		"swapper 0 [000] 0.000007: sched:sched_switch: swapper/0:0 [120] R ==> w:40 [120]\n"
		"a:b 41 [001] 0.000008: sched:sched_switch: a:b:41 [120] S ==> swapper/1:0 [120]\n", NULL,
		"vprof-tuples 1\n"
		"segment 40 - 2000 7000 lock\n"		/* uninterruptible, ended by a thread */
		"segment 40 - 7000 8000 running\n"
		"segment 41 - 2000 8000 running\n"
		"wakeup 40 41 5000\n"
		"thread 40 thread w\n"
		"thread 41 thread a:b\n");
}

static void test_waking_is_early(void **state)
{
	(void)state;
	assert_tuples(
		"w 40/40 [000] 0.000001: raw_syscalls:sys_enter: NR 202 (1000, 80, 2, 0, 0, 0)\n"
		"h 40/41 [001] 0.000002: sched:sched_waking: comm=w pid=40 prio=120 target_cpu=000\n"
		"w 40/40 [000] 0.000003: sched:sched_switch: prev_comm=w prev_pid=40 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
		"swapper 0/0 [000] 0.000005: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=w next_pid=40 next_prio=120\n"
		"w 40/40 [000] 0.000006: sched:sched_switch: prev_comm=w prev_pid=40 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n", NULL,
		"vprof-tuples 1\n"
		"segment 40 - 1000 3000 running\n"
		"segment 40 - 3000 5000 runnable\n"	/* it could have run on from the beginning */
		"segment 40 - 5000 6000 running\n"
		"segment 41 - 1000 6000 running\n"
		"thread 40 thread w\n"
		"thread 41 thread h\n");
}

/* The same story in other words: 40 waits for a lock from 2 to 7 us, and 41 lets it go on at 5. */
#define LOCKED_TUPLES \
	"vprof-tuples 1\n" \
	"segment 40 - 1000 2000 running\n" \
	"segment 40 - 2000 7000 lock\n" \
	"segment 41 - 1000 7000 running\n" \
	"wakeup 40 41 5000\n" \
	"thread 40 thread w\n" \
	"thread 41 thread h\n"

static void test_time_zero(void **state)
{
	static const char *const before =
		"swapper 0/0 [000] 0.000000: PERF_RECORD_FORK(40:40):(1:1)\n"
		"w 40/40 [000] 0.000000: PERF_RECORD_COMM: w:40/40\n"
		"gone 39/39 [000] 0.000000: PERF_RECORD_COMM exec: gone:39/39\n"
		"w 40/40 [000] 0.000000: PERF_RECORD_MMAP2 40/40: [0x55d0(0x1000) @ 0 fe:00 131 0]: r-xp /usr/bin/w\n"
		"w 40/40 [000] 0.000000: PERF_RECORD_LOST lost 3\n";
	static const char late[] = "w 40/40 [000] 100.000001: sched:sched_switch: w:40 [120] S ==> swapper/0:0 [120]\n"
				   "gone 39/39 [000] 0.000000: sched:sched_switch: gone:39 [120] S ==> w:40 [120]\n"
				   "swapper 0/0 [000] 100.000004: sched:sched_switch: swapper/0:0 [120] R ==> w:40 [120]\n";
	char text[4096];

	(void)state;
	snprintf(text, sizeof(text), "%s%s", before, LOCKED);
	assert_tuples(text, NULL, LOCKED_TUPLES);		/* 39 is not there at all */
	assert_int_equal(stats.timeless, 0);
	assert_tuples(late, NULL, "vprof-tuples 1\nsegment 40 - 100000001000 100000004000 other\nthread 40 thread w\n");
	assert_int_equal(stats.timeless, 1);
	/* --reltime: the first event is the zero. */
	assert_tuples("w 40/40 [000] 0.000000: sched:sched_switch: w:40 [120] S ==> swapper/0:0 [120]\n"
		      "swapper 0/0 [000] 0.000004: sched:sched_switch: swapper/0:0 [120] R ==> w:40 [120]\n", NULL,
		      "vprof-tuples 1\nsegment 40 - 0 4000 other\nthread 40 thread w\n");
}

static void test_frames(void **state)
{
	static const char *const frames[] = {
		"\t    7f0bff22b5e0 __lll_lock_wait", "\tffffffff8d1234 __schedule+0x2eb", "\t  55d0 [unknown]",
		"\tffffffff8d1234 schedule ([kernel.kallsyms])", "\t__lll_lock_wait+0x30", "\t__lll_lock_wait (/usr/lib/libc.so.6)",
		"\tstd::vector<int, std::allocator<int> >::push_back(int const&)+0x10 (inlined)", " => __schedule", " => schedule <ffffffff8d1234>",
	};
	const char *second = strchr(strchr(LOCKED, '\n') + 1, '\n') + 1;

	(void)state;
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		char text[4096];

		snprintf(text, sizeof(text), "%.*s%s\n%s\n\n%s", (int)(second - LOCKED), LOCKED, frames[i], frames[i], second);
		assert_tuples(text, NULL, LOCKED_TUPLES);
	}
	assert_damage(LOCKED "\tfree-standing words\n" "  w 40/40 [0\n", "script:6:");
	assert_damage(LOCKED "\n\tno event before it\n", "script:6:");
}

/* One line of it in other words. */
static void assert_other(size_t number, const char *line, const char *expected)
{
	const char *at = LOCKED, *end;
	char text[4096];

	while (number--)
		at = strchr(at, '\n') + 1;
	end = strchr(at, '\n') + 1;
	snprintf(text, sizeof(text), "%.*s%s\n%s", (int)(at - LOCKED), LOCKED, line, end);
	assert_tuples(text, NULL, expected);
}

/* Without sched_waking: the thread that ran on the CPU of the wakeup may be a bystander. */
static void test_wakeup_only(void **state)
{
	static const char no_waker[] = "vprof-tuples 1\nsegment 40 - 1000 2000 running\nsegment 40 - 2000 7000 lock\n"
				       "segment 41 - 1000 7000 running\nthread 40 thread w\nthread 41 thread h\n";

	(void)state;
	assert_other(2, "h 40/41 [001] 0.000005: sched:sched_wakeup: comm=w pid=40 prio=120 target_cpu=000", LOCKED_TUPLES);
	assert_true(stats.wakeup_only);
	assert_int_equal(stats.doubtful, 0);
	assert_other(2, "h 40/41 [001] 0.000005: sched:sched_wakeup: comm=w pid=40 prio=120 target_cpu=001", no_waker);
	assert_int_equal(stats.doubtful, 1);
	assert_other(2, "h 40/41 [001] 0.000005: sched:sched_wakeup: w:40 [120] success=1 CPU:001", no_waker);
	assert_other(2, "h 40/41 [001] 0.000005: sched:sched_wakeup: comm=w pid=40 prio=120", no_waker);
	/* It was awake already. */
	assert_other(2, "h 40/41 [001] 0.000005: sched:sched_wakeup: comm=w pid=40 prio=120 success=0 target_cpu=000", no_waker);
	assert_other(2, "h 40/41 [001] 0.000005: sched:sched_wakeup: w:40 [120] success=0 CPU:000", no_waker);
	assert_other(2, "h 40/41 [001] 0.000005: sched:sched_wakeup: comm=w success=0 pid=40 prio=120 success=1 target_cpu=000", LOCKED_TUPLES);
}

static char *with_name(const char *format, const char *name)
{
	char *to = NULL, part[2] = "";
	size_t len;
	FILE *out = open_memstream(&to, &len);

	for (; *format; format++) {
		part[0] = *format;
		fputs(*format == '@' ? name : part, out);
	}
	fclose(out);
	return to;
}

/* 40's name is @. */
static void test_names(void **state)
{
	static const struct { const char *name, *told; } names[] = {
		{ "a\nb", "a%0Ab" }, { "a\n\nb", "a%0A%0Ab" }, { "a ==> b", "a%20==>%20b" }, { "x prev_pid=9", "x%20prev_pid=9" },
		{ "[0] 1.1: e:", "[0]%201.1:%20e:" }, { "7 [0] 1.1: e: x", "7%20[0]%201.1:%20e:%20x" }, { "# pid=3", "%23%20pid=3" },
		{ "next_pid=7", "next_pid=7" }, { "\x1b[31mred", "%1B[31mred" }, { "b:41 [1", "b:41%20[1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = with_name(
			"@ 40/40 [000] 0.000001: raw_syscalls:sys_enter: NR 202 (1000, 80, 2, 0, 0, 0)\n"
			"@ 40/40 [000] 0.000002: sched:sched_switch: prev_comm=@ prev_pid=40 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
			"h 40/41 [001] 0.000005: sched:sched_waking: comm=@ pid=40 prio=120 target_cpu=000\n"
			"swapper 0/0 [000] 0.000007: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=@ next_pid=40 next_prio=120\n",
			names[i].name);
		char *expected = with_name("vprof-tuples 1\n"
			"segment 40 - 1000 2000 running\nsegment 40 - 2000 7000 lock\nsegment 41 - 1000 7000 running\n"
			"wakeup 40 41 5000\nthread 40 thread @\nthread 41 thread h\n", names[i].told);

		assert_tuples(text, NULL, expected);
		free(text);
		free(expected);
	}
	assert_damage("somebody else's\n" LOCKED, "script:1:");	/* too long to begin a name */
}

static void test_states(void **state)
{
	static const struct { const char *state, *class; } states[] = {
		{ "S", "lock" }, { "S|W", "lock" }, { "1", "lock" }, { "0x1", "lock" }, { "D", "lock" }, { "D|K", "lock" }, { "2", "lock" },
		{ "R+", "runnable" }, { "R", "runnable" }, { "0", "runnable" }, { "0x100", "runnable" }, { "256", "runnable" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		bool waits = strcmp(states[i].class, "lock") == 0;
		char line[256], expected[512];

		snprintf(line, sizeof(line), "w 40/40 [000] 0.000002: sched_switch: prev_comm=w prev_pid=40 prev_prio=120 prev_state=%s ==> "
			 "next_comm=swapper/0 next_pid=0 next_prio=120", states[i].state);
		snprintf(expected, sizeof(expected), "vprof-tuples 1\nsegment 40 - 1000 2000 running\nsegment 40 - 2000 7000 %s\n"
			 "segment 41 - 1000 7000 running\n%sthread 40 thread w\nthread 41 thread h\n", states[i].class,
			 waits ? "wakeup 40 41 5000\n" : "");
		assert_other(1, line, expected);
	}
}

/* As trace_pipe has it, with and without the columns of processes and flags, and as trace-cmd reports it. */
static void test_ftrace(void **state)
{
	static const char *const heads[][3] = {
		{ "               w-40      [000] d..2.     0.00000", "               h-41      [001] d.h3.     0.00000", "          <idle>-0       [000] d..2.     0.00000" },
		{ "               w-40      (     40) [000] d..2.     0.00000", "               h-41      (     40) [001] d.h3.     0.00000", "          <idle>-0       (-------) [000] d..2.     0.00000" },
		{ "               w-40      (-----) [000]     0.00000", "               h-41      (     40) [001]     0.00000", "          <idle>-0       (-----) [000]     0.00000" },
		{ "w-40    [000]     0.00000", "h-41    [001]     0.00000", "<idle>-0     [000]     0.00000" },
		{ "w-40    [000] ....     0.00000", "h-41    [001] dNh3     0.00000", "<idle>-0     [000] d...     0.00000" },
	};
	char text[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		snprintf(text, sizeof(text), "# tracer: nop\n#\n# entries-in-buffer/entries-written: 4/4   #P:2\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
			"cpus=2\nversion = 6\nCPU 1 is empty\n##### CPU 1 buffer started ####\n"
			"%s1: sys_enter: NR 202 (1000, 80, 2, 0, 0, 0)\n"
			"%s2: sched_switch: prev_comm=w prev_pid=40 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
			" => __schedule\n => schedule\n"
			"CPU:1 [LOST 12 EVENTS]\n"
			"%s5: sched_waking: comm=w pid=40 prio=120 target_cpu=000\n"
			"%s7: sched_switch:         swapper/0:0 [120] R ==> w:40 [120]\n", heads[i][0], heads[i][0], heads[i][1], heads[i][2]);
		assert_tuples(text, NULL, LOCKED_TUPLES);
	}
	assert_damage("w-4x [000] d..2. 0.000001: sched_switch: x\n", "script:1:");
	assert_damage("w-40 [000] d..2. 0.000001: sched_switch: w:40 [120] S ==> x:1 [120]\nw-40 [000] d..2. 0.00000\n", "script:2:");
}

static void test_damage(void **state)
{
	(void)state;
	/* What cannot be had is no damage. */
	assert_refused("", "no sched_switch", EXIT_NO_EVIDENCE);
	assert_refused("w 40/40 [000] 0.000001: cycles: \n", "no sched_switch", EXIT_NO_EVIDENCE);
	assert_damage(LOCKED "perf: Segmentation fault\n", "script:5: expected COMM TID [CPU]");
	/* perf record without -a: nobody ever comes back. */
	assert_refused(
		"w 40 [000] 0.000001: sched:sched_switch: w:40 [120] S ==> x:1 [120]\n"
		"w 40 [000] 0.000002: sched:sched_switch: w:40 [120] S ==> x:1 [120]\n"
		"w 40 [000] 0.000003: sched:sched_switch: w:40 [120] S ==> x:1 [120]\n", "not cover the whole machine", EXIT_NO_EVIDENCE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line), cmocka_unit_test(test_line_kinds),
		cmocka_unit_test(test_lock), cmocka_unit_test(test_choice),
		cmocka_unit_test(test_lives), cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_missing_exits), cmocka_unit_test(test_short_form),
		cmocka_unit_test(test_waking_is_early), cmocka_unit_test(test_time_zero), cmocka_unit_test(test_frames),
		cmocka_unit_test(test_wakeup_only), cmocka_unit_test(test_names), cmocka_unit_test(test_states),
		cmocka_unit_test(test_ftrace),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

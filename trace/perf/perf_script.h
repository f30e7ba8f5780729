/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_script.h - what `perf script` prints of scheduler events -> the kernel's side of a run.
 *
 *	perf record -a -e 'sched:*,irq:*,timer:*,block:block_rq_complete,raw_syscalls:sys_enter' -- ...
 *	perf script --ns -F comm,pid,tid,cpu,time,event,trace
 *
 * Needed is sched_switch, of the whole machine.  Each of the others adds to what is known:
 *
 *	sched_waking (or sched_wakeup)		who woke a thread
 *	sched_process_fork, _exit, wakeup_new	lives of threads
 *	irq, softirq, timer, block, net		that it was a disk, a network, a timer, and not the thread
 *						which the interrupt came upon
 *	raw_syscalls:sys_enter			what a wait was: lock, io, sleep...
 *
 *	perf_line.c	a line -> fields		perf_cpus.c	who wakes, on that CPU, now
 *	perf_script.c	files -> events in order	perf_tasks.c	threads: off, woken, in
 */
#ifndef TRACE_PERF_PERF_SCRIPT_H
#define TRACE_PERF_PERF_SCRIPT_H

#include "trace/kernel/kernel.h"

/* The threads to keep: those that have such a name at some time, or belong to such a process, and the threads
 * that they create.  All, if nothing is chosen. */
struct perf_choice {
	const char *const *comms;
	size_t comm_cnt;
	const uint32_t *pids;
	size_t pid_cnt;
};

struct perf_script_stats {
	size_t switches, tasks, chosen;		/* tasks: threads in the files */
	bool no_waking, no_interrupts, no_syscalls;	/* the files contain no event of that kind */
	bool wakeup_only;			/* sched_wakeup, and no sched_waking: */
	size_t doubtful;			/* number of wakers that may be bystanders, and are therefore
						 * not named */
	size_t timeless;			/* events at time 0, skipped */
};

/* Reads one or several files as one trace.  k is zeroed; kernel_release() in any case.  choice may be
 * NULL.  EXIT_DATA: what is damaged, as FILE:LINE; no sched_switch; or one without the moments at which
 * threads came back; nobody is chosen. */
int perf_script_read(const char *const *paths, size_t path_cnt, const struct perf_choice *choice,
		     struct kernel_trace *k, struct perf_script_stats *ret, struct diag *reterr);

/* The same from memory; name stands in messages for the file. */
int perf_script_parse(const char *text, size_t len, const char *name, const struct perf_choice *choice,
		      struct kernel_trace *k, struct perf_script_stats *ret, struct diag *reterr);

#endif

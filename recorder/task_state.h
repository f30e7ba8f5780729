/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task_state.h - what record.bpf.c keeps about a thread while it is off the CPU; recorder.c puts
 * the first entry of a run there.
 */
#ifndef RECORDER_TASK_STATE_H
#define RECORDER_TASK_STATE_H

enum follow {
	FOLLOW_NAME,			/* not ours; its name was told */
	FOLLOW_CHILDREN,		/* vprof itself: what it forks is ours */
	FOLLOW_RUN,			/* ours */
	FOLLOW_HELPER,			/* of the kernel; it woke one of ours */
};

struct task_state {
	unsigned int tid, pid;		/* as the thread sees them; 0: not asked yet */
	unsigned int follow;		/* enum follow */
	unsigned int lost;		/* records since the last one that was written */
	unsigned long long in_ns, out_ns, woken_ns;
	unsigned long long argument[3];
	int syscall;
	unsigned int state;
	unsigned int waker;
	unsigned char waker_kind, waker_followed;
	unsigned char off, dead, is_new, preempted, iowait, kernel_thread, has_arguments;
};

#endif

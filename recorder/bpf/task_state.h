/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * task_state.h - what record.bpf.c keeps about a thread while it is off the CPU; recorder.c puts
 * the first entry of a run there.
 */
#ifndef RECORDER_BPF_TASK_STATE_H
#define RECORDER_BPF_TASK_STATE_H

enum follow {
	FOLLOW_NAME,			/* not of the run; its name was written */
	FOLLOW_CHILDREN,		/* vprof itself: its children belong to the run */
	FOLLOW_RUN,			/* of the run */
	FOLLOW_HELPER,			/* a kernel thread that woke a thread of the run */
};

struct task_state {
	unsigned int tid, pid;		/* as the thread sees them; 0: not read yet */
	unsigned int follow;		/* enum follow */
	unsigned int lost;		/* records since the last one that was written */
	unsigned long long in_ns, out_ns, woken_ns;
	unsigned long long executed_ns;	/* CPU time that it was charged with until out_ns */
	unsigned long long argument[3];
	int syscall;
	unsigned int state;
	unsigned int waker;
	unsigned int image;		/* of the process since its last exec; 0: not distinguished from others */
	unsigned int stack, waker_stack;	/* numbers plus one: where it left, and where the waker was; 0: none */
	unsigned int requests_read;	/* pieces of requests on accepted sockets */
	unsigned int received;		/* number of its waits when it last took bytes of a socket, plus one; 0: it never did */
	unsigned int works_for;		/* exchanges.bpf.h: the connection whose request it has; 0: unknown */
	unsigned int works_since;	/* number of its waits when it took that up, plus one */
	/* device_waits.bpf.h; disks are numbers plus one, 0: none */
	unsigned int wait_place;	/* of its entry; 0: it has none */
	unsigned int disk_asked;	/* by its last request since it was last off the CPU */
	unsigned int disk_before;	/* its last wait was for that one, in that system call */
	int disk_syscall;
	unsigned int disk_woke;		/* the last one that it waited for */
	unsigned long long disk_woke_ns;
	unsigned char waker_kind, waker_followed;
	unsigned char off, dead, is_new, preempted, iowait, kernel_thread, has_arguments;
	unsigned char deep;		/* whether its stack was deep when last copied */
	unsigned char short_cnt;	/* number of known stacks that fell short, modulo 256 */
};

/*
 * When a thread came back whose return was not reported, only that it leaves again, at ns: ns less the CPU time it
 * was charged with since it left, but not before it was woken.
 *
 *	out at 100, woken at 180, leaves at 300, charged with 30 meanwhile: back at 270
 */
static inline unsigned long long untold_return_ns(const struct task_state *s, unsigned long long executed_ns,
						  unsigned long long ns)
{
	unsigned long long ran_ns = executed_ns - s->executed_ns;
	unsigned long long earliest_ns = s->woken_ns > s->out_ns ? s->woken_ns : s->out_ns;

	return ran_ns < ns - earliest_ns ? ns - ran_ns : earliest_ns;
}

#endif

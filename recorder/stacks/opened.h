/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opened.h - finds the functions that the threads of a process are in, without stopping any of them.
 *
 * A thread that waits in a system call has its stack pointer and instruction pointer in /proc/PID/task/TID/syscall;
 * the rest of the stack is read from its memory.  A running thread has neither: it is read again a few times, because most
 * running threads wait soon.  Needs a debugger's permissions.
 */
#ifndef RECORDER_STACKS_OPENED_H
#define RECORDER_STACKS_OPENED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { OPENED_FRAMES_MAX = 64 };

struct opened_frame {
	uint64_t address;		/* __builtin_frame_address(0): the return address stands 8 above it */
	uint64_t caller;		/* that return address */
	const char *name;		/* of the function; "?" where it has none */
};

struct opened_thread {
	pid_t pid, tid;			/* as they see themselves */
	char name[16];
	size_t cnt;			/* 0: unknown */
	struct opened_frame frames[OPENED_FRAMES_MAX];	/* the innermost first; without those that start a thread */
};

/* 0, or a negative errno: no thread of the process could be read. */
int opened_read(pid_t pid, void (*take)(void *arg, const struct opened_thread *t), void *arg);

#endif

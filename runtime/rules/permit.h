/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permit.h - which of the runtime's own system calls the program's system call filter permits.
 *
 * A seccomp filter knows the program's own calls and may end the program for any other.  So the runtime checks each call that
 * it makes after the start here first, and does not make it if it is not permitted:
 *
 *	if (permitted(PERMIT_FSTAT) && !fstat(fd, &st)) ...
 *
 * A filter that the program installs is tested when it is installed (runtime/rules/rules.c).  A filter from before the start
 * cannot be read; it let the loader start the program, so the loader's calls are permitted, and no others.
 */
#ifndef RUNTIME_RULES_PERMIT_H
#define RUNTIME_RULES_PERMIT_H

#include <stdbool.h>
#include <stdint.h>

struct sock_fprog;

enum permit {
	PERMIT_OPEN, PERMIT_READ, PERMIT_CLOSE, PERMIT_FSTAT, PERMIT_STAT, PERMIT_MMAP, PERMIT_MUNMAP, PERMIT_MPROTECT,
	PERMIT_RLIMIT,			/* to read a limit; a loader calls everything up to here */
	PERMIT_GETTID, PERMIT_GETPID, PERMIT_GETPPID, PERMIT_NAME, PERMIT_CPUTIME, PERMIT_RUSAGE, PERMIT_TSC,
	PERMIT_FLOCK, PERMIT_FCNTL, PERMIT_MADVISE, PERMIT_READLINK, PERMIT_SOCKNAME, PERMIT_PEERNAME,
	PERMIT_DIAGNOSIS,		/* socket, sendto and recvfrom: for the other end of a unix socket */
	PERMIT_SIGMASK, PERMIT_SIGALTSTACK, PERMIT_SHMCTL, PERMIT_YIELD, PERMIT_SLEEP,
	PERMIT_SET_RLIMIT, PERMIT_MUNLOCK,
	PERMIT_TICKS,			/* the last one: of experiments alone (runtime/causal/ticks.h) */
	PERMIT_CNT
};

extern uint32_t permits __attribute__((visibility("hidden")));

static inline bool permitted(enum permit p)
{
	return __atomic_load_n(&permits, __ATOMIC_RELAXED) >> p & 1;
}

/* All that runs without experiments make. */
static inline bool permitted_all(void)
{
	return !(~__atomic_load_n(&permits, __ATOMIC_RELAXED) & ((1U << PERMIT_TICKS) - 1));
}

/* Lets other threads run, if that is permitted. */
void permit_yield(void);

/* As /proc/self/status has it: of this process, by its own PID namespace. */
struct status {
	uint32_t pid, ppid;		/* 0: unknown */
	char name[16];			/* of its first thread */
	uint32_t filters;		/* number of seccomp filters; 1 if there are some and the kernel does
					 * not report how many */
	bool is_known;			/* false: there is no /proc */
};

/* Called once, before any other system call of ours: a process that was started under a filter makes only the
 * calls of a loader. */
void permit_start(struct status *ret);

/* The program is about to install this filter; NULL: the strict mode, which permits nothing of ours. */
void permit_filter(const struct sock_fprog *program);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - the runtime's state in this process: the mapped arena, or nothing.
 */
#ifndef RUNTIME_PROCESS_H
#define RUNTIME_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <pthread.h>
#include "runtime/shared/arena.h"

enum { PROCESS_ANCESTORS = 8 };

struct process {
	const struct arena_map *arena;	/* never NULL; its base is NULL without an arena */
	uint32_t *waiters;		/* the arena's, cached; NULL without an arena */
	uint32_t *places;		/* each release looks there; never NULL */
	uint32_t epoch;			/* counts arenas: labels and sites have numbers of one arena only */
	const uint32_t *invitation;	/* odd: a thread with a closed gate should try process_reopen() */
	uint32_t pid;
	uint32_t apart;			/* enum apart: why no further thread takes part; 0: threads do */
	uint64_t name[2];		/* name of the first thread at the start */
	uint64_t mapped_bytes;		/* total of all arenas of this process */
	uint32_t ancestors[PROCESS_ANCESTORS];	/* pids of the process's ancestors, nearest first */
	unsigned int ancestor_cnt;
	bool is_filtered;		/* some of our system calls are not permitted (permit.h), and the
					 * recorder was notified */
	bool introduced;		/* the ancestors are in the trace */
	uint64_t image, pid_namespace;
	uint32_t program;		/* the image that attached: forks share their parent's code */
	pthread_key_t key;		/* its destructor runs when a thread ends */
	volatile uint32_t *same;	/* reads 0 in a child of a fork that the runtime did not see */
};

extern struct process process __attribute__((visibility("hidden")));

/* Maps the arena on the first call; false: there is none, or another thread is mapping it. */
bool process_attach(void);

/* True if there is no arena and never will be: the process never takes part. */
bool process_is_alone(void);

/* The gate of this thread is closed, and *process.invitation is odd: attaches to the arena that the process
 * was invited to, or leaves one that is gone.  True: there is a recording to take part in. */
bool process_reopen(void);

/* This thread found no chunk: is there still a drainer?  If not, recording is over. */
void process_starved(const struct arena_map *arena);

/* Correct also in a child of a fork that the runtime did not see, if getpid is permitted. */
uint32_t process_own_pid(void);

/*
 * Ends this process's part in the recording: the calling thread stops at once, others finish open intervals, none begins.
 * unmap: also unmaps its arenas; false: other threads may be reading them, and they stay.
 */
bool process_leave(enum apart why, bool unmap);

static inline bool process_is_invited(void)
{
	return __atomic_load_n(process.invitation, __ATOMIC_RELAXED) & 1;
}

/* The child of a fork: takes new identities.  serial: its only thread's, 0 for a fresh one. */
void process_forked(uint64_t serial);

/* Around a fork: fork() calls both itself; ways past its handlers (_Fork(), a system call of the program's own) by a wrapper. */
void process_before_fork(void);
void process_in_child(void);

/* Logs where this process comes from, once. */
void process_introduce(void);

static inline uint64_t process_new_serial(void)
{
	return __atomic_add_fetch(&process.arena->control->serial_cnt, 1, __ATOMIC_RELAXED);
}

#endif

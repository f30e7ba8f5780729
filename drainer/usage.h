/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.h - processor time of the processes that are recorded, as the drainer sees it from outside.
 */
#ifndef DRAINER_USAGE_H
#define DRAINER_USAGE_H

#include "base/alloc.h"
#include "runtime/shared/arena.h"

struct usage_process {
	uint32_t pid;
	uint64_t ns;			/* what its clock said the last time */
};

struct usage {
	VEC(struct usage_process) known, found;
	uint64_t pid_namespace;		/* our own; numbers of another namespace mean nothing here */
	uint64_t at_ns;			/* of the last look */
};

void usage_init(struct usage *u, uint64_t now_ns);
void usage_release(struct usage *u);

/* CPU time since the last look of the processes that have a thread in the arena; now_ns: CLOCK_MONOTONIC. */
uint64_t usage_take(struct usage *u, const struct arena_map *a, uint64_t now_ns);

/* CPU time of the calling thread. */
uint64_t usage_own_ns(void);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * images.h - which files' code is mapped where, in each process of the run, at any time.
 *
 * An image is the code of a process from one exec to the next.  Forked processes share it, so that
 * results for one worker of a server hold for all.
 */
#ifndef RECORDER_STACKS_IMAGES_H
#define RECORDER_STACKS_IMAGES_H

#include <stdint.h>
#include "base/alloc.h"

struct mapping {
	uint64_t start, end, offset;	/* offset in the file */
	const char *path;		/* or VDSO_NAME */
	const char *link;		/* another name of that file, by which the process was started; NULL: none is known */
};

struct image {
	VEC(struct mapping) mappings;	/* of code; a later one replaces an earlier one */
	unsigned int changes;		/* counts up when one is added */
	unsigned int processes;		/* number of processes that have it */
	uint32_t pid;			/* of the one that had it first */
	const char *dump;		/* its jitdump (jit_names.h), which it has mapped; NULL: none */
	struct unwinder *unwinder;	/* unwind.c's; NULL: none yet */
};

struct images;

/* Follows what the calling thread forks from now on.  Without the permission for that, or for a process that
 * was running before, mappings are read from /proc while the process lives. */
struct images *images_new(void);
void images_free(struct images *i);

/* Processes new records. */
void images_read(struct images *i);

/* The image of the process at that time; NULL: unknown. */
struct image *images_find(struct images *i, uint32_t pid, uint64_t ns);

/* The same after reading /proc, for an address that is in no mapping.  NULL: nothing new. */
struct image *images_look(struct images *i, uint32_t pid, uint64_t ns);

/* All there are, for their owner to clean up. */
struct image *images_item(struct images *i, size_t index);	/* NULL: no more */

#endif

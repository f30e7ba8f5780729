/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * images.h - which files' code is mapped where, in each process of the run, at any time.
 *
 * An image is what a process executes from one exec to the next.  Forked processes share it, so that
 * what was found out for one worker of a server holds for all.
 */
#ifndef RECORDER_STACKS_IMAGES_H
#define RECORDER_STACKS_IMAGES_H

#include <stdint.h>
#include "base/alloc.h"

struct mapping {
	uint64_t start, end, offset;	/* offset in the file */
	const char *path;		/* or VDSO_NAME */
};

struct image {
	VEC(struct mapping) mappings;	/* of code; a later one goes before an earlier one */
	unsigned int changes;		/* counts up when one is added */
	unsigned int processes;		/* that have it */
	struct unwinder *unwinder;	/* unwind.c's; NULL: none yet */
};

struct images;

/* From now on what the calling thread forks is known.  Without the right to see that, or of a process that
 * ran already, it is read from /proc while the process lives. */
struct images *images_new(void);
void images_free(struct images *i);

/* What has happened meanwhile. */
void images_read(struct images *i);

/* What the process was at that time; NULL: unknown. */
struct image *images_find(struct images *i, uint32_t pid, uint64_t ns);

/* The same after a look into /proc, for an address that is in no mapping.  NULL: nothing new. */
struct image *images_look(struct images *i, uint32_t pid, uint64_t ns);

/* All there are, for their owner to clean up. */
struct image *images_item(struct images *i, size_t index);	/* NULL: no more */

#endif

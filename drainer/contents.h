/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contents.h - a table at the trace's end with the contents of each block of records: if a block is missing later, the table
 * says when its records were logged, and by which threads.
 */
#ifndef DRAINER_CONTENTS_H
#define DRAINER_CONTENTS_H

#include <stdint.h>
#include "base/alloc.h"

struct drainer;

struct contents_block {
	uint64_t number, since, until, records;
	size_t serial_cnt;
};

struct contents {
	VEC(struct contents_block) blocks;
	VEC(uint64_t) serials;		/* of their threads, then of the block that is being collected */
	size_t collected;		/* number of the latter */
	size_t hidden, hidden_cnt;	/* blocks that belong to a snapshot, not to the trace being ended */
	uint64_t from_number;		/* blocks before this one are of parts that a snapshot leaves out */
};

void contents_thread(struct contents *c, uint64_t serial);	/* some of its records go into the next block */
void contents_block(struct contents *c, uint64_t number, uint64_t since, uint64_t until, uint64_t records);
void contents_dropped(struct contents *c);			/* the block was not written */
void contents_forget(struct contents *c, uint64_t before);	/* blocks whose parts are gone: lower numbers */
void contents_write(struct drainer *d);
void contents_release(struct contents *c);

#endif

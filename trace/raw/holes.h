/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * holes.h - what is missing in a trace: when, and whose.
 *
 * Blocks are numbered over all files of a trace, and BLOCK_CONTENTS at its end lists what each of them
 * contains.  A missing number is a hole.
 *
 *	blocks 1 2 (3) 4; 3 held records from 900 to 990, of threads 5 and 6
 *	thread 5: its last record in block 2 is of 880, its first in block 4 of 1010	unknown 880..1010
 *	thread 6: nothing in block 4 or later						unknown from its last one to 990
 *	the hole: 880..1010
 *
 * Without the contents any thread may be concerned, and a thread without later records is unknown to the end.
 * Threads that ended before the hole or begin after it are not concerned.
 */
#ifndef TRACE_RAW_HOLES_H
#define TRACE_RAW_HOLES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/alloc.h"
#include "trace/blocks.h"
#include "trace/encode.h"

struct holes_chunk {			/* of a block that is there */
	uint64_t number;
	uint64_t first, last;		/* ticks, when its records were logged; first > last: it has no record
					 * with a time */
	uint32_t thread;
	bool started, stopped;		/* it contains the thread's beginning; its end */
};

struct holes_contents {			/* of a block that may be missing */
	uint64_t number, since, until, records;
	size_t serial, serial_cnt;	/* its threads, in serials */
};

struct trace_holes {
	VEC(uint64_t) numbers;		/* of the blocks that exist */
	VEC(struct holes_chunk) chunks;
	VEC(struct holes_contents) contents;
	VEC(uint64_t) serials;
	VEC(struct listed_block) damaged;	/* damaged blocks whose heads are there */
	uint64_t damaged_bytes, twice_cnt;
};

struct raw;

/* Notes a block that is being read: its number. */
uint64_t holes_block(struct trace_holes *h, const struct blocks *b);
/* false: the table makes no sense. */
bool holes_decode_contents(struct trace_holes *h, struct decoder *d);
/* All of a file was read. */
void holes_file(struct trace_holes *h, const struct blocks *b);

/* All files were read: r->holes, r->gaps, r->damage, in ticks. */
void holes_settle(struct trace_holes *h, struct raw *r);
void holes_release(struct trace_holes *h);

#endif

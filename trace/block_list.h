/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_list.h - finds the blocks of a trace file, also around damage.
 *
 * The search goes from head to head.  If a head is missing, it searches the next one byte by byte:
 *
 *	1 2 (zeros) 5 6		1, 2, 5, 6: blocks 3 and 4 are missing
 *	1 2 4 3 5		sorted
 *	1 2 (the first half of 3) 4	3 is damaged; its head says what it held
 *
 * A block is recognised by the checksum of its place.  Its contents may still be damaged: blocks_next() checks them.
 */
#ifndef TRACE_BLOCK_LIST_H
#define TRACE_BLOCK_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/alloc.h"
#include "trace/format.h"

struct listed_block {
	uint64_t at, number;
	uint64_t since, until;		/* ticks; 0, 0: unknown */
	uint32_t kind, bytes;
	uint64_t checksum;		/* of its contents, as its head has it */
};

struct block_list {
	VEC(struct listed_block) whole;	/* by number */
	VEC(struct listed_block) damaged;	/* according to their heads */
	uint64_t damaged_bytes;		/* that belong to no block */
	uint64_t cut_bytes;		/* of a block that the end of the file cuts off */
};

/* from: where the first block of an undamaged file begins */
void block_list_make(struct block_list *l, int fd, uint64_t size, uint64_t from);
void block_list_release(struct block_list *l);

/* Whether the block's sizes are possible; memory is allocated only if they are. */
bool block_list_takes(const struct trace_block *h);

/* false: the file ends before len bytes, or cannot be read. */
bool block_read_at(int fd, void *data, size_t len, uint64_t at);

#endif

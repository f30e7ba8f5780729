/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_dedup.h - which records say what an earlier one of their block has said, but for when it was (trace/kernel_format.h).
 *
 * A server's threads wait for the same ones in the same system calls, again and again: of 100,000 records some hundred are new.
 *
 *	7 in read(), woken by vda	the block's first: number 0, and must be written in full
 *	8 in futex(), by 7		new: number 1
 *	7 in read(), let go on by vda	as 0
 */
#ifndef RECORDER_RECORD_DEDUP_H
#define RECORDER_RECORD_DEDUP_H

#include <stdint.h>

enum { ALIKE_PLACES = 1024, ALIKE_WORDS = 9, ALIKE_NEW = -1 };

/* All of a record but its times; what it has not is 0. */
struct alike_key {
	uint32_t kind, tid, pid, state, flags, waker_kind, waker, lost;
	int64_t number;			/* of the system call; of a stack; of a device */
	uint64_t argument[3], reason;
};
_Static_assert(sizeof(struct alike_key) == ALIKE_WORDS * sizeof(uint64_t), "no gaps");

struct alike {
	struct alike_place {		/* the one for whatever has that hash, or what came last of it */
		struct alike_key key;
		uint32_t block, number;
	} places[ALIKE_PLACES];
	uint32_t block, cnt;		/* of those written in full in this block */
};

/* The first block begins, or the next one. */
void alike_begin_block(struct alike *a);

/* The number of one that said the same, or ALIKE_NEW: this one gets the next number. */
int64_t alike_number(struct alike *a, const struct alike_key *key);

#endif

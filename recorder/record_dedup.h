/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record_dedup.h - finds records that equal an earlier one of their block except for the times
 * (trace/kernel_format.h).
 *
 * The threads of a server wait for the same threads in the same system calls, again and again: of 100,000 records a
 * few hundred are new.
 *
 *	7 in read(), woken by vda	the block's first: number 0, and must be written in full
 *	8 in futex(), by 7		new: number 1
 *	7 in read(), woken by vda	as 0
 */
#ifndef RECORDER_RECORD_DEDUP_H
#define RECORDER_RECORD_DEDUP_H

#include <stdint.h>

enum { ALIKE_PLACES = 1024, ALIKE_WORDS = 9, ALIKE_NEW = -1 };

/* All of a record but its times; fields that it does not have are 0. */
struct alike_key {
	uint32_t kind, tid, pid, state, flags, waker_kind, waker, lost;
	int64_t number;			/* of the system call; of a stack; of a device */
	uint64_t argument[3], reason;
};
_Static_assert(sizeof(struct alike_key) == ALIKE_WORDS * sizeof(uint64_t), "no gaps");

struct alike {
	struct alike_place {		/* the last record with this hash */
		struct alike_key key;
		uint32_t block, number;
	} places[ALIKE_PLACES];
	uint32_t block, cnt;		/* number of records written in full in this block */
};

/* The first block begins, or the next one. */
void alike_begin_block(struct alike *a);

/* The number of an equal earlier record, or ALIKE_NEW: this one gets the next number. */
int64_t alike_number(struct alike *a, const struct alike_key *key);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind.h - from registers and a piece of the stack to where each function was, by the call frame
 * information of the files, which does not need frame pointers.
 */
#ifndef RECORDER_UNWIND_H
#define RECORDER_UNWIND_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include "recorder/images.h"
#include "recorder/record.h"

enum { FRAMES_MAX = 128 };

struct slot {				/* where a return address was found */
	uint32_t offset;		/* from RSP */
	uint64_t value;
};

/* A stack that was unwound. */
struct shape {
	struct shape *next;		/* with the same RIP */
	struct unwinder *unwinder;
	uint32_t number;		/* over all images, from 0 */
	uint32_t frame_cnt, slot_cnt;
	bool cut;			/* more of it was not copied */
	uint64_t *frames;		/* an address inside each function, innermost first */
	struct slot *slots;
};

struct unwinder {
	struct image *image;
	Dwfl *dwfl;
	struct map *shapes;		/* RIP -> the first shape */
	size_t reported;		/* mappings */
	bool attached;
	const struct record_stack *now;	/* being unwound */
	struct shape result;		/* of it; frames and slots are the arrays below */
	uint64_t frames[FRAMES_MAX];
	struct slot slots[FRAMES_MAX];
	struct slot reads[FRAMES_MAX * 8];	/* all that was read of the stack; those before read_at are older */
	size_t read_cnt, read_at;		/* than the frame before */
};

/* The shape of r's user stack, found or made; next_number counts up when it is new.  NULL: its code is in no
 * file that is known. */
struct shape *unwind(struct images *all, const struct record_stack *r, uint32_t *next_number);

void unwinder_free(struct unwinder *u);		/* NULL is fine */

#endif

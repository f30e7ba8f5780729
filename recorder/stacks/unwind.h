/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind.h - unwinds registers and a piece of the stack to an address in each function, by the call frame
 * information of the files, without frame pointers.
 */
#ifndef RECORDER_STACKS_UNWIND_H
#define RECORDER_STACKS_UNWIND_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include "base/alloc.h"
#include "recorder/bpf/record.h"
#include "recorder/stacks/images.h"

enum { FRAMES_MAX = 128, SLOTS_MAX = 2 * FRAMES_MAX, STACK_SIZE_MAX = 64 << 20 };

/* Threads wait, or wake others, at some thousand stacks; but they are preempted or sampled at another address each time, a
 * thousand a second.  So once there are more than this many, such a stack's innermost function is no longer recorded by
 * instruction, but by the piece of code with the same unwinding rule (rows.c): mostly its beginning. */
enum { SHAPES_EXACT = 100000 };

struct slot {				/* a word of the stack that decided how it was unwound */
	uint32_t offset;		/* from RSP */
	bool relative;			/* points into the stack: the value is from RSP on; else a return address */
	uint64_t value;
};

/* A stack that was unwound. */
struct shape {
	struct shape *next;		/* with the same RIP */
	struct unwinder *unwinder;
	uint32_t number;		/* over all images, from 0 */
	uint32_t frame_cnt, slot_cnt;
	uint32_t cut;			/* more of it than these bytes was not copied; 0: all of it was */
	bool traced;			/* where all of its return addresses stood is known */
	bool came_again;		/* one by which a thread waits, not where it was once driven from the CPU */
	bool ended;			/* there is nothing that unwinding could not make sense of */
	struct slot rbp;		/* the register; relative, or it does not matter */
	uint64_t *frames;		/* an address inside each function, innermost first */
	struct slot *slots;
};

enum row_kind { ROW_SIMPLE, ROW_LAST, ROW_OTHER };	/* LAST: there is no caller; OTHER: libdw knows */

struct row {				/* what is known of a frame from where in its code it is; offsets from the caller's RSP (CFA) */
	enum row_kind kind;
	bool from_rbp;			/* else from RSP: the caller's RSP is cfa bytes above it */
	bool saves_rbp;			/* at rbp; else it is as it was */
	int64_t cfa, return_address, rbp;
};

struct row_range {			/* [from, until): the code that a row is true of */
	uint64_t from, until;
	uint32_t row;			/* index in rows */
};

struct unwinder {
	struct image *image;
	Dwfl *dwfl;
	VEC(struct row) rows;
	VEC(struct row_range) ranges;	/* in order, apart from each other */
	struct map *row_of;		/* of calls: their return address, less one -> index in rows */
	bool libdw_alone;		/* for tests: no rows */
	uint64_t libdw_cnt;		/* stacks that it had to unwind */
	struct arena *arena;		/* of shapes, with what they consist of */
	struct map *shapes;		/* RIP -> the first shape */
	struct map *inexact;		/* hash of frames -> the first shape */
	size_t reported;		/* mappings */
	bool attached;
	const struct record_stack *now;	/* being unwound */
	struct shape result;		/* of it; frames and slots are the arrays below */
	uint64_t frames[FRAMES_MAX];
	struct slot slots[SLOTS_MAX];
	struct slot reads[FRAMES_MAX * 8];	/* all that was read of the stack; those before read_at are older */
	size_t read_cnt, read_at;		/* than the frame before */
};

/* The shape of r's user stack, found or made; next_number counts up when it is new.  NULL: its code is in no
 * file that is known. */
struct shape *unwind(struct images *all, const struct record_stack *r, uint32_t *next_number);

/* What the kernel has to look at to recognise a stack of this shape, that of r; its number is the caller's.  False: it
 * could not be sure, or came once only: most of those never come again, and its memory is for those that do. */
bool shape_known(const struct shape *s, const struct record_stack *r, struct known_stack *ret);

/* unwind.c: less was copied than wanted, to the end of a page: the next one was never touched (a large array's), or is not in
 * memory. */
bool stack_falls_short(const struct record_stack *r);

/* unwind.c: a word of the stack that is being unwound; false: it was not copied, and `cut` of the result says whether there
 * is more. */
bool unwind_read(struct unwinder *u, uint64_t address, uint64_t *ret);

/* unwind_rows.c: unwinds the stack that is `now`, into the result; false: libdw has to. */
bool rows_walk(struct unwinder *u);

/* unwind_rows.c: where the piece of code begins of which the same is known as of this address; itself where nothing is. */
uint64_t piece_begin(const struct unwinder *u, uint64_t pc);

/* Nothing is unwound any more: names are wanted, also from separate debugging information, of files that still are what they were.
 * What was kept of modules is no longer true. */
void unwinder_for_names(struct unwinder *u);

void unwinder_free(struct unwinder *u);		/* NULL is fine */

#endif

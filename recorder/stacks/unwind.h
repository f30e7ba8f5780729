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
	uint32_t cut;			/* if more than these bytes was not copied; 0: all of it was */
	bool traced;			/* all places of its return addresses are known */
	bool came_again;		/* a thread waited with it before, so it was not only seen at a preemption */
	bool ended;			/* unwound to its end */
	struct slot rbp;		/* the register; relative, or it does not matter */
	uint64_t *frames;		/* an address inside each function, innermost first */
	struct slot *slots;
};

enum row_kind { ROW_SIMPLE, ROW_LAST, ROW_OTHER };	/* LAST: there is no caller; OTHER: libdw knows */

struct row {				/* what is known of a frame by its place in the code; offsets are from the
					 * caller's RSP (CFA) */
	enum row_kind kind;
	bool from_rbp;			/* the CFA is relative to RBP, else to RSP: cfa bytes above it */
	bool saves_rbp;			/* RBP is saved at rbp; else it is unchanged */
	int64_t cfa, return_address, rbp;
};

struct row_range {			/* [from, until): the code for which a row holds */
	uint64_t from, until;
	uint32_t row;			/* index in rows */
};

struct unwinder {
	struct image *image;
	Dwfl *dwfl;
	VEC(struct row) rows;
	VEC(struct row_range) ranges;	/* in order, disjoint */
	struct map *row_of;		/* of calls: their return address, less one -> index in rows */
	struct jit_names *jit;		/* names of code that the process made; NULL: not read, or none */
	bool may_be_jit;		/* there are such names */
	uint64_t jit_asked_ns;		/* when that was found out; 0: never */
	bool libdw_alone;		/* for tests: do not use rows */
	uint64_t libdw_cnt;		/* number of stacks that libdw unwound */
	struct arena *arena;		/* of shapes and their parts */
	struct map *shapes;		/* RIP -> the first shape */
	struct map *inexact;		/* hash of frames -> the first shape */
	size_t reported;		/* mappings */
	bool attached;
	const struct record_stack *now;	/* the stack being unwound */
	struct shape result;		/* its result; frames and slots are the arrays below */
	uint64_t frames[FRAMES_MAX];
	struct slot slots[SLOTS_MAX];
	struct slot reads[FRAMES_MAX * 8];	/* all words read from the stack; those before read_at are older */
	size_t read_cnt, read_at;		/* than the frame before */
};

/* The shape of r's user stack, found or made; next_number counts up when it is new.  NULL: its code is in no
 * file that is known. */
struct shape *unwind(struct images *all, const struct record_stack *r, uint32_t *next_number);

/* The words by which the kernel recognises a stack of this shape, that of r; the caller sets the number.  False: they
 * would not be certain, or the shape came only once: most of those never come again, and the kernel's memory is
 * limited. */
bool shape_known(const struct shape *s, const struct record_stack *r, struct known_stack *ret);

/* unwind_stack.c: the copy ends early, at the end of a page: the next page was never touched (in a large array), or is not
 * in memory. */
bool stack_falls_short(const struct record_stack *r);

/* unwind_stack.c: a word of the stack that is being unwound; false: it was not copied, and `cut` of the result says whether there
 * is more. */
bool unwind_read(struct unwinder *u, uint64_t address, uint64_t *ret);

/* unwind_rows.c: unwinds the stack that is `now`, into the result; false: libdw has to. */
bool rows_walk(struct unwinder *u);

/* unwind_rows.c: start of the piece of code that has the same row as this address; the address itself if none is known. */
uint64_t piece_begin(const struct unwinder *u, uint64_t pc);

/* Switches from unwinding to names: separate debugging information is used for files that are unchanged.  Modules
 * kept before are invalid then. */
void unwinder_for_names(struct unwinder *u);

void unwinder_free(struct unwinder *u);		/* NULL is fine */

#endif

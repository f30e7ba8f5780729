/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - what a thread's probes write to: its shadow stack and its chunk of records.
 *
 * runtime/calls.c repeats the sizes and offsets for the assembler.
 */
#ifndef RUNTIME_SHARED_FRAME_H
#define RUNTIME_SHARED_FRAME_H

#include <stdint.h>

enum {
	VPROF_CHUNK_BYTES = 16384,	/* a chunk of records, aligned to its size */
	VPROF_CHUNK_LIMIT = 15360,	/* records begin below this offset; after it is room for a long one, and for
					 * signal handlers that overtake us */
	VPROF_CHUNK_REST = VPROF_CHUNK_BYTES - VPROF_CHUNK_LIMIT,
	VPROF_STACK_BYTES = 4096,	/* a shadow stack, aligned to its size */
	VPROF_STACK_FRAMES = VPROF_STACK_BYTES / 32
};

/* An open invocation, in the shadow stack of its thread.  The stacks are in memory that outlives
 * the process, so the frames that were open when it was killed are known. */
struct vprof_frame {
	unsigned long long start;	/* ticks; 0: not open or not fully open, and the other fields may be
					 * of another call */
	unsigned long address;		/* of the machine's frame: longjmp leaves ours behind ... */
	unsigned long caller;		/* ... and this tells a sibling of it from an inlined callee */
	unsigned long long function;	/* its site's word: gate | fid << 8 */
};

/*
 * The site's word is the low half of its record's second word.  The gate of a recorded function is not 0, so
 * in a chunk that byte distinguishes an invocation from an event (trace/format.h).
 */
static inline unsigned int frame_fid(const struct vprof_frame *frame)
{
	return (unsigned int)frame->function >> 8;
}

/* The data that a thread's probes read.  A thread that never logged has top NULL, which reads as full. */
struct vprof_self {
	struct vprof_frame *top;	/* next free frame; at a multiple of VPROF_STACK_BYTES: full */
	char *cursor;			/* VPROF_CHUNK_REST beyond the next record; an offset below that means
					 * full, so that testing a few bits is enough */
	unsigned int gate;		/* 0 off, 1 recording, 2 inside an interval */
	int tid;			/* runtime/wrappers/mutex.h; 0: not known */
	unsigned long low, high;	/* bounds of the thread's current stack: low <= address < high.  An
					 * address below may be on another stack (runtime/stacks.h) */
};

enum { GATE_INSIDE = 2 };

/* The least gate of a thread at which a function of this level is recorded.  level: 0 dormant, 1 inside
 * intervals, 2 always. */
static inline unsigned char gate_of_level(uint32_t level)
{
	return (unsigned char)(level ? GATE_INSIDE + 1 - level : 0);
}

/*
 * The invocation in the frame, as one word: a frame that is reused holds another one.  Not 0 for any time of
 * the clock.
 *
 * It is the start where no two calls of a thread begin at the same tick, as on a processor with a cycle
 * counter, which takes some cycles to read.  Other clocks may not advance between two calls; the last 12 bits
 * of the frame's address distinguish such calls:
 *
 *	start 0x0000123456789abc in the frame 0x7f0000002020:	0x1234567_89abc_000 ^ frame
 */
static inline unsigned long long frame_call(const struct vprof_frame *frame)
{
#ifdef __x86_64__
	return frame->start;
#else
	return (frame->start << 12 | frame->start >> 52) ^ (uintptr_t)frame;
#endif
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - what a thread's probes write to: its shadow stack and its chunk of records.
 *
 * runtime/calls.c has the sizes and offsets once more, for the assembler.
 */
#ifndef RUNTIME_SHARED_FRAME_H
#define RUNTIME_SHARED_FRAME_H

#include <stdint.h>

enum {
	VPROF_CHUNK_BYTES = 16384,	/* a chunk of records, aligned to its size */
	VPROF_CHUNK_LIMIT = 15360,	/* records begin below this offset; behind it is room for one
					 * that is long, and for signal handlers that overtake us */
	VPROF_CHUNK_REST = VPROF_CHUNK_BYTES - VPROF_CHUNK_LIMIT,
	VPROF_STACK_BYTES = 4096,	/* a shadow stack, aligned to its size */
	VPROF_STACK_FRAMES = VPROF_STACK_BYTES / 32
};

/* An open invocation, in the shadow stack of its thread.  The stacks are in memory that outlives
 * the process, so the frames that were open when it was killed are known. */
struct vprof_frame {
	unsigned long long start;	/* ticks; 0: not open, or not quite, and the rest may be of another call */
	unsigned long address;		/* of the machine's frame: longjmp leaves ours behind ... */
	unsigned long caller;		/* ... and this tells a sibling of it from an inlined callee */
	unsigned long long function;	/* its site's word: gate | fid << 8 */
};

/*
 * The site's word is the low half of its record's second word.  The gate of what is recorded is not 0, so in a chunk
 * that byte tells an invocation from an event (trace/format.h).
 */
static inline unsigned int frame_fid(const struct vprof_frame *frame)
{
	return (unsigned int)frame->function >> 8;
}

/* What a thread's probes look at.  A thread that was never seen has top NULL: full. */
struct vprof_self {
	struct vprof_frame *top;	/* next free frame; at a multiple of VPROF_STACK_BYTES: full */
	char *cursor;			/* VPROF_CHUNK_REST behind the next record: offset below that: full.  So
					 * one look at some bits of it tells */
	unsigned int gate;		/* 0 off, 1 recording, 2 inside an interval */
	int tid;			/* runtime/wrappers/mutex.h; 0: not known */
	unsigned long low, high;	/* the stack that the thread is on: low <= address < high.  What is below may be
					 * on another (runtime/stacks.h) */
};

enum { GATE_INSIDE = 2 };

/* The least gate of a thread at which a function is recorded there: level is 0 dormant, 1 inside intervals, 2 always. */
static inline unsigned char gate_of_level(uint32_t level)
{
	return (unsigned char)(level ? GATE_INSIDE + 1 - level : 0);
}

/*
 * The invocation that frame holds, in one word: a frame that was left behind and is used again holds another one.  Not 0,
 * as far as a clock goes.
 *
 * Its start, where no two of a thread begin at the same time: a processor that counts its cycles takes some to read
 * them.  Others' clocks may stand still meanwhile; the frame's address tells such calls apart, in the last 12 bits:
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.h - several machine stacks on one thread: fibers, coroutines with a stack, contexts of makecontext().
 *
 * Each stack has its own shadow stack, intervals and chunk, so in the trace it is a thread of its own, with the same
 * number in the kernel.  While its thread works on another stack it waits: class queue.
 *
 *	thread 7 is on its own stack 0..10, on a fiber's 10..30, on its own 30..40:
 *	7	0..10 running, 10..30 queue, 30..40 running
 *	7'	10..30 running
 *
 * A switch is seen where a probe, an event or a wait finds its address outside the stack that the thread was on.  The
 * thread's own stack, and those that swapcontext() is given, have known ends.  Of any other stack only addresses are
 * known that were seen: a call that is far from all of them is on a stack of its own (stacks.c).
 */
#ifndef RUNTIME_STACKS_H
#define RUNTIME_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The stack at this address becomes the thread's current one.  False: log nothing now. */
bool stacks_find(unsigned long address);
/* The same, for something that happened at these ticks. */
bool stacks_find_at(unsigned long address, uint64_t ticks);

/* This thread has been on several stacks. */
bool stacks_are_many(void);

/* Where the current stack begins; with many stacks vprof_self.low holds something else. */
unsigned long stacks_low(void);

/* The end of the current one, as the address of a frame that is never left behind. */
unsigned long stacks_high(void);

/* Whether the ends of the current one are known, not guessed. */
bool stacks_is_exact(void);

/* The gate of the current stack.  Where there are many, probes call the runtime to find out where they are, unless this
 * one is inside an interval: vprof_self.gate says less then. */
void stacks_set_gate(unsigned int gate);
unsigned int stacks_gate(void);

/* At the start of a thread: how large its stack is. */
void stacks_begin_thread(size_t bytes);

/* In the child of a fork: nothing of the parent's is ours. */
void stacks_forget(void);

#endif

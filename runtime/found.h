/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found.h - calls that were open when the recording began or resumed after a pause.
 *
 * Just before, `vprof record` reads the stacks of all threads (recorder/stacks/opened.h) and writes the functions that they
 * are in to the arena.  A thread that takes part for the first time adopts those calls that are still open: their return
 * address is unchanged on the stack.  No probe reports the end of such a call, because its begin was not
 * recorded.  So the runtime checks its return address on every call; if it has changed, the call is over.
 *
 * A thread that is in no probed function gets a frame that carries its name: address 0.  That frame is over
 * when the thread calls a probed function, or begins an interval.
 *
 * caller of such a frame is the return address with all bits inverted: not an address of the program, so
 * the probe's fast path never mistakes a sibling for an inlined callee.
 */
#ifndef RUNTIME_FOUND_H
#define RUNTIME_FOUND_H

#include <stdbool.h>
#include "runtime/shared/frame.h"

static inline bool is_found(const struct vprof_frame *frame)
{
#if defined(__x86_64__)
	return frame->function && frame->caller >> 63;
#else
	(void)frame;
	return false;
#endif
}

/* Whether this call is over when a call of that function begins at the same place or above it. */
static inline bool found_is_over(const struct vprof_frame *frame, unsigned int fid, unsigned long address,
				 unsigned long caller)
{
	return frame->address < address ||
	       (frame->address == address && (frame_fid(frame) == fid || ~frame->caller != caller));
}

/* Called when a thread attaches, or resumes after a pause. */
void found_take(void);

/* Called when an interval begins: the frame with the thread's name is no function of it. */
void found_forget_name(void);

/* Closes calls that are over. */
void found_check(void);

#endif

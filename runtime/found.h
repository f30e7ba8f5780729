/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found.h - calls that were open already when the recording began, or went on after a pause.
 *
 * `vprof record` looks at the stacks of all threads just before (recorder/stacks/opened.h), and leaves in the arena which
 * functions they are in.  A thread that takes part for the first time takes over those that are still there: their return
 * address stands where it stood.  Nobody tells when such a call ends, for its probe was not recorded when it
 * began.  So its return address is looked at whenever the runtime is called; where it has changed the call is over.
 *
 * A thread that is in no probed function has a frame all the same, with the name that it goes by: address 0.  It is over
 * when the thread calls a probed function, or begins an interval.
 *
 * caller of such a frame is the return address with all its bits the other way round: no address of a program, so
 * the probe's fast path never takes a sibling for an inlined callee.
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

/* A call of that function begins at the same place, or above it: is this one over? */
static inline bool found_is_over(const struct vprof_frame *frame, unsigned int fid, unsigned long address,
				 unsigned long caller)
{
	return frame->address < address ||
	       (frame->address == address && (frame_fid(frame) == fid || ~frame->caller != caller));
}

/* The calling thread attached, or goes on after a pause. */
void found_take(void);

/* An interval begins: a name for the thread is none of its functions. */
void found_forget_name(void);

/* Closes those that are over. */
void found_check(void);

#endif

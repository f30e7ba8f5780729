/* SPDX-License-Identifier: Apache-2.0 */
/* found.c - frames that the recorder found on this thread's stack. */
#include <errno.h>
#include "runtime/found.h"
#include "runtime/rules/readable.h"
#include "runtime/thread.h"

static bool is_there(const struct arena_opened *o, unsigned long here)
{
	unsigned long place = o->address + sizeof(long);

	return o->address > here && place < vprof_self.high && !(place % sizeof(long)) &&
	       readable((void *)place, sizeof(long)) && *(unsigned long *)place == o->caller;
}

static void take(const struct arena_opened *o, unsigned long here)
{
	struct vprof_frame *frame = vprof_self.top;
	bool has_name_only = !o->address;

	if (!((uintptr_t)frame & (VPROF_STACK_BYTES - 1)) || !o->fid || o->fid >= ARENA_FUNCTIONS ||
	    (!has_name_only && !is_there(o, here)))
		return;
	vprof_self.top = frame + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	frame->address = o->address;
	frame->caller = ~(has_name_only ? 0UL : o->caller);
	frame->function = o->fid << 8 | 1;
	/* The outer ones begin first. */
	__atomic_store_n(&frame->start, thread_self.since + (uintptr_t)frame % VPROF_STACK_BYTES / sizeof(*frame),
			 __ATOMIC_RELEASE);
	thread_self.found = frame;
}

void found_take(void)
{
#if defined(__x86_64__)
	const struct arena_map *a = thread_self.arena;
	unsigned long here = (unsigned long)__builtin_frame_address(0);
	uint32_t cnt = __atomic_load_n(&a->control->opened_cnt, __ATOMIC_ACQUIRE);
	int saved_errno = errno;

	for (uint32_t i = 0; i < cnt && i < ARENA_OPENED; i++) {
		const struct arena_opened o = a->opened[i];

		if (o.tid == thread_self.slot->tid && o.pid == thread_self.slot->pid)
			take(&o, here);
	}
	errno = saved_errno;
#endif
}

void found_forget_name(void)
{
	const struct vprof_frame *frame = vprof_self.top - 1;

	if (is_found(frame) && !frame->address)
		thread_close_frame();
}

/* Closes a found frame that is not the innermost: calls after it are not its callees.  Its place remains, empty. */
static void close_below(struct vprof_frame *frame)
{
	if (frame[1].start)
		THREAD_LOG(EVENT_FRAME, frame->start, frame[1].start, frame_fid(frame));
	frame->start = 0;
}

static bool is_open(const struct vprof_frame *frame)
{
	return frame < vprof_self.top && is_found(frame) && frame->start;
}

static bool is_over(const struct vprof_frame *frame)
{
	return frame->address && *(unsigned long *)(frame->address + sizeof(long)) != ~frame->caller;
}

void found_check(void)
{
	struct vprof_frame *frame = thread_self.found, *top = vprof_self.top;
	struct vprof_frame *bottom = arena_stack(thread_self.arena, thread_self.slot_number);

	if (is_open(frame) && !is_over(frame))
		return;
	for (frame = frame < top ? frame : top - 1; frame > bottom; frame--) {
		if (!is_open(frame))
			continue;
		if (!is_over(frame))
			break;
		if (frame == vprof_self.top - 1)
			thread_close_frame();
		else
			close_below(frame);
	}
	thread_self.found = frame > bottom ? frame : NULL;
	while (vprof_self.top - 1 > bottom && !vprof_self.top[-1].start && is_found(vprof_self.top - 1))
		vprof_self.top--;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jump.c - wrappers of longjmp(), which ends calls without a return: they end now.
 *
 *	main 0xf00 > handle 0xe00 > fail 0xd00, longjmp to where the stack pointer is 0xe80:
 *	handle and fail are below it, and are closed
 *
 * Without it such a call is noticed when the next one begins above it on the stack (thread.c), and not if that begins in the
 * same place: main's next handle at 0xe00 would seem to be an inlined callee of the one that failed.
 *
 * The stack pointer is in the buffer, on glibc after an exchange with the thread's guard.  What our own setjmp() leaves shows
 * whether this C library does so.  If it is unknown, nothing is closed; nor is it for a jump to another stack, or on one whose ends
 * are guessed.
 */
#include <errno.h>
#include <setjmp.h>
#include <string.h>
#include "runtime/thread.h"
#include "runtime/jump.h"
#include "runtime/wrappers/real.h"

#if defined(__x86_64__)
enum { POINTER_WORD = 6, OWN_FRAME_BYTES = 1024 };

static enum { UNKNOWN, PLAIN, GUARDED } how;

static unsigned long pointer_as(const void *buffer, bool guarded)
{
	unsigned long word, guard;

	memcpy(&word, (const unsigned long *)buffer + POINTER_WORD, sizeof(word));
	if (!guarded)
		return word;
	__asm__("mov %%fs:0x30, %0" : "=r"(guard));
	return (word >> 17 | word << 47) ^ guard;
}

void jump_prepare(void)
{
	unsigned long here = (unsigned long)__builtin_frame_address(0);
	jmp_buf own;

	if (_setjmp(own))
		return;
	if (here - pointer_as(own, false) < OWN_FRAME_BYTES)
		how = PLAIN;
	else if (here - pointer_as(own, true) < OWN_FRAME_BYTES)
		how = GUARDED;
}

/* Frames outside the stack are of a handler on the signals' own stack, which is left as well. */
static bool is_skipped(const struct vprof_frame *frame, unsigned long pointer)
{
	return frame->address && (frame->address < pointer || frame->address < stacks_low() || frame->address >= stacks_high());
}

/*
 * A frame that is not open is one that a signal handler interrupted as it was entered.  With the handler's own call it goes as
 * well; alone it stays, because the handler may jump inside itself and return.
 */
static void close_skipped(unsigned long pointer)
{
	struct vprof_frame *bottom = arena_stack(thread_self.arena, thread_self.slot_number), *last = vprof_self.top - 1;
	bool skips = false;

	if (!stacks_is_exact() || pointer < stacks_low() || pointer >= stacks_high())
		return;
	for (; last > bottom && (!last->start || is_skipped(last, pointer)); last--)
		skips |= last->start != 0;
	while (skips && vprof_self.top > last + 1)
		thread_close_frame();
}

static void leave_for(const void *buffer)
{
	int saved_errno = errno;

	if (how != UNKNOWN && vprof_self.top && !thread_self.busy && thread_is_here() && thread_self.slot)
		close_skipped(pointer_as(buffer, how == GUARDED));
	errno = saved_errno;
}
#else
void jump_prepare(void)
{
}

static void leave_for(const void *buffer)
{
	(void)buffer;
}
#endif

#define X(type, name, params, args)								\
	type vprof_w_##name params								\
	{											\
		leave_for(buffer);								\
		real.name args;									\
	}
JUMP_ALIASES(X)

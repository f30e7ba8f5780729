/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - one blocked stretch of the calling thread, from before the blocking call to after it.
 *
 *	WAITING wait = wait_begin(WAIT_LOCK, object);
 *	return wait.result = real.pthread_mutex_lock(m);
 *
 * wait_end() runs as the scope is left, also when the thread is cancelled inside the call.  It
 * keeps errno.
 *
 * A call that timed out reports that (wait_error(), wait_failed()): its wait has no waker, and needs
 * none.
 *
 * wait_begin() and its variants are macros: they take the return address of the function around them, which is
 * a wrapper.  So the caller of the primitive is known, whether it has a probe or not (code.h).  A function between the wrapper
 * and the macro is IN_WRAPPER, or gets the caller as an argument.
 */
#ifndef RUNTIME_WAITS_WAIT_H
#define RUNTIME_WAITS_WAIT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include "runtime/causal/causal.h"
#include "runtime/thread.h"
#include "runtime/waits/order.h"
#include "runtime/waits/releasers.h"

struct wait {
	bool on;			/* false: nothing is logged */
	enum wait_class class;
	uint64_t object;		/* its name; 0: none */
	struct awaited expected;
	struct awaited also;		/* a second object: the mutex that a condition variable takes
					 * again before the wait ends */
	uint64_t start;			/* ticks */
	uint64_t ended;			/* the call did, before the thread paid what it owes; only where clocks are virtual */
	uint64_t at_least;		/* ticks; a call that took less did not block */
	bool marked;			/* switched.h knows whether it did */
	uint64_t slept_before;		/* slept.h; 0: unknown */
	bool polls;			/* it waits for any of several files */
	bool is_lock;			/* whoever has the object holds it until the same thread lets it go: no semaphore */
	enum order_what order;		/* what to note where all is noted (order.h) if it succeeds; 0: nothing */
	bool stayed;			/* it did not: the thread never left the CPU, or was preempted */
	uint64_t holder_tid;		/* holder at start, or 0: unknown */
	int result;			/* of the call; not 0: it timed out or failed, and has no waker */
	struct causal_wait causal;
	const int *files;		/* descriptors that ended it, where they may lead outside the run (outside.h); NULL: none */
	unsigned int file_cnt;
	bool timed_out;			/* ... and it timed out: the wait's own time-out ended it */
	uint64_t not_caller;		/* return address of the primitive's call, with all bits inverted, so
					 * that the stack contains the address only once (code.c) */
};

#define WAITING struct wait __attribute__((cleanup(wait_end), unused))

/*
 * The longest duration of a call that does not block, for calls that cannot be tried first, such as a read
 * from the page cache.  Being switched off and on again takes longer: about 4 us where ticks are CPU cycles.
 * A longer call that does not block (a large copy) is recognised by switched.h only.
 */
enum { CALL_TICKS_MIN = 10000 };

#define IN_WRAPPER static inline __attribute__((always_inline))
#define CALLER ((uint64_t)__builtin_extract_return_addr(__builtin_return_address(0)))

struct wait wait_begin_from(uint64_t caller, enum wait_class class, uint64_t object);
#define wait_begin(class, object) wait_begin_from(CALLER, class, object)

/* A call that may block or not: it is a wait only if the thread gave up the CPU.  object may be 0. */
struct wait wait_begin_call_from(uint64_t caller, enum wait_class class, uint64_t object);
#define wait_begin_call(class, object) wait_begin_call_from(CALLER, class, object)

/* After the call: did it block?  wait_end() uses the answer; ask before the next call begins. */
bool wait_blocked(struct wait *w);

/* After the call: it returns at once whatever the file or process does, by its arguments, so if it was long the thread was preempted.
 * What it did, and the time without a CPU, belong to the function that called it. */
static inline void wait_could_not(struct wait *w)
{
	w->stayed = true;
}

struct wait wait_begin_cond_from(uint64_t caller, uint64_t object, uint64_t mutex);
#define wait_begin_cond(object, mutex) wait_begin_cond_from(CALLER, object, mutex)
void wait_end(struct wait *w);

/* The result of a call that returns an error number, as pthread_cond_timedwait() does.  Returns it. */
static inline int wait_error(struct wait *w, int error)
{
	w->timed_out = error == ETIMEDOUT;
	return w->result = error;
}

/* The result of a call that leaves the error in errno.  EAGAIN after blocking also means a time-out:
 * SO_RCVTIMEO, semtimedop(). */
static inline void wait_failed(struct wait *w, bool failed)
{
	w->timed_out = failed && (errno == ETIMEDOUT || errno == EAGAIN);
	w->result = failed;
}

static inline int wait_errno(struct wait *w, int r)
{
	wait_failed(w, r < 0);
	return r;
}

#endif

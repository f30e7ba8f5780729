/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - one blocked stretch of the calling thread, from before the blocking call to after it.
 *
 *	struct wait wait __attribute__((cleanup(wait_end))) = wait_begin(WAIT_LOCK, object);
 *	return wait.result = pthread_mutex_lock(m);
 *
 * wait_end() runs as the scope is left, also when the thread is cancelled inside the call.  It
 * keeps errno.
 */
#ifndef RUNTIME_WAIT_H
#define RUNTIME_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/releasers.h"
#include "runtime/thread.h"

struct wait {
	bool on;			/* false: nothing is logged */
	enum wait_class class;
	uint64_t object;
	uint64_t mutex;			/* condition variables: taken again before the wait ends; or 0 */
	uint64_t start;			/* ticks */
	uint64_t holder_tid;		/* who had it at start, if that is known; else 0 */
	int result;			/* of the call; not 0: timed out or failed, nobody woke us */
};

struct wait wait_begin(enum wait_class class, uint64_t object);
struct wait wait_begin_cond(uint64_t object, uint64_t mutex);
void wait_end(struct wait *w);

/* Logs [start, end] with the latest stamp in it; false if there is none and require_waker. */
bool wait_log(enum wait_class class, uint64_t object, uint64_t start, uint64_t end,
	      bool require_waker);

#endif

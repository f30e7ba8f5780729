/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uncancelled.h - system calls of our own at which the C library would end a thread that was cancelled: open, read, close.
 *
 *	UNCANCELLED;			until the end of the block
 *
 * The program is to be cancelled in its own calls, where it expects it, and not while the process attaches.
 */
#ifndef RUNTIME_RULES_UNCANCELLED_H
#define RUNTIME_RULES_UNCANCELLED_H

#include <pthread.h>

static inline int uncancelled_begin(void)
{
	int before = PTHREAD_CANCEL_DISABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void uncancelled_end(const int *before)
{
	pthread_setcancelstate(*before, NULL);
}

#define UNCANCELLED int uncancelled_ __attribute__((cleanup(uncancelled_end), unused)) = uncancelled_begin()

#endif

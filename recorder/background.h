/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * background.h - threads for the recorder's own work, beside the program that is measured.
 *
 * They get no signals, which are for the main thread.  The scheduler treats them as batch jobs: when one wakes up, it
 * does not preempt the running thread.  Their time slices are short: a thread of the program that becomes ready on their CPU
 * has it after 0.1 ms, not after the usual 3 or 4.
 */
#ifndef RECORDER_BACKGROUND_H
#define RECORDER_BACKGROUND_H

#include <pthread.h>

/* 0 or a negative errno.  If batch scheduling is not permitted, the thread is an ordinary one. */
int background_start(pthread_t *ret, void *(*run)(void *context), void *context);

/* The same for the calling thread and those that it makes, which stay ordinary ones. */
void background_short_slices(void);

#endif

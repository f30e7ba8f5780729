/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * background.h - threads for the recorder's own work, beside the program that is measured.
 *
 * They get no signals, which are for the main thread.  The scheduler treats them as batch jobs: when one wakes up, it
 * does not preempt the running thread.
 */
#ifndef RECORDER_BACKGROUND_H
#define RECORDER_BACKGROUND_H

#include <pthread.h>

/* 0 or a negative errno.  If batch scheduling is not permitted, the thread is an ordinary one. */
int background_start(pthread_t *ret, void *(*run)(void *context), void *context);

#endif

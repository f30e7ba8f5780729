/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * background.h - threads for the recorder's own work, beside the program that is measured.
 *
 * They get no signals, which are for the main thread; and they are batch jobs to the scheduler: whoever runs when one of them
 * wakes up goes on.
 */
#ifndef RECORDER_BACKGROUND_H
#define RECORDER_BACKGROUND_H

#include <pthread.h>

/* 0 or a negative errno.  Where it may not be a batch job it is as others are. */
int background_start(pthread_t *ret, void *(*run)(void *context), void *context);

#endif

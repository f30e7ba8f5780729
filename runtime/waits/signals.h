/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - whose a signal is: what a process', or a thread's, are called in the table of releasers, and what the signal
 * itself tells.
 */
#ifndef RUNTIME_WAITS_SIGNALS_H
#define RUNTIME_WAITS_SIGNALS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "runtime/waits/wait.h"

uint64_t signals_of_process(pid_t pid);
uint64_t signals_of_thread(pthread_t thread);	/* not the thread's end, which has the thread's own name */

/* Before a signal is sent: whoever waits for one, or reads from a signalfd, is told. */
void signals_stamp(uint64_t object);

/* Notes in w what the signal says of its sender: a process, an ended child, a timer. */
void signals_note_sender(struct wait *w, int number, int code, pid_t pid);

/* Is this what a signalfd gives?  The first signal of these is noted in w. */
bool signals_are_in(const void *data, ssize_t bytes);
void signals_note(struct wait *w, const void *data);

#endif

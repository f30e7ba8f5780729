/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - the names of a process's and a thread's signals in the table of releasers, and the sender that a signal
 * names.
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

/* Before a signal is sent: leaves stamps for threads that wait for one, or read from a signalfd. */
void signals_stamp(uint64_t object);

/* Notes in w the sender that the signal names: a process, an ended child, a timer. */
void signals_note_sender(struct wait *w, int number, int code, pid_t pid);

/* Whether data comes from a signalfd.  signals_note() notes its first signal in w. */
bool signals_are_in(const void *data, ssize_t bytes);
void signals_note(struct wait *w, const void *data);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * special.h - files that no write() feeds: a signalfd, a timerfd, an inotify queue.
 *
 *	inotify_add_watch(5, "log")	watches: { 5, (device, inode) of log }
 *	write(8)			fd 8 is log: a stamp for (device, inode)
 *	read(5), which waited		the latest stamp of those that 5 watches
 *
 * The kind of a descriptor is read from /proc, with a system call, once a thread has waited for it.  If
 * poll() waits for many, only those are looked up that were timers at some time.
 */
#ifndef RUNTIME_WAITS_SPECIAL_H
#define RUNTIME_WAITS_SPECIAL_H

#include <stdbool.h>
#include <stdint.h>

enum special { SPECIAL_NONE, SPECIAL_SIGNALS, SPECIAL_TIMER, SPECIAL_WATCHES };

/* Keeps errno. */
enum special special_of(int fd);

/* Called after timerfd_create() and inotify_add_watch().  name: of the watched file. */
void special_note_timer(int fd);
void special_note_watch(int fd, uint64_t name);
bool special_was_timer(int fd);
bool special_was_any_timer(void);

/* The names that a special file is awaited by, the next from *at on (0 at first); 0: no more. */
uint64_t special_awaited(int fd, enum special kind, unsigned int *at);

#endif

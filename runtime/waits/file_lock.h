/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_lock.h - locks of files (flock, lockf, fcntl): what they are called, and that they go with the file.
 *
 *	process 1 flock(5, LOCK_EX) at 10	[5: locked]
 *	process 2 flock(7, LOCK_EX) waits from 12
 *	process 1 close(5) at 50		a stamp: process 2 was woken by process 1 at 50
 *
 * Which descriptors have been locked is remembered in each process, so that closing any other costs a test of a bit.  A child
 * of fork() has the same open files, and closing its own lets nothing go: it begins with none.  If another descriptor of the
 * same open file stays, the lock stays as well, and the stamp is early.
 */
#ifndef RUNTIME_WAITS_FILE_LOCK_H
#define RUNTIME_WAITS_FILE_LOCK_H

#include <stdint.h>

/* The object of all locks of this file, in all processes.  0: no such file. */
uint64_t file_lock_object(int fd);

/* After a call that may have locked it. */
void file_lock_note(int fd);

/* Before it is closed, and before all of this process' are. */
void file_lock_closed(int fd);
void file_lock_all_closed(void);

#endif

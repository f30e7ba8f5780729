/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h - which thread fed the pipe, socket, eventfd or message queue that another one waits for.
 *
 *	pipe [3, 4]; T1 read(3) waits from 10, T2 write(4) at 30: both files are one inode, so the data
 *	that T1 waited for is T2's
 *
 * A flow has a name that both ends can compute: the inode of a pipe or a message
 * queue, the addresses of both ends of an internet connection, the inodes of both ends of a unix one
 * (unix_peer.h), a number that an eventfd got when it was created, by this process or before its fork.  A
 * listening socket has its port or path.
 *
 * Closing the writing end also wakes the readers of the other, without data: that flow has another
 * name, because one of several owners of an end may close it long before the last one does.
 *
 * Computing the name takes one to three system calls, so a writer does it only while a thread waits for some file, and
 * for a socket only if the run has made a connection or a pair itself.
 */
#ifndef RUNTIME_WAITS_FLOW_H
#define RUNTIME_WAITS_FLOW_H

#include <stdbool.h>
#include <stdint.h>

enum flow_kind {
	FLOW_DATA,			/* a thread waits to read */
	FLOW_ROOM,			/* a thread waits to write */
	FLOW_END			/* a thread waits to read, and no more data will come */
};

enum flow_file {
	FLOW_FILE,			/* of any sort */
	FLOW_SOCKET,
	FLOW_QUEUE			/* POSIX message queue */
};

/* An object for releasers_expect(): a thread that waits for some file. */
uint64_t flow_waiters(enum flow_kind kind);

/*
 * Number of stamps so far for waits on any file.  If it did not change during a wait, no thread of the run fed the file, and
 * naming the file, which takes one to three system calls, can be skipped.  It never changes if all clients are outside the run.
 */
uint64_t flow_fed_cnt(void);

/* The object that a reader (DATA, END) or writer (ROOM) of fd waits for; 0: unknown.  If several objects feed the file, the
 * one with the latest stamp since then (ticks). */
uint64_t flow_awaited(int fd, enum flow_kind kind, enum flow_file file, uint64_t since);

/* Before a write (DATA) or a read (ROOM). */
void flow_stamp(int fd, enum flow_kind kind, enum flow_file file);

/* Before something else that may feed a file, by its name (signals.h). */
void flow_stamp_object(uint64_t object);

/* Before a file on a disk is changed: another thread may watch it. */
void flow_stamp_change(int fd);

bool flow_is_for_reading(int fd);

/* A file, or a disk: no thread can make another wait for it. */
bool flow_is_on_disk(int fd);

/* Before fd is closed or shut down, and before all of this process' are. */
void flow_stamp_end(int fd);
void flow_stamp_all_ends(void);

/* After eventfd(), before its close(). */
void flow_note_event(int fd);
void flow_forget_event(int fd);

/* After inotify_add_watch(). */
struct stat;
void flow_note_watch(int fd, const struct stat *watched);

/* After socketpair(), before connect(): connections of this run. */
void flow_note_pair(const int ends[2]);
void flow_note_connect(const void *to, unsigned int to_len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h - who fed the pipe, socket, eventfd or message queue that somebody waits for.
 *
 *	pipe [3, 4]; T1 read(3) waits from 10, T2 write(4) at 30: both files are one inode, so the data
 *	that T1 waited for is T2's
 *
 * What flows has a name that both ends can work out by themselves: the inode of a pipe or a message
 * queue, the addresses of both ends of an internet connection, the inodes of both ends of a unix one
 * (unix_peer.h), a number that an eventfd got when it was made, by this process or before its fork.  A
 * listening socket is its port or path.
 *
 * Who closes the writing end lets the readers of the other go on, too, with nothing: that flows under another
 * name, for one of several who have an end may close it long before the last does.
 *
 * Looking costs a system call or three, so a writer looks only while somebody waits for some file, and
 * at a socket only if the run has made a connection or a pair itself.
 */
#ifndef RUNTIME_WAITS_FLOW_H
#define RUNTIME_WAITS_FLOW_H

#include <stdbool.h>
#include <stdint.h>

enum flow_kind {
	FLOW_DATA,			/* somebody waits to read */
	FLOW_ROOM,			/* somebody waits to write */
	FLOW_END			/* somebody waits to read, and nothing comes any more */
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

/* What a reader (DATA, END) or writer (ROOM) of fd waits for; 0: cannot be told.  Of a file that several things feed it is
 * the one with the latest stamp since then (ticks). */
uint64_t flow_awaited(int fd, enum flow_kind kind, enum flow_file file, uint64_t since);

/* Before a write (DATA) or a read (ROOM). */
void flow_stamp(int fd, enum flow_kind kind, enum flow_file file);

/* Before something else that may feed a file, by its name (signals.h). */
void flow_stamp_object(uint64_t object);

/* Before a file on a disk is changed: somebody may watch it. */
void flow_stamp_change(int fd);

bool flow_is_for_reading(int fd);

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

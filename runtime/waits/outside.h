/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside.h - the peer that a thread waited for, if no thread of the run ended its wait: the other end of the connection.
 *
 *	read(7) waits from 10 to 90, connection from 127.0.0.1:41000 to 127.0.0.1:5400	-> the label "peer:127.0.0.1:5400"
 *	epoll_wait() returns a connection that was accepted at port 80			-> the label "peer:clients of port 80"
 *
 * It is asked after a call that blocked, when its descriptors are what they were while it waited: one or two system calls,
 * getsockname() and getpeername(), for up to OUTSIDE_FILES descriptors.  What is logged is a number, of a label in the arena that
 * holds the address as text; a new address takes one, some 40 bytes, and no lock.
 *
 * Accepted connections are one peer for all of their clients, whose ports differ each time.  A connection is accepted if listen() was
 * called for its port in this process or those that it came from, and is not if connect() was; where neither is known (before the
 * recording), it is if its own port is below those that connect() takes and the other one is not.
 *
 * A datagram socket that is not connected has no other end.  If it was first sent from, it is for answers of who that was sent to; if it was
 * first received from, for clients.  That is noted by descriptor until it is closed; one that sends to several is for nobody known.
 */
#ifndef RUNTIME_WAITS_OUTSIDE_H
#define RUNTIME_WAITS_OUTSIDE_H

#include <stdint.h>

enum { OUTSIDE_FILES = 8 };

/*
 * The waker for a wait's record: where these descriptors, which ended it, lead to.  0: not known.  Of several peers it is the one
 * that this program has connected to: a thread that puts a request aside mostly waits for that.  Two of these cannot be distinguished, nor can what
 * has no name, so it is 0 then, and where there are more than OUTSIDE_FILES.
 */
uint64_t outside_waker(const int *files, unsigned int cnt);

/* After listen(), after connect(). */
void outside_note_listen(int fd);
void outside_note_connect(int fd);

/* After a datagram went to that address, or came from one; NULL: the call named none. */
struct sockaddr;
void outside_note_sent(int fd, const struct sockaddr *to, unsigned int len);
void outside_note_received(int fd, const struct sockaddr *from);

/* Before fd is closed. */
void outside_forget(int fd);

#endif

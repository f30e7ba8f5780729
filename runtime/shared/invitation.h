/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invitation.h - how a recorder invites a running process to a recording.
 *
 * A program built with vprof that was started without it has no arena, and polls nothing.  A recorder
 * writes the path of an arena into its memory, and then `invited`; the next interval event, or
 * wait for a lock, of any of its threads finds that and attaches.  Writing needs the permissions of a debugger
 * (ptrace); the program is not stopped, and gets no signal, thread, file or socket.
 *
 * The door is found by its two magic words, in the initialised data of the program or of libvprof.so.
 */
#ifndef RUNTIME_SHARED_INVITATION_H
#define RUNTIME_SHARED_INVITATION_H

#include <stdint.h>

/* exported, but found by its words: stripped programs have no names */
struct door;
extern struct door vprof_door;

#define DOOR_MAGIC 0x5f726f6f44707056ULL
#define DOOR_MAGIC_2 0x31a7c05e6b92d490ULL

enum { DOOR_PATH_BYTES = 4096 };

struct door {
	uint64_t magic, magic_2;
	const void *self;		/* its own address, which a copy of this structure does not have */
	uint32_t invited;		/* 1: to the arena of that path; the process resets it */
	uint32_t attached;		/* the process has an arena, of that path */
	uint32_t filter_cnt;		/* system call filters that it knows: those at its start, and those it
					 * saw being installed */
	uint32_t may_attach;		/* these filters permit the calls that attaching needs */
	char path[DOOR_PATH_BYTES];
};

#endif

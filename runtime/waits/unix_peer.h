/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unix_peer.h - which unix socket is at the other end.
 *
 *	client connect("/run/db.sock"): inode 1063; server accept(): inode 1064; the peer of 1063 is 1064
 *
 * A file descriptor says nothing of its other end except who created it, so this uses the kernel's socket
 * diagnosis, as ss(8) does.  That takes a socket of its own for some 10 us: ask once a connection.
 */
#ifndef RUNTIME_WAITS_UNIX_PEER_H
#define RUNTIME_WAITS_UNIX_PEER_H

#include <stdint.h>

/* The inode of the other end; 0: it has none yet (not accepted), or it is unknown.  Changes errno. */
uint64_t unix_peer(uint64_t inode);

#endif

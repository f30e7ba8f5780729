/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * peers.h - what threads wait for outside the run: the other end of a connection, a file.
 *
 * A peer stands among the threads under a TID of its own (KIND_PEER) and never has a segment.  Its name is whatever the trace says:
 * "127.0.0.1:5400", the path of a socket or file.  As doers are distinguished by function, each has one, which is its name in
 * parentheses, as devices have theirs:
 *
 *	thread 281474976710657 peer 127.0.0.1:5400	-> the function "(127.0.0.1:5400)"
 */
#ifndef TRACE_PEERS_H
#define TRACE_PEERS_H

#include "trace/model.h"

/* Sets function of each thread of that kind, and adds those that are missing.  Returns t. */
struct trace *trace_name_peers(struct trace *t);

#endif

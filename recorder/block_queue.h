/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_queue.h - blocks on their way to a trace file: a thread of its own compresses and writes them.
 *
 * A write may block for seconds: other programs flush their data, a volume's quota of requests is used up, a file
 * server does not answer.  The thread that empties the kernel's buffer must not wait for it: the buffer has room for
 * about a second.
 *
 *	100,000 records a second are 1 MB, four blocks; the disk answers after 5 s: 20 blocks wait, nothing is lost
 *	after half a minute all 128 wait: from then on their producer waits, too
 */
#ifndef RECORDER_BLOCK_QUEUE_H
#define RECORDER_BLOCK_QUEUE_H

#include <stdint.h>
#include "trace/encode.h"
#include "trace/file.h"

enum { BLOCK_QUEUE_MAX = 128 };

struct block_queue;

/* The caller keeps the file, but must not use it until the queue is closed.  0 or a negative errno. */
int block_queue_open(struct trace_file *file, struct block_queue **ret);

/* Takes the contents of the block, of cap bytes, and leaves an empty one of the same size.  Both are from malloc(). */
void block_queue_put(struct block_queue *q, uint32_t kind, struct encoder *block);

/* Returns when everything is in the file, or did not fit on the disk (trace_file.full).  NULL is fine. */
void block_queue_close(struct block_queue *q);

#endif

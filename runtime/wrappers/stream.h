/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - a call that may wait for a file: class io, woken by whoever wrote or made room (flow.h).
 *
 *	struct stream_wait w __attribute__((cleanup(stream_end))) = stream_begin(fd, FLOW_DATA, FLOW_FILE);
 *	return stream_got(&w, real.read(fd, data, len), data);
 */
#ifndef RUNTIME_WRAPPERS_STREAM_H
#define RUNTIME_WRAPPERS_STREAM_H

#include <sys/types.h>
#include "runtime/waits/flow.h"
#include "runtime/waits/wait.h"

struct stream_wait {
	struct wait wait;
	int fd;
	int to;				/* for copies: the call may also wait for room there; else -1 */
	enum flow_kind kind;
	enum flow_file file;
	uint64_t fed_cnt;		/* before it began */
	bool at_once;			/* the call's own flags say that it does not wait */
	bool copies;			/* it may wait for another file, too */
	ssize_t got;
	const void *data;		/* what was read; NULL: elsewhere */
};

struct stream_wait stream_begin_from(uint64_t caller, int fd, enum flow_kind kind, enum flow_file file);
#define stream_begin(fd, kind, file) stream_begin_from(CALLER, fd, kind, file)

/* The call is over; a failed one has left its reason in errno. */
static inline ssize_t stream_got(struct stream_wait *w, ssize_t r, const void *data)
{
	wait_failed(&w->wait, r < 0);
	w->got = r;
	w->data = data;
	return r;
}

void stream_end(struct stream_wait *w);

#endif

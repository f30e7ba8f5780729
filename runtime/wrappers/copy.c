/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.c - wrappers of what moves data from one file to another without the program seeing them.
 *
 *	T1 recv(socket) waits 10..33, T2 sendfile(socket's other end, file) stamps at 30: woken by T2 at 30
 *
 * A copy from a pipe waits for its writers and for room at the other end, and makes room in the pipe.
 */
#include <errno.h>
#include "runtime/wrappers/real.h"
#include "runtime/wrappers/stream.h"

#define COPYING struct stream_wait w __attribute__((cleanup(stream_end)))

IN_WRAPPER struct stream_wait begin(int from, int to)
{
	struct stream_wait w;

	if (vprof_self.gate)
		flow_stamp(to, FLOW_DATA, FLOW_FILE);
	w = stream_begin(from, FLOW_DATA, FLOW_FILE);
	w.to = to;
	w.copies = true;
	return w;
}

/* The data is read from a disk; only the other end may be full. */
IN_WRAPPER struct stream_wait begin_from_disk(int to)
{
	struct stream_wait w = stream_begin(to, FLOW_ROOM, FLOW_FILE);

	w.copies = true;
	return w;
}

ssize_t vprof_w_sendfile(int to, int from, off_t *at, size_t len)
{
	COPYING = begin_from_disk(to);
	return stream_got(&w, real.sendfile(to, from, at, len), NULL);
}

ssize_t vprof_w_sendfile64(int to, int from, off_t *at, size_t len)
{
	COPYING = begin_from_disk(to);
	return stream_got(&w, real.sendfile64(to, from, at, len), NULL);
}

ssize_t vprof_w_copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t len, unsigned int flags)
{
	COPYING = begin_from_disk(to);
	return stream_got(&w, real.copy_file_range(from, from_at, to, to_at, len, flags), NULL);
}

ssize_t vprof_w_splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t len, unsigned int flags)
{
	COPYING = begin(from, to);
	return stream_got(&w, real.splice(from, from_at, to, to_at, len, flags), NULL);
}

ssize_t vprof_w_tee(int from, int to, size_t len, unsigned int flags)
{
	COPYING = begin(from, to);
	return stream_got(&w, real.tee(from, to, len, flags), NULL);
}

/* Copies into a pipe or out of it, depending on which end the file is. */
ssize_t vprof_w_vmsplice(int fd, const struct iovec *parts, size_t cnt, unsigned int flags)
{
	COPYING = stream_begin(fd, flow_is_for_reading(fd) ? FLOW_DATA : FLOW_ROOM, FLOW_FILE);
	return stream_got(&w, real.vmsplice(fd, parts, cnt, flags), NULL);
}

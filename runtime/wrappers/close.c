/* SPDX-License-Identifier: Apache-2.0 */
/*
 * close.c - wrappers of calls that close a file, which wakes the reader at the other end, as no more data will come, and
 * lets the file's lock go (file_lock.h).
 *
 *	T1 read(pipe) waits from 10, T2 close(pipe's other end) at 40: read returns 0, woken by T2 at 40
 *
 * A process that ends closes all its files.  A process that is killed, or executes another program, does so
 * without our knowledge.
 */
#include <errno.h>
#include <stdio.h>
#include "runtime/waits/flow.h"
#include "runtime/waits/outside.h"
#include "runtime/wrappers/real.h"

int vprof_w_close(int fd)
{
	flow_stamp_end(fd);
	flow_forget_event(fd);
	outside_forget(fd);
	return real.close(fd);
}

int vprof_w_shutdown(int fd, int how)
{
	if (how != SHUT_RD)
		flow_stamp_end(fd);
	return real.shutdown(fd, how);
}

int vprof_w_fclose(FILE *stream)
{
	int saved_errno = errno;

	flow_stamp_end(fileno(stream));
	errno = saved_errno;
	return real.fclose(stream);
}

int vprof_w_dup2(int fd, int to)
{
	int r;

	if (fd != to)
		flow_stamp_end(to);
	r = real.dup2(fd, to);
	if (r >= 0 && fd != to) {
		flow_forget_event(to);
		outside_forget(to);
	}
	return r;
}

int vprof_w_dup3(int fd, int to, int flags)
{
	int r;

	flow_stamp_end(to);
	r = real.dup3(fd, to, flags);
	if (r >= 0) {
		flow_forget_event(to);
		outside_forget(to);
	}
	return r;
}

int vprof_w_eventfd(unsigned int value, int flags)
{
	int fd = real.eventfd(value, flags);

	if (fd >= 0)
		flow_note_event(fd);
	return fd;
}

void vprof_w__exit(int status)
{
	flow_stamp_all_ends();
	real._exit(status);
}

void vprof_w__Exit(int status)
{
	flow_stamp_all_ends();
	real._Exit(status);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll.h - one wait for one of many files.
 *
 *	struct poll_wait p __attribute__((cleanup(poll_end))) = poll_begin(cnt);
 *	return poll_ready_files(&p, real.poll(files, cnt, ms), files, cnt);
 */
#ifndef RUNTIME_WRAPPERS_POLL_H
#define RUNTIME_WRAPPERS_POLL_H

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include "runtime/waits/outside.h"
#include "runtime/waits/wait.h"

struct poll_wait {
	struct wait wait;
	uint64_t fed_cnt;		/* before it began */
	bool fed;			/* there was a stamp since then */
	bool at_once;			/* its time-out is 0: set by the wrapper before it takes the result */
	int ready[OUTSIDE_FILES];	/* as many of the ready ones as there is room for */
};

/* files: there are some; else it waits for time to pass. */
struct poll_wait poll_begin_from(uint64_t caller, bool files);
#define poll_begin(files) poll_begin_from(CALLER, files)
void poll_end(struct poll_wait *p);

/* Whether a call that got this time-out returned at once; after it, for then it can be read.  r: its result. */
bool poll_is_at_once(int r, const struct timespec *length);

/* Take the call's result, and which files are ready.  They return r. */
int poll_ready_files(struct poll_wait *p, int r, const struct pollfd *files, nfds_t cnt);
int poll_ready_bits(struct poll_wait *p, int r, int cnt, const fd_set *in, const fd_set *out);
int poll_ready_events(struct poll_wait *p, int r, int fd, const struct epoll_event *events);

#endif

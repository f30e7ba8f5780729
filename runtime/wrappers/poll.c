/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll.c - wrappers of poll, select and epoll: class io; without any file, sleep.
 *
 * The files that are ready lead to their writers (flow.h); the latest of the first few writers is the waker. epoll
 * reports a file by the program's own data for it, so what epoll_ctl() said is remembered:
 *
 *	epoll_ctl(5, ADD, 9, data 0x7f00): table[hash(5, 0x7f00)] = rest of the hash | 9
 *
 * If another file has taken the place since, the rest of the hash differs, and the waker is unknown.
 */
#include <errno.h>
#include "runtime/rules/readable.h"
#include "runtime/waits/flow.h"
#include "runtime/waits/special.h"
#include "runtime/wrappers/poll.h"
#include "runtime/wrappers/real.h"

enum {
	READY_MAX = OUTSIDE_FILES,	/* files looked at after a wait */
	EPOLL_FILES = 8192,
	FD_BITS = 24
};

static uint64_t epoll_files[EPOLL_FILES];

#define POLLING struct poll_wait __attribute__((cleanup(poll_end), unused))

struct poll_wait poll_begin_from(uint64_t caller, bool files)
{
	struct poll_wait p = { .fed_cnt = flow_fed_cnt() };

	if (!vprof_self.gate)
		return p;
	p.wait = wait_begin_call_from(caller, files ? WAIT_IO : WAIT_SLEEP, files ? flow_waiters(FLOW_DATA) : 0);
	p.wait.object = 0;
	p.wait.polls = files;
	return p;
}

void poll_end(struct poll_wait *p)
{
	wait_end(&p->wait);
}

bool poll_is_at_once(int r, const struct timespec *length)
{
	return r >= 0 && length && !length->tv_sec && !length->tv_nsec;
}

/* Whether to look for what fed one of the files: a thread, a timer that expired, or a peer outside. */
static bool has_reason(struct poll_wait *p, int r)
{
	p->wait.result = r <= 0;
	p->wait.timed_out = r == 0 && p->wait.class == WAIT_IO;
	p->fed = flow_fed_cnt() != p->fed_cnt;
	if (p->at_once)
		wait_could_not(&p->wait);
	return wait_blocked(&p->wait) && r > 0;
}

/* latest: ticks of the best stamp so far.  false: there is no stamp of this kind. */
static bool consider_kind(struct wait *w, int fd, enum flow_kind kind, uint64_t *latest)
{
	uint64_t object = flow_awaited(fd, kind, FLOW_FILE, w->start), serial, ticks;

	if (!object || !releasers_find(object, w->start, clock_ticks(), &serial, &ticks))
		return false;
	if (ticks > *latest) {
		*latest = ticks;
		w->object = object;
	}
	return true;
}

/* A file also becomes readable when its other end is closed, or its time comes. */
static void consider(struct poll_wait *p, int fd, bool reads, uint64_t *latest)
{
	if (p->wait.file_cnt < OUTSIDE_FILES)
		p->ready[p->wait.file_cnt] = fd;
	p->wait.file_cnt++;
	p->wait.files = p->ready;
	if (reads && special_was_timer(fd) && !*latest && special_of(fd) == SPECIAL_TIMER)
		p->wait.timed_out = true;
	else if (p->fed && !consider_kind(&p->wait, fd, reads ? FLOW_DATA : FLOW_ROOM, latest) && reads)
		consider_kind(&p->wait, fd, FLOW_END, latest);
	if (*latest)
		p->wait.timed_out = false;
}

int poll_ready_files(struct poll_wait *p, int r, const struct pollfd *files, nfds_t cnt)
{
	uint64_t latest = 0;
	int seen = 0;

	if (!has_reason(p, r))
		return r;
	for (nfds_t i = 0; i < cnt && seen <= READY_MAX; i++) {
		if (!files[i].revents)
			continue;
		seen++;
		consider(p, files[i].fd, files[i].revents & (POLLIN | POLLHUP | POLLRDHUP), &latest);
	}
	return r;
}

int poll_ready_bits(struct poll_wait *p, int r, int cnt, const fd_set *in, const fd_set *out)
{
	uint64_t latest = 0;
	int seen = 0;

	if (!has_reason(p, r))
		return r;
	for (int fd = 0; fd < cnt && fd < FD_SETSIZE && seen <= READY_MAX; fd++) {
		bool reads = in && FD_ISSET(fd, in);

		if (!reads && (!out || !FD_ISSET(fd, out)))
			continue;
		seen++;
		consider(p, fd, reads, &latest);
	}
	return r;
}

static uint64_t epoll_hash(int fd, uint64_t data)
{
	return arena_hash(data ^ arena_hash((uint64_t)fd + 1)) | 1ULL << 63;
}

static int epoll_file(int fd, uint64_t data)
{
	uint64_t hash = epoll_hash(fd, data);
	uint64_t found = __atomic_load_n(&epoll_files[hash % EPOLL_FILES], __ATOMIC_RELAXED);

	return found >> FD_BITS == hash >> FD_BITS ? (int)(found & ((1 << FD_BITS) - 1)) : -1;
}

int poll_ready_events(struct poll_wait *p, int r, int fd, const struct epoll_event *events)
{
	uint64_t latest = 0;

	if (!has_reason(p, r))
		return r;
	for (int i = 0; i < r && i <= READY_MAX; i++)
		consider(p, epoll_file(fd, events[i].data.u64), events[i].events & (EPOLLIN | EPOLLHUP | EPOLLRDHUP), &latest);
	return r;
}

int vprof_w_poll(struct pollfd *files, nfds_t cnt, int ms)
{
	POLLING wait = poll_begin(cnt);
	wait.at_once = !ms;
	return poll_ready_files(&wait, real.poll(files, cnt, ms), files, cnt);
}

int vprof_w___poll_chk(struct pollfd *files, nfds_t cnt, int ms, size_t room)
{
	POLLING wait = poll_begin(cnt);
	wait.at_once = !ms;
	return poll_ready_files(&wait, real.__poll_chk(files, cnt, ms, room), files, cnt);
}

int vprof_w_ppoll(struct pollfd *files, nfds_t cnt, const struct timespec *length,
		  const sigset_t *mask)
{
	POLLING wait = poll_begin(cnt);
	int r = real.ppoll(files, cnt, length, mask);

	wait.at_once = poll_is_at_once(r, length);
	return poll_ready_files(&wait, r, files, cnt);
}

int vprof_w___ppoll_chk(struct pollfd *files, nfds_t cnt, const struct timespec *length,
			const sigset_t *mask, size_t room)
{
	POLLING wait = poll_begin(cnt);
	int r = real.__ppoll_chk(files, cnt, length, mask, room);

	wait.at_once = poll_is_at_once(r, length);
	return poll_ready_files(&wait, r, files, cnt);
}

int vprof_w_select(int cnt, fd_set *in, fd_set *out, fd_set *odd, struct timeval *length)
{
	POLLING wait = poll_begin(in || out || odd);
	/* The call changes it. */
	wait.at_once = vprof_self.gate && length && readable(length, sizeof(*length)) && !length->tv_sec && !length->tv_usec;
	return poll_ready_bits(&wait, real.select(cnt, in, out, odd, length), cnt, in, out);
}

int vprof_w_pselect(int cnt, fd_set *in, fd_set *out, fd_set *odd, const struct timespec *length,
		    const sigset_t *mask)
{
	POLLING wait = poll_begin(in || out || odd);
	int r = real.pselect(cnt, in, out, odd, length, mask);

	wait.at_once = poll_is_at_once(r, length);
	return poll_ready_bits(&wait, r, cnt, in, out);
}

int vprof_w_epoll_wait(int fd, struct epoll_event *events, int cnt, int ms)
{
	POLLING wait = poll_begin(true);
	wait.at_once = !ms;
	return poll_ready_events(&wait, real.epoll_wait(fd, events, cnt, ms), fd, events);
}

int vprof_w_epoll_pwait(int fd, struct epoll_event *events, int cnt, int ms, const sigset_t *mask)
{
	POLLING wait = poll_begin(true);
	wait.at_once = !ms;
	return poll_ready_events(&wait, real.epoll_pwait(fd, events, cnt, ms, mask), fd, events);
}

int vprof_w_epoll_pwait2(int fd, struct epoll_event *events, int cnt, const struct timespec *length,
			 const sigset_t *mask)
{
	POLLING wait = poll_begin(true);
	int r = real.epoll_pwait2(fd, events, cnt, length, mask);

	wait.at_once = poll_is_at_once(r, length);
	return poll_ready_events(&wait, r, fd, events);
}

/* Before the call: another thread may wait in epoll_wait() already. */
int vprof_w_epoll_ctl(int fd, int op, int file, struct epoll_event *event)
{
	if (vprof_self.gate && op != EPOLL_CTL_DEL && file >= 0 && file < 1 << FD_BITS &&
	    readable(event, sizeof(*event))) {
		uint64_t hash = epoll_hash(fd, event->data.u64);

		__atomic_store_n(&epoll_files[hash % EPOLL_FILES],
				 hash >> FD_BITS << FD_BITS | (uint64_t)file, __ATOMIC_RELAXED);
	}
	return real.epoll_ctl(fd, op, file, event);
}

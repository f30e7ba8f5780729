/* SPDX-License-Identifier: Apache-2.0 */
/* special.c - the kind of a descriptor, and the files that inotify queues watch. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/rules/permit.h"
#include "runtime/waits/flow.h"
#include "runtime/waits/signals.h"
#include "runtime/waits/special.h"
#include "runtime/wrappers/real.h"

enum { TIMERS = 4096, WATCHES = 256 };

static unsigned char timers[TIMERS];		/* by descriptor: whether it was a timerfd at some time */
static struct { int fd_plus_1; uint64_t name; } watches[WATCHES];
static unsigned int watch_cnt;
static bool any_timer;

static char *add_number(char *to, unsigned int n)
{
	if (n >= 10)
		to = add_number(to, n / 10);
	*to++ = (char)('0' + n % 10);
	return to;
}

enum special special_of(int fd)
{
	static const struct { const char *name; enum special kind; } kinds[] = {
		{ "anon_inode:[signalfd]", SPECIAL_SIGNALS }, { "anon_inode:[timerfd]", SPECIAL_TIMER },
		{ "anon_inode:inotify", SPECIAL_WATCHES },
	};
	char path[32] = "/proc/self/fd/", name[32];
	int saved_errno = errno;
	ssize_t len;

	if (fd < 0 || !permitted(PERMIT_READLINK))
		return SPECIAL_NONE;
	*add_number(path + strlen(path), (unsigned int)fd) = '\0';
	len = readlink(path, name, sizeof(name) - 1);
	errno = saved_errno;
	if (len <= 0)
		return SPECIAL_NONE;
	name[len] = '\0';
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(name, kinds[i].name))
			return kinds[i].kind;
	return SPECIAL_NONE;
}

void special_note_timer(int fd)
{
	if (fd >= 0 && fd < TIMERS)
		__atomic_store_n(&timers[fd], 1, __ATOMIC_RELAXED);
	if (fd >= 0)
		__atomic_store_n(&any_timer, true, __ATOMIC_RELAXED);
}

bool special_was_any_timer(void)
{
	return __atomic_load_n(&any_timer, __ATOMIC_RELAXED);
}

bool special_was_timer(int fd)
{
	return fd >= 0 && fd < TIMERS && __atomic_load_n(&timers[fd], __ATOMIC_RELAXED);
}

/* The oldest entry is dropped if there are more. */
void special_note_watch(int fd, uint64_t name)
{
	unsigned int at = __atomic_fetch_add(&watch_cnt, 1, __ATOMIC_RELAXED) % WATCHES;

	__atomic_store_n(&watches[at].fd_plus_1, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&watches[at].name, name, __ATOMIC_RELEASE);
	__atomic_store_n(&watches[at].fd_plus_1, fd + 1, __ATOMIC_RELEASE);
}

static uint64_t next_watch(int fd, unsigned int *at)
{
	for (; *at < WATCHES; ++*at)
		if (__atomic_load_n(&watches[*at].fd_plus_1, __ATOMIC_ACQUIRE) == fd + 1)
			return __atomic_load_n(&watches[(*at)++].name, __ATOMIC_ACQUIRE);
	return 0;
}

uint64_t special_awaited(int fd, enum special kind, unsigned int *at)
{
	if (kind == SPECIAL_WATCHES)
		return next_watch(fd, at);
	if (kind != SPECIAL_SIGNALS || *at > 1)
		return 0;
	return (*at)++ ? signals_of_thread(pthread_self()) : signals_of_process((pid_t)process.pid);
}

int vprof_w_timerfd_create(int clock, int flags)
{
	int fd = real.timerfd_create(clock, flags);

	special_note_timer(fd);
	return fd;
}

int vprof_w_inotify_add_watch(int fd, const char *path, unsigned int mask)
{
	int watch = real.inotify_add_watch(fd, path, mask), saved_errno = errno;
	struct stat st;

	if (watch >= 0 && vprof_self.gate && process.waiters && permitted(PERMIT_STAT) && !stat(path, &st))
		flow_note_watch(fd, &st);
	errno = saved_errno;
	return watch;
}

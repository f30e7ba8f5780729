/* SPDX-License-Identifier: Apache-2.0 */
/* file_lock.c - see file_lock.h. */
#include <errno.h>
#include <sys/stat.h>
#include "runtime/process.h"
#include "runtime/rules/permit.h"
#include "runtime/thread.h"
#include "runtime/waits/file_lock.h"
#include "runtime/waits/object.h"
#include "runtime/waits/releasers.h"

enum { LOCKED_MAX = 1024 };		/* descriptors above are not remembered: their releasers are unknown */

static uint64_t locked[LOCKED_MAX / 64];
static uint32_t locked_pid;		/* whose they are */

uint64_t file_lock_object(int fd)
{
	int saved_errno = errno;
	struct stat st;
	uint64_t object = !permitted(PERMIT_FSTAT) || fstat(fd, &st) ? 0 : object_of_kernel("file", st.st_dev, st.st_ino);

	errno = saved_errno;
	return object;
}

static bool is_locked(int fd)
{
	return fd >= 0 && fd < LOCKED_MAX && __atomic_load_n(&locked[fd / 64], __ATOMIC_RELAXED) >> fd % 64 & 1;
}

/* A child of fork() has its parent's bits, and begins anew. */
static void take_over(void)
{
	if (__atomic_load_n(&locked_pid, __ATOMIC_RELAXED) == process.pid)
		return;
	for (size_t i = 0; i < LOCKED_MAX / 64; i++)
		__atomic_store_n(&locked[i], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&locked_pid, process.pid, __ATOMIC_RELAXED);
}

void file_lock_note(int fd)
{
	take_over();
	if (fd >= 0 && fd < LOCKED_MAX)
		__atomic_fetch_or(&locked[fd / 64], 1ULL << fd % 64, __ATOMIC_RELAXED);
}

void file_lock_closed(int fd)
{
	uint64_t object;

	if (!is_locked(fd))
		return;
	take_over();
	if (!is_locked(fd))
		return;
	__atomic_fetch_and(&locked[fd / 64], ~(1ULL << fd % 64), __ATOMIC_RELAXED);
	object = vprof_self.gate ? file_lock_object(fd) : 0;
	if (object)
		releasers_stamp_event(object, EVENT_RELEASE);
}

void file_lock_all_closed(void)
{
	for (int fd = 0; fd < LOCKED_MAX; fd++)
		file_lock_closed(fd);
}

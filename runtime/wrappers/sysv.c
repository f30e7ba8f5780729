/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysv.c - wrappers of the kernel's own semaphores, message queues and file locks.
 *
 *	T1 semop(set 5, {0, -1}) waits 10..52: lock, object (5, 0); T2 semop(set 5, {0, +1}) stamps it at 50
 *
 * A semaphore is named by set and number, a message queue by its number, a lock of a file by the
 * file's inode: all processes of the run agree on these.
 */
#include "runtime/rules/readable.h"
#include "runtime/waits/file_lock.h"
#include "runtime/waits/object.h"
#include "runtime/waits/wait.h"
#include "runtime/wrappers/real.h"

enum { OPS_MAX = 500 };			/* the kernel's default limit */

/* The object that an operation waits for: one that subtracts waits for those that add, one that waits for
 * zero for those that subtract. */
static uint64_t awaited_by(int set, const struct sembuf *op)
{
	return object_of_kernel(op->sem_op ? "sem" : "zero", (uint64_t)set, op->sem_num);
}

static uint64_t changed_by(int set, const struct sembuf *op)
{
	return object_of_kernel(op->sem_op > 0 ? "sem" : "zero", (uint64_t)set, op->sem_num);
}

IN_WRAPPER struct wait begin_semop(int set, const struct sembuf *ops, size_t cnt)
{
	struct wait none = { .on = false };
	const struct sembuf *wanted = NULL;

	if (!vprof_self.gate || cnt > OPS_MAX || !readable(ops, cnt * sizeof(*ops)))
		return none;
	for (size_t i = 0; i < cnt; i++) {
		if (ops[i].sem_op <= 0 && !(ops[i].sem_flg & IPC_NOWAIT) && !wanted)
			wanted = &ops[i];
		if (ops[i].sem_op)
			releasers_stamp_event(changed_by(set, &ops[i]), ops[i].sem_op > 0 ? EVENT_POST : EVENT_NONE);
	}
	return wanted ? wait_begin_call(WAIT_LOCK, awaited_by(set, wanted)) : none;
}

int vprof_w_semop(int set, struct sembuf *ops, size_t cnt)
{
	WAITING wait = begin_semop(set, ops, cnt);
	return wait.result = real.semop(set, ops, cnt);
}

int vprof_w_semtimedop(int set, struct sembuf *ops, size_t cnt, const struct timespec *length)
{
	WAITING wait = begin_semop(set, ops, cnt);
	return wait_errno(&wait, real.semtimedop(set, ops, cnt, length));
}

IN_WRAPPER struct wait begin_message(uint64_t stamped, uint64_t awaited, int flags)
{
	if (!vprof_self.gate)
		return (struct wait){ .on = false };
	releasers_stamp(stamped);
	return flags & IPC_NOWAIT ? (struct wait){ .on = false } : wait_begin_call(WAIT_IO, awaited);
}

ssize_t vprof_w_msgrcv(int queue, void *message, size_t len, long type, int flags)
{
	WAITING wait = begin_message(object_of_kernel("room", (uint64_t)queue, 0),
				     object_of_kernel("data", (uint64_t)queue, 0), flags);
	ssize_t r = real.msgrcv(queue, message, len, type, flags);

	wait.result = r < 0;
	return r;
}

int vprof_w_msgsnd(int queue, const void *message, size_t len, int flags)
{
	WAITING wait = begin_message(object_of_kernel("data", (uint64_t)queue, 0),
				     object_of_kernel("room", (uint64_t)queue, 0), flags);
	return wait.result = real.msgsnd(queue, message, len, flags);
}

/* release: the call lets a lock go.  waits: it may block until it gets one. */
IN_WRAPPER struct wait begin_file(int fd, bool release, bool waits)
{
	uint64_t object = vprof_self.gate && (release || waits) ? file_lock_object(fd) : 0;

	if (!object)
		return (struct wait){ .on = false };
	if (release)
		releasers_stamp_event(object, EVENT_RELEASE);
	return waits ? wait_begin_call(WAIT_LOCK, object) : (struct wait){ .on = false };
}

/* A call that succeeded may have locked the file: its close must be seen then. */
static int noted(int fd, int r)
{
	if (r == 0)
		file_lock_note(fd);
	return r;
}

int vprof_w_flock(int fd, int op)
{
	WAITING wait = begin_file(fd, op & LOCK_UN, !(op & (LOCK_UN | LOCK_NB)));
	return wait.result = noted(fd, real.flock(fd, op));
}

int vprof_w_lockf(int fd, int op, off_t len)
{
	WAITING wait = begin_file(fd, op == F_ULOCK, op == F_LOCK);
	return wait.result = noted(fd, real.lockf(fd, op, len));
}

int vprof_w_lockf64(int fd, int op, off64_t len)
{
	WAITING wait = begin_file(fd, op == F_ULOCK, op == F_LOCK);
	return wait.result = noted(fd, real.lockf64(fd, op, len));
}

static bool is_locking(int op)
{
	return op == F_SETLK || op == F_SETLKW || op == F_OFD_SETLK || op == F_OFD_SETLKW;
}

IN_WRAPPER struct wait begin_fcntl(int fd, int op, long arg)
{
	const struct flock *lock = (const struct flock *)arg;

	if (!is_locking(op) || !vprof_self.gate || !readable(lock, sizeof(*lock)))
		return (struct wait){ .on = false };
	return begin_file(fd, lock->l_type == F_UNLCK,
			  lock->l_type != F_UNLCK && (op == F_SETLKW || op == F_OFD_SETLKW));
}

int vprof_w_fcntl(int fd, int op, long arg)
{
	WAITING wait = begin_fcntl(fd, op, arg);
	int r = real.fcntl(fd, op, arg);

	wait.result = r < 0;
	if (is_locking(op))
		noted(fd, r);
	return r;
}

int vprof_w_fcntl64(int fd, int op, long arg)
{
	WAITING wait = begin_fcntl(fd, op, arg);
	int r = real.fcntl64(fd, op, arg);

	wait.result = r < 0;
	if (is_locking(op))
		noted(fd, r);
	return r;
}

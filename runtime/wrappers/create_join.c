/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create_join.c - wrappers of creation and end: of threads and processes.
 *
 * A new thread gets its serial number from its parent, which logs it: that is the creation edge. The number travels
 * in an entry of a small table, since nothing may be allocated here; the child frees the entry at once.  With all
 * entries taken the thread starts without the edge.
 *
 * A thread that ends stamps its pthread_t; the joining thread finds the stamp.  A process that ends cannot: its
 * parent gets its number, which is that of its first thread.
 */
#include <errno.h>
#include "runtime/waits/until.h"
#include "runtime/waits/wait.h"
#include "runtime/wrappers/plt_hooks.h"
#include "runtime/wrappers/real.h"

enum {
	STARTS = 1024,			/* threads created, but not on a CPU yet */
	SMALL_BYTES = 256 << 10,	/* of a stack that a program may have cut to its size */
	OWN_BYTES = 32 << 10		/* what we take of it: our thread-local variables, twice where the runtime is preloaded
					 * besides, and a slow path */
};

struct start {
	void *(*routine)(void *);	/* one of these */
	int (*c11_routine)(void *);
	void *arg;
	uint64_t serial;
	uint64_t shift;			/* of its parent (runtime/causal/causal.h) */
	size_t stack_bytes;		/* 0: the default */
	int taken;
};

static struct start starts[STARTS];

static struct start *take_start(void)
{
	for (unsigned int i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		int no = 0;

		if (__atomic_compare_exchange_n(&starts[i].taken, &no, 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return &starts[i];
	}
	return NULL;
}

static void give_start(struct start *s)
{
	__atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
}

static struct start begin_thread(void *arg)
{
	const struct start *given = arg;
	struct start s = { given->routine, given->c11_routine, given->arg, given->serial, given->shift, given->stack_bytes, 1 };

	give_start(arg);
	stacks_begin_thread(s.stack_bytes);
	thread_self.serial = s.serial;
	if (thread_ready() && causal_on)
		causal_inherit(s.shift);
	libraries_look();
	return s;
}

static void *start_thread(void *arg)
{
	struct start s = begin_thread(arg);

	return s.routine(s.arg);
}

static int start_c11_thread(void *arg)
{
	struct start s = begin_thread(arg);

	return s.c11_routine(s.arg);
}

/* NULL: start the thread without a record of its creation. */
static struct start *prepare(void *arg)
{
	int saved_errno = errno;
	struct start *s = thread_ready() ? take_start() : NULL;

	errno = saved_errno;
	if (!s)
		return NULL;
	s->arg = arg;
	s->stack_bytes = 0;
	s->serial = process_new_serial();
	s->shift = causal_on ? (causal_settle(), causal_shift()) : 0;
	return s;
}

static void note_start(struct start *s, bool failed, uint64_t serial, uint64_t ticks)
{
	int saved_errno = errno;

	if (failed)
		give_start(s);
	else
		THREAD_LOG(EVENT_CREATE, ticks, serial);
	errno = saved_errno;
}

/* Like limits (runtime/rules/limits.c): a small stack of the C library's is larger by what we take, or PTHREAD_STACK_MIN would
 * be EINVAL.  A copy of attributes that nobody destroys shares what they point to. */
static const pthread_attr_t *with_room(const pthread_attr_t *attr, pthread_attr_t *copy)
{
	size_t bytes = 0;
	void *low = NULL;

	if (!attr || pthread_attr_getstack(attr, &low, &bytes) || !bytes || bytes >= SMALL_BYTES || (uintptr_t)low + bytes)
		return attr;		/* the default, a large one, or the program's own memory */
	*copy = *attr;
	return pthread_attr_setstacksize(copy, bytes + OWN_BYTES) ? attr : copy;
}

int vprof_w_pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*routine)(void *),
			   void *arg)
{
	pthread_attr_t copy;
	struct start *s = prepare(arg);
	uint64_t serial, now;
	int r;

	attr = with_room(attr, &copy);
	if (!s)
		return real.pthread_create(ret, attr, routine, arg);
	s->routine = routine;
	if (attr)
		pthread_attr_getstacksize(attr, &s->stack_bytes);
	serial = s->serial;
	now = clock_ticks();
	r = real.pthread_create(ret, attr, start_thread, s);
	note_start(s, r, serial, now);
	return r;
}

int vprof_w_thrd_create(thrd_t *ret, thrd_start_t routine, void *arg)
{
	struct start *s = prepare(arg);
	uint64_t serial, now;
	int r;

	if (!s)
		return real.thrd_create(ret, routine, arg);
	s->c11_routine = routine;
	serial = s->serial;
	now = clock_ticks();
	r = real.thrd_create(ret, start_c11_thread, s);
	note_start(s, r != thrd_success, serial, now);
	return r;
}

IN_WRAPPER struct wait wait_for_thread(pthread_t thread)
{
	return vprof_self.gate ? wait_begin_call(WAIT_JOIN, releasers_private(thread))
			       : (struct wait){ .on = false };
}

int vprof_w_pthread_join(pthread_t thread, void **ret)
{
	WAITING wait = wait_for_thread(thread);
	return wait.result = real.pthread_join(thread, ret);
}

int vprof_w_pthread_timedjoin_np(pthread_t thread, void **ret, const struct timespec *until)
{
	UNTIL u = { .of = NULL };
	WAITING wait = wait_for_thread(thread);
	return wait_error(&wait, real.pthread_timedjoin_np(thread, ret, until_real(&u, until, &wait)));
}

int vprof_w_pthread_clockjoin_np(pthread_t thread, void **ret, clockid_t clock,
				 const struct timespec *until)
{
	UNTIL u = { .of = NULL };
	WAITING wait = wait_for_thread(thread);
	return wait_error(&wait, real.pthread_clockjoin_np(thread, ret, clock, until_real(&u, until, &wait)));
}

int vprof_w_thrd_join(thrd_t thread, int *ret)
{
	WAITING wait = wait_for_thread(thread);
	return wait.result = real.thrd_join(thread, ret);
}

IN_WRAPPER struct wait wait_for_process(int options)
{
	return vprof_self.gate && !(options & WNOHANG) ? wait_begin_call(WAIT_JOIN, 0) : (struct wait){ .on = false };
}

/* r: the process that ended, 0 for none, -1 for an error. */
static pid_t ended(struct wait *w, pid_t r)
{
	w->result = r <= 0;
	w->holder_tid = r > 0 ? (uint64_t)r : 0;
	return r;
}

pid_t vprof_w_wait(int *status)
{
	WAITING wait = wait_for_process(0);
	return ended(&wait, real.wait(status));
}

pid_t vprof_w_waitpid(pid_t pid, int *status, int options)
{
	WAITING wait = wait_for_process(options);
	return ended(&wait, real.waitpid(pid, status, options));
}

pid_t vprof_w_wait3(int *status, int options, struct rusage *usage)
{
	WAITING wait = wait_for_process(options);
	return ended(&wait, real.wait3(status, options, usage));
}

pid_t vprof_w_wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	WAITING wait = wait_for_process(options);
	return ended(&wait, real.wait4(pid, status, options, usage));
}

int vprof_w_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	WAITING wait = wait_for_process(options);
	int r = real.waitid(type, id, info, options);

	ended(&wait, !r && info ? info->si_pid : -1);
	return r;
}

int vprof_w_system(const char *command)
{
	WAITING wait = wait_for_process(0);
	return real.system(command);
}

int vprof_w_pclose(FILE *stream)
{
	WAITING wait = wait_for_process(0);
	return real.pclose(stream);
}

/* fork() without its handlers. */
pid_t vprof_w__Fork(void)
{
	pid_t pid;

	process_before_fork();
	pid = real._Fork();
	if (!pid)
		process_in_child();
	return pid;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lifetime.c - wrappers of thread creation and join, and of sleeps.
 *
 * A new thread gets its serial number from its parent, who logs it: that is the creation edge.
 * The number travels in an entry of a small table, since nothing may be allocated here; the child
 * frees the entry at once.  With all entries taken the thread starts without the edge.
 *
 * A thread that ends stamps its pthread_t; who joins it finds the stamp.
 */
#include <errno.h>
#include "runtime/wait.h"
#include "runtime/wrappers.h"

struct start {
	void *(*routine)(void *);
	void *arg;
	uint64_t serial;
	int taken;
};

static struct start starts[256];

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

static void *start_thread(void *arg)
{
	struct start s = *(struct start *)arg;

	give_start(arg);
	thread_self.serial = s.serial;
	thread_ready();
	return s.routine(s.arg);
}

int vprof_w_pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*routine)(void *),
			   void *arg)
{
	int saved_errno = errno, r;
	struct start *s = thread_ready() ? take_start() : NULL;
	uint64_t now;

	errno = saved_errno;
	if (!s)
		return pthread_create(ret, attr, routine, arg);
	s->routine = routine;
	s->arg = arg;
	s->serial = process_new_serial();
	now = clock_ticks();
	uint64_t serial = s->serial;
	r = pthread_create(ret, attr, start_thread, s);
	if (r)
		give_start(s);
	else
		THREAD_LOG(EVENT_CREATE, now, serial);
	errno = saved_errno;
	return r;
}

int vprof_w_pthread_join(pthread_t thread, void **ret)
{
	if (!vprof_self.gate)
		return pthread_join(thread, ret);
	pthread_testcancel();
	if (pthread_tryjoin_np(thread, ret) == 0)
		return 0;
	struct wait wait __attribute__((cleanup(wait_end))) =
		wait_begin(WAIT_JOIN, releasers_private(thread));
	return wait.result = pthread_join(thread, ret);
}

#define SLEEPING struct wait wait __attribute__((cleanup(wait_end), unused)) = wait_begin(WAIT_SLEEP, 0)

unsigned int vprof_w_sleep(unsigned int seconds)
{
	SLEEPING;
	return sleep(seconds);
}

int vprof_w_usleep(useconds_t usec)
{
	SLEEPING;
	return usleep(usec);
}

int vprof_w_nanosleep(const struct timespec *length, struct timespec *left)
{
	SLEEPING;
	return nanosleep(length, left);
}

int vprof_w_clock_nanosleep(clockid_t clock, int flags, const struct timespec *length,
			    struct timespec *left)
{
	SLEEPING;
	return clock_nanosleep(clock, flags, length, left);
}

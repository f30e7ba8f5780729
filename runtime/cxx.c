/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cxx.c - std::condition_variable and std::thread::join of libstdc++.
 *
 * std::mutex is inline: a unit that locks one calls pthread_mutex_lock itself, which the instrumenter
 * redirects.  These are not: they call pthread_cond_wait inside libstdc++.so, where nobody sees it.
 * So the program gets its own, which do the same as libstdc++'s (src/c++11/condition_variable.cc,
 * thread.cc) with our wrappers:
 *
 *	cv.wait(lock)	->	vprof_w_pthread_cond_wait(&cv, lock's mutex)
 *
 * The layout is libstdc++'s ABI: a condition_variable and a thread begin with the pthread object, a
 * unique_lock with the address of the mutex.  An object of its own in libvprof.a: only programs that
 * use one of these get it.  Weak: in a static program libstdc++.a's own may come in as well.
 */
#include <errno.h>
#include "runtime/wrappers.h"

#define AS(symbol) __asm__(symbol) __attribute__((weak, visibility("default")))

extern void cxx_throw_system_error(int error) __asm__("_ZSt20__throw_system_errori")
	__attribute__((noreturn));

struct unique_lock {
	pthread_mutex_t *mutex;
};

void cxx_wait(pthread_cond_t *c, struct unique_lock *lock)
	AS("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void cxx_notify_one(pthread_cond_t *c) AS("_ZNSt18condition_variable10notify_oneEv");
void cxx_notify_all(pthread_cond_t *c) AS("_ZNSt18condition_variable10notify_allEv");
void cxx_join(pthread_t *thread) AS("_ZNSt6thread4joinEv");

void cxx_wait(pthread_cond_t *c, struct unique_lock *lock)
{
	vprof_w_pthread_cond_wait(c, lock->mutex);
}

void cxx_notify_one(pthread_cond_t *c)
{
	vprof_w_pthread_cond_signal(c);
}

void cxx_notify_all(pthread_cond_t *c)
{
	vprof_w_pthread_cond_broadcast(c);
}

void cxx_join(pthread_t *thread)
{
	int error = *thread ? vprof_w_pthread_join(*thread, NULL) : EINVAL;

	if (error)
		cxx_throw_system_error(error);
	*thread = 0;
}

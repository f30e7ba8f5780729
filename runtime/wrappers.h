/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrappers.h - the C library's primitives that the runtime wraps: one row each.
 *
 *	X(return type, NAME, (parameters), (arguments))
 *
 * An instrumented unit calls vprof_w_NAME instead of NAME (annotations/pthread.sync lists the same
 * names).  Each behaves exactly like NAME: results, errno, cancellation, robust mutexes.
 * vprof_x_NAME is the same under another name, by which the weak hidden vprof_w_NAME of an object
 * that was linked without the runtime finds it (instrumenter/sync.c).
 */
#ifndef RUNTIME_WRAPPERS_H
#define RUNTIME_WRAPPERS_H

#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#define RUNTIME_WRAPPERS(X)									\
	X(int, pthread_mutex_lock, (pthread_mutex_t *m), (m))					\
	X(int, pthread_mutex_trylock, (pthread_mutex_t *m), (m))				\
	X(int, pthread_mutex_timedlock, (pthread_mutex_t *m, const struct timespec *until),	\
	  (m, until))										\
	X(int, pthread_mutex_clocklock,								\
	  (pthread_mutex_t *m, clockid_t clock, const struct timespec *until), (m, clock, until)) \
	X(int, pthread_mutex_unlock, (pthread_mutex_t *m), (m))					\
	X(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l))				\
	X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *l), (l))				\
	X(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *l, const struct timespec *until),	\
	  (l, until))										\
	X(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l))				\
	X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *l), (l))				\
	X(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *l, const struct timespec *until),	\
	  (l, until))										\
	X(int, pthread_rwlock_unlock, (pthread_rwlock_t *l), (l))				\
	X(int, pthread_spin_lock, (pthread_spinlock_t *l), (l))					\
	X(int, pthread_spin_trylock, (pthread_spinlock_t *l), (l))				\
	X(int, pthread_spin_unlock, (pthread_spinlock_t *l), (l))				\
	X(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m))		\
	X(int, pthread_cond_timedwait,								\
	  (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until), (c, m, until))	\
	X(int, pthread_cond_clockwait,								\
	  (pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until), \
	  (c, m, clock, until))									\
	X(int, pthread_cond_signal, (pthread_cond_t *c), (c))					\
	X(int, pthread_cond_broadcast, (pthread_cond_t *c), (c))				\
	X(int, pthread_barrier_wait, (pthread_barrier_t *b), (b))				\
	X(int, sem_wait, (sem_t *s), (s))							\
	X(int, sem_trywait, (sem_t *s), (s))							\
	X(int, sem_timedwait, (sem_t *s, const struct timespec *until), (s, until))		\
	X(int, sem_clockwait, (sem_t *s, clockid_t clock, const struct timespec *until),	\
	  (s, clock, until))									\
	X(int, sem_post, (sem_t *s), (s))							\
	X(int, pthread_create,									\
	  (pthread_t *ret, const pthread_attr_t *attr, void *(*routine)(void *), void *arg),	\
	  (ret, attr, routine, arg))								\
	X(int, pthread_join, (pthread_t thread, void **ret), (thread, ret))			\
	X(unsigned int, sleep, (unsigned int seconds), (seconds))				\
	X(int, usleep, (useconds_t usec), (usec))						\
	X(int, nanosleep, (const struct timespec *length, struct timespec *left), (length, left)) \
	X(int, clock_nanosleep,									\
	  (clockid_t clock, int flags, const struct timespec *length, struct timespec *left),	\
	  (clock, flags, length, left))

#define X(type, name, params, args) \
	extern type vprof_w_##name params __attribute__((visibility(RUNTIME_VISIBILITY)));
#ifndef RUNTIME_VISIBILITY
#define RUNTIME_VISIBILITY "default"
#endif
RUNTIME_WRAPPERS(X)
#undef X

#endif

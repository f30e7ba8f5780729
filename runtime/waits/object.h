/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h - what a synchronisation object is called in the table of releasers.
 *
 * Objects shared by processes are named by what is mapped at their address, others by process and
 * address.  Where the C library does not say which it is, it is shared if a shared mapping is known there.
 */
#ifndef RUNTIME_WAITS_OBJECT_H
#define RUNTIME_WAITS_OBJECT_H

#include <pthread.h>
#include <semaphore.h>
#include "runtime/waits/releasers.h"

static inline uint64_t object_of(const void *address, bool shared)
{
	return shared ? releasers_shared((uint64_t)address) : releasers_private((uint64_t)address);
}

/* One that the kernel numbers, alike for all processes: "sem" 5, 0; "file" of device and inode. */
static inline uint64_t object_of_kernel(const char *kind, uint64_t a, uint64_t b)
{
	return arena_hash(a ^ arena_hash(b + (uint64_t)kind[0])) | 1ULL << 63;
}

/* An object that may be shared or not: the C library does not say. */
static inline uint64_t object_of_some(const volatile void *address)
{
	return releasers_shared((uint64_t)address) | RELEASERS_OWN;
}

#ifdef __GLIBC__
static inline uint64_t object_mutex(const pthread_mutex_t *m)
{
	return object_of(m, m->__data.__kind & 128);
}

static inline uint64_t object_mutex_holder(const pthread_mutex_t *m)
{
	return (uint64_t)__atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED);
}

static inline bool object_mutex_is_robust(const pthread_mutex_t *m)
{
	return m->__data.__kind & 16;
}

/* Its holder has locked it more than once. */
static inline bool object_mutex_is_nested(const pthread_mutex_t *m)
{
	return (m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE && m->__data.__count > 1;
}

static inline uint64_t object_rwlock(const pthread_rwlock_t *l)
{
	return object_of(l, l->__data.__shared);
}

/* The kernel's number of the thread that holds it for writing; 0: readers have it, or no thread. */
static inline uint64_t object_rwlock_writer(const pthread_rwlock_t *l)
{
	return (uint64_t)__atomic_load_n(&l->__data.__cur_writer, __ATOMIC_RELAXED);
}

static inline uint64_t object_sem(const sem_t *s)
{
	return object_of(s, ((const unsigned int *)s)[sizeof(long) / sizeof(int)]);
}

static inline bool object_once_is_done(const void *once)
{
	return __atomic_load_n((const int *)once, __ATOMIC_RELAXED) & 2;
}

static inline uint64_t object_cond(const pthread_cond_t *c)
{
	return object_of(c, __atomic_load_n(&c->__data.__wrefs, __ATOMIC_RELAXED) & 1);
}

/* glibc keeps { arrived, round, threads a round, shared }; the round has changed before anybody
 * returns.  Everybody who arrives may wait, so it is looked up at once: the round is a part of its name. */
static inline uint64_t object_barrier_round(const pthread_barrier_t *b)
{
	const unsigned int *words = (const unsigned int *)b;
	uint64_t round = __atomic_load_n(&words[1], __ATOMIC_RELAXED);

	return releasers_name(object_of(b, words[3])) ^ round << 20;
}
#else
static inline uint64_t object_mutex(const pthread_mutex_t *m)
{
	return object_of(m, false);
}

static inline uint64_t object_mutex_holder(const pthread_mutex_t *m)
{
	(void)m;
	return 0;
}

static inline bool object_mutex_is_robust(const pthread_mutex_t *m)
{
	(void)m;
	return false;
}

static inline bool object_mutex_is_nested(const pthread_mutex_t *m)
{
	(void)m;
	return false;
}

static inline uint64_t object_rwlock(const pthread_rwlock_t *l)
{
	return object_of(l, false);
}

static inline uint64_t object_rwlock_writer(const pthread_rwlock_t *l)
{
	(void)l;
	return 0;
}

static inline uint64_t object_sem(const sem_t *s)
{
	return object_of(s, false);
}

static inline bool object_once_is_done(const void *once)
{
	(void)once;
	return false;
}

static inline uint64_t object_cond(const pthread_cond_t *c)
{
	return object_of(c, false);
}

static inline uint64_t object_barrier_round(const pthread_barrier_t *b)
{
	return object_of(b, false);
}
#endif

#endif

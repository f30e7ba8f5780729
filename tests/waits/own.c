/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own.c - primitives that vprof does not know until they are listed, and those inside a library that was
 * not instrumented; called by name, from macros, and through pointers.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <unistd.h>
#include "library.h"
#include "tests/waits/waits.h"

/* A lock of the project's own. */
struct own_lock {
	volatile int taken;
};

void own_acquire(struct own_lock *l);
void own_release(struct own_lock *l);

void own_acquire(struct own_lock *l)
{
	while (__atomic_exchange_n(&l->taken, 1, __ATOMIC_ACQUIRE))
		usleep(50);
}

void own_release(struct own_lock *l)
{
	__atomic_store_n(&l->taken, 0, __ATOMIC_RELEASE);
}

/* A lock without spinning, as PostgreSQL's: each waiter has a semaphore, and the releaser posts it. */
struct asleep_lock {
	pthread_mutex_t list;		/* for a moment only */
	int taken;
	sem_t *waiter;
};

void asleep_acquire(struct asleep_lock *l);
void asleep_release(struct asleep_lock *l);

static bool asleep_try(struct asleep_lock *l, sem_t *waiter)
{
	bool had;

	MUST(!pthread_mutex_lock(&l->list));
	had = !l->taken;
	l->taken = 1;
	l->waiter = had ? l->waiter : waiter;
	MUST(!pthread_mutex_unlock(&l->list));
	return had;
}

void asleep_acquire(struct asleep_lock *l)
{
	sem_t own_semaphore;

	MUST(!sem_init(&own_semaphore, 0, 0));
	while (!asleep_try(l, &own_semaphore))
		MUST(!sem_wait(&own_semaphore));
	MUST(!sem_destroy(&own_semaphore));
}

void asleep_release(struct asleep_lock *l)
{
	sem_t *waiter;

	MUST(!pthread_mutex_lock(&l->list));
	waiter = l->waiter;
	l->waiter = 0;
	l->taken = 0;
	MUST(!pthread_mutex_unlock(&l->list));
	if (waiter)
		MUST(!sem_post(waiter));
}

static struct own_lock own;
static struct asleep_lock asleep = { .list = PTHREAD_MUTEX_INITIALIZER };
static struct opaque opaque;

#define LOCK(l) own_acquire(&(l))
#define UNLOCK(l) own_release(&(l))
#define OPAQUE_LOCK() opaque_lock(&opaque)

static void (*const acquire_pointer)(struct own_lock *) = own_acquire;
static void (*const release_pointer)(struct own_lock *) = own_release;
static const struct {
	void (*lock)(struct opaque *), (*unlock)(struct opaque *);
} methods = { opaque_lock, opaque_unlock };

static void take(void) { own_acquire(&own); }
static void give(void) { own_release(&own); }
static void take_by_macro(void) { LOCK(own); }
static void give_by_macro(void) { UNLOCK(own); }
static void take_by_pointer(void) { acquire_pointer(&own); }
static void give_by_pointer(void) { release_pointer(&own); }
static void take_asleep(void) { asleep_acquire(&asleep); }
static void give_asleep(void) { asleep_release(&asleep); }
static void lock_opaque(void) { opaque_lock(&opaque); }
static void unlock_opaque(void) { opaque_unlock(&opaque); }
static void lock_by_macro(void) { OPAQUE_LOCK(); }
static void lock_by_pointer(void) { methods.lock(&opaque); }
static void unlock_by_pointer(void) { methods.unlock(&opaque); }

static int ends[2];

static void make_pipe(void) { MUST(!pipe(ends)); }
static void read_inside(void) { library_read(ends[0]); }
static void write_inside(void) { library_write(ends[1]); }

const struct wait_case own_cases[] = {
	{ "listed-own", "lock", 0, take, 0, take, give, give, 0 },
	{ "listed-own-macro", "lock", 0, take, 0, take_by_macro, give_by_macro, give, 0 },
	{ "listed-own-pointer", "lock", 0, take, 0, take_by_pointer, give_by_pointer, give, 0 },
	{ "listed-own-asleep", "lock", 0, take_asleep, 0, take_asleep, give_asleep, give_asleep, 0 },
	{ "listed-library", "lock", 0, lock_opaque, 0, lock_opaque, unlock_opaque, unlock_opaque, 0 },
	{ "listed-library-macro", "lock", 0, lock_opaque, 0, lock_by_macro, unlock_opaque,
	  unlock_opaque, 0 },
	{ "listed-library-pointer", "lock", 0, lock_opaque, 0, lock_by_pointer, unlock_by_pointer,
	  unlock_opaque, 0 },
	{ "inside-library-mutex", "lock", 0, library_lock, 0, library_lock, library_unlock,
	  library_unlock, 0 },
	{ "inside-library-read", "io", make_pipe, 0, 0, read_inside, write_inside, 0, 0 },
	{ .name = 0 }
};

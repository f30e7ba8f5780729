/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own.c - primitives that vprof does not know until they are listed, and those inside a library that was
 * not instrumented; called by name, from macros, and through pointers.
 */
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

static struct own_lock own;
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

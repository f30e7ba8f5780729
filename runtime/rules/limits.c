/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c - wrappers of the calls that set and report limits, and of mlockall().
 *
 * The kernel counts all addresses (RLIMIT_AS), and again if all memory is to be locked (RLIMIT_MEMLOCK); the
 * arena is shared, so it does not count as data (RLIMIT_DATA).  A probe's slow path takes some of the stack
 * (RLIMIT_STACK).  We open one file as the program starts, write none, and make no thread or process
 * (RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_NPROC).
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "runtime/process.h"
#include "runtime/rules/limits.h"
#include "runtime/rules/permit.h"
#include "runtime/rules/readable.h"
#include "runtime/wrappers/real.h"

REAL_NEEDS(getrlimit);
REAL_NEEDS(setrlimit);

enum {
	STACK_BYTES = 64 << 10,		/* more than a slow path or attaching takes */
	OTHER_BYTES = 1 << 20,		/* small mappings in addition to the arena */
	SMALL_PART = 16,		/* the part of a limit that we take without raising it, if it cannot
					 * be raised */
};

static struct {				/* by how much the kernel's limit exceeds the program's */
	rlim_t cur, max;
} added[RLIMIT_NLIMITS];

static rlim_t need(int resource)
{
	if (!process.mapped_bytes)
		return 0;
	return resource == RLIMIT_AS ? process.mapped_bytes + OTHER_BYTES : resource == RLIMIT_STACK ? STACK_BYTES : 0;
}

static rlim_t more(rlim_t limit, rlim_t by)
{
	return limit == RLIM_INFINITY || limit + by < limit ? RLIM_INFINITY : limit + by;
}

static rlim_t less(rlim_t limit, rlim_t by)
{
	return limit == RLIM_INFINITY || limit < by ? limit : limit - by;
}

static int set_real(int resource, const struct rlimit *l)
{
	return permitted(PERMIT_SET_RLIMIT) ? real.setrlimit(resource, l) : -1;
}

/* Sets l plus our own need.  Leaves the hard limit as it is if that is enough, or if it cannot be raised. */
static bool set_wider(int resource, const struct rlimit *l, rlim_t by)
{
	const struct rlimit both = { more(l->rlim_cur, by), more(l->rlim_max, by) }, soft = { both.rlim_cur, l->rlim_max };

	if (set_real(resource, &both) == 0) {
		added[resource].cur = added[resource].max = by;
		return true;
	}
	if (soft.rlim_cur > soft.rlim_max || set_real(resource, &soft))
		return false;
	added[resource].cur = by;
	added[resource].max = 0;
	return true;
}

static bool get_program(int resource, struct rlimit *ret)
{
	if (!permitted(PERMIT_RLIMIT) || real.getrlimit(resource, ret))
		return false;
	ret->rlim_cur = less(ret->rlim_cur, added[resource].cur);
	ret->rlim_max = less(ret->rlim_max, added[resource].max);
	return true;
}

extern void *__libc_stack_end __attribute__((weak));

/* Checks the stack of the first thread, the only one when a program starts. */
static bool has_stack(void)
{
	unsigned long here = (unsigned long)__builtin_frame_address(0);
	unsigned long end = &__libc_stack_end ? (unsigned long)__libc_stack_end : 0;
	struct rlimit l;

	if (end < here || end - here > STACK_BYTES * 16UL || !get_program(RLIMIT_STACK, &l) ||
	    l.rlim_cur == RLIM_INFINITY || l.rlim_cur >= end - here + 4 * STACK_BYTES)
		return true;		/* another thread's stack, an unknown one, or large enough */
	return set_wider(RLIMIT_STACK, &l, STACK_BYTES) || l.rlim_cur >= end - here + STACK_BYTES;
}

enum apart limits_make_room(size_t bytes)
{
	rlim_t all = process.mapped_bytes + bytes + OTHER_BYTES;
	struct rlimit l;

	if (get_program(RLIMIT_AS, &l) && l.rlim_cur != RLIM_INFINITY && !set_wider(RLIMIT_AS, &l, all) &&
	    all > l.rlim_cur / SMALL_PART)
		return APART_NO_ROOM;
	return has_stack() ? APART_NOT : APART_NO_STACK;
}

/* Sets the program's limit and our part; if the kernel refuses both together, the process leaves the recording. */
static int set_program(int resource, const struct rlimit *l)
{
	rlim_t by = need(resource);
	struct rlimit now;

	if (!by || !readable(l, sizeof(*l)) || l->rlim_cur > l->rlim_max)
		return real.setrlimit(resource, l);
	if (set_wider(resource, l, by))
		return 0;
	if (!get_program(resource, &now) || l->rlim_max > now.rlim_max)
		return real.setrlimit(resource, l);	/* the kernel refuses it without our part, too */
	if (resource == RLIMIT_AS)
		process_leave(APART_LEFT_NO_ROOM, true);
	added[resource].cur = added[resource].max = 0;
	return real.setrlimit(resource, l);
}

static int show_program(int resource, struct rlimit *l, int r)
{
	if (r == 0 && l && resource >= 0 && resource < (int)RLIMIT_NLIMITS) {
		l->rlim_cur = less(l->rlim_cur, added[resource].cur);
		l->rlim_max = less(l->rlim_max, added[resource].max);
	}
	return r;
}

int vprof_w_setrlimit(int resource, const struct rlimit *l)
{
	return set_program(resource, l);
}

int vprof_w_setrlimit64(int resource, const struct rlimit *l)
{
	return set_program(resource, l);
}

int vprof_w_getrlimit(int resource, struct rlimit *l)
{
	return show_program(resource, l, real.getrlimit(resource, l));
}

int vprof_w_getrlimit64(int resource, struct rlimit *l)
{
	return show_program(resource, l, real.getrlimit64(resource, l));
}

static bool is_own(pid_t pid)
{
	return pid == 0 || pid == (pid_t)process.pid;
}

int vprof_w_prlimit(pid_t pid, int resource, const struct rlimit *to, struct rlimit *from)
{
	struct rlimit before;

	if (!is_own(pid) || (to && !need(resource)))
		return is_own(pid) ? show_program(resource, from, real.prlimit(pid, resource, to, from))
				   : real.prlimit(pid, resource, to, from);
	if (real.prlimit(pid, resource, NULL, from ? from : &before))
		return -1;
	show_program(resource, from, 0);
	return to ? set_program(resource, to) : 0;
}

int vprof_w_prlimit64(pid_t pid, int resource, const struct rlimit *to, struct rlimit *from)
{
	return vprof_w_prlimit(pid, resource, to, from);
}

/* Allows the arena to leave memory, so that it no longer counts against the limit. */
static void unlock_arenas(void)
{
	const struct arena_map *a = process.arena;

	if (a->base && permitted(PERMIT_MUNLOCK))
		munlock(a->base, a->control->bytes);
}

/* False: everything together exceeds the lock limit, and the limit cannot be raised temporarily. */
static bool lock_wider(int flags)
{
	struct rlimit l;
	bool locked;

	if (!get_program(RLIMIT_MEMLOCK, &l) || !set_wider(RLIMIT_MEMLOCK, &l, need(RLIMIT_AS)))
		return false;
	locked = real.mlockall(flags) == 0;
	if (locked)
		unlock_arenas();
	set_real(RLIMIT_MEMLOCK, &l);
	added[RLIMIT_MEMLOCK].cur = added[RLIMIT_MEMLOCK].max = 0;
	return locked;
}

int vprof_w_mlockall(int flags)
{
	int r = real.mlockall(flags);

	if (!process.mapped_bytes || !(flags & MCL_CURRENT))
		return r;
	if (r == 0)
		unlock_arenas();
	else if (lock_wider(flags))
		r = 0;
	else if (errno == ENOMEM || errno == EAGAIN || errno == EPERM)
		r = process_leave(APART_LEFT_NO_ROOM, true) ? real.mlockall(flags) : r;
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omp.c - OpenMP: libgomp's and libomp's waits, which make their futex calls themselves.
 *
 * The compiler generates the calls, so they come here only through the loader's slots (plt_hooks.c).  A
 * region's function is called through share(), which knows when each thread has done its share:
 *
 *	T1 GOMP_parallel(f)	f 10..12		waits 12..40, class join, woken by T2 at 39
 *	T2			f 10..39, stamp
 *
 * Each barrier of a region has a name, (region, number of barriers before it), under which each arriving
 * thread leaves a stamp: the last one wakes the others.
 *
 * Threads execute tasks while they wait in a barrier.  So once a region has created tasks, its barriers and
 * its end are not recorded as waits, since which part of them is waiting is unknown.
 */
#include <stdarg.h>
#include "runtime/waits/object.h"
#include "runtime/waits/wait.h"
#include "runtime/wrappers/real.h"

struct region {
	void (*function)(void *);	/* of libgomp's */
	void *data;
	void (*micro)(int *, int *, ...);	/* of libomp's */
	const struct thread *caller;
	struct wait wait;		/* the caller's, from when its share is done */
	int has_tasks;
};

/* A region that a thread takes part in. */
struct part {
	struct region *region;
	unsigned int barrier_cnt;
	struct part *outer;
};

static __thread struct part *current __attribute__((tls_model("initial-exec")));

/* The call does nothing but wait, so spinning in it is waiting, too. */
IN_WRAPPER struct wait begin(enum wait_class class, uint64_t object)
{
	struct wait w = vprof_self.gate ? wait_begin(class, object) : (struct wait){ .on = false };

	w.at_least = CALL_TICKS_MIN;
	w.is_lock = class == WAIT_LOCK;
	return w;
}

static bool may_run_tasks(struct region *r)
{
	return __atomic_load_n(&r->has_tasks, __ATOMIC_RELAXED);
}

static uint64_t end_of(const struct region *r)
{
	return releasers_private((uint64_t)r);
}

/* Runs also for a share that is left early (cancelled). */
static void leave(struct part *p)
{
	struct region *r = p->region;

	current = p->outer;
	if (r->caller != &thread_self)
		releasers_stamp(end_of(r));
	else if (!may_run_tasks(r))
		r->wait = begin(WAIT_JOIN, end_of(r));
}

static void share(void *arg)
{
	struct part part __attribute__((cleanup(leave))) = { .region = arg, .outer = current };

	current = &part;
	part.region->function(part.region->data);
}

#define REGION(name, ...) struct region name __attribute__((cleanup(end_region))) = { .caller = &thread_self, __VA_ARGS__ }

static void end_region(struct region *r)
{
	if (may_run_tasks(r))
		r->wait.at_least = UINT64_MAX;
	wait_end(&r->wait);
}

#define X(type, name, params, args)								\
	type vprof_w_##name params								\
	{											\
		REGION(region, .function = f, .data = data);					\
												\
		if (vprof_self.gate) {								\
			f = share;								\
			data = &region;								\
		}										\
		real.name args;									\
	}
OMP_PARALLEL_ALIASES(X)
#undef X

/* ---- barriers ---- */

struct barrier_wait {
	struct wait wait;
	struct region *region;
};

IN_WRAPPER struct barrier_wait arrive(void)
{
	struct part *p = current;
	struct barrier_wait b = { .region = NULL };
	uint64_t object;

	if (!p || !process.waiters)
		return b;
	b.region = p->region;
	object = releasers_name(end_of(p->region)) ^ (uint64_t)++p->barrier_cnt << 20;
	releasers_stamp(object);
	if (!may_run_tasks(p->region))
		b.wait = begin(WAIT_COND, object);
	return b;
}

static void depart(struct barrier_wait *b)
{
	if (b->region && may_run_tasks(b->region))	/* tasks made by other threads meanwhile */
		b->wait.at_least = UINT64_MAX;
	wait_end(&b->wait);
}

#define X(type, name, params, args)								\
	type vprof_w_##name params								\
	{											\
		struct barrier_wait wait __attribute__((cleanup(depart), unused)) = arrive();	\
		return real.name args;								\
	}
OMP_BARRIER_ALIASES(X)
#undef X

#define X(type, name, params, args)								\
	type vprof_w_##name params								\
	{											\
		if (current)									\
			__atomic_store_n(&current->region->has_tasks, 1, __ATOMIC_RELAXED);	\
		return real.name args;								\
	}
OMP_TASK_ALIASES(X)
#undef X

/* ---- locks ---- */

static char unnamed_critical;

void vprof_w_GOMP_critical_start(void)
{
	WAITING wait = begin(WAIT_LOCK, releasers_private((uint64_t)&unnamed_critical));
	real.GOMP_critical_start();
}

void vprof_w_GOMP_critical_end(void)
{
	releasers_stamp_lock(releasers_private((uint64_t)&unnamed_critical));
	real.GOMP_critical_end();
}

void vprof_w_GOMP_critical_name_start(void **name)
{
	WAITING wait = begin(WAIT_LOCK, releasers_private((uint64_t)name));
	real.GOMP_critical_name_start(name);
}

void vprof_w_GOMP_critical_name_end(void **name)
{
	releasers_stamp_lock(releasers_private((uint64_t)name));
	real.GOMP_critical_name_end(name);
}

/* The thread whose turn it was passes it to the next. */
static uint64_t turn(void)
{
	return current ? releasers_private((uint64_t)&current->region->data) : 0;
}

void vprof_w_GOMP_ordered_start(void)
{
	WAITING wait = current ? begin(WAIT_COND, turn()) : (struct wait){ .on = false };
	real.GOMP_ordered_start();
}

void vprof_w_GOMP_ordered_end(void)
{
	if (current)
		releasers_stamp(turn());
	real.GOMP_ordered_end();
}

void vprof_w_omp_set_lock(void *lock)
{
	WAITING wait = begin(WAIT_LOCK, releasers_private((uint64_t)lock));
	real.omp_set_lock(lock);
}

void vprof_w_omp_unset_lock(void *lock)
{
	releasers_stamp_lock(releasers_private((uint64_t)lock));
	real.omp_unset_lock(lock);
}

void vprof_w_omp_set_nest_lock(void *lock)
{
	WAITING wait = begin(WAIT_LOCK, releasers_private((uint64_t)lock));
	real.omp_set_nest_lock(lock);
}

void vprof_w_omp_unset_nest_lock(void *lock)
{
	releasers_stamp_lock(releasers_private((uint64_t)lock));
	real.omp_unset_nest_lock(lock);
}

/* ---- libomp ---- */

enum { MICRO_WORDS = 15 };		/* what a region's function is given; one that takes less does not look at the rest */

#define WORDS(w) w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14]

static void read_words(va_list list, unsigned int cnt, void *ret[MICRO_WORDS])
{
	for (unsigned int i = 0; i < MICRO_WORDS; i++)
		ret[i] = i < cnt ? va_arg(list, void *) : NULL;
}

/* libomp passes as many words as the fork got; the region comes first. */
static void share_micro(int *global, int *bound, struct region *r, void *a, void *b, void *c, void *d, void *e, void *f,
			void *g, void *h, void *i, void *j, void *k, void *l, void *m, void *n)
{
	struct part part __attribute__((cleanup(leave))) = { .region = r, .outer = current };

	current = &part;
	r->micro(global, bound, a, b, c, d, e, f, g, h, i, j, k, l, m, n);
}

void vprof_w___kmpc_fork_call(void *location, int cnt, void (*micro)(int *, int *, ...), ...)
{
	REGION(region, .micro = micro);
	void *w[MICRO_WORDS];
	va_list list;

	va_start(list, micro);
	read_words(list, cnt < 0 ? 0 : (unsigned int)cnt, w);
	va_end(list);
	if (vprof_self.gate && cnt >= 0 && cnt < MICRO_WORDS)
		real.__kmpc_fork_call(location, cnt + 1, (void (*)(int *, int *, ...))share_micro, &region, WORDS(w));
	else
		real.__kmpc_fork_call(location, cnt, micro, WORDS(w));
}

void vprof_w___kmpc_critical(void *location, int tid, void *lock)
{
	WAITING wait = begin(WAIT_LOCK, releasers_private((uint64_t)lock));
	real.__kmpc_critical(location, tid, lock);
}

void vprof_w___kmpc_end_critical(void *location, int tid, void *lock)
{
	releasers_stamp_lock(releasers_private((uint64_t)lock));
	real.__kmpc_end_critical(location, tid, lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.c - see devices.h.
 *
 * The table is mapped when the process joins the run, before the program can have closed the descriptor.  Processes that it forks keep
 * the mapping, programs that it executes inherit the descriptor.
 */
#include <errno.h>
#include <sys/mman.h>
#include "runtime/causal/devices.h"
#include "runtime/rules/permit.h"
#include "runtime/rules/readable.h"
#include "runtime/thread.h"

#define GET(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)

static __thread uint32_t own_place __attribute__((tls_model("initial-exec")));	/* 0: not known */

/* A number that is another file's may be shorter than the table. */
static bool is_table(const struct device_wait *t, uint64_t number)
{
	return readable(t, sizeof(*t)) && GET(&t->number) == number && readable(t + DEVICE_WAITS - 1, sizeof(*t));
}

const struct device_wait *devices_map(const struct arena_map *a)
{
	struct arena_experiment *e = &a->control->experiment;
	uint64_t number = GET(&e->waits_number);
	int saved_errno = errno;
	void *t = MAP_FAILED;

	if (!number)
		return NULL;
	if (permitted(PERMIT_MMAP) && permitted(PERMIT_MUNMAP))
		t = mmap(NULL, DEVICE_WAIT_TABLE_BYTES, PROT_READ, MAP_SHARED, (int)GET(&e->waits_fd), 0);
	if (t != MAP_FAILED && !is_table(t, number)) {
		munmap(t, DEVICE_WAIT_TABLE_BYTES);
		t = MAP_FAILED;
	}
	if (t == MAP_FAILED)
		__atomic_fetch_add(&e->blind_cnt, 1, __ATOMIC_RELAXED);
	errno = saved_errno;
	return t == MAP_FAILED ? NULL : t;
}

static bool is_own(const struct device_wait *w)
{
	return GET(&w->tid) == thread_self.slot->tid && GET(&w->pid) == thread_self.slot->pid;
}

/* NULL: it has none. */
static const struct device_wait *find_own(void)
{
	const struct device_wait *waits = process.arena->waits;

	if (!waits || !thread_self.slot)
		return NULL;
	if (own_place && is_own(&waits[own_place]))
		return &waits[own_place];
	for (unsigned int step = 0; step < DEVICE_WAIT_STEPS; step++) {
		own_place = DEVICE_WAIT_PLACE(thread_self.slot->tid, step);
		if (is_own(&waits[own_place]))
			return &waits[own_place];
	}
	own_place = 0;
	return NULL;
}

uint64_t devices_total(void)
{
	const struct device_wait *w = GET(&process.arena->control->experiment.waits_count) ? find_own() : NULL;

	return w ? GET(&w->total) : 0;
}

uint64_t devices_from(const struct shift *s)
{
	return GET(&process.arena->waits[s->wait % DEVICE_WAITS].from) - GET(&process.arena->control->experiment.waits_ahead);
}

void devices_begin(struct shift *s)
{
	const struct device_wait *w = GET(&process.arena->control->experiment.waits_count) ? find_own() : NULL;

	if (!w)
		return;
	__atomic_store_n(&s->seen, GET(&w->total), __ATOMIC_RELEASE);
	__atomic_store_n(&s->wait, own_place, __ATOMIC_RELEASE);
}

void devices_end(struct shift *s)
{
	__atomic_store_n(&s->wait, 0, __ATOMIC_RELEASE);
}

void devices_join(struct shift *s)
{
	const struct arena_experiment *e = &process.arena->control->experiment;

	if (e->kind == EXPERIMENT_DEVICE || (e->kind == EXPERIMENT_IO && !e->has_keys))
		devices_begin(s);
}

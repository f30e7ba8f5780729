/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.c - reads the clock of each process's CPU time.
 *
 * The difference to the last look is what the process took.  A new process counts from its start, if it can
 * have begun since the last look; one that took more is older.
 *
 *	look	pid 70	pid 71		taken
 *	0 ms	5000 ms			0: it ran before it was recorded
 *	100 ms	5080 ms	15 ms		80 + 15: 71 is new
 *	200 ms		60 ms		45: 70 has ended, and what it still took is not known
 *
 * A process that begins and ends between two looks is never met, and the time after the last look is missing,
 * so that costs compared with this sum seem larger than they are.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include "drainer/usage.h"

static uint64_t clock_now(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) ? 0 : (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t usage_own_ns(void)
{
	return clock_now(CLOCK_THREAD_CPUTIME_ID);
}

void usage_init(struct usage *u, uint64_t now_ns)
{
	struct stat st;

	*u = (struct usage){ .at_ns = now_ns };
	u->pid_namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

void usage_release(struct usage *u)
{
	VEC_RELEASE(&u->known);
	VEC_RELEASE(&u->found);
}

static int by_pid(const void *a, const void *b)
{
	const struct usage_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Threads of a process mostly have their slots side by side; the others are found by their order. */
static void find_processes(struct usage *u, const struct arena_map *a)
{
	uint64_t cnt = a->control->thread_cnt;
	uint32_t last = 0;

	u->found.cnt = 0;
	for (uint64_t i = 1; i <= cnt && i <= ARENA_SLOTS; i++) {
		const struct arena_slot *slot = &a->slots[i];
		uint32_t pid = __atomic_load_n(&slot->pid, __ATOMIC_RELAXED);

		if (!__atomic_load_n(&slot->used, __ATOMIC_ACQUIRE) || pid == last || !pid ||
		    slot->pid_namespace != u->pid_namespace)
			continue;
		VEC_ADD(&u->found, (struct usage_process){ pid, 0 });
		last = pid;
	}
	if (u->found.cnt)
		qsort(u->found.items, u->found.cnt, sizeof(u->found.items[0]), by_pid);
}

static uint64_t process_ns(uint32_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid((pid_t)pid, &clock) ? 0 : clock_now(clock);
}

/* ns: what its clock reads now.  A pid that was reused has a clock that reads less. */
static uint64_t taken_by(const struct usage *u, const struct usage_process *p, uint64_t elapsed_ns)
{
	const struct usage_process *before =
		u->known.cnt ? bsearch(p, u->known.items, u->known.cnt, sizeof(*p), by_pid) : NULL;

	if (before && before->ns <= p->ns)
		return p->ns - before->ns;
	return p->ns <= elapsed_ns ? p->ns : 0;
}

uint64_t usage_take(struct usage *u, const struct arena_map *a, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns - u->at_ns, sum = 0;
	size_t cnt = 0;

	find_processes(u, a);
	for (size_t i = 0; i < u->found.cnt; i++) {
		struct usage_process p = u->found.items[i];

		if (cnt && u->found.items[cnt - 1].pid == p.pid)
			continue;
		p.ns = process_ns(p.pid);
		sum += taken_by(u, &p, elapsed_ns);
		u->found.items[cnt++] = p;
	}
	u->known.cnt = 0;
	for (size_t i = 0; i < cnt; i++)
		VEC_ADD(&u->known, u->found.items[i]);
	u->at_ns = now_ns;
	return sum;
}

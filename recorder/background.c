/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * background.c - a thread inherits the blocked signals of its creator, so all are blocked there for a moment.
 */
#include "recorder/background.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/banned.h"

struct background {
	void *(*run)(void *context);
	void *context;
};

/* As the kernel has it (6.12 and later): older ones and programs of other policies ignore the slice. */
struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t slice_ns, unused[2];
};

enum { SLICE_NS = 100000 };		/* the shortest that there is */

/* The calling thread's; its nice value stays. */
static bool set_scheduling(uint32_t policy)
{
	struct scheduling s = { .size = sizeof(s), .policy = policy, .nice = getpriority(PRIO_PROCESS, 0), .slice_ns = SLICE_NS };

	return syscall(SYS_sched_setattr, 0, &s, 0) == 0;
}

void background_short_slices(void)
{
	if (sched_getscheduler(0) == SCHED_OTHER)
		set_scheduling(SCHED_OTHER);
}

static void *run_in_background(void *context)
{
	struct background *b = context;
	void *(*run)(void *) = b->run;
	void *arg = b->context;

	free(b);
	if (!set_scheduling(SCHED_BATCH)) {
		struct sched_param none = { 0 };

		pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
	}
	return run(arg);
}

int background_start(pthread_t *ret, void *(*run)(void *context), void *context)
{
	struct background *b = malloc(sizeof(*b));
	sigset_t all, old;
	int e;

	if (!b)
		return -ENOMEM;
	*b = (struct background){ run, context };
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	e = pthread_create(ret, NULL, run_in_background, b);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (e)
		free(b);
	return -e;
}

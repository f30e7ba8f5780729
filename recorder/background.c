/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * background.c - a thread inherits the blocked signals of its creator, so all are blocked there for a moment.
 */
#include "recorder/background.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include "base/banned.h"

int background_start(pthread_t *ret, void *(*run)(void *context), void *context)
{
	struct sched_param none = { 0 };
	sigset_t all, old;
	int e;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	e = pthread_create(ret, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!e)
		pthread_setschedparam(*ret, SCHED_BATCH, &none);
	return -e;
}

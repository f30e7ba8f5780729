/* SPDX-License-Identifier: Apache-2.0 */
/*
 * once.c - pthread_once(): the routine gets no argument, so what surrounds it travels in a variable of
 * the thread.
 *
 *	T1 pthread_once(o, init): runs init 10..50, stamps o at 50
 *	T2 pthread_once(o, init) from 20: waits 20..52, class lock, woken by T1 at 50
 */
#include "runtime/waits/object.h"
#include "runtime/wrappers/once.h"
#include "runtime/wrappers/real.h"

static __thread struct once_call *current __attribute__((tls_model("initial-exec")));

struct once_call once_begin_from(uint64_t caller, const void *once, void (*routine)(void))
{
	struct once_call c = { .routine = routine };

	if (vprof_self.gate && !object_once_is_done(once))
		c.wait = wait_begin_call_from(caller, WAIT_LOCK, object_of(once, false));
	return c;
}

/* Runs also if the routine throws or is cancelled: then another caller runs it. */
static void stamp(struct once_call **c)
{
	releasers_stamp((*c)->wait.object);
}

static void run_routine(void)
{
	struct once_call *c __attribute__((cleanup(stamp))) = current;

	current = c->outer;
	if (c->wait.expected.object)
		releasers_forget(&c->wait.expected);
	c->wait.expected.object = 0;
	c->wait.on = false;
	c->routine();
}

void (*once_routine(struct once_call *c, void (*routine)(void)))(void)
{
	if (!c->wait.on)
		return routine;
	c->outer = current;
	current = c;
	return run_routine;
}

void once_end(struct once_call *c)
{
	if (current == c)
		current = c->outer;
	wait_end(&c->wait);
}

int vprof_w_pthread_once(pthread_once_t *once, void (*routine)(void))
{
	struct once_call call __attribute__((cleanup(once_end))) = once_begin(once, routine);

	return real.pthread_once(once, once_routine(&call, routine));
}

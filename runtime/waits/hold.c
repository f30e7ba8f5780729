/* SPDX-License-Identifier: Apache-2.0 */
/* hold.c - a stack of at most eight holds; the oldest one is dropped if there are more. */
#include <string.h>
#include "runtime/causal/causal.h"
#include "runtime/thread.h"
#include "runtime/waits/hold.h"
#include "runtime/waits/releasers.h"

/* A shorter wait for a home-made lock without a known releaser does not count as a wait. */
#define HOLD_TICKS_MIN 2500

static void tell(struct thread_hold *hold)
{
	hold->awaited = releasers_expect(hold->awaited.object);
	hold->written = releasers_written(hold->awaited.name);
	hold->start = clock_ticks();
}

void holds_wait(void)
{
	struct thread *t = &thread_self;

	for (unsigned int i = 0; i < t->hold_cnt; i++)
		if (!t->holds[i].start)
			tell(&t->holds[i]);
}

void holds_woken(uint64_t waker, uint64_t woken)
{
	struct thread *t = &thread_self;
	struct thread_hold *innermost = t->hold_cnt ? &t->holds[t->hold_cnt - 1] : NULL;

	if (innermost) {
		innermost->waker = waker;
		innermost->woken = woken;
	}
}

static void forget(const struct thread_hold *hold)
{
	if (hold->start)
		releasers_forget(&hold->awaited);
}

void hold_begin(uint64_t object, bool never_spins)
{
	struct thread *t = &thread_self;
	struct thread_hold *hold;

	if (!never_spins)
		holds_wait();
	if (t->hold_cnt == THREAD_HOLDS) {
		forget(&t->holds[0]);
		if (t->arena)
			arena_count_dropped(t->arena, TABLE_LOCKS);
		t->hold_cnt--;
		memmove(&t->holds[0], &t->holds[1], t->hold_cnt * sizeof(t->holds[0]));
	}
	hold = &t->holds[t->hold_cnt];
	hold->awaited.object = object;
	hold->start = hold->waker = 0;
	hold->never_spins = never_spins;
	if (!never_spins)
		tell(hold);
	t->hold_cnt++;
}

/* False: there was no wait. */
static bool log_wait(const struct thread_hold *hold, enum wait_class class, uint64_t end)
{
	bool is_short = end - hold->start < HOLD_TICKS_MIN;
	uint64_t serial, waker = 0, woken = 0;

	if (!hold->start || (is_short && releasers_written(hold->awaited.name) == hold->written))
		return false;
	if (releasers_find(hold->awaited.name, hold->start, end, &serial, &woken) && serial != thread_self.serial)
		waker = waker_serial(serial);
	else if (is_short)
		return false;
	if (!waker && hold->never_spins) {
		waker = hold->waker;
		woken = hold->woken;
	}
	THREAD_LOG(EVENT_WAIT, hold->start, end, class, hold->awaited.name, waker, waker ? woken : 0);
	holds_woken(waker ? waker : hold->waker, waker ? woken : hold->woken);
	return true;
}

static void end_hold(struct thread *t, uint64_t object, enum wait_class class)
{
	unsigned int at = t->hold_cnt;
	struct thread_hold hold;
	uint64_t end;

	while (at > 0 && t->holds[at - 1].awaited.object != object)
		at--;
	if (!at) {			/* the lock was had without a wait, or the recording began meanwhile */
		if (class == WAIT_LOCK)
			releasers_took(object);
		return;
	}
	hold = t->holds[at - 1];
	end = hold.start ? clock_ticks() : 0;
	while (t->hold_cnt >= at)
		forget(&t->holds[--t->hold_cnt]);
	if (!log_wait(&hold, class, end) && class == WAIT_LOCK)
		releasers_took(object);
}

void hold_end(uint64_t object, enum wait_class class)
{
	end_hold(&thread_self, object, class);
	if (causal_on && class == WAIT_LOCK)
		causal_took(object);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.c - logs one blocked stretch: when, what for, and which thread ended it.
 *
 * Example: a thread finds a mutex taken at tick 100 by tid 31, blocks, and has it at 180.  The releaser, thread 3,
 * left a stamp at 170: WAIT 100..180, lock, waker 3, woken at 170.  Without a stamp (it released just before we
 * announced the wait) tid 31 is the waker, woken at 180: how long the wake-up took is unknown.
 *
 * A read() of 90 ticks during which the thread never left its CPU (switched.h), or only because it was preempted (slept.h), is no
 * WAIT: the function that called it ran, or wanted to.
 */
#include "runtime/causal/virtual_clock.h"
#include "runtime/shared/switched.h"
#include "runtime/waits/code.h"
#include "runtime/waits/hold.h"
#include "runtime/waits/outside.h"
#include "runtime/waits/slept.h"
#include "runtime/waits/wait.h"

struct wait wait_begin_from(uint64_t caller, enum wait_class class, uint64_t object)
{
	int saved_errno = errno;
	struct wait w = { .class = class, .not_caller = ~caller };

	w.on = thread_ready();
	if (w.on) {
		holds_wait();
		if (object)
			w.expected = releasers_expect(object);
		w.object = w.expected.name;
		if (causal_on)
			w.causal = causal_wait_begin(class, object);
		w.start = clock_ticks();
	}
	errno = saved_errno;
	return w;
}

struct wait wait_begin_call_from(uint64_t caller, enum wait_class class, uint64_t object)
{
	struct wait w = wait_begin_from(caller, class, object);

	w.at_least = CALL_TICKS_MIN;
	if (!w.on)
		return w;
	w.slept_before = slept_before();
	w.marked = __atomic_load_n(&thread_self.arena->control->switches_are_told, __ATOMIC_RELAXED);
	if (w.marked)
		switched_mark();
	return w;
}

/*
 * Called as soon as the call is over: there is one mark, and calls that look at files may set it again, or wait.  What is too short
 * for a wait is not asked about.
 */
static void look_at_mark(struct wait *w)
{
	w->stayed = w->stayed || (w->marked && switched_was_not());
	w->marked = false;
	if (w->slept_before && !w->stayed && clock_ticks() - w->start >= w->at_least)
		w->stayed = slept_was_not(w->slept_before);
	w->slept_before = 0;
}

bool wait_blocked(struct wait *w)
{
	look_at_mark(w);
	return w->on && !w->stayed && clock_ticks() - w->start >= w->at_least;
}

struct wait wait_begin_cond_from(uint64_t caller, uint64_t object, uint64_t mutex)
{
	struct wait w = wait_begin_from(caller, WAIT_COND, object);

	if (w.on) {
		w.also = releasers_expect_later(mutex);
		releasers_stamp_lock(mutex);
	}
	return w;
}

/* The thread that ended w, and when; 0 if the waker is unknown. */
static uint64_t find_waker(const struct wait *w, uint64_t end, uint64_t *ret_woken)
{
	uint64_t waker = 0, serial, ticks;

	*ret_woken = 0;
	if (w->object && releasers_find(w->object, w->start, end, &serial, ret_woken))
		waker = waker_serial(serial);
	if (w->also.name && releasers_find(w->also.name, w->start, end, &serial, &ticks) &&
	    ticks > *ret_woken && serial != thread_self.serial) {
		waker = waker_serial(serial);
		*ret_woken = ticks;
	}
	if (!waker && w->holder_tid) {
		waker = waker_tid(w->holder_tid);
		*ret_woken = end;
	}
	return waker;
}

static void log_wait(const struct wait *w, uint64_t end, uint64_t *ret_waker, uint64_t *ret_woken)
{
	uint64_t waker = 0, woken = 0;

	if (w->timed_out) {
		waker = WAKER_TIME_OUT;
		woken = end;
	} else if (!w->result) {
		waker = find_waker(w, end, &woken);
	}
	holds_woken(waker, woken);
	*ret_waker = waker;
	*ret_woken = woken;
	if (!waker && !w->result && w->file_cnt) {
		waker = outside_waker(w->files, w->file_cnt);
		woken = waker ? end : 0;
	}
	THREAD_LOG(EVENT_WAIT, w->start, end, wait_word(w->class, code_caller(~w->not_caller)) | (w->polls ? WAIT_POLLS : 0),
		   w->polls && !w->object ? OBJECT_POLLED : w->object, waker, woken);
}

/* A wait for a lock, an event or a thread is a wait for some thread of the run. */
static bool is_by_peer(const struct wait *w, uint64_t waker)
{
	if (waker)
		return waker != WAKER_TIME_OUT;
	return !w->timed_out && !w->result && w->class != WAIT_IO && w->class != WAIT_SLEEP;
}

static void tell_causal(const struct wait *w, bool blocked, uint64_t waker, uint64_t woken)
{
	enum causal_end end = w->timed_out ? CAUSAL_BY_TIME : is_by_peer(w, waker) ? CAUSAL_BY_PEER : CAUSAL_BY_OTHERS;

	causal_wait_end(&w->causal, blocked ? end : CAUSAL_STAYED, end == CAUSAL_BY_PEER ? woken : 0,
			(const uint64_t[]){ w->object, w->also.name });
}

/* A logged wait for a lock itself says when the lock was taken. */
static void tell_taken(const struct wait *w, bool is_logged)
{
	if (causal_on && w->is_lock && !w->result && w->expected.object)
		causal_took(w->expected.object);
	if (causal_on && w->class == WAIT_COND && w->also.object)
		causal_took(w->also.object);
	if (w->class == WAIT_LOCK && !is_logged && !w->result && w->expected.object)
		releasers_took(w->expected.object);
	if (w->class == WAIT_COND && w->also.object)
		releasers_took(w->also.object);
}

static void note_order(const struct wait *w, uint64_t end)
{
	if (w->order && w->expected.object && !w->result)
		order_note(w->object, w->order, end, end - w->start);
	if (w->class == WAIT_COND && w->also.object)
		order_note(w->also.name, ORDER_TAKE, end, 0);
}

void wait_end(struct wait *w)
{
	int saved_errno = errno;
	uint64_t end, waker = 0, woken = 0;
	bool is_logged;

	look_at_mark(w);
	if (__builtin_expect(clock_is_virtual, 0))
		w->ended = clock_ticks();
	if (!w->on)
		return;
	end = clock_ticks();
	if (w->expected.object)
		releasers_forget(&w->expected);
	if (w->also.object)
		releasers_forget(&w->also);
	is_logged = !w->stayed && end - w->start >= w->at_least && thread_ready();
	if (is_logged) {
		log_wait(w, end, &waker, &woken);
		if (!w->at_least)
			slept_uncounted();
	}
	if (causal_on)
		tell_causal(w, is_logged, waker, woken);
	tell_taken(w, is_logged);
	if (order_on)
		note_order(w, end);
	errno = saved_errno;
}

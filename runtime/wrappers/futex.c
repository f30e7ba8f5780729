/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex.c - the futex calls that programs make themselves: futex(), futex_waitv() and the newer futex_wait(),
 * futex_wake() and futex_requeue().
 *
 * libstdc++'s std::atomic::wait, std::latch, std::future and guards of local variables end up here, too, as
 * do the locks of GLib.
 *
 *	W syscall(SYS_futex, &word, FUTEX_WAIT, ...) from 10; S syscall(SYS_futex, &word, FUTEX_WAKE, 1)
 *	at 30: W waits 10..32, class cond, woken by S at 30
 *	W futex_waitv({ a, b }) returns 1: it was b
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include "runtime/rules/readable.h"
#include "runtime/waits/object.h"
#include "runtime/waits/until.h"
#include "runtime/waits/wait.h"
#include "runtime/wrappers/own_call.h"

/* The numbers are the same on all machines; the system's headers may not have them. */
enum { CALL_FUTEX_WAITV = 449, CALL_FUTEX_WAKE = 454, CALL_FUTEX_WAIT, CALL_FUTEX_REQUEUE };
enum { OP_LOCK_PI2 = 13, WORDS_MAX = 128 };

struct word {				/* struct futex_waitv */
	uint64_t value, address;
	uint32_t flags, reserved;
};

bool futex_counts(long number)
{
	return number == SYS_futex || number == CALL_FUTEX_WAITV ||
	       (number >= CALL_FUTEX_WAKE && number <= CALL_FUTEX_REQUEUE);
}

static bool may_wait(long op)
{
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case OP_LOCK_PI2:
		return true;
	default:
		return false;
	}
}

static bool may_wake(long op)
{
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
	case FUTEX_UNLOCK_PI:
		return true;
	default:
		return false;
	}
}

static uint64_t word_of(uint64_t address, uint64_t flags)
{
	return object_of((const void *)address, !(flags & FUTEX_PRIVATE_FLAG));
}

static void stamp(uint64_t address, uint64_t flags)
{
	int saved_errno = errno;

	releasers_stamp(word_of(address, flags));
	errno = saved_errno;
}

/* The waiter may have been moved to the second word. */
static void stamp_words(const long a[6])
{
	long command = a[1] & FUTEX_CMD_MASK;

	stamp((uint64_t)a[0], (uint64_t)a[1]);
	if (a[4] && command != FUTEX_WAKE && command != FUTEX_WAKE_BITSET && command != FUTEX_UNLOCK_PI)
		stamp((uint64_t)a[4], (uint64_t)a[1]);
}

static const struct word *words_at(long address, long cnt)
{
	const struct word *words = (const struct word *)address;

	return cnt > 0 && cnt <= WORDS_MAX && readable(words, (size_t)cnt * sizeof(*words)) ? words : NULL;
}

static void stamp_requeued(const long a[6])
{
	const struct word *words = words_at(a[0], 2);

	for (unsigned int i = 0; words && i < 2; i++)
		stamp(words[i].address, words[i].flags);
}

static void note(struct wait *w, long r)
{
	w->result = r < 0;
	w->timed_out = r == -ETIMEDOUT;
}

/* Whether its time is a moment, not a length of time. */
static bool has_deadline(const struct own_call *c)
{
	switch (c->number == SYS_futex && c->a[3] ? c->a[1] & FUTEX_CMD_MASK : -1) {
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
		return true;
	}
	return false;
}

static long wait_for(uint64_t word, const struct own_call *c, own_maker make)
{
	UNTIL u = { .of = NULL };
	WAITING wait = vprof_self.gate ? wait_begin_call_from(c->caller, WAIT_COND, word) : (struct wait){ .on = false };
	struct own_call moved;
	long r;

	if (clock_is_virtual && has_deadline(c)) {
		moved = *c;
		moved.a[3] = (long)until_real(&u, (const struct timespec *)c->a[3], &wait);
		c = &moved;
	}
	r = make(c);
	note(&wait, r);
	return r;
}

struct expected {
	unsigned int cnt;
	struct awaited words[WORDS_MAX];
};

static void forget_all(struct expected *e)
{
	for (unsigned int i = 0; i < e->cnt; i++)
		releasers_forget(&e->words[i]);
}

/* Not inlined, because its stack frame is large. */
static __attribute__((noinline)) long wait_for_any(const struct word *words, const struct own_call *c, own_maker make)
{
	WAITING wait = wait_begin_call_from(c->caller, WAIT_COND, 0);
	struct expected e __attribute__((cleanup(forget_all))) = { .cnt = 0 };
	long r;

	for (; wait.on && e.cnt < (unsigned long)c->a[1]; e.cnt++)
		e.words[e.cnt] = releasers_expect(word_of(words[e.cnt].address, words[e.cnt].flags));
	r = make(c);
	note(&wait, r);
	if (r >= 0 && r < (long)e.cnt)
		wait.object = e.words[r].name;
	return r;
}

static long wait_vector(const struct own_call *c, own_maker make)
{
	const struct word *words = vprof_self.gate ? words_at(c->a[0], c->a[1]) : NULL;

	return words ? wait_for_any(words, c, make) : make(c);
}

long futex_call(const struct own_call *c, own_maker make)
{
	switch (c->number) {
	case CALL_FUTEX_WAITV:
		return wait_vector(c, make);
	case CALL_FUTEX_WAIT:
		return wait_for(word_of((uint64_t)c->a[0], (uint64_t)c->a[3]), c, make);
	case CALL_FUTEX_WAKE:
		stamp((uint64_t)c->a[0], (uint64_t)c->a[3]);
		return make(c);
	case CALL_FUTEX_REQUEUE:
		stamp_requeued(c->a);
		return make(c);
	default:
		if (may_wait(c->a[1]))
			return wait_for(word_of((uint64_t)c->a[0], (uint64_t)c->a[1]), c, make);
		if (may_wake(c->a[1]))
			stamp_words(c->a);
		return make(c);
	}
}

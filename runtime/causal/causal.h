/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal.h - a thread's part in causal experiments (doc/design/causal.md).
 *
 * The hooks do nothing unless causal_on is set, that is, unless the run makes experiments:
 *
 *	a call of a target begins, ends		causal_enter(), causal_leave(): the shift grows in between
 *	a wait begins				causal_wait_begin(): settles; decides whether time off the CPU counts
 *	a wait ends				causal_wait_end(): settles, unless a thread of the run ended it
 *	the thread releases another one		causal_settle() before
 *	a lock is taken, is released		causal_took(), causal_let_go(): if it is the target's, the shift grows in between
 *	each 1 ms of CPU time			ticks.h: settles
 *	an interval begins or ends		causal_tell(): EVENT_SHIFT
 *
 * To settle is to pause, by sleeping or by holding the CPU, until the thread's shift equals that of the others.  Nothing here
 * allocates or locks.  A tick, or a handler of the program that leaves with siglongjmp(), may interrupt any of it.
 */
#ifndef RUNTIME_CAUSAL_CAUSAL_H
#define RUNTIME_CAUSAL_CAUSAL_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/shared/arena.h"

extern uint32_t causal_on __attribute__((visibility("hidden")));

/* Set in a site's gate: the function is a target of the block in force.  Larger than any thread's gate, so its probe calls C. */
#define CAUSAL_GATE 0x80u
/* Set in what vprof_enter() returns: the end of this call is for C, too.  No clock reaches this bit; where C sees all calls it is
 * 0. */
#if defined(__x86_64__) && !defined(VPROF_PORTABLE)
#define CAUSAL_CALL (1ULL << 63)
#else
#define CAUSAL_CALL 0ULL
#endif

struct causal_wait {			/* a wait that has begun */
	uint64_t from;			/* ns of the experiment's clock; 0: not part of an experiment */
	uint32_t block;
	bool counts;			/* the shift grows during it */
	bool was_in_target;		/* ... and grew before it */
	bool is_disk;			/* no thread of the run can end it */
};

/* The process takes part in a run, or is the child of a fork. */
void causal_prepare(void);
void causal_over(void);			/* it takes part in no run any more */
void causal_forked(void);

/* Sites were registered (or their gates set anew), or are removed. */
struct vprof_site;
void causal_sites_changed(void);
void causal_sites_gone(const struct vprof_site *sites, unsigned int cnt);

/* The thread has got a slot; shift: its parent's (causal_shift()), or 0.  The counterpart is called before it gives the slot
 * back. */
void causal_attach(void);
void causal_inherit(uint64_t shift);
void causal_detach(void);
uint64_t causal_shift(void);

/* A call of a site with CAUSAL_GATE has made the frame.  Returns 0, or CAUSAL_CALL. */
unsigned long long causal_enter(const struct vprof_frame *frame);
/* A frame ends; it may belong to such a call. */
void causal_leave(const struct vprof_frame *frame);

void causal_settle(void);

/* The lock of an object (runtime/waits/object.h) that only its holder releases, so not a semaphore. */
void causal_took(uint64_t object);
void causal_let_go(uint64_t object);	/* call it before the release; other objects have no effect */

void causal_order(uint64_t object);	/* ... of a lock, right before: whether waiters get the lock next */

/* A sleep until a time begins: times go on in real time. */
void causal_until(void);

enum wait_class;
/* may_be_peer: a thread of the run may end the wait. */
struct causal_wait causal_wait_begin(enum wait_class class, bool may_be_peer);
/* end: what ended the wait.  A thread of the run did at woken (ticks; 0: unknown), by a stamp of one of those names (0: none). */
enum causal_end { CAUSAL_STAYED, CAUSAL_BY_PEER, CAUSAL_BY_TIME, CAUSAL_BY_OTHERS };
void causal_wait_end(const struct causal_wait *w, enum causal_end end, uint64_t woken, const uint64_t names[2]);

/* G, to be stored in a stamp. */
uint64_t causal_max(void);

void causal_tell(void);

/* The thread's shift, and when that was; false: it takes part in none, or is in the middle of something. */
bool causal_clock(uint64_t *ret, uint64_t *ret_now);

/* ticks.c calls it at each tick.  pc: where it hit the thread. */
void causal_tick(uint64_t pc);

#endif

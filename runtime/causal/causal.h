/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal.h - a thread's part in causal experiments (doc/design/causal.md).
 *
 * The hooks, which do nothing unless causal_on, that is in a run that makes experiments at all:
 *
 *	a call of a target begins, ends		causal_enter(), causal_leave(): the shift grows meanwhile
 *	a wait begins				causal_wait_begin(): settles; time off the CPU counts, or does not
 *	a wait ends				causal_wait_end(): settles, unless a thread of the run ended it
 *	somebody is let go			causal_settle() before
 *	a lock is had, is let go		causal_took(), causal_let_go(): a lock of the target's, the shift grows meanwhile
 *	1 ms of CPU time is over		ticks.h: settles
 *	an interval begins or ends		causal_tell(): EVENT_SHIFT
 *
 * To settle is to stand still until the shift is that of the others, by sleeping, or by holding the CPU.  Nothing here
 * allocates or locks; all may be interrupted by a tick, or by a handler of the program's that leaves with siglongjmp().
 */
#ifndef RUNTIME_CAUSAL_CAUSAL_H
#define RUNTIME_CAUSAL_CAUSAL_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/shared/arena.h"

extern uint32_t causal_on __attribute__((visibility("hidden")));

/* Of a site's gate: a target of the block in force.  A gate above any thread's, so that its probe calls C. */
#define CAUSAL_GATE 0x80u
/* Of what vprof_enter() returns: the end of this call is for C, too.  No clock gets there; where C has all calls it is 0. */
#if defined(__x86_64__) && !defined(VPROF_PORTABLE)
#define CAUSAL_CALL (1ULL << 63)
#else
#define CAUSAL_CALL 0ULL
#endif

struct causal_wait {			/* of a wait that is under way */
	uint64_t from;			/* ns of the experiment's clock; 0: no part in an experiment */
	uint32_t block;
	bool counts;			/* the shift grows meanwhile */
	bool was_in_target;		/* ... and grew before */
	bool is_disk;			/* nobody of the run can end it */
};

/* The process takes part in a run; or is the child of a fork. */
void causal_prepare(void);
void causal_over(void);			/* it takes part in none any more */
void causal_forked(void);

/* Sites come (or their gates have been set anew), and go. */
struct vprof_site;
void causal_sites_changed(void);
void causal_sites_gone(const struct vprof_site *sites, unsigned int cnt);

/* The thread has a slot; shift: its parent's (causal_shift()), or 0.  It gives the slot back. */
void causal_attach(void);
void causal_inherit(uint64_t shift);
void causal_detach(void);
uint64_t causal_shift(void);

/* A call of a site with CAUSAL_GATE has the frame.  Returns 0, or CAUSAL_CALL. */
unsigned long long causal_enter(const struct vprof_frame *frame);
/* A frame ends, which may be of such a call. */
void causal_leave(const struct vprof_frame *frame);

void causal_settle(void);

/* A lock, by its object (runtime/waits/object.h), which only the thread itself lets go: no semaphore. */
void causal_took(uint64_t object);
void causal_let_go(uint64_t object);	/* before; any other object does nothing */

void causal_order(uint64_t object);	/* ... of a lock, right before: do those come next who wait? */

/* A sleep until a time begins: times go on in real time. */
void causal_until(void);

enum wait_class;
/* may_be_peer: a thread of the run may be who ends it. */
struct causal_wait causal_wait_begin(enum wait_class class, bool may_be_peer);
/* Who ended it: a thread of the run, at woken (ticks; 0: unknown), as a stamp of one of those names says (0: none). */
enum causal_end { CAUSAL_STAYED, CAUSAL_BY_PEER, CAUSAL_BY_TIME, CAUSAL_BY_OTHERS };
void causal_wait_end(const struct causal_wait *w, enum causal_end end, uint64_t woken, const uint64_t names[2]);

/* G, for a stamp that is being left. */
uint64_t causal_max(void);

void causal_tell(void);

/* By ticks.c, at a tick. */
void causal_tick(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locks.h - private to runtime/causal/: which locks are the target of the block in force.
 *
 *	lock:log_lock	a variable: the drainer has put its addresses into the arena
 *	lock:append	a function: each lock that a call of it takes, from then on and whoever holds it
 */
#ifndef RUNTIME_CAUSAL_LOCKS_H
#define RUNTIME_CAUSAL_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* The thread has just got that lock.  Whether it is the target's; one that its function took is from now on. */
bool locks_has(uint64_t object);

/* Whether code of the target is at that address, of kind EXPERIMENT_PC. */
bool locks_have_code(uint64_t address);

/* Before a lock is let go, and after it was had: whether others who wait for it come next (struct experiment_order). */
void locks_note_release(uint64_t object);
void locks_note_taking(uint64_t object);

#endif

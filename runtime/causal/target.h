/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - private to runtime/causal/: which functions are the target of the block in force.
 */
#ifndef RUNTIME_CAUSAL_TARGET_H
#define RUNTIME_CAUSAL_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/shared/arena.h"

/* Whether the function of that number is the target's, or one of them. */
bool target_has(uint32_t fid);

/* Whether a call of one is on the calling thread's shadow stack; the innermost one. */
bool target_is_open(void);
bool target_is_innermost(void);

/* The first thread of the process that sees that blocks begin, or end, sets the gates; others go on. */
void target_turn(uint32_t block);
void target_forked(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - which functions are the target of the block in force.  Private to runtime/causal/.
 */
#ifndef RUNTIME_CAUSAL_TARGET_H
#define RUNTIME_CAUSAL_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/shared/arena.h"

/* Whether the function of that number is one of the target. */
bool target_has(uint32_t fid);

/* Whether a call of the target is on the calling thread's shadow stack; finds the innermost one. */
bool target_is_open(void);
bool target_is_innermost(void);

/* The first thread that notices the begin or end of a block sets the gates; the others do not wait for it. */
void target_turn(uint32_t block);
void target_forked(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - our memory is no part of what the program's limits allow it.
 *
 *	the program: setrlimit(RLIMIT_AS, 64 MiB)	the kernel: 64 MiB and what the arena takes
 *	the program: getrlimit(RLIMIT_AS)		64 MiB
 *
 * Where the kernel does not let us have it so (a hard limit, and no right to raise it), the process stays out of the
 * recording, or leaves it.
 */
#ifndef RUNTIME_RULES_LIMITS_H
#define RUNTIME_RULES_LIMITS_H

#include <stddef.h>
#include "runtime/shared/arena.h"

/* Before so much is mapped: APART_NOT, or why it must not be. */
enum apart limits_make_room(size_t bytes);

/* Is rdtsc an instruction that ends the program? */
bool clock_is_off(void);

#endif

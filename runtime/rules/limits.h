/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - keeps the runtime's memory out of the program's resource limits.
 *
 *	the program: setrlimit(RLIMIT_AS, 64 MiB)	the kernel: 64 MiB and what the arena takes
 *	the program: getrlimit(RLIMIT_AS)		64 MiB
 *
 * If the kernel does not permit this (a hard limit, and no privilege to raise it), the process does not take part in the
 * recording, or leaves it.
 */
#ifndef RUNTIME_RULES_LIMITS_H
#define RUNTIME_RULES_LIMITS_H

#include <stddef.h>
#include "runtime/shared/arena.h"

/* Called before memory of that size is mapped: APART_NOT, or why it must not be. */
enum apart limits_make_room(size_t bytes);

/* Whether rdtsc would end the program. */
bool clock_is_off(void);

#endif

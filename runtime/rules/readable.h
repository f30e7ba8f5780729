/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readable.h - whether the runtime may read memory that the program passed to a system call.
 *
 *	semop(set, (struct sembuf *)8, 1)	EFAULT without us; we must not read there and crash
 *
 * The runtime sometimes needs a call's arguments before the call, to know which thread it will wake.  The check costs
 * about 0.1 us.
 */
#ifndef RUNTIME_RULES_READABLE_H
#define RUNTIME_RULES_READABLE_H

#include <stdbool.h>
#include <stddef.h>

bool readable(const void *at, size_t len);

#endif

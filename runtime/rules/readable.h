/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readable.h - may memory that the program gave to a system call be looked at?
 *
 *	semop(set, (struct sembuf *)8, 1)	EFAULT without us; we must not look there and crash
 *
 * What a call is about to do has sometimes to be known before it does it: whom it will wake.  Asking costs
 * about 0.1 us.
 */
#ifndef RUNTIME_RULES_READABLE_H
#define RUNTIME_RULES_READABLE_H

#include <stdbool.h>
#include <stddef.h>

bool readable(const void *at, size_t len);

#endif

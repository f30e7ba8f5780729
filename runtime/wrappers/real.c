/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real.c - weak references to what is wrapped, so that a static program does not get all of it.
 *
 * They have other names in C: "..." is written as the words that it stands for, and a pointer to a
 * weak function may be NULL.
 */
#include "runtime/wrappers/real.h"

#define X(type, name, params, args) \
	extern type real_##name params __asm__(#name) __attribute__((weak));
ALL_WRAPPERS(X)
#undef X

const struct real real = {
#define X(type, name, params, args) .name = real_##name,
	ALL_WRAPPERS(X)
#undef X
};

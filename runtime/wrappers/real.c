/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real.c - weak references to the wrapped functions, so that a static program does not link all of them.
 *
 * They have other names in C, since "..." is declared as separate words here, and since a pointer to a weak
 * function may be NULL.
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

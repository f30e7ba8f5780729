/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real.h - the functions that the wrappers wrap: real.read is the C library's read().
 *
 * A wrapper must not say read() itself: plt_hooks.c may have pointed the program's own read() at the
 * wrapper.  These pointers are filled when the program is loaded, by the loader's rules: where the
 * program or another preloaded library has a read() of its own, it is that one.
 *
 * NULL: nobody else in this (static) program calls it, so nobody calls its wrapper.  What wrappers call
 * beyond the function that they wrap has to be there: REAL_NEEDS.
 */
#ifndef RUNTIME_WRAPPERS_REAL_H
#define RUNTIME_WRAPPERS_REAL_H

#include "runtime/wrappers/wrappers.h"

struct real {
#define X(type, name, params, args) type (*name) params;
	ALL_WRAPPERS(X)
#undef X
};

extern const struct real real __attribute__((visibility("hidden")));

#define X(type, name, params, args) extern type vprof_w_##name params;
ALIAS_WRAPPERS(X)
CLOCK_WRAPPERS(X)
#undef X

/* In one file of the runtime other than real.c. */
#define REAL_NEEDS(name) static void *const needs_##name __attribute__((used)) = (void *)(name)

#endif

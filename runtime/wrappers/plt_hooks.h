/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plt_hooks.h - primitives called by code that was not instrumented: shared libraries, and the rest of the
 * program.
 */
#ifndef RUNTIME_WRAPPERS_PLT_HOOKS_H
#define RUNTIME_WRAPPERS_PLT_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

/* When the process has attached: points the calls of all that is loaded at the wrappers. */
void libraries_attach(void);

/* The same for what was loaded since.  Cheap if nothing was; takes the loader's lock. */
void libraries_look(void);

/* Are these functions all the C library's own, and nobody watches them there (valgrind does)? */
bool libraries_has_c(const void *const *functions, size_t cnt);

#endif

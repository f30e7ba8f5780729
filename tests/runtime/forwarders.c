/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * forwarders.c - what the instrumenter writes at the end of a unit: the runtime's wrapper of a
 * primitive if the program has a runtime, else the primitive itself.
 */
#define RUNTIME_VISIBILITY "hidden"
#include "runtime/wrappers/wrappers.h"

/* Not the C library's. */
#define X(type, name, params, args) extern type name params __attribute__((weak));
OMP_WRAPPERS(X)
#undef X

#define X(type, name, params, args)								\
	extern type vprof_x_##name params __attribute__((weak, visibility("default")));		\
	__attribute__((weak)) type vprof_w_##name params					\
	{											\
		return vprof_x_##name ? vprof_x_##name args : name args;			\
	}
RUNTIME_WRAPPERS(X)
#undef X

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.c - libvprof_shared.a: what an instrumented shared object is linked with.
 *
 * Its units call vprof_w_NAME.  The object may end up in a program with the runtime, which exports
 * vprof_x_NAME, or in one that knows nothing of us: the forwarder, hidden in the object, looks
 * whether the weak reference was resolved.
 */
#define RUNTIME_VISIBILITY "hidden"
#include "runtime/wrappers.h"

#define X(type, name, params, args)								\
	extern type vprof_x_##name params __attribute__((weak, visibility("default")));		\
	type vprof_w_##name params								\
	{											\
		return vprof_x_##name ? vprof_x_##name args : name args;			\
	}
RUNTIME_WRAPPERS(X)
#undef X

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exports.c - the names by which others find the runtime.
 *
 * libvprof.a is one object whose hidden names were made local, so nothing in it can clash with the user's.
 * The option -u vprof_anchor makes the linker take this object, and with it everything.
 */
#include "runtime/shared/clock.h"
#include "runtime/wrappers/wrappers.h"

__attribute__((visibility("default"))) const char vprof_anchor = 1;

#define X(type, name, params, args)								\
	__attribute__((visibility("default"))) type vprof_x_##name params;			\
	type vprof_x_##name params								\
	{											\
		return vprof_w_##name args;							\
	}
RUNTIME_WRAPPERS(X)
#undef X

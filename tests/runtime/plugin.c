/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plugin.c - an instrumented shared object, loaded and unloaded again by target.c. */
#define RUNTIME_VISIBILITY "hidden"
#include "tests/runtime/probes.h"

/* The forwarders as the instrumenter would write them. */
#define X(type, name, params, args)								\
	extern type vprof_x_##name params __attribute__((weak, visibility("default")));		\
	__attribute__((weak)) type vprof_w_##name params					\
	{											\
		return vprof_x_##name ? vprof_x_##name args : name args;			\
	}
RUNTIME_WRAPPERS(X)
#undef X

void plugin_call(void);

void plugin_call(void)
{
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	PROBE(child);
	vprof_w_pthread_mutex_lock(&m);
	vprof_w_usleep(1000);
	vprof_w_pthread_mutex_unlock(&m);
}

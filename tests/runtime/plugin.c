/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plugin.c - an instrumented shared object, loaded and unloaded again by target.c. */
#include "tests/runtime/probes.h"

void plugin_call(void);

void plugin_call(void)
{
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	PROBE(child);
	vprof_w_pthread_mutex_lock(&m);
	vprof_w_usleep(1000);
	vprof_w_pthread_mutex_unlock(&m);
}

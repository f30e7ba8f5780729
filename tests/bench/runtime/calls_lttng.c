/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calls_lttng.c - what pair_lttng.h calls at vprof's places. */
#include "leaf_lttng.h"

void bench_in(const void *site);
void bench_out(void);

void bench_in(const void *site)
{
	lttng_ust_tracepoint(leaf, in, (int)(long)site);
}

void bench_out(void)
{
	lttng_ust_tracepoint(leaf, out, 0);
}

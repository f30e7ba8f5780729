/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - the clock of machines for which there is no probe_MACHINE.h: a tick is a nanosecond. */
#include <time.h>
#include "runtime/shared/clock.h"

#if !defined(__x86_64__) || defined(VPROF_PORTABLE)
unsigned long long vprof_ticks(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}
#endif

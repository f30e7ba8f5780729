/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - ticks.
 *
 * Spans use vprof_ticks(), not fenced.  What is compared between threads (a release and the wait
 * that it ends) uses clock_ticks(): unfenced reads drift ahead of earlier loads by up to 170 ns.
 */
#ifndef RUNTIME_SHARED_CLOCK_H
#define RUNTIME_SHARED_CLOCK_H

#include "runtime/shared/probe.h"
#if defined(__x86_64__) && !defined(VPROF_PORTABLE)
#include "runtime/shared/probe_x86_64.h"

/* The time stamp counter: 7 of a probe's 8 ns. */
static inline unsigned long long vprof_ticks(void)
{
	unsigned int low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
	return (unsigned long long)high << 32 | low;
}

static inline unsigned long long clock_ticks(void)
{
	__asm__ __volatile__("lfence" : : : "memory");
	return vprof_ticks();
}

#else
#include "runtime/shared/probe_generic.h"

unsigned long long vprof_ticks(void);

static inline unsigned long long clock_ticks(void)
{
	return vprof_ticks();
}

#endif
#endif

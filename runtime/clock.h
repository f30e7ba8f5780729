/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - ticks, and the text that probes are made of.
 *
 * Spans use vprof_ticks(), not fenced.  What is compared between threads (a release and the wait
 * that it ends) uses clock_ticks(): unfenced reads drift ahead of earlier loads by up to 170 ns.
 */
#ifndef RUNTIME_CLOCK_H
#define RUNTIME_CLOCK_H

#if defined(__x86_64__) && !defined(VPROF_PORTABLE)
#include "runtime/probe_x86_64.h"
#else
#include "runtime/probe_generic.h"
#endif
#include "runtime/probe.h"

static inline unsigned long long clock_ticks(void)
{
#if defined(__x86_64__) && !defined(VPROF_PORTABLE)
	__asm__ __volatile__("lfence" : : : "memory");
#endif
	return vprof_ticks();
}

#endif

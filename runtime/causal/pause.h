/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pause.h - how a thread stands still.  Private to runtime/causal/.
 */
#ifndef RUNTIME_CAUSAL_PAUSE_H
#define RUNTIME_CAUSAL_PAUSE_H

#include <stdint.h>

/* The clock of the experiment; the thread's own CPU clock, 0: not permitted. */
uint64_t pause_now_ns(void);
uint64_t pause_cpu_ns(void);

/* Stands still for a part of that debt.  Returns for how long: real time, or CPU time if the threads compete for CPUs. */
uint64_t pause_for(uint64_t debt_ns);

#endif

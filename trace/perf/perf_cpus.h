/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_cpus.h - the interrupt or thread that each CPU is executing, which is the waker of a thread woken
 * there.
 */
#ifndef TRACE_PERF_PERF_CPUS_H
#define TRACE_PERF_PERF_CPUS_H

#include "trace/kernel/kernel.h"
#include "trace/perf/perf_line.h"

struct perf_cpus;

struct perf_waker {
	enum kernel_waker kind;
	uint32_t number;		/* 0 for a task: unknown */
	bool is_doubtful;		/* it may not have been a task at all */
};

/* Adds the names of devices that wake a thread to k. */
struct perf_cpus *perf_cpus_new(struct kernel_trace *k);
void perf_cpus_free(struct perf_cpus *c);

/* True if the event was about interrupts. */
bool perf_cpus_event(struct perf_cpus *c, const struct perf_line *l);

/* Another thread runs there: no interrupt is under way, even if its exit is missing. */
void perf_cpus_switched(struct perf_cpus *c, const struct perf_line *l);

struct perf_waker perf_cpus_waker(struct perf_cpus *c, const struct perf_line *l);

#endif

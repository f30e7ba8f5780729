/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf_tasks.h - tracks threads through perf's events, in order of time.
 */
#ifndef TRACE_PERF_PERF_TASKS_H
#define TRACE_PERF_PERF_TASKS_H

#include "trace/kernel/kernel.h"
#include "trace/perf/perf_cpus.h"
#include "trace/perf/perf_line.h"
#include "trace/perf/perf_script.h"

struct perf_tasks;

/* Adds its results to k->offs and k->lives, and sets k->start_ns.  choice may be NULL. */
struct perf_tasks *perf_tasks_new(struct kernel_trace *k, const struct perf_choice *choice);
void perf_tasks_free(struct perf_tasks *t);

/* Notes the name and process of the thread in which the event happened. */
void perf_tasks_seen(struct perf_tasks *t, const struct perf_line *l);

/* prev_state: as it is printed: "S", "R+", "D". */
void perf_tasks_switch_out(struct perf_tasks *t, uint32_t tid, struct perf_text comm,
			   struct perf_text prev_state, int64_t ns);
void perf_tasks_switch_in(struct perf_tasks *t, uint32_t tid, struct perf_text comm, int64_t ns);
void perf_tasks_woken(struct perf_tasks *t, uint32_t tid, struct perf_waker waker, int64_t ns);
void perf_tasks_iowait(struct perf_tasks *t, uint32_t tid);
void perf_tasks_fork(struct perf_tasks *t, uint32_t tid, uint32_t parent, struct perf_text comm, int64_t ns);
void perf_tasks_exit(struct perf_tasks *t, uint32_t tid, int64_t ns);
void perf_tasks_syscall(struct perf_tasks *t, const struct perf_line *l, bool enter);

/* End of input: threads that are off the CPU stay off.  Threads outside the selection keep only their name.
 * Returns the number of selected threads. */
size_t perf_tasks_end(struct perf_tasks *t, int64_t ns);

/* Threads that left the CPU twice without having come back in between. */
size_t perf_tasks_missed(const struct perf_tasks *t);
size_t perf_tasks_cnt(const struct perf_tasks *t);

#endif

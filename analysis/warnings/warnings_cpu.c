/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * warnings_cpu.c - threads that were off the CPU without a record of a wait; threads that waited for a CPU.
 *
 * The kernel's accounts of each thread (trace/read/off_cpu.h) show how much of the running time by the trace was not
 * running.
 */
#include "analysis/warnings/warnings.h"

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/saturate.h"
#include "base/str.h"

#define OTHERS_TOLD 3
#define UNKNOWN_SHARE 0.05		/* of the intervals' time or variance */

/* Sums all waits of that class in the tree: part of the mean latency, and of the variance. */
static void sum_waits(const struct findings *f, enum trace_state wait, double *ret_time, double *ret_share)
{
	*ret_time = *ret_share = 0;
	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];

		if (n->kind != NODE_WAIT || n->wait != wait)
			continue;
		*ret_share += n->share;
		if (f->interval.mean_ns > 0)
			*ret_time += n->mean_ns / f->interval.mean_ns;
	}
}

void warn_off_cpu(const struct analysis *a)
{
	const struct off_cpu *o = &a->t->off_cpu;
	uint64_t off_ns = unsigned_sum_saturated(o->placed_ns, o->unplaced_ns);
	_cleanup_(str_release) struct str rest = STR_INIT;
	double time, share;

	sum_waits(a->f, STATE_OTHER, &time, &share);
	if (o->unplaced_ns > off_ns / 10)
		str_addf(&rest, "; %.3g s more are in one of several functions, unknown in which, and count as their own time",
			 (double)o->unplaced_ns / 1e9);
	if (off_ns && o->unplaced_ns > off_ns / 2)
		findings_warn(a->f, "off-cpu-unknown",
			      "%.3g s of the running time threads were off the CPU, unknown when: functions' own "
			      "time is too long by that; vprof record --kernel says when, and why",
			      (double)o->unplaced_ns / 1e9);
	else if (o->placed_ns && (time > UNKNOWN_SHARE || share > UNKNOWN_SHARE))
		findings_warn(a->f, "off-cpu-unknown",
			      "for %.0f %% of the intervals' time threads were off the CPU, unknown why: in a system call of the "
			      "program's own, in a lock or a page fault inside a library; how long is measured, in which "
			      "function is an estimate where calls are shorter than 5 ms%s; vprof record --kernel tells what "
			      "it was", 100 * time, str_cstr(&rest));
}

/* "cc1 1.5, make 0.3" */
static void add_others(const struct findings *f, struct str *to)
{
	for (size_t i = 0; i < f->cpu.others.cnt && i < OTHERS_TOLD; i++) {
		str_addf(to, "%s%s %.2g", i ? ", " : "", f->cpu.others.items[i].comm, f->cpu.others.items[i].cpus);
	}
}

void warn_overloaded(const struct analysis *a)
{
	const struct cpu_found *c = &a->f->cpu;
	_cleanup_(str_release) struct str others = STR_INIT;

	if (!c->has_share || c->runqueue_share < OVERLOADED_SHARE)
		return;
	if (findings_waits_for_idle_cpus(a->f)) {
		findings_warn(a->f, "overloaded",
			      "your threads waited for a CPU for %.0f %% of the time in which they could run, mostly for one that was idle and "
			      "took so long to wake up; " IDLE_CPUS_REMEDY, 100 * c->runqueue_share);
		return;
	}
	add_others(a->f, &others);
	findings_warn(a->f, "overloaded",
		      "your threads waited for a CPU for %.0f %% of the time in which they could run%s%s%s; %s",
		      100 * c->runqueue_share, *str_cstr(&others) ? " (CPUs that others used: " : "", str_cstr(&others),
		      *str_cstr(&others) ? ")" : "",
		      c->is_exact ? "measure on a quieter machine" :
				    "which function that hits is chance: measure on a quieter machine, or with --kernel");
}

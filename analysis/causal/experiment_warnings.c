/* SPDX-License-Identifier: GPL-3.0-or-later */
/* experiment_warnings.c - the five of them, each one `if`. */
#include "analysis/causal/experiment_warnings.h"

#include <inttypes.h>

#include "base/banned.h"

#define OTHERS_MAX 0.05
#define SLOWEST_MAX 1.3
#define CROWDED_MAX 0.1
#define UNFAIR_MAX 0.1

#define WARN(e, code, ...) VEC_ADD(&(e)->warnings, (struct warning){ code, arena_printf((e)->arena, __VA_ARGS__) })

static void warn_busy(struct experiments *e, const struct experiment_facts *f)
{
	double share = f->cpu_cnt > 0 && f->others_cpus > 0 ? f->others_cpus / f->cpu_cnt : 0;

	if (share > OTHERS_MAX)
		WARN(e, "busy",
		     "other programs used %.0f %% of the CPUs: virtual time does not account for that, so gains may be off by"
		     " tens of points; run on a machine that does nothing else", 100 * share);
	else if (f->slowest_round > SLOWEST_MAX)
		WARN(e, "busy",
		     "baseline intervals of the slowest round took %.2g times as long as those of the fastest: the machine's"
		     " speed changes, so small gains mean nothing; run on a machine that does nothing else",
		     f->slowest_round);
}

static void warn_unfair(struct experiments *e, const struct experiment_facts *f)
{
	if (!(f->unfair_share > UNFAIR_MAX))
		return;
	if (f->unfair_lock)
		WARN(e, "unfair-lock",
		     "after %.0f %% of the releases of %s the same thread got it again while others waited: a change may change the order,"
		     " so do not rely on quantiles of what waits for it", 100 * f->unfair_share, f->unfair_lock);
	else
		WARN(e, "unfair-lock",
		     "after %.0f %% of the releases of a lock, which %s takes, the same thread got it again while others waited: a change"
		     " may change the order, so do not rely on quantiles of what waits for it", 100 * f->unfair_share,
		     f->unfair_function ? f->unfair_function : "no probed function");
}

void experiment_warnings(struct experiments *e, const struct experiment_facts *f)
{
	warn_busy(e, f);
	if (f->runqueue_share > CROWDED_MAX)
		WARN(e, "crowded",
		     "the run's threads waited for a CPU for %.0f %% of the time in which they could run: gains may be off;"
		     " use fewer threads, or more CPUs", 100 * f->runqueue_share);
	if (f->outside_cnt)
		WARN(e, "outside-clients",
		     "threads waited %" PRIu64 " times for a program outside the run, which does not slow down"
		     " with it: do not rely on quantiles or throughput; start the clients from the same command", f->outside_cnt);
	warn_unfair(e, f);
	if (f->sleeps_until && !f->virtual_clock)
		WARN(e, "deadline",
		     "the program sleeps until a given time, and its clocks run in real time: a load generator"
		     " sends more requests than it would; do not rely on quantiles or throughput, or ask with --virtual-clock");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cpu_words.c - words the lack of CPUs; no function is blamed for time in the run queue.
 *
 *	recorded with --kernel	waiting for a CPU causes 61 % ... : the machine had 5.1 runnable threads for 2 CPUs (others used
 *				1.9: sh 1.2, cc1 0.7); measure on a quieter machine
 *	of CPUs that were idle	... : in 93 % of it a CPU was idle and took so long to wake up, as in power saving or in a virtual
 *				machine; forbid deep idle states (cpupower idle-set -D 0), or measure on hardware
 *	without			parse causes 61 % ... .  But the machine had ...: your threads waited for one for 34 % of the time in
 *				which they could run; measure on a quieter machine, or with vprof record --kernel
 *
 * The second form appears only if the lack of CPUs may be the cause: running or waiting for a CPU is a large part of the intervals'
 * time, and the first cause is running time, or has no larger effect on the latency than the run queue may have.
 */
#include "report/words/cpu_words.h"

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "report/style.h"

#define POSSIBLE_MIN 0.1		/* of the mean latency that may be time in the run queue */
#define NOBODY 0.1			/* CPUs: less than this counts as unused by others */
#define THROTTLED_MIN 0.05
#define TOLD 3

static const struct factor *runqueue_of(const struct findings *f)
{
	for (size_t i = 0; i < f->factors.cnt; i++)
		if (factor_is_runqueue(&f->factors.items[i]))
			return &f->factors.items[i];
	return NULL;
}

/* The part of the mean latency that may be time in the run queue: recorded as such, or recorded as running time. */
static double possible_part(const struct findings *f, const struct factor *queue)
{
	double running_ns = 0;

	for (size_t i = 0; i < f->parts.cnt; i++)
		running_ns += f->parts.items[i].is_wait ? 0 : f->parts.items[i].mean_ns;
	if (!(f->interval.mean_ns > 0))
		return 0;
	return (running_ns * f->cpu.runqueue_share + (queue ? queue->mean_ns : 0)) / f->interval.mean_ns;
}

struct cpu_claim cpu_claim_of_cause(const struct summed_cause *c)
{
	return (struct cpu_claim){ c->how == HOW_RUNQUEUE, c->how != HOW_CPU, c->share };
}

struct cpu_claim cpu_claim_of_factor(const struct factor *x)
{
	return (struct cpu_claim){ factor_is_runqueue(x), x->kind == FACTOR_WAIT, x->share };
}

bool cpu_may_be_cause(const struct findings *f, struct cpu_claim x)
{
	const struct factor *queue = runqueue_of(f);

	if (!f->cpu.has_share || f->cpu.is_exact || f->cpu.runqueue_share < OVERLOADED_SHARE || x.is_runqueue ||
	    possible_part(f, queue) < POSSIBLE_MIN)
		return false;
	return !x.is_wait || (queue && queue->share >= x.share / 2);
}

static bool is_throttled(const struct cpu_found *c)
{
	return c->is_known && c->throttled >= THROTTLED_MIN;
}

/* " (others used 1.9: sh 1.2, cc1 0.7)"; " (hidden processes used 1.9)" */
static void add_others(struct str *to, const struct findings *f)
{
	double sum = findings_others_cpus(f);
	bool hidden = f->cpu.others.cnt == 1 && strcmp(f->cpu.others.items[0].comm, CPU_OTHERS) == 0;

	if (!f->cpu.is_known)
		return;
	if (sum < NOBODY) {
		str_addf(to, " (nobody else used them%s)",
			 is_throttled(&f->cpu) ? ": a CPU limit (cgroup) throttled your program" : "");
		return;
	}
	str_addf(to, hidden ? " (hidden processes used %.2g" : " (others used %.2g: ", sum);
	for (size_t i = 0; i < f->cpu.others.cnt && i < TOLD && !hidden; i++)
		str_addf(to, "%s%s %.2g", i ? ", " : "", f->cpu.others.items[i].comm, f->cpu.others.items[i].cpus);
	str_add(to, f->cpu.others.cnt > TOLD ? ", ..." : "");
	str_add(to, is_throttled(&f->cpu) ? "; and a CPU limit (cgroup) throttled your program)" : ")");
}

static void add_crowd(struct str *to, const struct findings *f)
{
	const struct cpu_found *c = &f->cpu;

	if (!c->is_known)
		str_add(to, "there were more threads than CPUs");
	else if (c->allowed_cnt < c->cpu_cnt)
		str_addf(to, "your threads may run on %u of the %u CPUs of a machine that had %.2g runnable threads", c->allowed_cnt,
			 c->cpu_cnt, c->runnable);
	else
		str_addf(to, "the machine had %.2g runnable threads for %u CPU%s%s", c->runnable, c->cpu_cnt, plural(c->cpu_cnt),
			 c->runnable < c->cpu_cnt ? " on average, and more at times" : "");
	add_others(to, f);
}

static void add_remedy(struct str *to, const struct findings *f)
{
	bool alone = f->cpu.is_known && findings_others_cpus(f) < NOBODY;

	str_add(to, alone && is_throttled(&f->cpu) ? "raise the limit" :
		    alone ? "run fewer threads, or on more CPUs" : "measure on a quieter machine");
	if (!f->cpu.is_exact)
		str_add(to, ", or with vprof record --kernel");
}

void cpu_add_reason(struct str *to, const struct findings *f, struct cpu_claim x)
{
	if (x.is_runqueue && findings_waits_for_idle_cpus(f)) {
		str_addf(to, " Why: in %.0f %% of it a CPU was idle and took so long to wake up, as in power saving or in a virtual machine; "
			 IDLE_CPUS_REMEDY ".", 100 * f->cpu.from_idle);
		return;
	}
	if (x.is_runqueue && f->cpu.is_known) {
		str_add(to, " Why: ");
		add_crowd(to, f);
		str_add(to, "; ");
	} else if (cpu_may_be_cause(f, x)) {
		str_add(to, " But ");
		add_crowd(to, f);
		str_addf(to, ": your threads waited for one for %.0f %% of the time in which they could run; ", 100 * f->cpu.runqueue_share);
	} else {
		return;
	}
	add_remedy(to, f);
	str_addc(to, '.');
}

char *cpu_text(const struct findings *f)
{
	struct str s = STR_INIT;

	if (!f->cpu.has_share || f->cpu.runqueue_share < OVERLOADED_SHARE)
		return NULL;
	str_addf(&s, "waited for a CPU for %.0f %% of the time in which the run's threads could run; ",
		 100 * f->cpu.runqueue_share);
	add_crowd(&s, f);
	return str_take(&s);
}

json_t *cpu_json(const struct findings *f)
{
	const struct cpu_found *c = &f->cpu;
	json_t *o = json_object(), *others = json_array();

	for (size_t i = 0; i < c->others.cnt; i++) {
		json_t *other = json_object();

		json_set(other, "comm", json_text(c->others.items[i].comm));
		json_set(other, "cpus", json_number(c->others.items[i].cpus));
		json_add(others, other);
	}
	json_set(o, "runqueue_share", c->has_share ? json_number(c->runqueue_share) : json_null());
	json_set(o, "others", others);
	json_set(o, "cpus", c->is_known ? json_integer(c->cpu_cnt) : json_null());
	json_set(o, "allowed_cpus", c->is_known ? json_integer(c->allowed_cnt) : json_null());
	json_set(o, "runnable", c->is_known ? json_number(c->runnable) : json_null());
	json_set(o, "stalled", c->has_stalled ? json_number(c->stalled) : json_null());
	json_set(o, "throttled", c->is_known ? json_number(c->throttled) : json_null());
	json_set(o, "from_idle", c->has_from_idle ? json_number(c->from_idle) : json_null());
	return o;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experiment_warnings.h - warns where the gains of causal experiments are unreliable, from facts that the caller measured.
 *
 *	busy		other programs had more than a twentieth of the CPUs, or the same work took 1.3 times as long in some rounds
 *	crowded		the run's threads spent over a tenth of their running time in the run queue
 *	outside-clients	threads waited for a program outside of the run, which was not slowed down with it
 *	unfair-lock	a lock that others wait for goes mostly to who had it before
 *	deadline	the program reads clocks or sleeps until a time, and those went on in real time
 */
#ifndef ANALYSIS_CAUSAL_EXPERIMENT_WARNINGS_H
#define ANALYSIS_CAUSAL_EXPERIMENT_WARNINGS_H

#include "analysis/causal/experiments.h"

struct experiment_facts {
	double others_cpus, cpu_cnt;	/* CPUs that other programs used; negative: not known */
	double slowest_round;		/* mean latency in the slowest round's baseline / that in the fastest's; 0: not known */
	double runqueue_share;		/* of the run's running time; negative: not known */
	uint64_t outside_cnt;		/* waits for a program outside of the run */
	double unfair_share;		/* of a lock's releases while others waited: the same thread had it again before them */
	const char *unfair_function;	/* ... in that function; NULL: not known */
	const char *unfair_lock;	/* the lock's name; NULL: not known */
	bool sleeps_until, virtual_clock;	/* sleeps until a time; in virtual time */
};

/* Adds the warnings that apply to e->warnings, the most important first. */
void experiment_warnings(struct experiments *e, const struct experiment_facts *f);

#endif

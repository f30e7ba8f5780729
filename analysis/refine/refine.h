/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refine.h - what to look into next, and when to stop (paper 3.3.4, Algorithm 3).
 *
 *	r = refinement_new(&project, &options);		r->levels is the plan of the first run
 *	while (record with r->levels)
 *		if (refinement_step(r, findings))	another r->levels, and why
 *			break;				r->stop says why not
 *
 * REFINE_PAPER goes down one level a run.  Algorithm 3 leaves needs_break_down() and mark_as_selected() open; here a
 * factor needs breaking down while a function of its calls others that carry no probe; a factor that does not is
 * selected and does not count among the k.
 *
 * REFINE_BUDGET takes all levels at once, as far as the probes' cost allows.  The first run counts calls, except of
 * functions that earlier runs never called.  A probe costs probe_ns per call, a dormant one dormant_ns.  Example:
 * mean 100 us, overhead 5 %: 5 us, 294 calls of 17 ns.  parse 1, hash 1000, log 2 calls an interval: parse and log
 * are recorded, hash is not: its time is in the body of its caller.  If that body is more than the threshold of the
 * variance, only what is below it competes for the budget in the next run.
 *
 * Time may also be in no recorded function at all.  Where an interval goes on in a function that merely says so and
 * returns (take() in: for (;;) { job = take(); transform(job); }) what its callers call is recorded next; where a
 * thread that is waited for was in no recorded function, the functions that threads may begin with, and what these
 * call.
 *
 * Or an interval is in the queue: between two commands of a transaction its thread is in none, and reads from the client in a
 * function around the one that put the interval aside.  These are recorded next, always.
 *
 * Or the wait is in a function that no recorded one is known to call: through a pointer, or from a unit without a
 * scan.  The caller of the primitive that blocked is known (struct waiter), so it is recorded next, whatever the call
 * graph says.
 *
 * If that leaves something open and nothing more fits, one interval in `gate` is recorded in full, with everything
 * below those bodies, and the others root-only.  Example, overhead 5 % of 100 us: hash is 17 us in full and .5 us
 * dormant; (17 - .5) / (5 - .5) = 3.7, one in 4 costs .5 + 16.5 / 4 = 4.6 us an interval on average.  (Those in full
 * take 17 % longer all the same.)
 *
 * Shares of different runs are never mixed: a step uses its own run's shares, and from earlier ones only how often
 * functions were called, and calls that the call graph lacks (struct observed_call).
 *
 * A caller that asks the user takes the step in two halves:
 *
 *	refinement_look(r, findings);
 *	while (refinement_question(r, findings, &q))
 *		refinement_answer(r, &q, does the user want to go deeper?);
 *	refinement_decide(r, findings);
 */
#ifndef ANALYSIS_REFINE_REFINE_H
#define ANALYSIS_REFINE_REFINE_H

#include "analysis/findings/findings.h"

struct refine_function {
	const char *name, *file;	/* file: its end is compared with that of the findings */
	uint32_t line;
	uint64_t key;			/* struct function; for observed calls */
	bool root;			/* where intervals start, end, resume: recorded in every run */
	bool always;			/* recorded in every run, also outside intervals */
	bool start;			/* a thread may begin with it */
	bool left_out;			/* its calls do not count: it is a child of no function */
	bool uncalled;			/* earlier runs recorded it, and it was never called: not in the first run's plan */
	bool looked_through;		/* not worth a probe, unless root or always: its callees stand in for it */
	const char *skipped;		/* why it cannot take a probe, or NULL */
};

struct refine_call {
	uint32_t caller, callee;	/* indexes into functions */
	double weight;			/* 1; 1/n for one of n that a pointer may lead to */
	uint32_t via;			/* index + 1 of the function that hands over to callee at its end, and whose caller this
					 * is: no call while that one is not called; 0: caller itself calls */
};

struct refine_project {			/* must outlive the refinement */
	const struct refine_function *functions;
	size_t function_cnt;
	const struct refine_call *calls;
	size_t call_cnt;
};

enum refine_policy { REFINE_BUDGET, REFINE_PAPER };
const char *refine_policy_name(enum refine_policy policy);	/* "budget", "paper" */

struct refine_options {
	enum refine_policy policy;
	uint32_t k;
	double threshold;		/* of Var(T) */
	uint32_t max_runs;
	/* budget only */
	double overhead;		/* the probes' part of the mean latency outside the queue */
	double probe_ns, dormant_ns;	/* computed cost of a call */
	uint32_t census_functions;	/* a run takes whole levels of the call graph, at least one, as long as
					 * they have no more new functions than this together */
};

#define REFINE_DORMANT_NS 0.5
#define REFINE_CENSUS_FUNCTIONS 1000
#define REFINE_GATED_MIN 45		/* expected number in full that call what is looked into: then 30 are nearly certain */

enum refine_level { REFINE_OUT, REFINE_DORMANT, REFINE_IN_INTERVALS, REFINE_ALWAYS };

enum refine_stop {
	REFINE_GOES_ON,
	REFINE_CLOSED,			/* every factor above the threshold is fully broken down */
	REFINE_NOTHING,			/* no factor is above the threshold */
	REFINE_UNRESOLVED,		/* too few intervals to decide whether the first factor, or any, counts */
	REFINE_TOO_DEAR,		/* the rest is called too often for the budget */
	REFINE_MAX_RUNS
};
const char *refine_stop_name(enum refine_stop stop);	/* "closed", "too-dear", ... */

/* The outcome for one of the k first factors; those that a deeper factor explains are left out. */
enum refine_verdict_kind {
	REFINE_VERDICT_END,		/* it calls no function of the project that was not recorded */
	REFINE_VERDICT_DEEPER,		/* the next run records what it calls */
	REFINE_VERDICT_OPEN		/* it calls more functions, which the next run does not record */
};
struct refine_verdict {
	uint32_t factor;		/* index into the findings' factors */
	enum refine_verdict_kind kind;
	const struct refine_function *unprobed;	/* a callee that cannot take a probe; or NULL */
	uint64_t needed;		/* further intervals needed to decide whether it counts; 0: it does */
	const struct refine_function *waiter;	/* DEEPER: it waits there without a probe, and the next run records it; or NULL */
};

/* Functions that a finished iteration has not looked into, and why. */
enum refine_left_why {
	REFINE_LEFT_FOREIGN,		/* vprof built nothing of that file */
	REFINE_LEFT_UNKNOWN,		/* it is in a file of which vprof built units, but in none of those */
	REFINE_LEFT_SKIPPED,		/* it cannot take a probe: function->skipped */
	REFINE_LEFT_OUT,		/* by [callgraph] leave-out, or as too small a function */
	REFINE_LEFT_DECLINED,		/* by the user */
	REFINE_LEFT_UNRECORDED,		/* it was in the plan, but carries no probe */
	REFINE_LEFT_OPEN		/* the next run would have recorded it */
};
struct refine_left {
	enum refine_left_why why;
	uint32_t waiter;		/* index into the findings' waiters, or UINT32_MAX: running time, */
	uint32_t caller;		/* ... of this function itself, which calls ... */
	const struct refine_function *function;	/* ... this one; for a wait, the function that waits; NULL: it is not
						 * the project's */
	double share;
};

/* Whether the user wants to look into a function.  NO: it adds no callees to the plan. */
enum refine_answer { REFINE_UNASKED, REFINE_YES, REFINE_NO };

struct refine_state;

struct refinement {
	struct refine_options options;
	enum refine_level *levels;	/* per function: the plan of the next run */
	bool *added;			/* per function: recorded in it, and not in the run before */
	enum refine_answer *answers;	/* per function */
	size_t recorded_cnt, dormant_cnt;	/* of levels */
	uint32_t gate;			/* the next run records one interval in `gate` in full; 1: all */
	uint64_t gate_intervals;	/* TOO_DEAR: the number of intervals with which a run could; 0: it could not */
	size_t uncalled_cnt;		/* functions that the first run's plan left out because earlier runs never saw
					 * a call */
	uint32_t run_cnt;		/* steps made */
	enum refine_stop stop;
	uint64_t needed;		/* REFINE_UNRESOLVED: approximate number of further intervals */
	double queue;			/* fraction of the run's mean latency in which others were served */
	double cost;			/* approximate cost of its probes, as a fraction of the rest of the mean latency */
	double probe_ns;		/* cost of a call: as computed, or more if runs showed it */
	VEC(struct refine_verdict) verdicts;	/* for the latest run, best factor first */
	VEC(struct refine_left) left;	/* for the latest run, if it was the last; above the threshold, largest first */
	struct refine_state *state;
};

/* Before the first step: the first run records these functions besides those that any plan has, and no others.  Returns how many of them
 * can take a probe. */
size_t refinement_begin_with(struct refinement *r, const bool *wanted);

struct refinement *refinement_new(const struct refine_project *p, const struct refine_options *o);
void refinement_free(struct refinement *r);
DEFINE_CLEANUP(struct refinement *, refinement_free);

/* f: what the run with r->levels found.  If it returns REFINE_GOES_ON, levels is the next plan; else
 * levels stays as it was. */
enum refine_stop refinement_step(struct refinement *r, const struct findings *f);

/* Its halves.  look: takes in the run's findings; no verdict is DEEPER yet. */
void refinement_look(struct refinement *r, const struct findings *f);
enum refine_stop refinement_decide(struct refinement *r, const struct findings *f);

/* After the step, for a caller that wants the same functions once more: it goes on, unless more intervals or runs are what is missing. */
void refinement_again(struct refinement *r);

const struct refine_function *refinement_function(const struct refinement *r, uint32_t index);

/* Something that refinement_decide() would break down. */
struct refine_question {
	uint32_t factor;		/* paper: index into the findings' factors */
	bool outside;			/* budget: because other threads wait for it */
	double share;			/* the factor's; budget: of the function's body and waits, or blamed on it */
	VEC(uint32_t) functions;	/* their callees would be recorded: one function, two of a pair, and wakers */
	VEC(uint32_t) callees;		/* those of them that are not recorded yet */
};

/* The next one without an answer; false if there is none (any more).  ret is zeroed at first, then
 * used again; refine_question_release() frees what it holds. */
bool refinement_question(struct refinement *r, const struct findings *f, struct refine_question *ret);
void refinement_answer(struct refinement *r, const struct refine_question *q, bool deeper);
void refine_question_release(struct refine_question *q);

#endif

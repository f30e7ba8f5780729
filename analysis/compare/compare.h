/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare.h - two sides of runs, or of hosts, base and head: what differs, by how much, how sure that is.
 *
 * The unit of inference is the run: the intervals of one run resemble each other.  The figure of a side is the geometric
 * mean of its runs' figures (the arithmetic mean if one of them is 0).  Example: p99 of three runs each, in ms:
 *
 *	base 10, 12, 11; head 15, 14, 17	ratio 1.40, 95 % 1.15 to 1.71: worse
 *
 * Sides with fewer than COMPARE_RUNS_MIN runs have figures, and no verdict.
 *
 * In a fleet the host is the unit: differences between hosts are in all runs of one.  This file's words on runs hold for hosts
 * then: each is compared as one run, and COMPARE_HOSTS_MIN of them are needed.
 */
#ifndef ANALYSIS_COMPARE_COMPARE_H
#define ANALYSIS_COMPARE_COMPARE_H

#include "analysis/findings/findings.h"
#include "base/diag.h"

#define COMPARE_RUNS_MIN 3
#define COMPARE_HOSTS_MIN 5
#define COMPARE_SAME 0.1		/* verdict "same": the confidence interval excludes a larger difference */

enum side { SIDE_BASE, SIDE_HEAD, SIDE_CNT };

struct compared_run {
	int64_t started_ns;
	const struct findings *findings;	/* of the same kind of interval in all runs; it has some */
	const char *host;		/* of hosts: its name, unique on its side; else NULL */
};
struct compared_side {
	const struct compared_run *runs;
	size_t cnt;
};

enum metric { METRIC_MEAN, METRIC_P50, METRIC_P90, METRIC_P99, METRIC_P999, METRIC_SD, METRIC_VAR, METRIC_CNT };
const char *metric_name(enum metric m);		/* "mean", ... "p99.9", "sd", "var" */
/* Returns false if no metric has that name. */
bool metric_find(const char *name, enum metric *ret);

enum verdict { VERDICT_UNKNOWN, VERDICT_SAME, VERDICT_BETTER, VERDICT_WORSE };
const char *verdict_name(enum verdict v);

struct compared_metric {
	const double *values[SIDE_CNT];	/* one per run; owned by the arena */
	double of[SIDE_CNT];		/* ns; var: ns^2; NAN: not known */
	double ratio;			/* head / base; NAN: not known */
	double ci95[2];			/* of the ratio */
	bool has_ci95;
	enum verdict verdict;
};

/* How a function of one side was found on the other side. */
enum match {
	MATCH_SAME,			/* in the same file, on any line; also for a part without a function */
	MATCH_MOVED,			/* in another file */
	MATCH_RENAMED,			/* one function went and one came in this file, between the same callers and callees */
	MATCH_SPLIT,			/* new; called only by one function, in the same file, whose own time fell */
	MATCH_NEW, MATCH_GONE
};
const char *match_name(enum match m);

/* A part of the latency (struct part) on both sides. */
struct change {
	const char *function, *file;	/* of the head; if gone, of the base */
	uint32_t line;			/* 0: not known */
	bool is_wait;
	enum trace_state wait;
	enum match match;
	const char *was, *was_file;	/* moved, renamed: in the base; split: the function it came from; else NULL */
	double of_ns2[SIDE_CNT];	/* Cov(X,T); adds up to Var(T) over all changes */
	double delta_ns2;
	double share_of_change;		/* NAN: Var(T) did not change */
	double ci95[2];			/* of delta_ns2 */
	bool has_ci95;
	double mean_ns[SIDE_CNT];
};

struct comparison {
	struct arena *arena;
	const char *interval;
	size_t run_cnt[SIDE_CNT];
	uint64_t interval_cnt[SIDE_CNT];
	bool by_host;			/* a run is all that a host did */
	size_t least;			/* runs that a side needs for a verdict */
	bool enough;			/* both have them; else "within these runs only" */
	bool paired;			/* base and head took turns, or are the same hosts: each is compared with its own */
	bool apart;			/* all runs of one side came before those of the other */
	struct compared_metric metrics[METRIC_CNT];
	VEC(struct change) changes;	/* largest absolute change first */
	struct compared_run *runs[SIDE_CNT];	/* in order of time; owned by the arena */
};

struct comparison *compare(const struct compared_side *base, const struct compared_side *head);
struct comparison *compare_hosts(const struct compared_side *base, const struct compared_side *head);
void comparison_free(struct comparison *c);	/* NULL is fine */
DEFINE_CLEANUP(struct comparison *, comparison_free);

/* ---- the gate: terms such as "p99>+10%,var>+25%,share:log_append>+5pt" ---- */

enum gate_result { GATE_PASS, GATE_FAIL, GATE_INCONCLUSIVE };
const char *gate_result_name(enum gate_result r);

enum gate_subject { GATE_METRIC, GATE_SHARE, GATE_TIME };

struct gate_term {
	const char *text;
	enum gate_subject subject;
	enum metric metric;		/* GATE_METRIC */
	const char *function;		/* all other kinds */
	bool falls;			/* "<-": a fall violates it */
	double amount;			/* 0.1: of +10% or +10pt */
	enum gate_result result;
	bool is_known;			/* all runs have that figure */
	double value;			/* ratio head / base; GATE_SHARE: the difference; NAN: not known */
	double ci95[2];
	bool has_ci95;
};

struct gate {
	struct arena *arena;
	VEC(struct gate_term) terms;
	enum gate_result result;
	uint64_t runs_needed;		/* estimate per side for a verdict on all terms; 0: not known, or there is a verdict */
};

/* EXIT_USAGE, naming the term, if it is malformed or names no metric.  Call gate_release() in any case. */
int gate_parse(const char *terms, struct gate *ret, struct diag *reterr);
void gate_release(struct gate *g);
/* EXIT_USAGE if a term names a function that no run has. */
int gate_check_functions(const struct gate *g, const struct compared_side *base, const struct compared_side *head,
			 struct diag *reterr);
void gate_judge(struct gate *g, const struct comparison *c);

#endif

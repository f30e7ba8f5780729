/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experiments.h - the results of causal experiments as data: names are the only text; no SQL, no files.
 *
 * analysis/causal computes them, store/ keeps them, report/ prints them.  The arena of a struct experiments owns everything that
 * it points to.  A gain is the fraction by which a metric falls (the throughput: rises).  A negative gain means it gets worse.
 */
#ifndef ANALYSIS_CAUSAL_EXPERIMENTS_H
#define ANALYSIS_CAUSAL_EXPERIMENTS_H

#include "analysis/findings/findings.h"

/* Metrics of an interval: the word for --metric, and the key of the baseline's value in JSON. */
#define GAIN_METRICS(X)						\
	X(MEAN,	      "mean",	    "mean_ns")			\
	X(VARIANCE,   "variance",   "variance_ns2")		\
	X(P50,	      "p50",	    "p50_ns")			\
	X(P90,	      "p90",	    "p90_ns")			\
	X(P99,	      "p99",	    "p99_ns")			\
	X(P999,	      "p99.9",	    "p99.9_ns")			\
	X(THROUGHPUT, "throughput", "throughput_per_s")

enum gain_metric {
#define X(id, name, key) GAIN_##id,
	GAIN_METRICS(X)
#undef X
	GAIN_CNT
};

const char *gain_metric_name(enum gain_metric m);
const char *gain_metric_key(enum gain_metric m);
bool gain_metric_parse(const char *name, enum gain_metric *ret);
double gain_metric_quantile(enum gain_metric m);		/* 0.99; 0: the metric is not a quantile */

/* The kinds of targets.  Only a replay (replay.h) accepts the last four. */
#define ASKED_KINDS(X)	\
	X(FUNCTION, "function")	\
	X(BODY,	    "body")	\
	X(PC,	    "pc")	\
	X(IO,	    "io")	\
	X(LOCK,	    "lock")	\
	X(DEVICE,   "device")	\
	X(WAIT,	    "wait")	\
	X(QUEUE,    "queue")	\
	X(RUNQUEUE, "runqueue")	\
	X(CPUS,	    "cpus")

enum asked_kind {
#define X(id, name) ASKED_##id,
	ASKED_KINDS(X)
#undef X
	ASKED_KIND_CNT
};

const char *asked_kind_name(enum asked_kind kind);

enum { CPUS_MOST = 8192 };

/* "io@read_block" -> ASKED_IO, *ret_name "read_block", which points into text; "io": NULL.  "cpus:8" -> "8", a number from 1 to
 * CPUS_MOST.  Returns false if text is no target. */
bool experiment_target_parse(const char *text, enum asked_kind *ret_kind, const char **ret_name);

/* Only a replay can answer it: a running thread cannot wait faster, and pausing other threads would free the CPUs in question.
 * The prediction is an upper bound, because it does not contain waits that the change would cause. */
static inline bool kind_is_replayed_only(enum asked_kind kind)
{
	return kind >= ASKED_WAIT;
}

#define GAIN_FLAT 0.02			/* gains nearer than that are the same */

struct gain {
	double value;			/* of the metric in the experiment's blocks: ns, ns^2, or per second */
	double gain;
	double ci95[2];			/* of gain, widened by the floor; only if has_ci95 */
	double p_value;			/* of "no effect", over all targets of that speedup (Holm); only if has_ci95 */
	bool known;			/* both sides have intervals that count; else all fields are 0 */
	bool has_ci95;
	double predicted;		/* by a replay of an ordinary run; only if has_predicted */
	bool has_predicted;
};

struct experiment {			/* one target at one speedup */
	const char *target;		/* as the user writes it */
	enum asked_kind kind;
	const char *function, *file;	/* NULL: none, or not known */
	double speedup;			/* 0.5: the target takes half as long; replayed only: 1, "as if it were not there" */
	uint64_t rounds;		/* rounds that count; 0: only replayed */
	uint64_t set_aside;		/* rounds left out because something else disturbed one of their blocks */
	uint64_t interval_cnt;
	double delay_ns;		/* total pause of the threads in its blocks */
	const char *limit;		/* what took most of the rest with the target that much faster, as a target; NULL: not looked for */
	struct gain metrics[GAIN_CNT];
};

struct refusal {
	const char *target, *why;
	const char *instead;		/* NULL: there is no substitute */
};

enum experiments_end { ENDED_NARROW, ENDED_TIME };

struct experiments {
	struct arena *arena;
	const char *interval;		/* its name */
	uint64_t baseline_cnt;		/* intervals with nothing faster */
	double baseline[GAIN_CNT];	/* 0 if no interval counts */
	enum gain_metric metric;		/* by which the experiments are judged */
	double floor;			/* error of the method itself, as a fraction of the metric; every ci95 includes it */
	bool replayed;			/* predictions from the run's own trace; the program did not run */
	enum experiments_end ended;
	size_t best;			/* index into list; SIZE_MAX: no experiment has a known gain */
	VEC(struct experiment) list;	/* the experiments of a target are adjacent, by speedup */
	VEC(struct refusal) refused;
	VEC(struct warning) warnings;
};

struct experiments *experiments_new(void);
void experiments_free(struct experiments *e);	/* NULL is fine */
DEFINE_CLEANUP(struct experiments *, experiments_free);

/*
 * Sets e->best to the experiment to name first: the largest gain by the metric, among those whose confidence interval is above 0
 * (replayed: whose prediction is above 0).  It first tries each target at the speedup nearest to 0.5, then all speedups, then also
 * the targets that only a replay answers, whose predictions are upper bounds.
 */
void experiments_choose_best(struct experiments *e);

/* The smallest speedup of the target beyond which e->metric gains nothing more; NULL: the curve goes on, or it has one point. */
struct experiment *experiments_flat_from(const struct experiments *e, const char *target);

/* The number of a target among those of the list; *ret_cnt: how many there are.  SIZE_MAX: it is none. */
size_t experiments_target_number(const struct experiments *e, const char *target, size_t len, size_t *ret_cnt);

void experiments_refuse(struct experiments *e, const char *target, const char *why, const char *instead);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experiments.h - what causal experiments found, as data: no text but names, no SQL, no files.
 *
 * analysis/causal makes it, store/ keeps it, report/causal words it.  Everything a struct experiments points to lives in its
 * arena.  A gain is the fraction by which a metric falls, of the throughput by which it rises; a negative one: it gets worse.
 */
#ifndef ANALYSIS_CAUSAL_EXPERIMENTS_H
#define ANALYSIS_CAUSAL_EXPERIMENTS_H

#include "analysis/findings/findings.h"

/* Of an interval; the first word is the one of --metric, the second the key of a baseline's value in JSON. */
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
double gain_metric_quantile(enum gain_metric m);		/* 0.99; 0: it is no quantile */

/* What is made faster.  The last three can only be asked of a replay (replay.h). */
#define ASKED_KINDS(X)	\
	X(FUNCTION, "function")	\
	X(BODY,	    "body")	\
	X(PC,	    "pc")	\
	X(IO,	    "io")	\
	X(LOCK,	    "lock")	\
	X(DEVICE,   "device")	\
	X(WAIT,	    "wait")	\
	X(QUEUE,    "queue")	\
	X(RUNQUEUE, "runqueue")

enum asked_kind {
#define X(id, name) ASKED_##id,
	ASKED_KINDS(X)
#undef X
	ASKED_KIND_CNT
};

const char *asked_kind_name(enum asked_kind kind);

/* "io@read_block" -> ASKED_IO, *ret_name "read_block", inside text; "io": NULL.  false: it is no target. */
bool experiment_target_parse(const char *text, enum asked_kind *ret_kind, const char **ret_name);

/* It is answered by a replay alone: nobody can wait faster, and a pause of others frees the CPUs that are asked for.  Its
 * prediction is an upper bound: waits that would begin to happen are not in it. */
static inline bool kind_is_replayed_only(enum asked_kind kind)
{
	return kind >= ASKED_WAIT;
}

struct gain {
	double value;			/* of the metric in the experiment's blocks: ns, ns^2, or a second */
	double gain;
	double ci95[2];			/* of gain, with what the method itself may be off; only if has_ci95 */
	double p_value;			/* "no effect", over all targets of that speedup (Holm); only if has_ci95 */
	bool known;			/* some interval counted on both sides; else all of it is 0 */
	bool has_ci95;
	double predicted;		/* by a replay of a run in which nothing was made faster; only if has_predicted */
	bool has_predicted;
};

struct experiment {			/* one target, so much faster */
	const char *target;		/* as the user writes it */
	enum asked_kind kind;
	const char *function, *file;	/* NULL: none, or not known */
	double speedup;			/* 0.5: the target takes half as long; replayed only: 1, "as if it were not there" */
	uint64_t rounds;		/* that count; 0: it was not run, only replayed */
	uint64_t set_aside;		/* rounds that are left out: something else hit one of their blocks */
	uint64_t interval_cnt;
	double delay_ns;		/* that were paid in its blocks, all together */
	struct gain metrics[GAIN_CNT];
};

struct refusal {
	const char *target, *why;
	const char *instead;		/* NULL: there is nothing */
};

enum experiments_end { ENDED_NARROW, ENDED_TIME };

struct experiments {
	struct arena *arena;
	const char *interval;		/* its name */
	uint64_t baseline_cnt;		/* intervals with nothing faster */
	double baseline[GAIN_CNT];	/* 0 where nothing was counted */
	enum gain_metric metric;		/* by which the experiments are judged */
	double floor;			/* what the method itself may be off, a part of the metric; inside all ci95 */
	bool replayed;			/* nothing was run: predictions of the run's own trace */
	enum experiments_end ended;
	size_t best;			/* index into list; SIZE_MAX: nothing gains anything that is known */
	VEC(struct experiment) list;	/* a target's beside each other, by speedup */
	VEC(struct refusal) refused;
	VEC(struct warning) warnings;
};

struct experiments *experiments_new(void);
void experiments_free(struct experiments *e);	/* NULL is fine */
DEFINE_CLEANUP(struct experiments *, experiments_free);

/*
 * The experiment to name first: of each target's at the speedup nearest to a half the largest gain by the metric whose confidence
 * interval is above 0; replayed ones: the largest prediction above 0.  Where there is none, of all speedups; then of
 * what only a replay answers, which is an upper bound at that.  Sets e->best.
 */
void experiments_choose_best(struct experiments *e);

void experiments_refuse(struct experiments *e, const char *target, const char *why, const char *instead);

#endif

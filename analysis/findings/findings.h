/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * findings.h - what an analysis found, as data: no text, no SQL, no files.
 *
 * analysis/ makes it, store/ keeps it, report/ words it.  Everything a struct findings
 * points to lives in its arena.  Shares are fractions of Var(T), the population variance
 * (divisor n) of the interval's latency; where Var(T) is 0 every share is 0.
 */
#ifndef ANALYSIS_FINDINGS_FINDINGS_H
#define ANALYSIS_FINDINGS_FINDINGS_H

#include "trace/model.h"

#define NODE_NONE UINT32_MAX

enum node_kind { NODE_INTERVAL, NODE_FUNCTION, NODE_BODY, NODE_WAIT, NODE_BLAME };
const char *node_kind_name(enum node_kind kind);	/* "interval", "function", ... */

/*
 * A node of the variance tree; nodes[0] is the interval, parents stand before children. At every node: variance = sum
 * of the children's + 2 * their covariances, and share = sum of the children's shares.
 *   function  an activation path: the function below its parent, on the interval's own thread
 *   body      running time of the parent outside its probed callees (a leaf has none)
 *   wait      time the parent function was blocked, by class; below the interval itself for
 *             "queue" and for what blocked in no probed function
 *   blame     child of a wait: what the last waker in the chain was doing meanwhile; for a queue
 *             wait: what its thread was doing for others
 */
struct node {
	uint32_t id, parent;		/* parent: NODE_NONE for nodes[0] */
	enum node_kind kind;
	const char *function;		/* NULL: none (interval, queue wait), or unknown (blame); blame: "(disk)", "(nic)", "(timer)", "(kernel)", or
					 * a peer, such as "(127.0.0.1:5400)" */
	const char *file;		/* NULL if unknown */
	uint32_t line;			/* 0 if unknown */
	const char *call_site;		/* "server.c:28"; several joined by ","; NULL if unknown */
	bool is_wait;			/* wait is meaningful: NODE_WAIT, and blame of a blocked waker */
	enum trace_state wait;
	const char *device;		/* blame of a waker that waited for one: "disk", "nic", "timer", "kernel"; else NULL */
	const char *put_aside, *taken_up;	/* queue wait: the functions before and after most of it; NULL: not known, or no queue wait */
	double mean_ns;
	double variance_ns2;
	double share;			/* Cov(X,T)/Var(T) */
	double ci95[2];			/* its 95 % confidence interval; valid only if has_ci95 */
	bool has_ci95;			/* at least 30 intervals, and they vary */
	double variance_share;		/* Var(X)/Var(T) */
	double calls_per_interval;	/* function nodes; else 0 */
	double presence;		/* fraction of the intervals in which it took time or was called */
	bool open;			/* calls functions of the project that were not probed */
	bool is_system, is_loop;	/* its function: as in struct function */
	uint64_t samples;		/* its time is estimated from these, and has no variance (variance_ns2, variance_share); 0: it is exact */
};

/* A node with more children than this has only the larger ones of its pairs (in very large trees any node), see
 * analysis/factors/covariances.c. */
#define CHILDREN_WITH_ALL 64

/* A pair of siblings.  share = 2 Cov / Var(T), negative ones included. */
struct covariance {
	uint32_t parent, a, b;		/* node ids, a < b */
	double covariance_ns2;
	double share;
};

enum factor_kind { FACTOR_FUNCTION, FACTOR_BODY, FACTOR_WAIT, FACTOR_PAIR };
const char *factor_kind_name(enum factor_kind kind);

struct because {			/* waits only: the blames, best first */
	const char *function;		/* NULL: unknown; as a blame's */
	const char *file;
	bool is_wait;			/* it was blocked itself, in class wait */
	enum trace_state wait;
	double share;			/* of Var(T); they sum to the wait's share */
	const char *device;		/* as a blame's */
};

/*
 * A function (its body, a wait in it), summed over all its places, or a pair of siblings.
 * Kept for every factor, unselected; factors_select() applies k and threshold.  Left out: the
 * function that is all of the interval (root.c), and pairs below a millionth of Var(T).
 * Members of a pair are labelled "f", "body of f", "wait:lock in f", "wait:queue", "body".
 */
struct factor {
	enum factor_kind kind;
	const char *function;		/* as in struct node; of a pair: the first */
	const char *file;
	uint32_t line;
	const char *functions[2];	/* pairs: labels of both members, else NULL */
	bool is_wait;
	enum trace_state wait;		/* FACTOR_WAIT */
	double share;			/* Cov(X,T)/Var(T); pairs: 2 Cov/Var(T) */
	double ci95[2];			/* as in struct node */
	bool has_ci95;			/* of pairs: the 4,096 largest, from a thousandth on */
	bool resolved;			/* its rank is the same in 95 % of the draws; see has_resolved */
	bool has_resolved;		/* it has a rank, with the default threshold */
	uint32_t rank_low, rank_high;	/* its ranks in 95 % of the draws; 0: has no rank */
	uint64_t rank_needed;		/* approximate number of further intervals that would resolve it; 0: resolved, or no rank */
	double variance_share;		/* Var(X)/Var(T), X summed over its places before; pairs: 2 Cov/Var(T) */
	double paper_contribution;	/* sum of Var or 2 Cov over its nodes / Var(T), Algorithm 1 */
	double paper_ci95[2];		/* of paper_contribution */
	bool has_paper_ci95;
	bool paper_resolved, has_paper_resolved;	/* of its rank by paper_score */
	uint32_t height;
	double specificity;		/* (H - height)^2 */
	double score;			/* specificity * max(share, 0) */
	double paper_score;		/* specificity * paper_contribution */
	double tail_share;		/* (E[X|tail] - E[X]) / (E[T|tail] - E[T]); only if has_tail */
	bool has_tail;			/* at least 100 intervals are in the tail, and not all are */
	double work_share;		/* of what inherent work leaves: E Cov(X,T|W) / E Var(T|W) */
	bool has_work_share;		/* work was noted; pairs have none */
	double work_ci95[2];
	bool has_work_ci95;		/* as has_work_share, if work leaves anything */
	double trimmed_share;		/* share without the few intervals that carry the variance */
	bool has_trimmed;		/* there are such intervals (warning "outliers"); pairs have none */
	double mean_ns;
	double presence;		/* fraction of the intervals in which it took time */
	bool has_presence;		/* pairs have none */
	bool open;
	uint64_t samples;		/* as in struct node: no variance_share, no paper_contribution */
	strings call_sites;		/* sorted; items in the findings' arena, array too */
	VEC(struct because) because_of;	/* array in the arena */
};

/* All time without a CPU, of all functions (recorded runs). */
static inline bool factor_is_runqueue(const struct factor *x)
{
	return x->kind == FACTOR_WAIT && state_is_runqueue(x->wait) && !x->function;
}

/* Exact drop of Var(T), as a fraction, were the factor's time always its mean and nothing else changed:
 * own part and twice the shared one.  Negative: it makes up for something else. */
static inline double factor_gain(const struct factor *x)	/* a factor estimated from samples has none */
{
	return 2 * x->share - x->variance_share;
}

static inline double factor_work_score(const struct factor *x)
{
	return x->work_share > 0 ? x->specificity * x->work_share : 0;
}

struct inherent_work {			/* what VPROF_WORK says of the intervals */
	const char *names;		/* "bytes, rows"; NULL: none was noted, or too few intervals */
	uint64_t interval_cnt;		/* that noted any */
	double explained;		/* part of Var(T) */
};

struct tail {				/* the slowest intervals */
	double quantile;		/* 0.99 */
	int64_t from_ns;		/* the latency at that quantile; intervals of at least this are in the tail */
	uint64_t cnt;
	double mean_ns;
	int64_t fast_to_ns;		/* the group to compare with: at most the median */
	uint64_t fast_cnt;
	double fast_mean_ns;
};

/*
 * Running time of a function itself, or its waits of one class: every nanosecond of an interval is in exactly one
 * part.  All figures add up over the parts.
 */
struct part {
	const char *function;		/* NULL: none, or a queue wait */
	const char *file;
	bool is_wait;
	enum trace_state wait;		/* if is_wait */
	double mean_ns;
	double share;			/* Cov(X,T)/Var(T) */
	double tail_share;		/* as in struct factor; only if has_tail */
	double tail_ci95[2];
	bool has_tail, has_tail_ci95;
	double slow_mean_ns, fast_mean_ns;	/* mean time in the tail; in the fast intervals */
	double slow_presence, fast_presence;	/* fractions of these groups in which it took time */
	double variance_share;		/* Var(X)/Var(T) */
	double other_pairs;		/* 2 Cov/Var(T) with all parts that are in no pair below with it */
	bool is_estimated;		/* estimated from samples: no variance_share, no pairs, no presence */
	const double *bin_ns;		/* per bin: sum over its intervals; in the arena; NULL: there are no bins */
	const uint64_t *bin_present;	/* per bin: intervals in which it took time */
};

/* Intervals by latency: those from from_ns on, below the next bin's.  Sums over bins are the means of any class of latencies. */
struct latency_bin {
	int64_t from_ns;
	uint64_t cnt;
	double sum_ns;			/* of their latencies */
};

/*
 * Two parts that go together, wherever they are in the tree, or offset each other (share < 0): all from a
 * hundredth of Var(T) on.  Var(T) is the sum of the parts' variances and of all their pairs, so for each part
 *	share = variance_share + (sum of the shares of its pairs + other_pairs) / 2
 * A pair may repeat a pair of siblings, instead of adding to it: see within.
 */
struct part_pair {
	uint32_t a, b;			/* indexes into findings.parts */
	const char *labels[2];		/* as a factor's functions[]: in alphabetical order */
	double covariance_ns2;
	double share;			/* 2 Cov/Var(T) */
	double ci95[2];			/* as in struct node */
	bool has_ci95;
	bool across;			/* not just siblings in the tree: somewhere they are below different ones */
	uint32_t within;		/* index into findings.factors of the pair of siblings that contains all of
					 * it, or is it; NODE_NONE: several pairs do, or it is in different places of
					 * one function */
};

struct common_member {
	uint32_t part;			/* index into findings.parts */
	double contribution;		/* relative to how far the cause moves the latency; they may not add up to 1 */
};

/* Parts that vary together, more than each varies alone. */
struct common_cause {
	double explained;		/* of Var(T), by the principal component */
	double own;			/* sum of Var of the members, of Var(T) */
	double ci95[2];			/* of explained */
	VEC(struct common_member) members;	/* largest first; array in the arena */
};

enum cause_how { HOW_CPU, HOW_LOCK, HOW_QUEUE, HOW_IO, HOW_RUNQUEUE, HOW_OTHER };
const char *cause_how_name(enum cause_how how);	/* "cpu", "lock", ... */

/*
 * All time of one cause, the last known in a chain of wakers, over the whole tree: every nanosecond of the critical paths has exactly one, so the
 * shares sum to 1.  One cause may be unknown.
 */
struct summed_cause {
	bool known;
	const char *function, *file;	/* NULL: the run queue, a device, or unknown */
	uint32_t line;			/* 0 if unknown */
	bool is_wait;			/* it was blocked itself, nearly always in class wait; of the unknown cause: most of its time was */
	bool is_mixed;			/* it ran part of the time, and was blocked part of the time */
	enum trace_state wait;
	const char *peer;		/* not NULL: it is the cause, "HOST:PORT", a socket's path, or a file; function then waited for most of it */
	const char *device;		/* as a blame's */
	enum cause_how how;		/* its main way of acting on the intervals, for how_share of its share */
	double how_share;
	double share;			/* Cov(X,T)/Var(T) */
	double ci95[2];			/* as in struct node */
	bool has_ci95;
	double mean_ns;
	bool has_waiter;		/* the wait through which it acts most is known: waiter's, or the interval's own if that is NULL */
	const char *waiter, *waiter_file;
	uint32_t waiter_line;
	enum trace_state waited;
	double waiter_share;		/* of Var(T), through that wait */
	VEC(uint32_t) places;		/* ids of nodes; array in the arena */
	bool is_estimated;		/* some of its places are estimated from samples */
};

struct before_by {
	const char *function;		/* NULL: outside all recorded calls that had ended */
	double share;			/* of the variance of the time before the start; they sum to 1 */
};

/*
 * The time before the intervals: a request that came while its thread was busy waited that long, at most.  From the end of the
 * thread's last wait for a connection (poll, accept, read) to the start.  Where it is exact, from the arrival in the socket, it is
 * part of the interval (struct interval, begun_ns).
 */
struct before_start {
	uint64_t cnt;			/* intervals for which it is known */
	bool exact;
	uint64_t unknown_cnt;		/* exact: intervals for which it is not known */
	double mean_ns, sd_ns;
	int64_t p99_ns;
	VEC(struct before_by) by;	/* largest first; array in the arena */
};

#define TAIL_QUANTILE_DEFAULT 0.99
#define TAIL_INTERVALS_MIN 100		/* fewer say nothing about the tail */

struct interval_summary {
	const char *name;
	uint64_t cnt;
	uint64_t dropped_open, dropped_aborted, dropped_bad_path, dropped_lost;
	uint64_t nested, unmatched_ends;	/* struct pairing: starts inside another of the same key, ends without a start */
	bool has_pairing;		/* false for imported tuples, which have intervals but no starts and ends */
	double mean_ns, variance_ns2, stddev_ns;
	int64_t p50_ns, p90_ns, p99_ns, min_ns, max_ns;	/* nearest rank: the ceil(q n)-th smallest */
};

/*
 * The cost of recording functions: intervals that were recorded in full (those above) compared with root-only ones, chosen
 * by lot (record --sample).  Relative: 0.012 is 1.2 % more; low, high: the 95 % confidence interval.  A comparison
 * that was not made has the numbers 0.
 */
struct probing {
	uint64_t root_only_cnt;		/* 0: nothing was measured */
	double root_only_mean_ns, root_only_variance_ns2;
	int64_t root_only_p50_ns, root_only_p99_ns, root_only_max_ns;
	bool measured;			/* both groups have at least PROBING_GROUP_MIN, and the ratio means something */
	double mean, mean_low, mean_high;
	bool has_variance;		/* ... and the ratio of their variances does as well */
	double variance, variance_low, variance_high;
};

#define PROBING_GROUP_MIN 30
#define PROBING_BUDGET_DEFAULT 0.05
#define PROBE_NS 17.0			/* computed cost of a recorded call: two time stamps and a record */

struct interval_row {			/* one completed interval */
	uint64_t sid;
	bool root_only;			/* counts neither in the summary above nor in anything below */
	int64_t start_ns, end_ns;
	uint64_t start_tid, end_tid;
	uint32_t origin;		/* index into findings.origins, unless there are none */
	uint32_t connection, port, bytes_in, bytes_out;	/* of a request on a socket: struct request; connection 0: it is none */
};

/* The callee was recorded directly inside the caller, perhaps through functions without probes, and no static call
 * explains it.  Functions are identified by key (struct function), and calls are kept with the project, not the run. */
struct observed_call {
	uint64_t caller, callee;
};

/*
 * Waits of the interval's own threads in a function that carries no probe; for the tree they are waits of the probed
 * function around it (inside).  The caller of the primitive that blocked is known by its return address.
 */
struct waiter {
	const char *inside, *inside_file;	/* as of a wait's node: the innermost probed function; NULL: none */
	uint32_t inside_line, inside_function;	/* inside_function: of the trace, not kept */
	enum trace_state wait;
	const char *function, *file;	/* the function that waited; NULL: its file has no name for it */
	uint32_t line;
	uint64_t key;			/* key of the project's function; 0: the project has none of that name there */
	const char *module;		/* the program or library that it is in */
	bool is_built;			/* vprof built units of that file */
	bool is_outer;			/* it called, perhaps through others, the function that waited, which has an
					 * entry of its own */
	double share, mean_ns;		/* as of a node */
};

struct warning {
	const char *code;		/* vprof-show(1), WARNINGS: "no-waker", "bad-path", "losses", ... */
	const char *text;		/* one sentence with what to do */
};

struct cpu_other {
	const char *comm;		/* as the process calls itself, made harmless; or CPU_OTHERS */
	double cpus;			/* mean number of CPUs that it used */
};
#define CPU_OTHERS "(others)"		/* processes that are hidden, and further ones */
#define CPU_STOLEN "(other virtual machines)"

#define OVERLOADED_SHARE 0.25		/* for comparison: a calm machine that starts a demo has 0.13 */

/* Whether there were enough CPUs for the run's threads, and which processes used them: for the whole run, not one
 * kind of interval. */
struct cpu_found {
	bool has_share;
	double runqueue_share;		/* fraction of the time in which the run's threads could run that they waited
					 * for a CPU */
	bool is_exact;			/* the times of waiting are recorded (record --kernel), not only their sum */
	bool is_known;			/* it was measured (record): all fields below are valid */
	uint32_t cpu_cnt, allowed_cnt;	/* of the machine; on which the run's threads may run */
	double runnable;		/* mean number of threads of all processes that ran or were ready to run */
	bool has_stalled;
	double stalled;			/* fraction of the time in which a thread waited for a CPU (PSI) */
	double throttled;		/* fraction of the time in which a control group was at its limit, of each CPU */
	bool has_from_idle;
	double from_idle;		/* fraction of the waits for a CPU, as variance has them, in which it had nothing else to do */
	VEC(struct cpu_other) others;	/* largest user first; array in the arena */
};

struct findings {
	struct arena *arena;
	struct interval_summary interval;
	struct tail tail;
	struct inherent_work work;
	struct probing probing;
	struct cpu_found cpu;
	struct before_start before;
	uint32_t root_height;		/* H */
	VEC(struct node) nodes;
	VEC(struct covariance) covariances;
	VEC(struct factor) factors;	/* in no particular order */
	VEC(struct part) parts;		/* largest excess in slow intervals first */
	VEC(struct latency_bin) bins;	/* on request: analyze.h */
	VEC(struct part_pair) part_pairs;	/* largest first, whatever their sign */
	VEC(struct common_cause) common_causes;	/* best first */
	VEC(struct summed_cause) causes;	/* largest share first */
	VEC(struct interval_row) intervals;	/* in order of start, sid */
	VEC(struct trace_origin) origins;	/* of intervals: in order of run; a run that was not merged has one */
	VEC(struct warning) warnings;	/* most important first */
	VEC(struct waiter) waiters;	/* largest share first */
	VEC(struct observed_call) observed;	/* of the whole run, in order of the keys */
	strings interval_names;		/* all names of intervals in the trace, for choosing another */
	uint64_t clamped;		/* invariants mended and counted, see analyze.h */
	struct look look;		/* the trace's; only is_one is kept */
	uint64_t samples, effective_samples;	/* in the intervals; the number of equal ones with the same uncertainty; not kept */
};

/* The length of a peer's name in a blame's function: of the text in parentheses, from the second character on; 0: it is no peer. */
size_t findings_peer_len(const char *function);

struct findings *findings_new(void);
void findings_free(struct findings *f);		/* NULL is fine */
DEFINE_CLEANUP(struct findings *, findings_free);

/* The indexes of f->intervals, slowest first, equal ones in order of start; the caller frees it. */
size_t *findings_by_latency(const struct findings *f);

/* Per node: the sum of its children's covariances that are not listed; NAN: all are.  The caller frees it. */
double *findings_other_covariances(const struct findings *f);

/*
 * The 95 % confidence interval of a share: share -+ half, cut at 0 and at 1 where the share itself is between them.  A share
 * may be beyond: where parts offset each other, one has more than all of the variance and another less than none.
 */
void findings_ci95(double share, double half, double ret[2]);
/* Its half before the cut. */
double findings_ci95_half(double share, const double ci95[2]);

/* Adds a warning in its place: the most important comes first, equals in order of appearance. */
void findings_warn(struct findings *f, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The ranking of vprof-formats(5): drop what is not above threshold, best score first, the
 * first k.  paper: Algorithm 1 to the letter (functions and sibling pairs, by paper_score and
 * paper_contribution); else functions, bodies and waits by score and share.  all: keep
 * everything (no threshold, no k).  Ties: lower height, larger share, then by name.
 * Fills order with indexes into f->factors; the caller frees it.  Returns their number.
 */
struct select_options {
	uint32_t k;			/* 0: no limit */
	double threshold;
	bool paper, all;
};
size_t factors_select(const struct findings *f, const struct select_options *o, uint32_t **ret_order);
/* For reports: leaves out functions that have little beyond a factor before them, and takes the k best of the others.  With paper or all,
 * as factors_select(). */
size_t factors_select_reported(const struct findings *f, const struct select_options *o, uint32_t **ret_order);

/* Whether factor x is a function that has little beyond one of the reported ones. */
bool factor_only_contains(const struct findings *f, uint32_t x, const uint32_t *told, size_t cnt, double threshold);

/* The same ranking by the shares that inherent work leaves; returns 0 if none was noted.  Ignores o->paper. */
size_t factors_select_after_work(const struct findings *f, const struct select_options *o,
				 uint32_t **ret_order);

/*
 * The pairs that a report lists beside the factors: above limit (a share, without its sign), largest first; the caller frees *ret.
 * hedges: those that offset each other, of siblings and across the tree; else those that take long together, across.
 * Texts are the findings'.
 */
struct reported_pair {
	const char *labels[2], *below[2];	/* below: the siblings that contain them, or NULL */
	double share, ci95[2];
	bool has_ci95, across;
	bool either;			/* no real hedge: an interval has one of the two or the other */
};
size_t findings_pairs(const struct findings *f, bool hedges, double limit, struct reported_pair **ret);
/* The function that intervals have in place of that one (of the largest such pair), or NULL. */
const char *findings_instead_of(const struct findings *f, const char *function);

#define NEARLY_ALL 0.8
/* For a function that does little but wait: the wait that is nearly all of it and above the threshold, which has a
 * class and a waker.  For one that was long because it had no CPU: the run queue.  Else x itself. */
const struct factor *factor_to_name(const struct findings *f, const struct factor *x, double threshold);

/* The number of further intervals needed to decide whether x counts as above o->threshold; 0: it is decided.  A share
 * without a confidence interval is taken as exact: small pairs, and with o->paper a factor above by its contribution
 * only.  Fewer intervals than the minimum decide nothing. */
#define FINDINGS_INTERVALS_MIN 30
uint64_t factor_intervals_needed(const struct findings *f, const struct factor *x,
				 const struct select_options *o);

/* The same of a cause. */
uint64_t cause_intervals_needed(const struct findings *f, const struct summed_cause *c, double threshold);

/* Rounds an estimated number of intervals up to two digits. */
uint64_t intervals_rounded(double cnt);

/* The time before the intervals' start varies more than they do: a client feels that, and the interval does not have it. */
bool findings_hidden_before_start(const struct findings *f);

/* False: records were dropped, and these may be the cause of the variance. */
bool findings_are_whole(const struct findings *f);

double findings_others_cpus(const struct findings *f);
/* Most of the variance of the waits for a CPU is of CPUs that had nothing else to do: not too many threads are the reason. */
bool findings_waits_for_idle_cpus(const struct findings *f);
#define IDLE_CPUS_REMEDY "forbid deep idle states (cpupower idle-set -D 0), or measure on hardware"

#define FACTORS_K_DEFAULT 3
#define FACTORS_THRESHOLD_DEFAULT 0.05

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * passes.h - what the passes of one analysis share, and the passes themselves.
 *
 * Private to analysis/.  analyze.c calls them in this order; each fills its part.
 */
#ifndef ANALYSIS_PASSES_H
#define ANALYSIS_PASSES_H

#include "analysis/analyze.h"
#include "analysis/call_graph.h"
#include "analysis/collected.h"
#include "base/map.h"
#include "analysis/lives.h"
#include "analysis/moments.h"
#include "analysis/nestings.h"
#include "analysis/row_batches.h"
#include "analysis/rows.h"
#include "analysis/times.h"
#include "analysis/variance_tree.h"

/* One row, as read_rows() comes to it. */
typedef void (*row_visitor)(void *arg, size_t row, const cells *places);

struct visitor {
	row_visitor visit;
	batch_taker take;		/* of rows that are alike; NULL: every row by itself, in order */
	void *arg;
};

struct presence {			/* of a factor */
	uint64_t cnt;			/* intervals in which it took time */
	__int128 t;			/* sum of their latencies */
};

struct factor_maker;
struct influence_maker;
struct part_maker;
struct pair_maker;
struct cause_maker;

struct analysis {
	const struct trace *t;		/* names, functions, calls and losses; its tuples may be gone */
	const struct counted_intervals *counted;
	const struct nestings *nestings;
	const struct lives *lives;
	struct rows *rows, *root_only;	/* see struct collected */
	const struct vtree *v;
	const struct moments *m;
	const struct call_graph *g;
	const int64_t *latencies_ns;	/* one a row */
	const unsigned char *block_of_row;	/* of so many blocks of time as blocks_for(recorded_cnt) says */
	/* Of those that were recorded in full, each once (rows.h). */
	size_t recorded_cnt;
	const int64_t *recorded_ns;
	const uint32_t *copies;		/* rows of each */
	const int64_t *root_only_ns;	/* latencies of the root-only ones */
	const uint32_t *root_only_weights;	/* what one in full of the same rate stands for */
	const uint32_t *weights;	/* the same, of recorded_ns */
	uint64_t tail_rows, fast_rows;	/* f->tail counts what was recorded */
	VEC(struct visitor) visitors;
	struct factor_maker *factor_maker;
	struct influence_maker *influence_maker;
	struct part_maker *part_maker;
	struct pair_maker *pair_maker;
	struct cause_maker *cause_maker;
	double variance_ns2;		/* Var(T) */
	double overhead;		/* budget of the probes */
	double quantile;		/* where the tail begins */
	struct findings *f;
	const char **function_names, **function_files;	/* in f's arena, as needed */
	uint32_t *node_of_place;	/* NODE_NONE: not shown */
	uint32_t *place_of_node;
	struct times *factor_times;	/* per interval and factor, but for the pairs */
	struct presence *presences;	/* per factor, but for the pairs */
	struct times *part_times;	/* per interval and part, in the order of their making */
	struct sums *part_sums;		/* per part */
	uint32_t runqueue_factor;	/* of every place_is_runqueue(); NODE_NONE: there is none */
	uint32_t *factor_of_node;	/* NODE_NONE: the interval, blames, the root function */
	struct map *factor_of_pair;	/* factor << 32 | larger factor -> the pair's */
	bool autocorrelated;		/* confidence intervals are too narrow */
	uint32_t root_function;		/* the interval's only child, or FUNCTION_NONE */
};

const char *analysis_function_name(struct analysis *a, uint32_t function);
const char *analysis_function_file(struct analysis *a, uint32_t function);
uint32_t analysis_function_line(const struct analysis *a, uint32_t function);
double analysis_share(const struct analysis *a, double covariance);	/* 0 if Var(T) is 0 */

void summarize(struct analysis *a);		/* summary.c: f->interval */
void measure_probing(struct analysis *a);	/* probing.c: f->probing */
void show_tree(struct analysis *a);		/* tree_findings.c: f->nodes, f->covariances */
void find_covariances(struct analysis *a);	/* covariances.c: f->covariances */
/* So many pairs of nodes with few children are all kept.  Tests make it small. */
#define COVARIANCES_ALL_MAX ((size_t)131072)
extern size_t covariances_all_max;
void find_root(struct analysis *a);		/* root.c: f->root_height, root_function */
/* What needs all rows begins, reads them together with the others, a pass of some being as long as one of all, and ends.
 * The groups of batches are the blocks of time. */
void visit_rows(struct analysis *a, row_visitor visit, batch_taker take, void *arg);	/* passes.c */
void read_rows(struct analysis *a);
void begin_factors(struct analysis *a);		/* factors.c: f->factors */
void end_factors(struct analysis *a);
/* runqueue.c: time in the run queue, of the intervals' threads and of those they waited for; each piece of it once. */
bool place_is_runqueue(const struct analysis *a, const struct place *p);	/* if it has a factor of its own */
bool has_runqueue(const struct analysis *a);
/* factor_pairs.c: pairs, and paper_contribution of all.  factor_of_node: NODE_NONE if none. */
void find_pairs(struct analysis *a, const uint32_t *factor_of_node);
void fill_scores(struct findings *f);		/* ... of all, when they have their shares */
/* confidence_findings.c: ci95 of nodes and factors, resolved, autocorrelated.  end: after the scores. */
void begin_confidence(struct analysis *a, const uint32_t *factor_of_node);
void end_confidence(struct analysis *a, const uint32_t *factor_of_node);
void begin_parts(struct analysis *a);		/* parts.c: f->parts, part_sums */
void end_parts(struct analysis *a);
void explain_by_work(struct analysis *a);	/* work.c: f->work, work_share */
void begin_part_pairs(struct analysis *a);	/* part_pairs.c: f->part_pairs, of unsorted parts */
void end_part_pairs(struct analysis *a);
void sort_parts(struct findings *f);		/* ... when part_times is not needed any more */
void begin_common_causes(struct analysis *a);	/* common.c: f->common_causes, of unsorted parts */
void end_common_causes(struct analysis *a);
void find_observed_calls(struct analysis *a);	/* observed.c: f->observed */
/* kinds.c: the function that half of Var(T) and more is between intervals with it and without; NULL: there is none. */
const struct factor *find_factor_of_kinds(const struct analysis *a, double *ret_between);
void warn_holes(struct analysis *a);		/* warn_holes.c: "hole" */
bool losses_have_holes(const struct losses *l);
void warn(struct analysis *a);			/* warnings.c: f->warnings */
void warn_off_cpu(struct analysis *a);		/* warnings_cpu.c */
void find_cpu(struct analysis *a);		/* cpu_found.c: f->cpu */
void warn_overloaded(struct analysis *a);
void warn_unpaired(struct analysis *a);		/* warn_pairing.c: starts and ends without each other */
void warn_nested(struct analysis *a);
void warn_unpaired_others(struct analysis *a);	/* ... of intervals that the answer is not about */
const struct pairing *pairing_of_interval(const struct analysis *a);	/* NULL: not known */

/* Call sites of a function place, sorted, each once; the strings are the trace's. */
void place_call_sites(const struct analysis *a, uint32_t place, strings *ret);
void strings_sort_unique(strings *list);

/* summary.c: the ceil(q n)-th smallest of sorted[0 .. cnt - 1], cnt > 0. */
int64_t quantile_ns(const int64_t *sorted, size_t cnt, double q);

#endif

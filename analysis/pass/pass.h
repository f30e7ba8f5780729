/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pass.h - the input that every pass of one analysis takes.
 *
 * Private to analysis/.  A pass reads the rows of one kind of intervals, or sums over them, and fills in its part of the
 * findings.  What else it takes, and what it gives to later ones, is in its own header; analyze.c has the order.
 */
#ifndef ANALYSIS_PASS_PASS_H
#define ANALYSIS_PASS_PASS_H

#include "analysis/findings/findings.h"
#include "analysis/pass/latencies.h"
#include "analysis/tree/moments.h"
#include "analysis/tree/place_sums.h"
#include "analysis/tree/rows.h"
#include "analysis/tree/variance_tree.h"

struct analysis {
	const struct trace *t;		/* names, functions, calls and losses; its tuples may be gone */
	const struct vtree *v;
	const struct moments *m;
	struct rows *rows;		/* of the intervals in full */
	const struct place_sums *sums;	/* there are these, and no rows; NULL: there are rows */
	const struct latencies *full;	/* of these rows */
	double variance_ns2;		/* Var(T) */
	struct known_names *names;
	struct findings *f;
};

/* The kind of blocks into which rows, or the sums in their place, are cut. */
static inline struct block_kind analysis_blocks(const struct analysis *a)
{
	return a->sums ? a->sums->kind : a->full->blocks;
}

/* How many hosts have intervals; 1 if no host is known. */
static inline uint32_t analysis_host_cnt(const struct analysis *a)
{
	return a->sums ? a->sums->host_cnt : a->full->host_cnt;
}

/* Names of functions; each is in f's arena once. */
struct known_names *known_names_new(size_t function_cnt);
void known_names_free(struct known_names *k);
DEFINE_CLEANUP(struct known_names *, known_names_free);

const char *analysis_function_name(const struct analysis *a, uint32_t function);
const char *analysis_function_file(const struct analysis *a, uint32_t function);
uint32_t analysis_function_line(const struct analysis *a, uint32_t function);
double analysis_share(const struct analysis *a, double covariance);	/* 0 if Var(T) is 0 */

void strings_sort_unique(strings *list);

#endif

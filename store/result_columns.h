/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result_columns.h - the columns of findings' tables, in the order of their statements.  Private to results.c, which writes
 * them, and results_read.c.
 */
#ifndef STORE_RESULT_COLUMNS_H
#define STORE_RESULT_COLUMNS_H

#include "store/columns.h"
#include "store/db.h"
#include "store/store.h"

static const char *wait_name(unsigned value)
{
	return trace_state_name((enum trace_state)value);
}

static const char *node_name(unsigned value)
{
	return node_kind_name((enum node_kind)value);
}

static const char *factor_name(unsigned value)
{
	return factor_kind_name((enum factor_kind)value);
}

static const char *how_name(unsigned value)
{
	return cause_how_name((enum cause_how)value);
}

static const struct named hows = { how_name, HOW_OTHER + 1 };
static const struct named waits = { wait_name, STATE_CNT };
static const struct named node_kinds = { node_name, NODE_BLAME + 1 };
static const struct named factor_kinds = { factor_name, FACTOR_PAIR + 1 };

static const struct column finding_columns[] = {
	COL_TEXT_OR_NULL(struct findings, interval.name),
	COL_64(struct findings, interval.cnt),
	COL_64(struct findings, interval.dropped_open),
	COL_64(struct findings, interval.dropped_aborted),
	COL_64(struct findings, interval.dropped_bad_path),
	COL_64(struct findings, interval.dropped_lost),
	COL_REAL(struct findings, interval.mean_ns),
	COL_REAL(struct findings, interval.variance_ns2),
	COL_REAL(struct findings, interval.stddev_ns),
	COL_64(struct findings, interval.p50_ns),
	COL_64(struct findings, interval.p90_ns),
	COL_64(struct findings, interval.p99_ns),
	COL_64(struct findings, interval.min_ns),
	COL_64(struct findings, interval.max_ns),
	COL_U32(struct findings, root_height),
	COL_64(struct findings, clamped),
	COL_64_IF(struct findings, interval.nested, interval.has_pairing),
	COL_64_IF(struct findings, interval.unmatched_ends, interval.has_pairing),
	COL_BOOL(struct findings, look.is_one),
};

static const struct column probing_columns[] = {
	COL_64(struct probing, root_only_cnt),
	COL_REAL(struct probing, root_only_mean_ns),
	COL_REAL(struct probing, root_only_variance_ns2),
	COL_64(struct probing, root_only_p50_ns),
	COL_64(struct probing, root_only_p99_ns),
	COL_64(struct probing, root_only_max_ns),
	COL_REAL_IF(struct probing, mean, measured),
	COL_REAL_IF(struct probing, mean_low, measured),
	COL_REAL_IF(struct probing, mean_high, measured),
	COL_REAL_IF(struct probing, variance, has_variance),
	COL_REAL_IF(struct probing, variance_low, has_variance),
	COL_REAL_IF(struct probing, variance_high, has_variance),
};

static const struct column tail_columns[] = {
	COL_REAL(struct tail, quantile),
	COL_64(struct tail, from_ns),
	COL_64(struct tail, cnt),
	COL_REAL(struct tail, mean_ns),
	COL_64(struct tail, fast_to_ns),
	COL_64(struct tail, fast_cnt),
	COL_REAL(struct tail, fast_mean_ns),
};

static const struct column cpu_columns[] = {
	COL_REAL_IF(struct cpu_found, runqueue_share, has_share),
	COL_BOOL(struct cpu_found, is_exact),
	COL_BOOL(struct cpu_found, is_known),
	COL_U32(struct cpu_found, cpu_cnt),
	COL_U32(struct cpu_found, allowed_cnt),
	COL_REAL(struct cpu_found, runnable),
	COL_REAL_IF(struct cpu_found, stalled, has_stalled),
	COL_REAL(struct cpu_found, throttled),
	COL_REAL_IF(struct cpu_found, from_idle, has_from_idle),
};

static const struct column cpu_other_columns[] = {
	COL_TEXT(struct cpu_other, comm),
	COL_REAL(struct cpu_other, cpus),
};

static const struct column work_columns[] = {
	COL_TEXT_OR_NULL(struct inherent_work, names),
	COL_64(struct inherent_work, interval_cnt),
	COL_REAL(struct inherent_work, explained),
};

static const struct column part_columns[] = {
	COL_TEXT_OR_NULL(struct part, function),
	COL_TEXT_OR_NULL(struct part, file),
	COL_NAMED_IF(struct part, wait, is_wait, &waits),
	COL_REAL(struct part, mean_ns),
	COL_REAL(struct part, share),
	COL_REAL_IF(struct part, tail_share, has_tail),
	COL_REAL_IF(struct part, tail_ci95[0], has_tail_ci95),
	COL_REAL_IF(struct part, tail_ci95[1], has_tail_ci95),
	COL_REAL(struct part, slow_mean_ns),
	COL_REAL(struct part, fast_mean_ns),
	COL_REAL(struct part, slow_presence),
	COL_REAL(struct part, fast_presence),
	COL_REAL(struct part, variance_share),
	COL_REAL(struct part, other_pairs),
	COL_BOOL(struct part, is_estimated),
};

static const struct column part_pair_columns[] = {
	COL_U32(struct part_pair, a),
	COL_U32(struct part_pair, b),
	COL_TEXT(struct part_pair, labels[0]),
	COL_TEXT(struct part_pair, labels[1]),
	COL_REAL(struct part_pair, covariance_ns2),
	COL_REAL(struct part_pair, share),
	COL_REAL_IF(struct part_pair, ci95[0], has_ci95),
	COL_REAL_IF(struct part_pair, ci95[1], has_ci95),
	COL_BOOL(struct part_pair, across),
	COL_U32_OR_NULL(struct part_pair, within),
};

static const struct column cause_columns[] = {
	COL_REAL(struct common_cause, explained),
	COL_REAL(struct common_cause, own),
	COL_REAL(struct common_cause, ci95[0]),
	COL_REAL(struct common_cause, ci95[1]),
};

static const struct column member_columns[] = {
	COL_U32(struct common_member, part),
	COL_REAL(struct common_member, contribution),
};

static const struct column summed_cause_columns[] = {
	COL_BOOL(struct summed_cause, known),
	COL_TEXT_OR_NULL(struct summed_cause, function),
	COL_TEXT_OR_NULL(struct summed_cause, file),
	COL_U32(struct summed_cause, line),
	COL_NAMED_IF(struct summed_cause, wait, is_wait, &waits),
	COL_BOOL(struct summed_cause, is_mixed),
	COL_TEXT_OR_NULL(struct summed_cause, peer),
	COL_TEXT_OR_NULL(struct summed_cause, device),
	COL_NAMED(struct summed_cause, how, &hows),
	COL_REAL(struct summed_cause, how_share),
	COL_REAL(struct summed_cause, share),
	COL_REAL_IF(struct summed_cause, ci95[0], has_ci95),
	COL_REAL_IF(struct summed_cause, ci95[1], has_ci95),
	COL_REAL(struct summed_cause, mean_ns),
	COL_NAMED_IF(struct summed_cause, waited, has_waiter, &waits),
	COL_TEXT_OR_NULL(struct summed_cause, waiter),
	COL_TEXT_OR_NULL(struct summed_cause, waiter_file),
	COL_U32(struct summed_cause, waiter_line),
	COL_REAL(struct summed_cause, waiter_share),
	COL_BOOL(struct summed_cause, is_estimated),
};

static const struct column before_columns[] = {
	COL_64(struct before_start, cnt),
	COL_REAL(struct before_start, mean_ns),
	COL_REAL(struct before_start, sd_ns),
	COL_64(struct before_start, p99_ns),
	COL_BOOL(struct before_start, exact),
	COL_64(struct before_start, unknown_cnt),
};

static const struct column before_by_columns[] = {
	COL_TEXT_OR_NULL(struct before_by, function),
	COL_REAL(struct before_by, share),
};

struct cause_place_row {
	uint32_t node;
};

static const struct column cause_place_columns[] = {
	COL_U32(struct cause_place_row, node),
};

static const struct column node_columns[] = {
	COL_U32(struct node, id),
	COL_U32_OR_NULL(struct node, parent),
	COL_NAMED(struct node, kind, &node_kinds),
	COL_TEXT_OR_NULL(struct node, function),
	COL_TEXT_OR_NULL(struct node, file),
	COL_U32(struct node, line),
	COL_TEXT_OR_NULL(struct node, call_site),
	COL_NAMED_IF(struct node, wait, is_wait, &waits),
	COL_REAL(struct node, mean_ns),
	COL_REAL(struct node, variance_ns2),
	COL_REAL(struct node, share),
	COL_REAL(struct node, variance_share),
	COL_REAL(struct node, calls_per_interval),
	COL_REAL(struct node, presence),
	COL_BOOL(struct node, open),
	COL_REAL_IF(struct node, ci95[0], has_ci95),
	COL_REAL_IF(struct node, ci95[1], has_ci95),
	COL_TEXT_OR_NULL(struct node, device),
	COL_TEXT_OR_NULL(struct node, put_aside),
	COL_TEXT_OR_NULL(struct node, taken_up),
	COL_64(struct node, samples),
};

static const struct column covariance_columns[] = {
	COL_U32(struct covariance, parent),
	COL_U32(struct covariance, a),
	COL_U32(struct covariance, b),
	COL_REAL(struct covariance, covariance_ns2),
	COL_REAL(struct covariance, share),
};

static const struct column factor_columns[] = {
	COL_NAMED(struct factor, kind, &factor_kinds),
	COL_TEXT_OR_NULL(struct factor, function),
	COL_TEXT_OR_NULL(struct factor, file),
	COL_U32(struct factor, line),
	COL_TEXT_OR_NULL(struct factor, functions[0]),
	COL_TEXT_OR_NULL(struct factor, functions[1]),
	COL_NAMED_IF(struct factor, wait, is_wait, &waits),
	COL_REAL(struct factor, share),
	COL_REAL(struct factor, variance_share),
	COL_REAL(struct factor, paper_contribution),
	COL_U32(struct factor, height),
	COL_REAL(struct factor, specificity),
	COL_REAL(struct factor, score),
	COL_REAL(struct factor, paper_score),
	COL_REAL_IF(struct factor, tail_share, has_tail),
	COL_REAL(struct factor, mean_ns),
	COL_BOOL(struct factor, open),
	COL_REAL_IF(struct factor, ci95[0], has_ci95),
	COL_REAL_IF(struct factor, ci95[1], has_ci95),
	COL_BOOL_IF(struct factor, resolved, has_resolved),
	COL_REAL_IF(struct factor, presence, has_presence),
	COL_U32(struct factor, rank_low),
	COL_U32(struct factor, rank_high),
	COL_64(struct factor, rank_needed),
	COL_REAL_IF(struct factor, paper_ci95[0], has_paper_ci95),
	COL_REAL_IF(struct factor, paper_ci95[1], has_paper_ci95),
	COL_BOOL_IF(struct factor, paper_resolved, has_paper_resolved),
	COL_REAL_IF(struct factor, work_share, has_work_share),
	COL_REAL_IF(struct factor, work_ci95[0], has_work_ci95),
	COL_REAL_IF(struct factor, work_ci95[1], has_work_ci95),
	COL_REAL_IF(struct factor, trimmed_share, has_trimmed),
	COL_64(struct factor, samples),
};

static const struct column because_columns[] = {
	COL_TEXT_OR_NULL(struct because, function),
	COL_TEXT_OR_NULL(struct because, file),
	COL_NAMED_IF(struct because, wait, is_wait, &waits),
	COL_REAL(struct because, share),
	COL_TEXT_OR_NULL(struct because, device),
};

static const struct column interval_columns[] = {
	COL_64(struct interval_row, sid),
	COL_64(struct interval_row, start_ns),
	COL_64(struct interval_row, end_ns),
	COL_64(struct interval_row, start_tid),
	COL_64(struct interval_row, end_tid),
	COL_BOOL(struct interval_row, root_only),
	COL_U32(struct interval_row, origin),
	COL_U32(struct interval_row, connection),
	COL_U32(struct interval_row, port),
	COL_U32(struct interval_row, bytes_in),
	COL_U32(struct interval_row, bytes_out),
};

static const struct column origin_columns[] = {
	COL_U32(struct trace_origin, run),
	COL_TEXT_OR_NULL(struct trace_origin, machine),
	COL_TEXT_OR_NULL(struct trace_origin, host),
	COL_TEXT_OR_NULL(struct trace_origin, container),
	COL_TEXT_OR_NULL(struct trace_origin, build),
};

static const struct column waiter_columns[] = {
	COL_TEXT_OR_NULL(struct waiter, inside),
	COL_TEXT_OR_NULL(struct waiter, inside_file),
	COL_U32(struct waiter, inside_line),
	COL_NAMED(struct waiter, wait, &waits),
	COL_TEXT_OR_NULL(struct waiter, function),
	COL_TEXT_OR_NULL(struct waiter, file),
	COL_U32(struct waiter, line),
	COL_64(struct waiter, key),
	COL_TEXT(struct waiter, module),
	COL_BOOL(struct waiter, is_built),
	COL_BOOL(struct waiter, is_outer),
	COL_REAL(struct waiter, share),
	COL_REAL(struct waiter, mean_ns),
};

static const struct column warning_columns[] = {
	COL_TEXT(struct warning, code),
	COL_TEXT(struct warning, text),
};

struct text_row {
	const char *text;
};

static const struct column text_columns[] = {
	COL_TEXT(struct text_row, text),
};

/* The finding of a run: of that interval, or (STMT_FINDING_FIRST) the one first written. */
int find_finding(struct store *s, enum stmt id, uint32_t run, const char *interval, int64_t *ret, bool *ret_found,
		 struct diag *reterr);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * same_findings.c - asserts that two findings are equal, field by field.
 */
#include "tests/unit/cmocka_all.h"

#include "base/banned.h"
#include "tests/unit/same_findings.h"

static void same_text(const char *a, const char *b)
{
	if (!a || !b)
		assert_ptr_equal(a, b);
	else
		assert_string_equal(a, b);
}

/* Equal bit for bit, except the sign of zero, which SQLite does not keep. */
static void same_double(double a, double b)
{
	if (a == 0 && b == 0)
		return;
	assert_memory_equal(&a, &b, sizeof(a));
}

static void same_ci95(bool a_has, const double *a, bool b_has, const double *b)
{
	assert_int_equal(a_has, b_has);
	for (int i = 0; a_has && i < 2; i++)
		same_double(a[i], b[i]);
}

static void same_node(const struct node *a, const struct node *b)
{
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->parent, b->parent);
	assert_int_equal(a->kind, b->kind);
	same_text(a->function, b->function);
	same_text(a->file, b->file);
	assert_int_equal(a->line, b->line);
	same_text(a->call_site, b->call_site);
	assert_int_equal(a->is_wait, b->is_wait);
	if (a->is_wait)
		assert_int_equal(a->wait, b->wait);
	same_double(a->mean_ns, b->mean_ns);
	same_double(a->variance_ns2, b->variance_ns2);
	same_double(a->share, b->share);
	same_double(a->variance_share, b->variance_share);
	same_double(a->calls_per_interval, b->calls_per_interval);
	same_double(a->presence, b->presence);
	assert_int_equal(a->open, b->open);
	same_ci95(a->has_ci95, a->ci95, b->has_ci95, b->ci95);
	same_text(a->device, b->device);
	same_text(a->put_aside, b->put_aside);
	same_text(a->taken_up, b->taken_up);
	assert_true(a->samples == b->samples);
}

static void same_because(const struct because *a, const struct because *b)
{
	same_text(a->function, b->function);
	same_text(a->file, b->file);
	assert_int_equal(a->is_wait, b->is_wait);
	if (a->is_wait)
		assert_int_equal(a->wait, b->wait);
	same_double(a->share, b->share);
	same_text(a->device, b->device);
}

static void same_factor(const struct factor *a, const struct factor *b)
{
	assert_int_equal(a->kind, b->kind);
	same_text(a->function, b->function);
	same_text(a->file, b->file);
	same_text(a->functions[0], b->functions[0]);
	same_text(a->functions[1], b->functions[1]);
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->is_wait, b->is_wait);
	if (a->is_wait)
		assert_int_equal(a->wait, b->wait);
	same_double(a->share, b->share);
	same_double(a->variance_share, b->variance_share);
	same_double(a->paper_contribution, b->paper_contribution);
	assert_int_equal(a->height, b->height);
	same_double(a->specificity, b->specificity);
	same_double(a->score, b->score);
	same_double(a->paper_score, b->paper_score);
	assert_int_equal(a->has_tail, b->has_tail);
	if (a->has_tail)
		same_double(a->tail_share, b->tail_share);
	same_double(a->mean_ns, b->mean_ns);
	assert_int_equal(a->open, b->open);
	same_ci95(a->has_ci95, a->ci95, b->has_ci95, b->ci95);
	assert_int_equal(a->has_resolved, b->has_resolved);
	assert_int_equal(a->resolved, b->resolved);
	assert_int_equal(a->has_presence, b->has_presence);
	same_double(a->presence, b->presence);
	assert_int_equal(a->rank_low, b->rank_low);
	assert_int_equal(a->rank_high, b->rank_high);
	assert_true(a->rank_needed == b->rank_needed);
	assert_int_equal(a->has_work_share, b->has_work_share);
	same_double(a->work_share, b->work_share);
	same_ci95(a->has_work_ci95, a->work_ci95, b->has_work_ci95, b->work_ci95);
	assert_int_equal(a->has_trimmed, b->has_trimmed);
	same_double(a->trimmed_share, b->trimmed_share);
	assert_true(a->samples == b->samples);
	same_ci95(a->has_paper_ci95, a->paper_ci95, b->has_paper_ci95, b->paper_ci95);
	assert_int_equal(a->has_paper_resolved, b->has_paper_resolved);
	assert_int_equal(a->paper_resolved, b->paper_resolved);
	assert_int_equal(a->call_sites.cnt, b->call_sites.cnt);
	for (size_t i = 0; i < a->call_sites.cnt; i++)
		assert_string_equal(a->call_sites.items[i], b->call_sites.items[i]);
	assert_int_equal(a->because_of.cnt, b->because_of.cnt);
	for (size_t i = 0; i < a->because_of.cnt; i++)
		same_because(&a->because_of.items[i], &b->because_of.items[i]);
}

static void same_summary(const struct interval_summary *a, const struct interval_summary *b)
{
	same_text(a->name, b->name);
	assert_true(a->cnt == b->cnt && a->dropped_open == b->dropped_open);
	assert_true(a->dropped_aborted == b->dropped_aborted);
	assert_true(a->dropped_bad_path == b->dropped_bad_path);
	assert_true(a->dropped_lost == b->dropped_lost);
	assert_true(a->has_pairing == b->has_pairing && a->nested == b->nested && a->unmatched_ends == b->unmatched_ends);
	same_double(a->mean_ns, b->mean_ns);
	same_double(a->variance_ns2, b->variance_ns2);
	same_double(a->stddev_ns, b->stddev_ns);
	assert_true(a->p50_ns == b->p50_ns && a->p90_ns == b->p90_ns && a->p99_ns == b->p99_ns);
	assert_true(a->min_ns == b->min_ns && a->max_ns == b->max_ns);
}

static void same_probing(const struct probing *a, const struct probing *b)
{
	assert_true(a->root_only_cnt == b->root_only_cnt);
	same_double(a->root_only_mean_ns, b->root_only_mean_ns);
	same_double(a->root_only_variance_ns2, b->root_only_variance_ns2);
	assert_true(a->root_only_p50_ns == b->root_only_p50_ns);
	assert_true(a->root_only_p99_ns == b->root_only_p99_ns);
	assert_true(a->root_only_max_ns == b->root_only_max_ns);
	assert_true(a->measured == b->measured && a->has_variance == b->has_variance);
	same_double(a->mean, b->mean);
	same_double(a->mean_low, b->mean_low);
	same_double(a->mean_high, b->mean_high);
	same_double(a->variance, b->variance);
	same_double(a->variance_low, b->variance_low);
	same_double(a->variance_high, b->variance_high);
}

static void same_part(const struct part *a, const struct part *b)
{
	same_text(a->function, b->function);
	same_text(a->file, b->file);
	assert_int_equal(a->is_wait, b->is_wait);
	assert_int_equal(a->wait, b->wait);
	same_double(a->mean_ns, b->mean_ns);
	same_double(a->share, b->share);
	assert_int_equal(a->has_tail, b->has_tail);
	if (a->has_tail)
		same_double(a->tail_share, b->tail_share);
	same_ci95(a->has_tail_ci95, a->tail_ci95, b->has_tail_ci95, b->tail_ci95);
	same_double(a->slow_mean_ns, b->slow_mean_ns);
	same_double(a->fast_mean_ns, b->fast_mean_ns);
	same_double(a->slow_presence, b->slow_presence);
	same_double(a->fast_presence, b->fast_presence);
	same_double(a->variance_share, b->variance_share);
	same_double(a->other_pairs, b->other_pairs);
	assert_int_equal(a->is_estimated, b->is_estimated);
}

static void same_part_pairs(const struct findings *a, const struct findings *b)
{
	assert_int_equal(a->part_pairs.cnt, b->part_pairs.cnt);
	for (size_t i = 0; i < a->part_pairs.cnt; i++) {
		const struct part_pair *x = &a->part_pairs.items[i], *y = &b->part_pairs.items[i];

		assert_true(x->a == y->a && x->b == y->b && x->across == y->across && x->within == y->within);
		same_text(x->labels[0], y->labels[0]);
		same_text(x->labels[1], y->labels[1]);
		same_double(x->covariance_ns2, y->covariance_ns2);
		same_double(x->share, y->share);
		same_ci95(x->has_ci95, x->ci95, y->has_ci95, y->ci95);
	}
}

static void same_tail(const struct findings *a, const struct findings *b)
{
	same_double(a->tail.quantile, b->tail.quantile);
	assert_true(a->tail.from_ns == b->tail.from_ns && a->tail.cnt == b->tail.cnt);
	same_double(a->tail.mean_ns, b->tail.mean_ns);
	assert_true(a->tail.fast_to_ns == b->tail.fast_to_ns && a->tail.fast_cnt == b->tail.fast_cnt);
	same_double(a->tail.fast_mean_ns, b->tail.fast_mean_ns);
	assert_int_equal(a->parts.cnt, b->parts.cnt);
	for (size_t i = 0; i < a->parts.cnt; i++)
		same_part(&a->parts.items[i], &b->parts.items[i]);
}

static void same_causes(const struct findings *a, const struct findings *b)
{
	assert_int_equal(a->common_causes.cnt, b->common_causes.cnt);
	for (size_t i = 0; i < a->common_causes.cnt; i++) {
		const struct common_cause *x = &a->common_causes.items[i], *y = &b->common_causes.items[i];

		same_double(x->explained, y->explained);
		same_double(x->own, y->own);
		same_ci95(true, x->ci95, true, y->ci95);
		assert_int_equal(x->members.cnt, y->members.cnt);
		for (size_t k = 0; k < x->members.cnt; k++) {
			assert_int_equal(x->members.items[k].part, y->members.items[k].part);
			same_double(x->members.items[k].contribution, y->members.items[k].contribution);
		}
	}
}

/* Does not compare by whom: that depends on the intervals that a window shows whole. */
static void same_before(const struct before_start *a, const struct before_start *b)
{
	assert_int_equal(a->cnt, b->cnt);
	same_double(a->mean_ns, b->mean_ns);
	same_double(a->sd_ns, b->sd_ns);
	assert_true(a->p99_ns == b->p99_ns);
}

static void same_summed_causes(const struct findings *a, const struct findings *b)
{
	assert_int_equal(a->causes.cnt, b->causes.cnt);
	for (size_t i = 0; i < a->causes.cnt; i++) {
		const struct summed_cause *x = &a->causes.items[i], *y = &b->causes.items[i];

		assert_true(x->known == y->known && x->is_wait == y->is_wait && x->is_mixed == y->is_mixed && x->how == y->how);
		same_text(x->function, y->function);
		same_text(x->file, y->file);
		same_text(x->peer, y->peer);
		same_text(x->device, y->device);
		assert_int_equal(x->line, y->line);
		assert_true(!x->is_wait || x->wait == y->wait);
		same_double(x->how_share, y->how_share);
		same_double(x->share, y->share);
		same_ci95(x->has_ci95, x->ci95, y->has_ci95, y->ci95);
		same_double(x->mean_ns, y->mean_ns);
		assert_true(x->has_waiter == y->has_waiter && (!x->has_waiter || x->waited == y->waited));
		same_text(x->waiter, y->waiter);
		same_text(x->waiter_file, y->waiter_file);
		assert_int_equal(x->waiter_line, y->waiter_line);
		same_double(x->waiter_share, y->waiter_share);
		assert_int_equal(x->is_estimated, y->is_estimated);
		assert_int_equal(x->places.cnt, y->places.cnt);
		for (size_t k = 0; k < x->places.cnt; k++)
			assert_int_equal(x->places.items[k], y->places.items[k]);
	}
}

static void same_waiters(const struct findings *a, const struct findings *b)
{
	assert_int_equal(a->waiters.cnt, b->waiters.cnt);
	for (size_t i = 0; i < a->waiters.cnt; i++) {
		const struct waiter *x = &a->waiters.items[i], *y = &b->waiters.items[i];

		same_text(x->inside, y->inside);
		same_text(x->inside_file, y->inside_file);
		same_text(x->function, y->function);
		same_text(x->file, y->file);
		same_text(x->module, y->module);
		assert_true(x->inside_line == y->inside_line && x->line == y->line && x->key == y->key);
		assert_true(x->wait == y->wait && x->is_built == y->is_built && x->is_outer == y->is_outer);
		same_double(x->share, y->share);
		same_double(x->mean_ns, y->mean_ns);
	}
}

void same_findings(const struct findings *a, const struct findings *b)
{
	same_waiters(a, b);
	same_tail(a, b);
	same_part_pairs(a, b);
	same_causes(a, b);
	same_summed_causes(a, b);
	same_before(&a->before, &b->before);
	same_text(a->work.names, b->work.names);
	assert_true(a->work.interval_cnt == b->work.interval_cnt);
	same_double(a->work.explained, b->work.explained);
	same_summary(&a->interval, &b->interval);
	same_probing(&a->probing, &b->probing);
	assert_int_equal(a->root_height, b->root_height);
	assert_true(a->clamped == b->clamped && a->look.is_one == b->look.is_one);
	assert_int_equal(a->nodes.cnt, b->nodes.cnt);
	for (size_t i = 0; i < a->nodes.cnt; i++)
		same_node(&a->nodes.items[i], &b->nodes.items[i]);
	assert_int_equal(a->covariances.cnt, b->covariances.cnt);
	for (size_t i = 0; i < a->covariances.cnt; i++) {
		const struct covariance *x = &a->covariances.items[i], *y = &b->covariances.items[i];

		assert_true(x->parent == y->parent && x->a == y->a && x->b == y->b);
		same_double(x->covariance_ns2, y->covariance_ns2);
		same_double(x->share, y->share);
	}
	assert_int_equal(a->factors.cnt, b->factors.cnt);
	for (size_t i = 0; i < a->factors.cnt; i++)
		same_factor(&a->factors.items[i], &b->factors.items[i]);
	assert_int_equal(a->intervals.cnt, b->intervals.cnt);
	for (size_t i = 0; i < a->intervals.cnt; i++) {
		const struct interval_row *x = &a->intervals.items[i], *y = &b->intervals.items[i];

		assert_true(x->sid == y->sid && x->start_ns == y->start_ns && x->end_ns == y->end_ns);
		assert_true(x->start_tid == y->start_tid && x->end_tid == y->end_tid);
		assert_int_equal(x->root_only, y->root_only);
		if (a->origins.cnt)	/* a trace has none, however it was merged; a run's has */
			assert_int_equal(x->origin, y->origin);
		assert_true(x->connection == y->connection && x->port == y->port);
		assert_true(x->bytes_in == y->bytes_in && x->bytes_out == y->bytes_out);
	}
	assert_int_equal(a->origins.cnt, b->origins.cnt);
	for (size_t i = 0; i < a->origins.cnt; i++) {
		const struct trace_origin *x = &a->origins.items[i], *y = &b->origins.items[i];

		assert_int_equal(x->run, y->run);
		same_text(x->machine, y->machine);
		same_text(x->host, y->host);
		same_text(x->container, y->container);
		same_text(x->build, y->build);
	}
	assert_int_equal(a->warnings.cnt, b->warnings.cnt);
	for (size_t i = 0; i < a->warnings.cnt; i++) {
		assert_string_equal(a->warnings.items[i].code, b->warnings.items[i].code);
		assert_string_equal(a->warnings.items[i].text, b->warnings.items[i].text);
	}
	assert_int_equal(a->interval_names.cnt, b->interval_names.cnt);
	for (size_t i = 0; i < a->interval_names.cnt; i++)
		assert_string_equal(a->interval_names.items[i], b->interval_names.items[i]);
}

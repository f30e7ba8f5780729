/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate.c - judges whether each term of a gate holds.
 *
 * A term is violated if its whole 95 % confidence interval is beyond the limit, and holds if the whole interval is within it;
 * otherwise the evidence is not enough.  With several terms, Holm's procedure limits false violations: if all terms hold exactly at
 * their limits, at most one gate in twenty reports a violation.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/changes.h"
#include "analysis/compare/compare.h"
#include "analysis/compare/contrast.h"
#include "base/alloc.h"
#include "base/banned.h"

#define FAMILY_ALPHA 0.05

/* ---- the figure of a term in one run ---- */

/* Whether a node of that function is above n. */
static bool is_inside(const struct findings *f, const struct node *n, const char *function)
{
	while (n->parent != NODE_NONE) {
		n = &f->nodes.items[n->parent];
		if (n->kind == NODE_FUNCTION && n->function && strcmp(n->function, function) == 0)
			return true;
	}
	return false;
}

/* Sums over all places of the function, with what it calls.  Returns false if the run has no such function. */
static bool function_sums(const struct findings *f, const char *function, double *ret_share, double *ret_mean_ns)
{
	bool found = false;

	*ret_share = *ret_mean_ns = 0;
	for (size_t i = 0; i < f->nodes.cnt; i++) {
		const struct node *n = &f->nodes.items[i];

		if (n->kind != NODE_FUNCTION || !n->function || strcmp(n->function, function) != 0 || is_inside(f, n, function))
			continue;
		found = true;
		*ret_share += n->share;
		*ret_mean_ns += n->mean_ns;
	}
	return found;
}

static bool side_has(const struct compared_side *side, const char *function)
{
	double share, mean_ns;

	for (size_t r = 0; r < side->cnt; r++)
		if (function_sums(side->runs[r].findings, function, &share, &mean_ns))
			return true;
	return false;
}

int gate_check_functions(const struct gate *g, const struct compared_side *base, const struct compared_side *head,
			 struct diag *reterr)
{
	for (size_t i = 0; i < g->terms.cnt; i++) {
		const struct gate_term *t = &g->terms.items[i];

		if (!t->function || side_has(base, t->function) || side_has(head, t->function))
			continue;
		diag_set(reterr, EXIT_USAGE, -ENOENT, "--gate: '%s': no run recorded a function '%s'", t->text, t->function);
		return diag_remedy(reterr, -ENOENT, "vprof show variance-tree RUN names those of a run");
	}
	return 0;
}

static double value_of(const struct gate_term *t, const struct comparison *c, unsigned side, size_t run)
{
	double share, mean_ns;

	if (t->subject == GATE_METRIC)
		return c->metrics[t->metric].values[side][run];
	function_sums(c->runs[side][run].findings, t->function, &share, &mean_ns);
	return t->subject == GATE_SHARE ? share : mean_ns;
}

/* ---- one term ---- */

struct judged {
	struct gate_term *term;
	struct contrast contrast;
	double limit, p;		/* the contrast's limit; the p value of a violation */
};

static bool read_values(const struct gate_term *t, const struct comparison *c, double *ret[SIDE_CNT])
{
	bool known = true;

	for (unsigned s = 0; s < SIDE_CNT; s++) {
		ret[s] = ARENA_NEW(c->arena, double, c->run_cnt[s]);
		for (size_t r = 0; r < c->run_cnt[s]; r++) {
			ret[s][r] = value_of(t, c, s, r);
			known &= isfinite(ret[s][r]);
		}
	}
	return known;
}

/*
 * Sets the compared values and the limit: for ratios, logarithms with log(1 + amount); for shares, differences with the amount; if a
 * value is 0, head - (1 + amount) base with 0.
 */
static void fill_contrast(struct judged *j, const struct comparison *c, double *values[SIDE_CNT], bool is_log)
{
	const struct gate_term *t = j->term;
	double change = t->falls ? -t->amount : t->amount;

	for (unsigned s = 0; s < SIDE_CNT; s++)
		for (size_t r = 0; r < c->run_cnt[s]; r++) {
			if (is_log)
				values[s][r] = log(values[s][r]);
			else if (t->subject != GATE_SHARE && s == SIDE_BASE)
				values[s][r] *= 1 + change;
		}
	j->limit = is_log ? log1p(change) : t->subject == GATE_SHARE ? change : 0;
	if (c->enough)
		j->contrast = contrast_of(values[SIDE_BASE], c->run_cnt[SIDE_BASE], values[SIDE_HEAD], c->run_cnt[SIDE_HEAD],
					  c->paired);
}

static void fill_value(struct gate_term *t, const struct comparison *c, double *values[SIDE_CNT], bool is_log)
{
	double base = side_figure(values[SIDE_BASE], c->run_cnt[SIDE_BASE], is_log);
	double head = side_figure(values[SIDE_HEAD], c->run_cnt[SIDE_HEAD], is_log);

	if (t->subject == GATE_SHARE)
		t->value = head - base;
	else
		t->value = base > 0 ? head / base : NAN;
}

static enum gate_result result_of(const struct gate_term *t, const double ci[2], double limit)
{
	if (t->falls ? ci[1] < limit : ci[0] > limit)
		return GATE_FAIL;
	return (t->falls ? ci[0] >= limit : ci[1] <= limit) ? GATE_PASS : GATE_INCONCLUSIVE;
}

/*
 * Runs that are all alike have an interval of one point, and a rise by exactly the amount is not beyond it: without this the last bit of a
 * logarithm would decide.
 */
static void snap_to(double limit, double scale, double ci[2])
{
	for (unsigned i = 0; i < 2; i++)
		if (fabs(ci[i] - limit) <= 1e-12 * scale)
			ci[i] = limit;
}

static double scale_of(const struct comparison *c, double *const values[SIDE_CNT])
{
	double most = 1;

	for (unsigned s = 0; s < SIDE_CNT; s++)
		for (size_t r = 0; r < c->run_cnt[s]; r++)
			most = fmax(most, fabs(values[s][r]));
	return most;
}

static void judge_term(struct judged *j, const struct comparison *c)
{
	struct gate_term *t = j->term;
	double *values[SIDE_CNT], ci[2];
	bool is_log;

	t->result = GATE_INCONCLUSIVE;
	t->is_known = read_values(t, c, values);
	if (!t->is_known)
		return;
	is_log = t->subject != GATE_SHARE &&
		 have_logs(values[SIDE_BASE], c->run_cnt[SIDE_BASE], values[SIDE_HEAD], c->run_cnt[SIDE_HEAD]);
	fill_value(t, c, values, is_log);
	fill_contrast(j, c, values, is_log);
	if (!c->enough) {
		const struct compared_metric *m = &c->metrics[t->metric];

		t->has_ci95 = t->subject == GATE_METRIC && m->has_ci95;
		memcpy(t->ci95, m->ci95, sizeof(t->ci95));
		return;
	}
	contrast_ci95(&j->contrast, ci);
	snap_to(j->limit, scale_of(c, values), ci);
	t->result = result_of(t, ci, j->limit);
	j->p = contrast_p(&j->contrast, j->limit, t->falls);
	t->has_ci95 = is_log || t->subject == GATE_SHARE;
	for (unsigned i = 0; i < 2; i++)
		t->ci95[i] = is_log ? exp(ci[i]) : ci[i];
}

/* ---- all of them ---- */

static int by_p(const void *a, const void *b)
{
	const struct judged *x = a, *y = b;

	return (x->p > y->p) - (x->p < y->p);
}

/* Holm: compares the k-th smallest p with alpha / (number of terms - k). */
static void hold_down(struct judged *list, size_t cnt)
{
	bool stopped = false;

	qsort(list, cnt, sizeof(*list), by_p);
	for (size_t k = 0; k < cnt; k++) {
		stopped |= list[k].p > FAMILY_ALPHA / (double)(cnt - k);
		if (list[k].term->result == GATE_FAIL && stopped)
			list[k].term->result = GATE_INCONCLUSIVE;
	}
}

static uint64_t runs_needed(const struct comparison *c, const struct judged *list, size_t cnt)
{
	double run_cnt = 2 / (1 / (double)c->run_cnt[SIDE_BASE] + 1 / (double)c->run_cnt[SIDE_HEAD]);
	uint64_t most = 0;

	if (!c->enough)
		return c->least;
	for (size_t i = 0; i < cnt; i++) {
		uint64_t needed;

		if (list[i].term->result != GATE_INCONCLUSIVE)
			continue;
		needed = list[i].term->is_known ? contrast_runs_needed(&list[i].contrast, list[i].limit, run_cnt, c->paired) : 0;
		if (!needed)
			return 0;
		most = needed > most ? needed : most;
	}
	return most;
}

void gate_judge(struct gate *g, const struct comparison *c)
{
	_cleanup_(freep) struct judged *list = xcalloc(g->terms.cnt + 1, sizeof(*list));

	g->result = GATE_PASS;
	for (size_t i = 0; i < g->terms.cnt; i++) {
		list[i] = (struct judged){ .term = &g->terms.items[i], .p = 1 };
		judge_term(&list[i], c);
	}
	hold_down(list, g->terms.cnt);
	for (size_t i = 0; i < g->terms.cnt; i++) {
		enum gate_result one = g->terms.items[i].result;

		if (one == GATE_FAIL || (one == GATE_INCONCLUSIVE && g->result == GATE_PASS))
			g->result = one;
	}
	g->runs_needed = g->result == GATE_INCONCLUSIVE ? runs_needed(c, list, g->terms.cnt) : 0;
}

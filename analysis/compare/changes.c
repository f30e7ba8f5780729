/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * changes.c - see changes.h.
 *
 * Let L = log Var(T) of a run, and s a part's share in that run.  In a side with G = exp(mean L) the part has G mean(s), so the
 * parts of a side add up to its Var(T), and their differences add up to the change of Var(T):
 *
 *	base Var 100 (f 80, g 20), head Var 150 (f 120, g 30)	delta f +40, g +10: 50
 *
 * The error follows from the influences of the runs: G mean(s) (L - mean L) + G (s - mean s).  If a run has Var(T) = 0, parts are
 * means of Cov(X,T) instead.
 */
#include "analysis/compare/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/contrast.h"
#include "analysis/compare/match.h"
#include "base/alloc.h"
#include "base/banned.h"
#include "base/map.h"

/* A part during the summation: its share and its mean in each run. */
struct summed {
	const struct matched *function;	/* NULL: none */
	bool is_wait;
	enum trace_state wait;
	double *shares[SIDE_CNT];
	double mean_ns[SIDE_CNT];
};
typedef VEC(struct summed) summed_list;

static struct summed *find_summed(summed_list *list, struct map *by_key, const struct comparison *c,
				  const struct matching *m, enum side side, const struct part *p)
{
	size_t id = p->function ? matching_id(m, side, p->function, p->file) + 1 : 0;
	uint64_t *slot = map_slot(by_key, (uint64_t)id << 16 | (p->is_wait ? 1 + (unsigned)p->wait : 0));
	struct summed *x;

	if (!*slot) {
		x = VEC_EXTEND(list);
		x->function = id ? matching_get(m, id - 1) : NULL;
		x->is_wait = p->is_wait;
		x->wait = p->wait;
		for (unsigned s = 0; s < SIDE_CNT; s++)
			x->shares[s] = ARENA_NEW(c->arena, double, c->run_cnt[s]);
		*slot = list->cnt;
	}
	return &list->items[*slot - 1];
}

static void sum_up(const struct comparison *c, const struct matching *m, summed_list *ret)
{
	_cleanup_(map_freep) struct map *by_key = map_new();

	for (unsigned s = 0; s < SIDE_CNT; s++) {
		for (size_t r = 0; r < c->run_cnt[s]; r++) {
			const struct findings *f = c->runs[s][r].findings;

			for (size_t i = 0; i < f->parts.cnt; i++) {
				const struct part *p = &f->parts.items[i];
				struct summed *x = find_summed(ret, by_key, c, m, (enum side)s, p);

				x->shares[s][r] += p->share;
				x->mean_ns[s] += p->mean_ns / (double)c->run_cnt[s];
			}
		}
	}
}

bool have_logs(const double *base, size_t base_cnt, const double *head, size_t head_cnt)
{
	for (size_t i = 0; i < base_cnt; i++)
		if (!(base[i] > 0))
			return false;
	for (size_t i = 0; i < head_cnt; i++)
		if (!(head[i] > 0))
			return false;
	return true;
}

double side_figure(const double *values, size_t cnt, bool is_log)
{
	double sum = 0;

	if (cnt <= 1)
		return cnt ? values[0] : NAN;
	for (size_t i = 0; i < cnt; i++)	/* from the first on: of equal values it is that value, to the last bit */
		sum += is_log ? log(values[i] / values[0]) : values[i] - values[0];
	return is_log ? values[0] * exp(sum / (double)cnt) : values[0] + sum / (double)cnt;
}

/* For one side: the part's covariance with T, and the linear influence of each run on it. */
static double part_of_side(const double *variances, const double *shares, size_t cnt, bool is_log, double *influences)
{
	double whole = side_figure(variances, cnt, is_log), mean_share = mean_of(shares, cnt), mean_log = 0, part = 0;

	for (size_t r = 0; is_log && r < cnt; r++)
		mean_log += log(variances[r]) / (double)cnt;
	part = whole * mean_share;
	for (size_t r = 0; r < cnt; r++)
		influences[r] = is_log ? part * (1 + log(variances[r]) - mean_log) + whole * (shares[r] - mean_share) :
					 variances[r] * shares[r];
	return is_log ? part : mean_of(influences, cnt);
}

static void fill_identity(const struct summed *x, struct change *ret)
{
	ret->is_wait = x->is_wait;
	ret->wait = x->wait;
	ret->match = MATCH_SAME;
	if (!x->function)
		return;
	ret->function = x->function->name;
	ret->file = x->function->file;
	ret->line = x->function->line;
	ret->match = x->function->match;
	ret->was = x->function->was;
	ret->was_file = x->function->was_file;
}

static void add_change(struct comparison *c, const struct summed *x, double *const variances[SIDE_CNT], bool is_log)
{
	struct change *to = VEC_EXTEND(&c->changes);
	double *influences[SIDE_CNT];

	fill_identity(x, to);
	for (unsigned s = 0; s < SIDE_CNT; s++) {
		influences[s] = xcalloc(c->run_cnt[s], sizeof(double));
		to->of_ns2[s] = part_of_side(variances[s], x->shares[s], c->run_cnt[s], is_log, influences[s]);
		to->mean_ns[s] = x->mean_ns[s];
	}
	to->delta_ns2 = to->of_ns2[SIDE_HEAD] - to->of_ns2[SIDE_BASE];
	to->has_ci95 = c->enough;
	if (c->enough) {
		struct contrast d = contrast_of(influences[SIDE_BASE], c->run_cnt[SIDE_BASE], influences[SIDE_HEAD],
						c->run_cnt[SIDE_HEAD], c->paired);

		contrast_ci95(&d, to->ci95);
	}
	free(influences[SIDE_BASE]);
	free(influences[SIDE_HEAD]);
}

static int compare_names(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !a - !b;
}

static int by_size(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	double size_x = fabs(x->delta_ns2), size_y = fabs(y->delta_ns2);
	int r;

	if (size_x != size_y)
		return size_x > size_y ? -1 : 1;
	r = compare_names(x->function, y->function);
	if (r == 0)
		r = compare_names(x->file, y->file);
	return r ? r : x->is_wait != y->is_wait ? x->is_wait - y->is_wait : (int)x->wait - (int)y->wait;
}

void changes_of(struct comparison *c, double *const variances[SIDE_CNT])
{
	const struct compared_side base = { c->runs[SIDE_BASE], c->run_cnt[SIDE_BASE] };
	const struct compared_side head = { c->runs[SIDE_HEAD], c->run_cnt[SIDE_HEAD] };
	_cleanup_(matching_freep) struct matching *m = matching_of(&base, &head);
	bool is_log = have_logs(variances[SIDE_BASE], base.cnt, variances[SIDE_HEAD], head.cnt);
	summed_list list = { NULL, 0, 0 };
	double whole = side_figure(variances[SIDE_HEAD], head.cnt, is_log) - side_figure(variances[SIDE_BASE], base.cnt, is_log);

	sum_up(c, m, &list);
	for (size_t i = 0; i < list.cnt; i++)
		add_change(c, &list.items[i], variances, is_log);
	VEC_RELEASE(&list);
	for (size_t i = 0; i < c->changes.cnt; i++)
		c->changes.items[i].share_of_change = whole ? c->changes.items[i].delta_ns2 / whole : NAN;
	if (c->changes.cnt)
		qsort(c->changes.items, c->changes.cnt, sizeof(*c->changes.items), by_size);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * select.c - the ranking: threshold, order, the first k (CONTRACT section 4).
 *
 * Example, H = 3, threshold .05: CopyData (height 0, share .28) scores 9 * .28 = 2.52, WriteLog
 * (height 1, .30) scores 4 * .30 = 1.2, Lock (height 0, .01) is dropped: CopyData, WriteLog.
 * The threshold comes before k: what is dropped takes nobody's place.
 */
#include "analysis/findings.h"

#include <string.h>
#include "base/banned.h"

struct ranking {
	const struct findings *f;
	bool paper;
};

static double contribution(const struct factor *x, bool paper)
{
	return paper ? x->paper_contribution : x->share;
}

static int compare_names(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Best first; content decides every tie, so the order never depends on the input's. */
static int compare_factors(const void *pa, const void *pb, void *arg)
{
	const struct ranking *r = arg;
	const struct factor *a = &r->f->factors.items[*(const uint32_t *)pa];
	const struct factor *b = &r->f->factors.items[*(const uint32_t *)pb];
	double score_a = r->paper ? a->paper_score : a->score;
	double score_b = r->paper ? b->paper_score : b->score;
	int by_name;

	if (score_a != score_b)
		return score_a > score_b ? -1 : 1;
	if (a->height != b->height)
		return a->height < b->height ? -1 : 1;
	if (contribution(a, r->paper) != contribution(b, r->paper))
		return contribution(a, r->paper) > contribution(b, r->paper) ? -1 : 1;
	by_name = compare_names(a->function, b->function);
	if (by_name == 0)
		by_name = compare_names(a->functions[1], b->functions[1]);
	if (by_name == 0)
		by_name = compare_names(a->file, b->file);
	if (by_name != 0)
		return by_name;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->wait != b->wait)
		return a->wait < b->wait ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

size_t factors_select(const struct findings *f, const struct select_options *o, uint32_t **ret_order)
{
	struct ranking ranking = { f, o->paper };
	uint32_t *order = xcalloc(f->factors.cnt + 1, sizeof(*order));
	size_t cnt = 0;

	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *x = &f->factors.items[i];

		if (x->kind == FACTOR_PAIR && !o->paper)
			continue;
		if (o->all || contribution(x, o->paper) > o->threshold)
			order[cnt++] = (uint32_t)i;
	}
	if (cnt > 1)
		qsort_r(order, cnt, sizeof(*order), compare_factors, &ranking);
	if (!o->all && o->k > 0 && cnt > o->k)
		cnt = o->k;
	*ret_order = order;
	return cnt;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * select.c - the ranking: threshold, order, the first k (vprof-formats(5), RANKING).
 *
 * Example, H = 3, threshold .05: CopyData (height 0, share .28) scores 9 * .28 = 2.52, WriteLog
 * (height 1, .30) scores 4 * .30 = 1.2, Lock (height 0, .01) is dropped: CopyData, WriteLog.
 * The threshold comes before k: dropped factors do not count among the k.
 */
#include "analysis/findings/findings.h"

#include <string.h>
#include "base/banned.h"

#define MOST (2 / 3.0)

enum measure { BY_SHARE, BY_CONTRIBUTION, BY_WORK_SHARE };

struct ranking {
	const struct findings *f;
	enum measure measure;
};

static double contribution(const struct factor *x, enum measure measure)
{
	return measure == BY_CONTRIBUTION ? x->paper_contribution :
	       measure == BY_WORK_SHARE ? x->work_share : x->share;
}

static double score_of(const struct factor *x, enum measure measure)
{
	return measure == BY_CONTRIBUTION ? x->paper_score :
	       measure == BY_WORK_SHARE ? factor_work_score(x) : x->score;
}

static int compare_names(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Best first; ties are decided by content, so the order never depends on the input's. */
static int compare_factors(const void *pa, const void *pb, void *arg)
{
	const struct ranking *r = arg;
	const struct factor *a = &r->f->factors.items[*(const uint32_t *)pa];
	const struct factor *b = &r->f->factors.items[*(const uint32_t *)pb];
	double score_a = score_of(a, r->measure), score_b = score_of(b, r->measure);
	int by_name;

	if (score_a != score_b)
		return score_a > score_b ? -1 : 1;
	if (a->height != b->height)
		return a->height < b->height ? -1 : 1;
	if (contribution(a, r->measure) != contribution(b, r->measure))
		return contribution(a, r->measure) > contribution(b, r->measure) ? -1 : 1;
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

static size_t choose(const struct findings *f, const struct select_options *o, enum measure measure,
		     uint32_t **ret_order)
{
	struct ranking ranking = { f, measure };
	uint32_t *order = xcalloc(f->factors.cnt + 1, sizeof(*order));
	size_t cnt = 0;

	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *x = &f->factors.items[i];

		if (x->kind == FACTOR_PAIR && measure != BY_CONTRIBUTION)
			continue;
		if (o->all || contribution(x, measure) > o->threshold)
			order[cnt++] = (uint32_t)i;
	}
	if (cnt > 1)
		qsort_r(order, cnt, sizeof(*order), compare_factors, &ranking);
	if (!o->all && o->k > 0 && cnt > o->k)
		cnt = o->k;
	*ret_order = order;
	return cnt;
}

size_t factors_select(const struct findings *f, const struct select_options *o, uint32_t **ret_order)
{
	return choose(f, o, o->paper ? BY_CONTRIBUTION : BY_SHARE, ret_order);
}

size_t factors_select_after_work(const struct findings *f, const struct select_options *o,
				 uint32_t **ret_order)
{
	if (f->work.names)
		return choose(f, o, BY_WORK_SHARE, ret_order);
	*ret_order = NULL;
	return 0;
}

/* A body or a wait of that function alone. */
static bool is_part_of(const struct factor *y, const struct factor *x)
{
	return (y->kind == FACTOR_WAIT || y->kind == FACTOR_BODY) && y->line == x->line &&
	       compare_names(y->function, x->function) == 0 && compare_names(y->file, x->file) == 0;
}

/* own: the share of x itself; most: the largest share of another function that is not the queue's. */
static bool is_chance(const struct factor *queue, const struct factor *x, double own, double most)
{
	if (queue->share >= NEARLY_ALL * x->share && own <= (1 - NEARLY_ALL) * x->share)
		return true;
	return queue->share >= MOST * x->share && own <= (1 - MOST) * x->share && queue->share >= 2 * most;
}

/* For a function that was long because it had no CPU, and whose own part hardly varies: the run queue, since chance
 * hit the function. */
static const struct factor *run_queue_of(const struct findings *f, const struct factor *x)
{
	const struct factor *queue = NULL;
	bool has_body = false;		/* else all of it is its body: a leaf that did not wait */
	double own = 0, most = 0;

	for (size_t i = 0; i < f->factors.cnt; i++) {
		const struct factor *y = &f->factors.items[i];

		if (factor_is_runqueue(y)) {
			queue = y;
		} else if (is_part_of(y, x)) {
			own += y->share;
			has_body |= y->kind == FACTOR_BODY;
		}
	}
	for (size_t i = 0; i < f->parts.cnt; i++) {
		const struct part *y = &f->parts.items[i];

		if (!(y->is_wait && state_is_runqueue(y->wait) && !y->function) && y->share > most)
			most = y->share;
	}
	return queue && has_body && is_chance(queue, x, own, most) ? queue : NULL;
}

const struct factor *factor_to_name(const struct findings *f, const struct factor *x, double threshold)
{
	const struct factor *best = NULL;

	for (size_t i = 0; i < f->factors.cnt && x->kind == FACTOR_FUNCTION; i++) {
		const struct factor *y = &f->factors.items[i];

		if (y->kind == FACTOR_WAIT && is_part_of(y, x) && y->share >= NEARLY_ALL * x->share &&
		    y->share > threshold && (!best || y->share > best->share))
			best = y;
	}
	if (!best && x->kind == FACTOR_FUNCTION && x->share > threshold)
		best = run_queue_of(f, x);
	return best ? best : x;
}

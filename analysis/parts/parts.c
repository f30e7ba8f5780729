/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.c - splits the latency into parts that add up to it, and compares them between slow and fast intervals.
 *
 * A part is the running time of one function itself, or its waits of one class, over all its places.  Every
 * nanosecond of an interval is in exactly one part, so all figures below add up over the parts:
 *
 *	share		Cov(X,T) / Var(T)					1
 *	tail share	(E[X|slow] - E[X]) / (E[T|slow] - E[T])			1
 *	extra		E[X|slow] - E[X|fast]			E[T|slow] - E[T|fast]
 *
 * slow: at or above the quantile of the tail; fast: at or below the median.  Example, four intervals with T = 2, 2,
 * 3, 9, slow from 9 on: f = 1, 1, 2, 7 and its lock wait 1, 1, 1, 2.  E[f] = 2.75 and E[T] = 4, so the tail share of
 * f is (7 - 2.75) / (9 - 4) = .85; extra 7 - 1 = 6 of 9 - 2 = 7.
 *
 * The tail share a moves by g when an interval is added, t_q held:
 *
 *	g = [ ((X - m) - a (T - M)) [slow] / k  -  ((X - E[X]) - a (T - E[T])) / n ] / (M - E[T])
 *
 * m, M: the means over the k slow ones.  Sums of g over blocks of time give its error as in confidence.c.
 */
#include "analysis/parts/parts.h"

#include <stdlib.h>
#include <string.h>
#include "analysis/stats/confidence.h"
#include "base/map.h"
#include "base/banned.h"

struct slow_sums {			/* of a part */
	__int128 slow_x, fast_x;
	uint64_t slow_present, fast_present;
};

struct part_maker {
	const struct analysis *a;
	struct part_columns *c;
	struct tail_rows tail;
	bool runqueue;			/* it is a part of its own */
	struct slow_sums *sums;		/* per part */
	struct times_row row;
	struct times_batch batch;
	double *block_x, *block_slow_x;	/* [block * parts + part] */
	size_t block_cnt;		/* 0: too few intervals for an error */
	double *block_t, *block_slow_t, *block_n, *block_k;	/* per block */
};

/* The function and class that a terminal place's time is part of. */
static const struct place *owner_of(const struct vtree *v, uint32_t place)
{
	return &v->places.items[place_blamed_wait(v, place)];
}

/* Time in the run queue belongs to no function. */
static struct part part_of(const struct analysis *a, const struct factor_columns *factors, const struct place *p)
{
	struct part part = { .is_wait = p->is_wait, .wait = p->wait };

	if (p->kind == NODE_WAIT && place_has_runqueue_factor(factors, a->v, p)) {
		part.wait = STATE_RUNNABLE;
		return part;
	}
	part.function = analysis_function_name(a, p->function);
	part.file = analysis_function_file(a, p->function);
	return part;
}

static void make_parts(const struct analysis *a, const struct factor_columns *factors, struct part_columns *ret)
{
	_cleanup_(map_freep) struct map *index = map_new();
	_cleanup_(freep) uint32_t *part_of_place = xcalloc(a->v->places.cnt, sizeof(*part_of_place));

	for (uint32_t i = 0; i < a->v->places.cnt; i++) {
		const struct place *p = owner_of(a->v, i);
		enum node_kind kind = a->v->places.items[i].kind;
		struct part part;
		uint64_t *slot;

		part_of_place[i] = NODE_NONE;
		if ((kind != NODE_BODY && (kind != NODE_BLAME || a->v->places.items[i].first_child != NODE_NONE)) || a->v->places.items[i].presence == 0)
			continue;
		part = part_of(a, factors, p);
		slot = map_slot(index, (uint64_t)part.is_wait << 40 | (uint64_t)part.wait << 32 |
				(part.function ? p->function : FUNCTION_NONE));
		if (*slot == 0) {
			VEC_ADD(&a->f->parts, part);
			*slot = a->f->parts.cnt;
		}
		part_of_place[i] = (uint32_t)(*slot - 1);
		a->f->parts.items[*slot - 1].is_estimated |= i < a->v->sample_cnt.cnt && a->v->sample_cnt.items[i] && kind == NODE_BODY;
	}
	ret->times = times_new(a->v, a->rows, part_of_place, a->f->parts.cnt);
}

static void sum_latency(struct part_maker *s, size_t block, int64_t latency_ns, bool slow)
{
	s->block_t[block] += (double)latency_ns;
	s->block_slow_t[block] += slow ? (double)latency_ns : 0;
	s->block_n[block]++;
	s->block_k[block] += slow;
}

static void sum_row(void *arg, size_t row, const cells *places)
{
	struct part_maker *s = arg;
	const struct tail *tail = &s->a->f->tail;
	int64_t latency_ns = s->a->full->of_row[row];
	bool slow = latency_ns >= tail->from_ns, fast = latency_ns <= tail->fast_to_ns;
	size_t block = s->block_cnt ? s->a->full->block_of_row[row] : 0;
	double *block_x = s->block_x + block * s->a->f->parts.cnt, *block_slow_x = s->block_slow_x + block * s->a->f->parts.cnt;

	if (s->block_cnt)
		sum_latency(s, block, latency_ns, slow);
	times_row(&s->row, places);
	for (size_t c = 0; c < s->row.cells.cnt; c++) {
		uint32_t part = s->row.cells.items[c].column;
		int64_t x = s->row.cells.items[c].ns;
		struct slow_sums *p = &s->sums[part];
		struct sums *all = &s->c->sums[part];

		all->x += x;
		all->xx += (__int128)x * x;
		all->xt += (__int128)x * latency_ns;
		p->slow_x += slow ? x : 0;
		p->fast_x += fast ? x : 0;
		p->slow_present += slow && x > 0;
		p->fast_present += fast && x > 0;
		if (s->block_cnt) {
			block_x[part] += (double)x;
			block_slow_x[part] += slow ? (double)x : 0;
		}
	}
}

/* Doubles hold times of up to a hundred days exactly, so their sums do not depend on the order. */
static void sum_batch(void *arg, const struct row_batch *b)
{
	struct part_maker *s = arg;
	const struct tail *tail = &s->a->f->tail;
	size_t block = s->block_cnt ? b->group : 0;
	double *block_x = s->block_x + block * s->a->f->parts.cnt, *block_slow_x = s->block_slow_x + block * s->a->f->parts.cnt;
	batch_column is_slow, is_fast;
	uint64_t slow = batch_rows_from(b, tail->from_ns, is_slow), fast = batch_rows_to(b, tail->fast_to_ns, is_fast);

	for (size_t r = 0; s->block_cnt && r < b->cnt; r++)
		sum_latency(s, block, b->ns[0][r], is_slow[r]);
	times_batch(&s->batch, b);
	for (size_t c = 0; c < s->batch.columns.cnt; c++) {
		const struct times_column *x = &s->batch.columns.items[c];
		struct slow_sums *p = &s->sums[x->column];
		struct sums *all = &s->c->sums[x->column];
		uint64_t sum = batch_sum(x->ns), slow_sum = slow & x->rows_with ? batch_sum_where(x->ns, is_slow) : 0;

		all->x += sum;
		all->xx += batch_product(x->ns, x->ns, x->rows_with);
		all->xt += batch_product(x->ns, b->ns[0], x->rows_with);
		p->slow_x += slow_sum;
		p->fast_x += fast & x->rows_with ? batch_sum_where(x->ns, is_fast) : 0;
		p->slow_present += (uint64_t)__builtin_popcountll(slow & x->rows_with);
		p->fast_present += (uint64_t)__builtin_popcountll(fast & x->rows_with);
		if (s->block_cnt) {
			block_x[x->column] += (double)sum;
			block_slow_x[x->column] += (double)slow_sum;
		}
	}
}

/* If there are no rows: takes the sums of the place. */
static void take_place(struct part_maker *s, uint32_t place, uint32_t part)
{
	const struct place_sums *from = s->a->sums;
	const struct sums *place_sums = &s->a->m->places.items[place];
	struct sums *all = &s->c->sums[part];

	all->x += place_sums->x;
	all->xt += place_sums->xt;
	s->sums[part].slow_x += from->slow_x[place];
	s->sums[part].fast_x += from->fast_x[place];
	for (size_t b = 0; b < s->block_cnt; b++) {
		s->block_x[b * s->a->f->parts.cnt + part] += (double)from->blocks[b].x[place];
		s->block_slow_x[b * s->a->f->parts.cnt + part] += (double)from->blocks[b].slow_x[place];
	}
}

static void take_sums(struct part_maker *s)
{
	const struct place_sums *from = s->a->sums;

	for (uint32_t i = 0; i < s->a->v->places.cnt; i++) {
		uint32_t part = s->c->times->column_of_place[i];
		const struct part *p;
		struct own_sums own;

		if (part == NODE_NONE)
			continue;
		take_place(s, i, part);
		p = &s->a->f->parts.items[part];
		own = own_sums_of(from, !p->is_wait ? own_key(OWN_BODY, STATE_RUNNING, owner_of(s->a->v, i)->function) :
					!p->function && state_is_runqueue(p->wait) && s->runqueue ?
					own_key(OWN_RUNQUEUE_WAITS, STATE_RUNNING, FUNCTION_NONE) :
					own_key(OWN_WAIT, p->wait, owner_of(s->a->v, i)->function));
		s->c->sums[part].xx = own.xx;
		s->sums[part].slow_present = own.slow;
		s->sums[part].fast_present = own.fast;
	}
	for (size_t b = 0; b < s->block_cnt; b++) {
		s->block_t[b] = (double)from->blocks[b].t;
		s->block_slow_t[b] = (double)from->blocks[b].slow_t;
		s->block_n[b] = (double)from->blocks[b].n;
		s->block_k[b] = (double)from->blocks[b].slow_n;
	}
}

static void set_tail_ci95(const struct part_maker *s, struct part *p, size_t part)
{
	const struct analysis *a = s->a;
	const struct tail *tail = &a->f->tail;
	double mean_t = a->f->interval.mean_ns, extra = tail->mean_ns - mean_t, share = p->tail_share;
	double n = (double)a->m->n, k = (double)s->tail.slow, blocks[CONFIDENCE_BLOCKS_MAX];
	struct confidence c;

	for (size_t b = 0; b < s->block_cnt; b++) {
		double x = s->block_x[b * a->f->parts.cnt + part];
		double slow_x = s->block_slow_x[b * a->f->parts.cnt + part];
		double all = x - s->block_n[b] * p->mean_ns -
			     share * (s->block_t[b] - s->block_n[b] * mean_t);
		double slow = slow_x - s->block_k[b] * p->slow_mean_ns -
			      share * (s->block_slow_t[b] - s->block_k[b] * tail->mean_ns);

		blocks[b] = (slow / k - all / n) / extra;
	}
	c = confidence_of(blocks, analysis_blocks(a), 1);
	p->has_tail_ci95 = true;
	p->tail_ci95[0] = share - c.half_width;
	p->tail_ci95[1] = share + c.half_width;
}

static void fill_part(const struct part_maker *s, size_t part)
{
	const struct analysis *a = s->a;
	const struct tail *tail = &a->f->tail;
	const struct slow_sums *sums = &s->sums[part];
	const struct sums *all = &s->c->sums[part];
	struct part *p = &a->f->parts.items[part];
	double extra = tail->mean_ns - a->f->interval.mean_ns;

	p->mean_ns = moments_mean(a->m->n, all->x);
	p->share = analysis_share(a, moments_covariance(a->m->n, all->x, a->m->places.items[0].x, all->xt));
	p->slow_mean_ns = moments_mean(s->tail.slow, sums->slow_x);
	p->fast_mean_ns = moments_mean(s->tail.fast, sums->fast_x);
	p->slow_presence = s->tail.slow ? (double)sums->slow_present / (double)s->tail.slow : 0;
	p->fast_presence = s->tail.fast ? (double)sums->fast_present / (double)s->tail.fast : 0;
	if (tail->cnt < TAIL_INTERVALS_MIN || extra <= 0)
		return;
	p->has_tail = true;
	p->tail_share = (p->slow_mean_ns - p->mean_ns) / extra;
	if (s->block_cnt)
		set_tail_ci95(s, p, part);
}

static double part_extra(const struct part *p)
{
	return p->slow_mean_ns - p->fast_mean_ns;
}

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

struct sorted_part {
	struct part part;
	uint32_t before;		/* its index before sorting */
};

/* The largest difference in slow intervals comes first. */
static int compare_parts(const void *x, const void *y)
{
	const struct part *a = &((const struct sorted_part *)x)->part, *b = &((const struct sorted_part *)y)->part;
	int r;

	if (part_extra(a) != part_extra(b))
		return part_extra(a) > part_extra(b) ? -1 : 1;
	r = compare_texts(a->function, b->function);
	if (r == 0)
		r = compare_texts(a->file, b->file);
	if (r == 0)
		r = (a->is_wait > b->is_wait) - (a->is_wait < b->is_wait);
	return r ? r : (a->wait > b->wait) - (a->wait < b->wait);
}

struct part_maker *begin_parts(const struct analysis *a, const struct factor_columns *factors, struct row_reading *r,
			       struct part_columns *ret)
{
	struct part_maker *s = xcalloc(1, sizeof(*s));
	size_t cnt;

	make_parts(a, factors, ret);
	s->runqueue = factors->runqueue != NODE_NONE;
	cnt = a->f->parts.cnt;
	s->a = a;
	s->c = ret;
	s->block_cnt = analysis_blocks(a).cnt;
	s->sums = xcalloc(cnt + 1, sizeof(*s->sums));
	ret->sums = xcalloc(cnt + 1, sizeof(*ret->sums));
	s->block_x = xcalloc(2 * cnt * s->block_cnt + 1, sizeof(*s->block_x));
	s->block_slow_x = s->block_x + cnt * s->block_cnt;
	s->block_t = xcalloc(4 * s->block_cnt + 1, sizeof(*s->block_t));
	s->block_slow_t = s->block_t + s->block_cnt;
	s->block_n = s->block_slow_t + s->block_cnt;
	s->block_k = s->block_n + s->block_cnt;
	times_row_init(&s->row, ret->times);
	times_batch_init(&s->batch, ret->times);
	visit_rows(r, sum_row, sum_batch, s);
	return s;
}

void end_parts(struct part_maker *s, const struct tail_rows *tail)
{
	s->tail = *tail;
	if (s->a->sums)
		take_sums(s);
	for (size_t i = 0; i < s->a->f->parts.cnt; i++)
		fill_part(s, i);
	times_row_release(&s->row);
	times_batch_release(&s->batch);
	free(s->sums);
	free(s->block_x);
	free(s->block_t);
	free(s);
}

void part_columns_release(struct part_columns *c)
{
	times_free(c->times);
	free(c->sums);
}

void sort_parts(struct findings *f)
{
	size_t cnt = f->parts.cnt;
	_cleanup_(freep) struct sorted_part *sorted = xcalloc(cnt + 1, sizeof(*sorted));
	_cleanup_(freep) uint32_t *after = xcalloc(cnt + 1, sizeof(*after));

	for (uint32_t i = 0; i < cnt; i++)
		sorted[i] = (struct sorted_part){ f->parts.items[i], i };
	if (cnt > 1)
		qsort(sorted, cnt, sizeof(*sorted), compare_parts);
	for (uint32_t i = 0; i < cnt; i++) {
		f->parts.items[i] = sorted[i].part;
		after[sorted[i].before] = i;
	}
	for (size_t i = 0; i < f->part_pairs.cnt; i++) {
		f->part_pairs.items[i].a = after[f->part_pairs.items[i].a];
		f->part_pairs.items[i].b = after[f->part_pairs.items[i].b];
	}
	for (size_t i = 0; i < f->common_causes.cnt; i++)
		for (size_t k = 0; k < f->common_causes.items[i].members.cnt; k++)
			f->common_causes.items[i].members.items[k].part =
				after[f->common_causes.items[i].members.items[k].part];
}

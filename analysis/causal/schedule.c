/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule.c - chooses the next points from what is known so far, and from nothing else. */
#include "analysis/causal/schedule.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

uint32_t schedule_number(const struct schedule *s, uint32_t target, size_t speedup)
{
	return target * (uint32_t)(s->speedup_cnt + 1) + (uint32_t)speedup;
}

uint32_t schedule_rehearsal(const struct schedule *s, uint32_t target)
{
	return schedule_number(s, target, s->speedup_cnt);
}

/* The speedup nearest to 0.5; of two that are as near, the smaller. */
static size_t first_speedup(const struct schedule *s)
{
	size_t best = 0;

	for (size_t i = 1; i < s->speedup_cnt; i++)
		if (fabs(s->speedups[i] - 0.5) < fabs(s->speedups[best] - 0.5))
			best = i;
	return best;
}

static uint64_t rounds_of(const block_samples *blocks)
{
	uint64_t rounds = 0;

	for (size_t i = 0; i < blocks->cnt; i++)
		rounds = blocks->items[i].round > rounds ? blocks->items[i].round : rounds;
	return rounds;
}

void schedule_estimate(const struct schedule *s, const block_samples *blocks, unsigned draws, struct experiments *e)
{
	struct experiment rehearsal = { .speedup = REHEARSAL_SPEEDUP };
	struct estimate_options o = { .draws = draws };

	e->list.cnt = 0;
	estimate_baseline(blocks, e);
	e->metric = s->has_metric ? s->metric : estimate_default_metric(rounds_of(blocks));
	estimate_gains(blocks, schedule_rehearsal(s, 0), &o, &rehearsal);
	e->floor = o.floor = estimate_floor(&rehearsal, e->baseline[GAIN_P50], s->slack_ns);
	for (uint32_t t = 0; t < s->target_cnt; t++)
		for (size_t i = 0; i < s->speedup_cnt; i++) {
			struct experiment x = {
				.target = s->targets[t].target, .kind = s->targets[t].kind, .function = s->targets[t].function,
				.file = s->targets[t].file, .speedup = s->speedups[i],
			};

			estimate_gains(blocks, schedule_number(s, t, i), &o, &x);
			if (x.rounds)
				VEC_ADD(&e->list, x);
		}
	estimate_adjust(e);
	experiments_choose_best(e);
}

/* ---- the next round ---- */

static const struct experiment *found(const struct schedule *s, const struct experiments *e, uint32_t target, size_t speedup)
{
	for (size_t i = 0; i < e->list.cnt; i++) {
		const struct experiment *x = &e->list.items[i];

		if (strcmp(x->target, s->targets[target].target) == 0 && x->speedup == s->speedups[speedup])
			return x;
	}
	return NULL;
}

static bool is_known(const struct experiment *x, enum gain_metric m)
{
	const struct gain *g;

	if (!x || x->rounds < ROUNDS_BEFORE_CHOICE)
		return false;
	g = &x->metrics[m];
	return g->has_ci95 && fmax(g->ci95[1] - g->gain, g->gain - g->ci95[0]) <= KNOWN_TO + 1e-9;
}

static bool is_dropped(const struct experiment *x, enum gain_metric m)
{
	return x && x->rounds >= ROUNDS_BEFORE_CHOICE && x->metrics[m].has_ci95 && x->metrics[m].ci95[1] < KNOWN_TO;
}

static void add_point(const struct schedule *s, uint32_t target, size_t speedup, schedule_points *ret)
{
	VEC_ADD(ret, (struct schedule_point){ schedule_number(s, target, speedup), target, s->speedups[speedup] });
}

/* The number of targets that gain more than this one at the first speedup. */
static size_t better_cnt(const struct schedule *s, const struct experiments *e, uint32_t target)
{
	size_t first = first_speedup(s), cnt = 0;
	const struct experiment *x = found(s, e, target, first);

	for (uint32_t t = 0; x && t < s->target_cnt; t++) {
		const struct experiment *y = found(s, e, t, first);

		cnt += y && y->metrics[e->metric].gain > x->metrics[e->metric].gain;
	}
	return cnt;
}

void schedule_next(const struct schedule *s, const struct experiments *e, uint32_t round_cnt, schedule_points *ret)
{
	size_t first = first_speedup(s);

	for (uint32_t t = 0; t < s->target_cnt; t++) {
		const struct experiment *x = found(s, e, t, first);

		if (is_dropped(x, e->metric))
			continue;
		if (!is_known(x, e->metric))
			add_point(s, t, first, ret);
		if (round_cnt < ROUNDS_BEFORE_CHOICE || better_cnt(s, e, t) >= TARGETS_IN_FULL)
			continue;
		for (size_t i = 0; i < s->speedup_cnt; i++)
			if (i != first && !is_known(found(s, e, t, i), e->metric))
				add_point(s, t, i, ret);
	}
	if (ret->cnt)
		VEC_ADD(ret, (struct schedule_point){ schedule_rehearsal(s, 0), 0, REHEARSAL_SPEEDUP });
}

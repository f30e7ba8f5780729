/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_samples.c - in which functions the running time of requests was spent, by samples.
 *
 * If functions come from stacks (struct look), running time is exact, but has no function.  A sample says in which functions the
 * thread was at one moment.  Each moment is sampled with the same density, one in a period: so a function's time is, on average, the
 * number of its samples times the period, however short the requests are.  A sample moves a period from the place of the running
 * time to that of its functions; the rest may be negative in one row, and is right on average.
 *
 * A sample also lengthens the request that it hits.  Its cost is known and subtracted from the running time and the latency: slow
 * requests had more samples because they were slow, but partly they were slow because they had more samples.
 *
 *	period 10, cost 1; a request runs 25, with samples in main > f and in main > g
 *	-> f 10, g 10, running 25 - 20 - 2 = 3; the request took 23
 */
#include "analysis/tree/variance_tree.h"

#include "base/banned.h"
#include "base/search.h"

enum { STEPS_MAX = 8 };			/* about as many as a search takes */

static bool is_before(const struct stack_sample *s, uint64_t tid, int64_t after_ns)
{
	return s->tid < tid || (s->tid == tid && s->ns <= after_ns);
}

/* Pieces come nearly in order, so it is mostly a few steps from the last one. */
static size_t first_sample(struct vtree *v, uint64_t tid, int64_t after_ns)
{
	const struct trace *t = v->tl->trace;
	const struct stack_sample *s = t->samples.items;
	size_t at = v->sample_at < t->samples.cnt ? v->sample_at : t->samples.cnt, steps = 0;

	while (at < t->samples.cnt && is_before(&s[at], tid, after_ns) && steps++ < STEPS_MAX)
		at++;
	while (at > 0 && !is_before(&s[at - 1], tid, after_ns) && steps++ < STEPS_MAX)
		at--;
	if (steps > STEPS_MAX)
		at = partition_point(i, t->samples.cnt, is_before(&s[i], tid, after_ns));
	return v->sample_at = at;
}

static uint32_t own_place(struct vtree *v, uint32_t place)
{
	if (v->places.items[place].kind == NODE_BLAME)
		return blame_in(v, place, FUNCTION_NONE, STATE_RUNNING);
	return vtree_body(v, place);
}

/* Below the interval functions, below a wait those to blame, the outermost first.  A function that calls itself is one place. */
static uint32_t place_of_chain(struct vtree *v, uint32_t root, uint32_t chain, uint32_t wait)
{
	const struct chain *c = &v->tl->trace->chains.items[chain];
	uint32_t above;

	if (!chain)
		return root;
	above = place_of_chain(v, root, c->parent, wait);
	if (wait == NODE_NONE)
		return vtree_function_child(v, above, c->function);
	if (above != root && v->places.items[above].function == c->function)
		return above;
	return blame_in(v, above, c->function, STATE_RUNNING);
}

void vtree_move_samples(struct vtree *v, uint64_t tid, int64_t start_ns, int64_t end_ns, uint32_t wait, uint32_t from)
{
	const struct trace *t = v->tl->trace;

	for (size_t i = first_sample(v, tid, start_ns); i < t->samples.cnt; i++) {
		const struct stack_sample *s = &t->samples.items[i];
		uint32_t to = NODE_NONE;

		if (s->tid != tid || s->ns > end_ns)
			break;
		if (s->chain) {
			to = own_place(v, place_of_chain(v, wait == NODE_NONE ? 0 : wait, s->chain, wait));
			v->places.items[to].is_sampled = true;
		}
		VEC_ADD(&v->samples, (struct sample_charge){ from, to });
	}
}

/* Not more than there is of the request. */
static int64_t cost_of(const struct vtree *v)
{
	int64_t cost_ns = v->tl->trace->look.sample_cost_ns * (int64_t)v->samples.cnt, latency_ns = 0;

	for (size_t i = 0; i < v->touched.cnt; i++)
		latency_ns += v->ns.items[v->touched.items[i]];
	return cost_ns < latency_ns ? cost_ns : latency_ns;
}

void vtree_charge_samples(struct vtree *v)
{
	int64_t period_ns = v->tl->trace->look.sample_ns, left_ns;

	v->sample_cost_ns = 0;
	if (!v->samples.cnt)
		return;
	left_ns = v->sample_cost_ns = cost_of(v);
	for (size_t i = 0; i < v->samples.cnt; i++) {
		const struct sample_charge *s = &v->samples.items[i];
		int64_t cost_ns = left_ns / (int64_t)(v->samples.cnt - i);

		left_ns -= cost_ns;
		v->ns.items[s->from] -= cost_ns;
		if (s->to == NODE_NONE)
			continue;
		v->ns.items[s->from] -= period_ns;
		if (v->ns.items[s->to] == 0)
			VEC_ADD(&v->touched, s->to);
		v->ns.items[s->to] += period_ns;
	}
	v->samples.cnt = 0;
}

uint32_t vtree_sampled_root(const struct vtree *v, uint32_t place)
{
	while (v->places.items[place].kind != NODE_INTERVAL && v->places.items[place].kind != NODE_WAIT)
		place = v->places.items[place].parent;
	return place;
}

uint32_t vtree_own_place(struct vtree *v, uint32_t place)
{
	struct place like = { .kind = NODE_BLAME, .function = FUNCTION_NONE, .call_site = CALL_SITE_NONE };

	if (v->places.items[place].kind != NODE_BLAME && v->places.items[place].kind != NODE_WAIT)
		return vtree_body(v, place);
	for (uint32_t i = v->places.items[place].first_child; i != NODE_NONE; i = v->places.items[i].next_sibling)
		if (v->places.items[i].function == FUNCTION_NONE && !v->places.items[i].is_wait)
			return i;
	return vtree_add_place(v, place, &like);
}

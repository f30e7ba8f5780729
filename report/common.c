/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * common.c - parts that vary together, and pairs that make up for each other, below the factors.
 *
 *	together: parse (body), hash (body), copy (body), 9 more: 74 % of the variance, 9 % if each varied by itself
 *	hedge: read_ahead and body of scan make up for each other: -23 % of the variance
 */
#include <stdlib.h>

#include "base/banned.h"
#include "base/table.h"
#include "base/utf8.h"
#include "report/common.h"
#include "report/output.h"
#include "report/style.h"

#define MEMBERS_SHOWN 3
#define HEDGES_SHOWN 3
#define HEDGE_MIN 0.01			/* in JSON; the text begins at the threshold */

static void print_cause(const struct style *s, const struct findings *f, const struct common_cause *c)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	char explained[TEXT_MAX], own[TEXT_MAX];

	str_add(&line, "together: ");
	for (size_t i = 0; i < c->members.cnt && i < MEMBERS_SHOWN; i++) {
		_cleanup_(freep) char *label = part_label(&f->parts.items[c->members.items[i].part], s->utf8);

		str_addf(&line, "%s%s", i ? ", " : "", label);
	}
	if (c->members.cnt > MEMBERS_SHOWN)
		str_addf(&line, ", %zu more", c->members.cnt - MEMBERS_SHOWN);
	str_addf(&line, ": %s of the variance", text_percent(explained, c->explained));
	if (c->has_ci95 && c->ci95[1] - c->ci95[0] > 1e-9)
		str_addf(&line, " (95 %% CI %s)", text_ci95(explained, c->ci95));
	str_addf(&line, ", %s if each varied by itself: look for what they share", text_percent(own, c->own));
	table_line(s->out, str_cstr(&line));
}

static int most_negative_first(const void *a, const void *b, void *arg)
{
	const struct factor *factors = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (factors[x].share != factors[y].share)
		return factors[x].share < factors[y].share ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Indexes of pairs below -limit; the caller frees them. */
static size_t *find_hedges(const struct findings *f, double limit, size_t *ret_cnt)
{
	size_t *order = xcalloc(f->factors.cnt + 1, sizeof(*order)), cnt = 0;

	for (size_t i = 0; i < f->factors.cnt; i++)
		if (f->factors.items[i].kind == FACTOR_PAIR && f->factors.items[i].share < -limit)
			order[cnt++] = i;
	if (cnt > 1)
		qsort_r(order, cnt, sizeof(*order), most_negative_first, f->factors.items);
	*ret_cnt = cnt;
	return order;
}

void print_common(const struct style *s, const struct view_input *in)
{
	const struct findings *f = in->findings;
	size_t cnt;
	_cleanup_(freep) size_t *hedges = find_hedges(f, in->options.ranking.threshold, &cnt);
	char percent[TEXT_MAX];

	for (size_t i = 0; i < f->common_causes.cnt; i++)
		print_cause(s, f, &f->common_causes.items[i]);
	for (size_t i = 0; i < cnt && (i < HEDGES_SHOWN || in->options.ranking.all); i++) {
		const struct factor *x = &f->factors.items[hedges[i]];
		_cleanup_(str_release) struct str line = STR_INIT;

		str_addf(&line, "hedge: %s and %s make up for each other: %s of the variance", x->functions[0],
			 x->functions[1], text_percent(percent, x->share));
		table_line(s->out, str_cstr(&line));
	}
}

static json_t *member_json(const struct findings *f, const struct common_member *m)
{
	const struct part *p = &f->parts.items[m->part];
	json_t *o = json_object();

	json_set(o, "kind", json_text(p->is_wait ? "wait" : "body"));
	json_set(o, "function", json_text(p->function));
	json_set(o, "file", json_text(p->file));
	json_set(o, "wait", json_wait(p->is_wait, p->wait));
	json_set(o, "contribution", json_number(m->contribution));
	return o;
}

json_t *common_causes_json(const struct findings *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->common_causes.cnt; i++) {
		const struct common_cause *c = &f->common_causes.items[i];
		json_t *o = json_object(), *members = json_array();

		for (size_t k = 0; k < c->members.cnt; k++)
			json_add(members, member_json(f, &c->members.items[k]));
		json_set(o, "explained", json_number(c->explained));
		json_set(o, "own", json_number(c->own));
		json_set(o, "ci95", json_ci95(c->has_ci95, c->ci95));
		json_set(o, "members", members);
		json_add(list, o);
	}
	return list;
}

json_t *hedges_json(const struct findings *f)
{
	json_t *list = json_array();
	size_t cnt;
	_cleanup_(freep) size_t *hedges = find_hedges(f, HEDGE_MIN, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		const struct factor *x = &f->factors.items[hedges[i]];
		json_t *o = json_object(), *pair = json_array();

		json_add(pair, json_text(x->functions[0]));
		json_add(pair, json_text(x->functions[1]));
		json_set(o, "functions", pair);
		json_set(o, "share", json_number(x->share));
		json_set(o, "ci95", json_ci95(x->has_ci95, x->ci95));
		json_add(list, o);
	}
	return list;
}

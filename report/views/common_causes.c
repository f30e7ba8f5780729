/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * common_causes.c - parts that vary together, and pairs that offset each other, below the factors.
 *
 *	together: parse (body), hash (body), copy (body), 9 more: 74 % of the variance, 9 % if each varied by itself
 *	hedge: read_ahead and body of scan offset each other: -23 % of the variance
 *	either: intervals take their time in main or in serve, seldom in both
 *	pair: fill and drop take long together: 12 % of the variance (below parse and reply)
 */
#include <stdlib.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "base/text/utf8.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views/common_causes.h"
#include "report/words/sentence.h"

#define MEMBERS_SHOWN 3
#define PAIRS_SHOWN 3
#define HEDGE_MIN 0.01			/* in JSON; the text begins at the threshold */

static void print_cause(const struct style *s, const struct findings *f, const struct common_cause *c)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	const double *ci95 = ci95_to_show(true, c->ci95);
	char explained[TEXT_MAX], own[TEXT_MAX];

	str_add(&line, "together: ");
	for (size_t i = 0; i < c->members.cnt && i < MEMBERS_SHOWN; i++) {
		_cleanup_(freep) char *label = part_label(&f->parts.items[c->members.items[i].part], s->utf8);

		str_addf(&line, "%s%s", i ? ", " : "", label);
	}
	if (c->members.cnt > MEMBERS_SHOWN)
		str_addf(&line, ", %zu more", c->members.cnt - MEMBERS_SHOWN);
	str_addf(&line, ": %s of the variance", text_percent_with_ci95(explained, c->explained, ci95));
	if (ci95)
		str_addf(&line, " (95 %% CI %s)", text_ci95(explained, ci95));
	str_addf(&line, ", %s if each varied by itself: look for what they share", text_percent(own, c->own));
	table_line(s->out, str_cstr(&line));
}

static void add_size(struct str *line, double share)
{
	char percent[TEXT_MAX];

	if (share >= -1)
		str_addf(line, "%s of the variance", text_percent(percent, share));
	else
		str_addf(line, "the variance would be %.1f times as large if they did not", 1 - share);
}

static void add_pair(struct str *line, const struct reported_pair *p, bool hedge)
{
	if (p->either) {
		str_addf(line, "either: intervals take their time in %s or in %s, seldom in both", p->labels[0], p->labels[1]);
	} else {
		str_addf(line, "%s: %s and %s %s: ", hedge ? "hedge" : "pair", p->labels[0], p->labels[1],
			 hedge ? "offset each other" : "take long together");
		add_size(line, p->share);
	}
	if (p->below[0])
		str_addf(line, " (below %s and %s)", p->below[0], p->below[1]);
}

static void print_pairs(const struct style *s, const struct view_input *in, bool hedges)
{
	_cleanup_(freep) struct reported_pair *pairs = NULL;
	size_t cnt = findings_pairs(in->findings, hedges, in->options.ranking.threshold, &pairs);
	size_t shown = 0;

	for (size_t i = 0; i < cnt && (shown < PAIRS_SHOWN || in->options.ranking.all); i++) {
		const struct reported_pair *p = &pairs[i];
		_cleanup_(str_release) struct str line = STR_INIT;

		if (p->has_ci95 && p->ci95[0] <= 0 && p->ci95[1] >= 0)
			continue;		/* may be chance */
		shown++;
		add_pair(&line, p, hedges);
		table_line(s->out, str_cstr(&line));
	}
}

void print_common(const struct style *s, const struct view_input *in)
{
	for (size_t i = 0; i < in->findings->common_causes.cnt; i++)
		print_cause(s, in->findings, &in->findings->common_causes.items[i]);
	print_pairs(s, in, true);
	print_pairs(s, in, false);
}

json_t *part_json(const struct part *p)
{
	json_t *o = json_object();

	json_set(o, "kind", json_text(p->is_wait ? "wait" : "body"));
	json_set(o, "function", json_text(p->function));
	json_set(o, "file", json_text(p->file));
	json_set(o, "wait", json_wait(p->is_wait, p->wait));
	return o;
}

static json_t *member_json(const struct findings *f, const struct common_member *m)
{
	json_t *o = part_json(&f->parts.items[m->part]);

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
		json_set(o, "ci95", json_ci95(true, c->ci95));
		json_set(o, "members", members);
		json_add(list, o);
	}
	return list;
}

static json_t *labels_json(const char *const *labels)
{
	json_t *pair;

	if (!labels[0])
		return json_null();
	pair = json_array();
	json_add(pair, json_text(labels[0]));
	json_add(pair, json_text(labels[1]));
	return pair;
}

json_t *hedges_json(const struct findings *f)
{
	json_t *list = json_array();
	_cleanup_(freep) struct reported_pair *hedges = NULL;
	size_t cnt = findings_pairs(f, true, HEDGE_MIN, &hedges);

	for (size_t i = 0; i < cnt; i++) {
		json_t *o = json_object();

		json_set(o, "functions", labels_json(hedges[i].labels));
		json_set(o, "share", json_number(hedges[i].share));
		json_set(o, "ci95", json_ci95(hedges[i].has_ci95, hedges[i].ci95));
		json_set(o, "across", json_boolean(hedges[i].across));
		json_set(o, "either", json_boolean(hedges[i].either));
		json_set(o, "below", labels_json(hedges[i].below));
		json_add(list, o);
	}
	return list;
}

json_t *part_pairs_json(const struct findings *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->part_pairs.cnt; i++) {
		const struct part_pair *p = &f->part_pairs.items[i];
		json_t *o = json_object();

		json_set(o, "functions", labels_json(p->labels));
		json_set(o, "a", part_json(&f->parts.items[p->a]));
		json_set(o, "b", part_json(&f->parts.items[p->b]));
		json_set(o, "share", json_number(p->share));
		json_set(o, "ci95", json_ci95(p->has_ci95, p->ci95));
		json_set(o, "across", json_boolean(p->across));
		json_set(o, "within", p->within == NODE_NONE ? json_null()
							     : labels_json(f->factors.items[p->within].functions));
		json_add(list, o);
	}
	return list;
}

/* The part's own variance, and that of all unlisted pairs; with the listed ones the sum is 1. */
json_t *pairs_rest_json(const struct findings *f)
{
	double own = 0, other = 0;
	json_t *o;

	for (size_t i = 0; i < f->parts.cnt; i++)
		if (f->parts.items[i].is_estimated)	/* its variance is not known */
			return json_null();
	if (f->parts.cnt == 0)
		return json_null();
	for (size_t i = 0; i < f->parts.cnt; i++) {
		own += f->parts.items[i].variance_share;
		other += f->parts.items[i].other_pairs / 2;
	}
	o = json_object();
	json_set(o, "own", json_number(own));
	json_set(o, "other_pairs", json_number(other));
	return o;
}

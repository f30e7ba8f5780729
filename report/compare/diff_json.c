/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff_json.c - a comparison as vprof.diff/1. */

#include "base/banned.h"
#include "report/compare/diff_words.h"
#include "report/output.h"

static json_t *hosts_json(const struct comparison *c, enum side side)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->run_cnt[side]; i++)
		json_add(list, json_text(c->runs[side][i].host));
	return list;
}

static json_t *side_json(const struct diff_input *in, enum side side)
{
	json_t *o = json_object(), *numbers = json_array(), *names = json_array();

	for (size_t i = 0; i < in->runs[side]->cnt; i++) {
		json_add(numbers, json_integer(in->runs[side]->items[i].number));
		json_add(names, json_text(in->runs[side]->items[i].name));
	}
	json_set(o, "runs", numbers);
	json_set(o, "names", names);
	if (in->comparison->by_host)
		json_set(o, "hosts", hosts_json(in->comparison, side));
	json_set(o, "intervals", json_u64(in->comparison->interval_cnt[side]));
	return o;
}

static json_t *metrics_json(const struct comparison *c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < METRIC_CNT; i++) {
		const struct compared_metric *m = &c->metrics[i];
		json_t *o = json_object();

		json_set(o, "name", json_string(metric_name((enum metric)i)));
		json_set(o, "base_ns", json_ns(m->of[SIDE_BASE]));
		json_set(o, "head_ns", json_ns(m->of[SIDE_HEAD]));
		json_set(o, "ratio", json_number(m->ratio));
		json_set(o, "ci95", json_ci95(m->has_ci95, m->ci95));
		json_set(o, "verdict", json_string(verdict_name(m->verdict)));
		json_add(list, o);
	}
	return list;
}

static json_t *was_json(const struct change *x)
{
	json_t *o;

	if (!x->was)
		return json_null();
	o = json_object();
	json_set(o, "function", json_text(x->was));
	json_set(o, "file", json_text(x->was_file));
	return o;
}

static json_t *changes_json(const struct comparison *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->changes.cnt; i++) {
		const struct change *x = &c->changes.items[i];
		json_t *o = json_object();

		json_set(o, "kind", json_string(factor_kind_name(x->is_wait ? FACTOR_WAIT : FACTOR_BODY)));
		json_set(o, "function", json_text(x->function));
		json_set(o, "file", json_text(x->file));
		json_set(o, "line", x->line ? json_integer(x->line) : json_null());
		json_set(o, "wait", json_wait(x->is_wait, x->wait));
		json_set(o, "base_ns2", json_ns(x->of_ns2[SIDE_BASE]));
		json_set(o, "head_ns2", json_ns(x->of_ns2[SIDE_HEAD]));
		json_set(o, "delta_ns2", json_ns(x->delta_ns2));
		json_set(o, "share_of_change", json_number(x->share_of_change));
		json_set(o, "ci95", json_ci95(x->has_ci95, x->ci95));
		json_set(o, "base_mean_ns", json_ns(x->mean_ns[SIDE_BASE]));
		json_set(o, "head_mean_ns", json_ns(x->mean_ns[SIDE_HEAD]));
		json_set(o, "match", json_string(match_name(x->match)));
		json_set(o, "was", was_json(x));
		json_add(list, o);
	}
	return list;
}

static json_t *gate_json(const struct gate *g)
{
	json_t *o, *terms;

	if (!g)
		return json_null();
	o = json_object();
	terms = json_array();
	for (size_t i = 0; i < g->terms.cnt; i++) {
		const struct gate_term *t = &g->terms.items[i];
		json_t *term = json_object();

		json_set(term, "term", json_text(t->text));
		json_set(term, "result", json_string(gate_result_name(t->result)));
		json_set(term, "value", json_number(t->value));
		json_set(term, "ci95", json_ci95(t->has_ci95, t->ci95));
		json_add(terms, term);
	}
	json_set(o, "result", json_string(gate_result_name(g->result)));
	json_set(o, "terms", terms);
	json_set(o, "runs_needed", g->runs_needed ? json_u64(g->runs_needed) : json_null());
	return o;
}

json_t *diff_json(const struct diff_input *in)
{
	const struct comparison *c = in->comparison;
	_cleanup_(freep) char *sentence = diff_sentence(in, true);
	json_t *o = json_document("diff"), *warnings;
	diff_warnings list = { NULL, 0, 0 };

	diff_warn(c, &list);
	warnings = json_warnings(list.items, list.cnt);
	VEC_RELEASE(&list);
	json_set(o, "interval", json_text(c->interval));
	json_set(o, "base", side_json(in, SIDE_BASE));
	json_set(o, "head", side_json(in, SIDE_HEAD));
	json_set(o, "by", json_string(unit_word(c)));
	json_set(o, "within_these_runs_only", json_boolean(!c->enough));
	json_set(o, "paired", json_boolean(c->paired));
	json_set(o, "text", json_text(sentence));
	json_set(o, "metrics", metrics_json(c));
	json_set(o, "causes", changes_json(c));
	json_set(o, "gate", gate_json(in->gate));
	json_set(o, "warnings", warnings);
	return o;
}

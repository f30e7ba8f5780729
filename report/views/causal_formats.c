/* SPDX-License-Identifier: GPL-3.0-or-later */
/* causal_formats.c - show causal as JSON (vprof-formats(5)) and CSV. */
#include <math.h>
#include <string.h>

#include "base/banned.h"
#include "report/views/causal_formats.h"

const struct experiment *causal_find(const struct experiments *e, const char *target, double speedup)
{
	for (size_t i = 0; i < e->list.cnt; i++)
		if (strcmp(e->list.items[i].target, target) == 0 && e->list.items[i].speedup == speedup)
			return &e->list.items[i];
	return NULL;
}

bool causal_is_first(const struct experiments *e, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(e->list.items[k].target, e->list.items[i].target) == 0)
			return false;
	return true;
}

static json_t *baseline_json(const struct experiments *e)
{
	json_t *o = json_object(), *metrics = json_object();

	for (unsigned m = 0; e->baseline_cnt && m < GAIN_CNT; m++)
		json_set(metrics, gain_metric_key(m), json_ns(e->baseline[m]));
	json_set(o, "intervals", json_u64(e->baseline_cnt));
	json_set(o, "metrics", metrics);
	return o;
}

static json_t *metrics_json(const struct experiment *x)
{
	json_t *all = json_object();

	for (unsigned m = 0; m < GAIN_CNT; m++) {
		const struct gain *g = &x->metrics[m];
		json_t *o;

		if (!g->known)
			continue;
		o = json_object();
		json_set(o, "value", json_ns(g->value));
		json_set(o, "gain", json_number(g->gain));
		json_set(o, "ci95", json_ci95(g->has_ci95, g->ci95));
		json_set(o, "p_value", g->has_ci95 ? json_number(g->p_value) : json_null());
		json_set(all, gain_metric_name(m), o);
	}
	return all;
}

static json_t *predicted_json(const struct experiment *x)
{
	json_t *o = NULL;

	for (unsigned m = 0; m < GAIN_CNT; m++) {
		if (!x->metrics[m].has_predicted)
			continue;
		o = o ? o : json_object();
		json_set(o, gain_metric_name(m), json_number(x->metrics[m].predicted));
	}
	return o ? o : json_null();
}

static json_t *experiment_json(const struct experiment *x)
{
	json_t *o = json_object();

	json_set(o, "target", json_text(x->target));
	json_set(o, "kind", json_text(asked_kind_name(x->kind)));
	json_set(o, "function", json_text(x->function));
	json_set(o, "file", json_text(x->file));
	json_set(o, "speedup", json_number(x->speedup));
	json_set(o, "rounds", json_u64(x->rounds));
	if (x->limit)
		json_set(o, "limited_by", json_string(x->limit));
	json_set(o, "rounds_set_aside", json_u64(x->set_aside));
	json_set(o, "intervals", json_u64(x->interval_cnt));
	json_set(o, "delay_ns", json_ns(x->delay_ns));
	json_set(o, "metrics", metrics_json(x));
	json_set(o, "predicted", predicted_json(x));
	json_set(o, "upper_bound", json_boolean(kind_is_replayed_only(x->kind)));
	return o;
}

static json_t *best_json(const struct experiments *e)
{
	const struct experiment *x = e->best == SIZE_MAX ? NULL : &e->list.items[e->best];
	const struct gain *g = x ? &x->metrics[e->metric] : NULL;
	json_t *o;

	if (!x)
		return json_null();
	o = json_object();
	json_set(o, "target", json_text(x->target));
	json_set(o, "speedup", json_number(x->speedup));
	json_set(o, "metric", json_text(gain_metric_name(e->metric)));
	json_set(o, "gain", json_number(e->replayed ? g->predicted : g->gain));
	json_set(o, "ci95", json_ci95(!e->replayed && g->has_ci95, g->ci95));
	return o;
}

json_t *causal_json(const struct view_input *in)
{
	const struct experiments *e = in->experiments;
	_cleanup_(freep) char *sentence = causal_sentence(e);
	json_t *o = json_document("causal"), *list = json_array(), *refused = json_array(), *interval = json_object();

	for (size_t i = 0; i < e->list.cnt; i++)
		json_add(list, experiment_json(&e->list.items[i]));
	for (size_t i = 0; i < e->refused.cnt; i++) {
		json_t *r = json_object();

		json_set(r, "target", json_text(e->refused.items[i].target));
		json_set(r, "why", json_text(e->refused.items[i].why));
		json_set(r, "instead", json_text(e->refused.items[i].instead));
		json_add(refused, r);
	}
	json_set(interval, "name", json_text(e->interval));
	json_set(interval, "count", json_u64(e->baseline_cnt));
	json_set(o, "run", json_integer(in->run->number));
	json_set(o, "run_name", json_text(in->run->name));
	json_set(o, "interval", interval);
	json_set(o, "warnings", json_warnings(e->warnings.items, e->warnings.cnt));
	json_set(o, "text", json_text(sentence));
	json_set(o, "metric", json_text(gain_metric_name(e->metric)));
	json_set(o, "floor", json_number(e->floor));
	json_set(o, "replayed", json_boolean(e->replayed));
	json_set(o, "baseline", baseline_json(e));
	json_set(o, "experiments", list);
	json_set(o, "best", best_json(e));
	json_set(o, "refused", refused);
	json_set(o, "ended", json_text(e->ended == ENDED_NARROW ? "narrow" : "time"));
	return o;
}

/* A number, or nothing where there is none. */
static void csv_maybe(FILE *out, bool known, double value)
{
	if (known)
		fprintf(out, ",%.17g", value);
	else
		fputc(',', out);
}

void causal_csv(FILE *out, const struct view_input *in)
{
	const struct experiments *e = in->experiments;

	fprintf(out, "target,kind,speedup,rounds,intervals,delay_ns,metric,value,gain,ci95_low,ci95_high,p_value,predicted\n");
	for (size_t i = 0; i < e->list.cnt; i++)
		for (unsigned m = 0; m < GAIN_CNT; m++) {
			const struct experiment *x = &e->list.items[i];
			const struct gain *g = &x->metrics[m];

			if (!g->known && !g->has_predicted)
				continue;
			csv_field(out, x->target);
			fprintf(out, ",%s,%.17g,%llu,%llu,%.17g,%s", asked_kind_name(x->kind), x->speedup,
				(unsigned long long)x->rounds, (unsigned long long)x->interval_cnt, x->delay_ns, gain_metric_name(m));
			csv_maybe(out, g->known, g->value);
			csv_maybe(out, g->known, g->gain);
			csv_maybe(out, g->has_ci95, g->ci95[0]);
			csv_maybe(out, g->has_ci95, g->ci95[1]);
			csv_maybe(out, g->has_ci95, g->p_value);
			csv_maybe(out, g->has_predicted, g->predicted);
			fputc('\n', out);
		}
}

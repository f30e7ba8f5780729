/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * iteration.c - the lines of `vprof iterate`, and its document.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "base/text/utf8.h"
#include "report/iteration/iteration.h"
#include "report/output.h"
#include "report/probing.h"
#include "report/style.h"
#include "report/views.h"
#include "report/words/sentence.h"

enum { NAMES_SHOWN = 4 };

#define QUEUE_SHOWN 0.01	/* of the mean latency */
#define DRIFT_IN_TIMES 9		/* "10 times", not "+900 %" */
#define DRIFT_SHOWN 0.10

double round_drift(const struct round *r)
{
	if (!(r->variance_before_ns2 > 0))
		return 0;
	return r->findings->interval.variance_ns2 / r->variance_before_ns2 - 1;
}

static const struct factor *factor_of(const struct round *r, const struct refine_verdict *v)
{
	return &r->findings->factors.items[v->factor];
}

/* ---- text ---- */

static void add_names(struct str *to, const struct round *r)
{
	if (r->number == 1) {
		str_addf(to, "%zu function%s recorded", r->recorded_cnt,
			 r->recorded_cnt == 1 ? "" : "s");
		return;
	}
	if (r->added.cnt == 0)
		str_addf(to, "%zu functions, none new", r->recorded_cnt);
	for (size_t i = 0; i < r->added.cnt && i < NAMES_SHOWN; i++) {
		str_add(to, i ? ", " : "+ ");
		utf8_add_line(to, r->added.items[i]);
	}
	if (r->added.cnt > NAMES_SHOWN)
		str_addf(to, ", %zu more", r->added.cnt - NAMES_SHOWN);
}

static void print_latency(const struct style *s, const struct round *r)
{
	const struct interval_summary *i = &r->findings->interval;
	char mean[TEXT_MAX], sd[TEXT_MAX], p50[TEXT_MAX], p99[TEXT_MAX], max[TEXT_MAX];
	double drift = round_drift(r);

	fprintf(s->out, "  latency  mean %s   sd %s   p50 %s   p99 %s   max %s",
		text_ns(mean, i->mean_ns, s->utf8), text_ns(sd, i->stddev_ns, s->utf8),
		text_ns(p50, (double)i->p50_ns, s->utf8), text_ns(p99, (double)i->p99_ns, s->utf8),
		text_ns(max, (double)i->max_ns, s->utf8));
	if (drift >= DRIFT_IN_TIMES)
		fprintf(s->out, "   (variance %.0f times that of the run before)", drift + 1);
	else if (fabs(drift) > DRIFT_SHOWN)
		fprintf(s->out, "   (variance %+.0f %% against the run before)", drift * 100);
	fputc('\n', s->out);
}

/* "probes 0.3 % of the latency" is an estimate; prints the measurement, if there is one. */
static void print_measured(const struct style *s, const struct round *r)
{
	const struct probing *p = &r->findings->probing;
	char full[TEXT_MAX], root[TEXT_MAX];

	if (p->measured)
		fprintf(s->out,
			"  measured %+.1f %% mean (95 %% CI %+.1f %% to %+.1f %%), %s intervals in full "
			"against %s root-only\n", p->mean * 100, p->mean_low * 100, p->mean_high * 100,
			text_cnt(full, r->findings->interval.cnt), text_cnt(root, p->root_only_cnt));
	else if (p->root_only_cnt >= PROBING_GROUP_MIN)
		fprintf(s->out, "  the cost of the probes cannot be measured here: latencies vary too much\n");
}

static void add_verdict(struct str *to, const struct refine_verdict *v, bool utf8)
{
	const char *arrow = utf8 ? "→" : "->";

	if (v->waiter) {
		str_addf(to, "%s ", arrow);
		utf8_add_line(to, v->waiter->name);
		str_add(to, ", which waits there without a probe, is next");
	} else if (v->kind == REFINE_VERDICT_DEEPER) {
		str_addf(to, "%s what it calls is next", arrow);
	}
	if (v->kind == REFINE_VERDICT_OPEN)
		str_add(to, "calls more that is not recorded");
	if (v->needed) {
		char cnt[TEXT_MAX];

		str_addf(to, "%snot resolved: about %s more intervals", to->len ? "; " : "",
			 text_cnt(cnt, v->needed));
	}
	if (v->unprobed) {
		str_addf(to, "%s", to->len ? "; " : "");
		utf8_add_line(to, v->unprobed->name);
		str_addf(to, " cannot be probed (%s)", v->unprobed->skipped);
	}
}

static struct table *factors_table(const struct style *s, const struct round *r, char *const *verdicts)
{
	struct table *t = table_new();
	bool paper = r->refinement->options.policy == REFINE_PAPER;

	table_column(t, "", TABLE_RIGHT);
	table_column(t, "", TABLE_SHRINKS);
	table_column(t, "", TABLE_RIGHT);
	table_column(t, "", TABLE_LEFT);
	if (verdicts)
		table_column(t, "", TABLE_LEFT);
	for (size_t i = 0; i < r->refinement->verdicts.cnt; i++) {
		const struct factor *f = factor_of(r, &r->refinement->verdicts.items[i]);
		_cleanup_(str_release) struct str bar = STR_INIT;
		_cleanup_(freep) char *label = factor_label(f, s->utf8);
		double share = paper ? f->paper_contribution : f->share;

		add_bar(&bar, share, 12, s->utf8);
		table_cell(t, "  %zu.", i + 1);
		table_cell(t, "%s", label);
		table_cell(t, "%.1f %%", share * 100);
		table_cell(t, "%s", str_cstr(&bar));
		if (verdicts)
			table_cell(t, "%s", verdicts[i]);
	}
	return t;
}

/* The outcome of a factor is printed after it, or, if a name would have to be cut for that, below all of them. */
static void print_factors(const struct style *s, const struct round *r)
{
	size_t cnt = r->refinement->verdicts.cnt;
	_cleanup_(freep) char **verdicts = xcalloc(cnt + 1, sizeof(*verdicts));
	_cleanup_(table_freep) struct table *t = NULL;
	bool below;

	for (size_t i = 0; i < cnt; i++) {
		struct str text = STR_INIT;

		add_verdict(&text, &r->refinement->verdicts.items[i], s->utf8);
		verdicts[i] = text.len ? str_take(&text) : xstrdup("");
	}
	t = factors_table(s, r, verdicts);
	below = s->width && table_width(t) > s->width;
	if (below) {
		table_free(t);
		t = factors_table(s, r, NULL);
	}
	if (cnt)
		table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	for (size_t i = 0; i < cnt; i++) {
		if (below && *verdicts[i])
			fprintf(s->out, "  %zu: %s\n", i + 1, verdicts[i]);
		free(verdicts[i]);
	}
}

void round_text(const struct style *s, const struct round *r)
{
	_cleanup_(str_release) struct str names = STR_INIT;
	char took[TEXT_MAX], cnt[TEXT_MAX];

	add_names(&names, r);
	fprintf(s->out,
		"%srun %" PRIu32 "/%" PRIu32
		"%s  %s   %s   %s intervals",
		style_bold(s), r->number, r->refinement->options.max_runs, style_end(s),
		str_cstr(&names), text_ns(took, (double)r->run->duration_ns, s->utf8),
		text_cnt(cnt, r->findings->interval.cnt + r->findings->probing.root_only_cnt));
	if (r->gate > 1)
		fprintf(s->out, ", one in %" PRIu32 " in full", r->gate);
	fprintf(s->out, "   probes about %.1f %% of the latency%s", r->refinement->cost * 100,
		r->refinement->queue > QUEUE_SHOWN ? " outside the queue" : "");
	if (r->dormant_cnt)
		fprintf(s->out, " (%s dormant)", text_cnt(cnt, r->dormant_cnt));
	fputc('\n', s->out);
	print_measured(s, r);
	print_latency(s, r);
	round_missing_text(s, r);
	print_factors(s, r);
}

char *round_selected(const struct round *r, bool utf8)
{
	struct str s = STR_INIT;

	for (size_t i = 0; i < r->refinement->verdicts.cnt; i++) {
		_cleanup_(freep) char *label =
			factor_label(factor_of(r, &r->refinement->verdicts.items[i]), utf8);

		str_addf(&s, "%s%s", i ? ", " : "", label);
	}
	return s.len ? str_take(&s) : xstrdup("");
}

/* ---- JSON ---- */

static json_t *selection_json(const struct round *r)
{
	static const char *const kinds[] = { "end", "deeper", "open" };
	json_t *list = json_array();

	for (size_t i = 0; i < r->refinement->verdicts.cnt; i++) {
		const struct refine_verdict *v = &r->refinement->verdicts.items[i];
		const struct factor *f = factor_of(r, v);
		_cleanup_(freep) char *label = factor_label(f, true);
		json_t *o = json_object();

		json_set(o, "label", json_text(label));
		json_set(o, "kind", json_text(factor_kind_name(f->kind)));
		json_set(o, "function", json_text(f->function));
		json_set(o, "file", json_text(f->file));
		json_set(o, "wait", json_wait(f->is_wait, f->wait));
		json_set(o, "share", json_number(f->share));
		json_set(o, "ci95", json_ci95(f->has_ci95, f->ci95));
		json_set(o, "intervals_needed", json_u64(v->needed));
		json_set(o, "paper_contribution", json_number(f->paper_contribution));
		json_set(o, "verdict", json_text(kinds[v->kind]));
		json_set(o, "waits_in", v->waiter ? json_text(v->waiter->name) : json_null());
		json_set(o, "unprobed", v->unprobed ? json_text(v->unprobed->name) : json_null());
		json_set(o, "unprobed_reason",
			 v->unprobed ? json_text(v->unprobed->skipped) : json_null());
		json_add(list, o);
	}
	return list;
}

json_t *round_json(const struct round *r)
{
	json_t *o = json_object(), *plan = json_object();

	json_set(plan, "recorded", json_integer((json_int_t)r->recorded_cnt));
	json_set(plan, "dormant", json_integer((json_int_t)r->dormant_cnt));
	json_set(plan, "one_interval_in", json_integer(r->gate));
	json_set(plan, "uncalled", json_integer(r->number == 1 ? (json_int_t)r->refinement->uncalled_cnt : 0));
	round_missing_json(plan, r);
	json_set(o, "run", json_integer(r->run->number));
	json_set(o, "duration_ns", json_integer(r->run->duration_ns));
	json_set(o, "exit_status", json_integer(r->run->exit_status));
	json_set(o, "intervals", json_u64(r->findings->interval.cnt));
	json_set(o, "mean_ns", json_ns(r->findings->interval.mean_ns));
	json_set(o, "variance_ns2", json_ns(r->findings->interval.variance_ns2));
	json_set(o, "variance_drift", json_number(round_drift(r)));
	json_set(o, "probe_cost", json_number(r->refinement->cost));
	json_set(o, "probe_ns", json_number(r->refinement->probe_ns));
	json_set(o, "instrumentation", probing_json(r->findings));
	json_set(o, "plan", plan);
	json_set(o, "selected", selection_json(r));
	return o;
}

json_t *iteration_json(const struct refinement *r, json_t *rounds, const char *stop,
		       const char *why, const struct view_input *in)
{
	json_t *document = json_document("iterate"), *reason = json_object();
	const struct refine_options *o = &r->options;

	json_set(reason, "reason", json_text(stop));
	json_set(reason, "text", json_text(why));
	json_set(reason, "intervals_needed", json_u64(r->needed));
	if (in)
		json_set(reason, "not_looked_into", left_json(r, in->findings));
	json_set(document, "policy", json_text(refine_policy_name(o->policy)));
	json_set(document, "k", json_integer(o->k));
	json_set(document, "threshold", json_number(o->threshold));
	json_set(document, "overhead", json_number(o->overhead));
	json_set(document, "max_runs", json_integer(o->max_runs));
	json_set(document, "runs", rounds);
	json_set(document, "stop", reason);
	json_set(document, "factors", in ? view_factors.json(in) : json_null());
	return document;
}

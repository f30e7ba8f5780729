/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probing.c - what recording cost, as every result says it.
 *
 *	instrumentation: +1.2 % mean (95 % CI +0.4 % to +2.0 %), +0.8 % variance (95 % CI ...)
 *
 * Only intervals in full are slowed down, so all together are slowed down by less.
 */
#include "base/banned.h"
#include "report/output.h"
#include "report/style.h"
#include "report/probing.h"

static void add_change(struct str *to, const char *of, double change, double low, double high)
{
	str_addf(to, "%+.1f %% %s (95 %% CI %+.1f %% to %+.1f %%)", change * 100, of, low * 100,
		 high * 100);
}

double probing_overall(const struct findings *f)
{
	double full = (double)f->interval.cnt, all = full + (double)f->probing.root_only_cnt;

	return all > 0 ? f->probing.mean * full / all : 0;
}

static void add_not_measured(struct str *to, const struct findings *f)
{
	if (f->interval.cnt < PROBING_GROUP_MIN || f->probing.root_only_cnt < PROBING_GROUP_MIN)
		str_addf(to, "not measured: needs %d intervals in full and as many root-only", PROBING_GROUP_MIN);
	else
		str_add(to, "not measurable here: latencies vary too much for so few intervals");
}

char *probing_text(const struct findings *f)
{
	const struct probing *p = &f->probing;
	struct str s = STR_INIT;

	if (p->root_only_cnt == 0)
		return NULL;
	str_add(&s, "instrumentation: ");
	if (!p->measured) {
		add_not_measured(&s, f);
		return str_take(&s);
	}
	add_change(&s, "mean", p->mean, p->mean_low, p->mean_high);
	if (p->has_variance) {
		str_add(&s, ", ");
		add_change(&s, "variance", p->variance, p->variance_low, p->variance_high);
	}
	if (p->root_only_cnt > f->interval.cnt)
		str_addf(&s, "; %+.1f %% mean over all intervals", probing_overall(f) * 100);
	return str_take(&s);
}

static json_t *pair_json(double low, double high)
{
	json_t *pair = json_array();

	json_add(pair, json_number(low));
	json_add(pair, json_number(high));
	return pair;
}

json_t *probing_json(const struct findings *f)
{
	const struct probing *p = &f->probing;
	json_t *o, *root;

	if (p->root_only_cnt == 0)
		return json_null();
	o = json_object();
	root = json_object();
	json_set(root, "count", json_u64(p->root_only_cnt));
	json_set(root, "mean_ns", json_ns(p->root_only_mean_ns));
	json_set(root, "variance_ns2", json_ns(p->root_only_variance_ns2));
	json_set(root, "p50_ns", json_integer(p->root_only_p50_ns));
	json_set(root, "p99_ns", json_integer(p->root_only_p99_ns));
	json_set(root, "max_ns", json_integer(p->root_only_max_ns));
	json_set(o, "root_only", root);
	json_set(o, "measured", json_boolean(p->measured));
	json_set(o, "mean", p->measured ? json_number(p->mean) : json_null());
	json_set(o, "mean_ci95", p->measured ? pair_json(p->mean_low, p->mean_high) : json_null());
	json_set(o, "mean_overall", p->measured ? json_number(probing_overall(f)) : json_null());
	json_set(o, "variance", p->has_variance ? json_number(p->variance) : json_null());
	json_set(o, "variance_ci95",
		 p->has_variance ? pair_json(p->variance_low, p->variance_high) : json_null());
	return o;
}

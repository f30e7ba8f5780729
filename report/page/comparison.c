/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * comparison.c - the page of two sides: the document of vprof diff, and the latencies of both sides on one scale.
 *
 * The distributions cover all intervals of a side together.  Figures, errors and verdicts are those of the diff, whose unit is the
 * run.
 */
#include <math.h>

#include "base/banned.h"
#include "base/search.h"
#include "report/compare/diff_words.h"
#include "report/page/sections.h"

#define BINS 80

struct scale {
	int64_t from_ns[BINS];
	size_t cnt;
};

static void widen(const struct findings *f, int64_t *min_ns, int64_t *max_ns)
{
	*min_ns = f->interval.min_ns < *min_ns ? f->interval.min_ns : *min_ns;
	*max_ns = f->interval.max_ns > *max_ns ? f->interval.max_ns : *max_ns;
}

/* A logarithmic scale from the shortest to the longest latency of both sides. */
static int64_t make_scale(const struct diff_input *in, struct findings *const *findings[SIDE_CNT], struct scale *ret)
{
	int64_t min_ns = INT64_MAX, max_ns = 0;

	for (unsigned side = 0; side < SIDE_CNT; side++)
		for (size_t i = 0; i < in->runs[side]->cnt; i++)
			widen(findings[side][i], &min_ns, &max_ns);
	min_ns = min_ns < 1 ? 1 : min_ns;
	max_ns = max_ns < min_ns ? min_ns : max_ns;
	ret->cnt = 0;
	for (unsigned i = 0; i < BINS; i++) {
		int64_t edge = i ? (int64_t)((double)min_ns * pow((double)max_ns / (double)min_ns, (double)i / BINS)) : min_ns;

		if (!ret->cnt || edge > ret->from_ns[ret->cnt - 1])
			ret->from_ns[ret->cnt++] = edge;
	}
	return max_ns;
}

static json_t *counts_json(const struct scale *s, const runs *runs, struct findings *const *findings)
{
	_cleanup_(freep) uint64_t *counts = xcalloc(s->cnt + 1, sizeof(*counts));
	json_t *list = json_array();

	for (size_t r = 0; r < runs->cnt; r++)
		for (size_t i = 0; i < findings[r]->intervals.cnt; i++) {
			const struct interval_row *row = &findings[r]->intervals.items[i];
			int64_t ns = row->end_ns - row->start_ns;

			if (!row->root_only)
				counts[partition_point(b, s->cnt - 1, s->from_ns[b + 1] <= ns)]++;
		}
	for (size_t i = 0; i < s->cnt; i++)
		json_add(list, json_u64(counts[i]));
	return list;
}

static json_t *latencies_json(const struct diff_input *in, struct findings *const *findings[SIDE_CNT])
{
	json_t *o = json_object(), *edges = json_array();
	struct scale scale;
	int64_t max_ns = make_scale(in, findings, &scale);

	for (size_t i = 0; i < scale.cnt; i++)
		json_add(edges, json_integer(scale.from_ns[i]));
	json_set(o, "from_ns", edges);
	json_set(o, "max_ns", json_integer(max_ns));
	json_set(o, "base", counts_json(&scale, in->runs[SIDE_BASE], findings[SIDE_BASE]));
	json_set(o, "head", counts_json(&scale, in->runs[SIDE_HEAD], findings[SIDE_HEAD]));
	return o;
}

/* A run made of digests has no single intervals. */
static bool have_intervals(const struct diff_input *in, struct findings *const *findings[SIDE_CNT])
{
	for (unsigned side = 0; side < SIDE_CNT; side++)
		for (size_t i = 0; i < in->runs[side]->cnt; i++)
			if (!findings[side][i]->intervals.cnt)
				return false;
	return true;
}

static json_t *labels_json(const struct comparison *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->changes.cnt; i++) {
		_cleanup_(freep) char *label = change_label(&c->changes.items[i], true);

		json_add(list, json_text(label));
	}
	return list;
}

void page_write_comparison(FILE *out, const struct diff_input *in, struct findings *const *findings[SIDE_CNT], const char *version)
{
	json_t *diff = diff_json(in), *causes = json_object();
	_cleanup_(freep) char *title = xasprintf("%s: %s against %s", in->comparison->interval, in->label[SIDE_HEAD], in->label[SIDE_BASE]);
	struct page_document d = {
		.title = title, .sentence = json_string_value(json_object_get(diff, "text")), .version = version, .compares = true,
		.data = json_object(),
	};

	json_object_set(causes, "changes", json_object_get(diff, "causes"));
	json_object_del(diff, "causes");
	json_set(causes, "labels", labels_json(in->comparison));
	json_set(diff, "base_label", json_text(in->label[SIDE_BASE]));
	json_set(diff, "head_label", json_text(in->label[SIDE_HEAD]));
	json_set(d.data, "verdict", diff);
	if (have_intervals(in, findings))
		json_set(d.data, "latency", latencies_json(in, findings));
	json_set(d.data, "causes", causes);
	json_set(d.data, "method", json_object());
	page_write_document(out, &d);
}

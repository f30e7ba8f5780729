/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * section_latency.c - the distribution of the latencies, the parts in which slow intervals differ, and the latencies over time.
 */
#include <inttypes.h>

#include "base/banned.h"
#include "base/str.h"
#include "base/search.h"
#include "report/page/bins.h"
#include "report/page/sections.h"
#include "report/words/sentence.h"

/* ---- latency ---- */

/* Counts the intervals of each bin, for a run without its trace. */
static uint64_t *count_bins(const struct page_input *in, const int64_t *edges, size_t cnt)
{
	const struct findings *f = in->view.findings;
	uint64_t *counts = xcalloc(cnt + 1, sizeof(*counts));

	for (size_t i = 0; in->binned && i < cnt; i++)
		counts[i] = in->binned->bins.items[i].cnt;
	for (size_t i = 0; !in->binned && i < f->intervals.cnt; i++) {
		const struct interval_row *row = &f->intervals.items[i];

		if (!row->root_only)
			counts[partition_point(e, cnt - 1, edges[e + 1] <= row->end_ns - row->start_ns)]++;
	}
	return counts;
}

static json_t *bins_json(const struct page_input *in)
{
	_cleanup_(freep) int64_t *edges = NULL, *steps = NULL;
	size_t cnt = page_edges(in->view.findings, &edges), step_cnt = page_steps(in->view.findings, &steps);
	_cleanup_(freep) uint64_t *counts = count_bins(in, edges, cnt);
	json_t *o = json_object(), *from = json_array(), *count = json_array(), *bars = json_array();

	for (size_t i = 0; i < cnt; i++) {
		json_add(from, json_integer(edges[i]));
		json_add(count, json_u64(counts[i]));
	}
	for (size_t i = 0; i < step_cnt; i++)
		json_add(bars, json_integer(steps[i]));
	json_set(o, "scale", json_string(page_scale_is_log(in->view.findings) ? "log" : "linear"));
	json_set(o, "from_ns", from);
	json_set(o, "count", count);
	json_set(o, "bars_from_ns", bars);
	return o;
}

static json_t *latency_data(const struct page_input *in, struct diag *reterr)
{
	json_t *o = page_view(in, "histogram", NULL, reterr);

	if (!o)
		return NULL;
	json_set(o, "bins", bins_json(in));
	json_set(o, "slow_from_ns", json_integer(in->view.findings->tail.from_ns));
	return o;
}

const struct page_section section_latency = { .id = "latency", .title = "Latency", .data = latency_data };

/* ---- slow against fast ---- */

static double importance(const struct part *p)
{
	double extra = p->slow_mean_ns - p->fast_mean_ns;

	return (extra < 0 ? -extra : extra) + p->mean_ns;
}

/* The parts with a row of their own; the others are added up.  The caller frees it. */
static bool *parts_kept(const struct findings *f)
{
	_cleanup_(freep) double *weights = xcalloc(f->parts.cnt + 1, sizeof(*weights));

	for (size_t i = 0; i < f->parts.cnt; i++)
		weights[i] = importance(&f->parts.items[i]);
	return keep_heaviest(weights, f->parts.cnt, PAGE_ROWS_MAX / 4);
}

/* Sums over the bins, of one part or of all parts that are not kept (part NODE_NONE). */
static json_t *part_bins_json(const struct findings *f, const bool *keep, size_t part)
{
	json_t *o = json_object(), *ns = json_array(), *present = json_array();

	for (size_t b = 0; b < f->bins.cnt; b++) {
		double sum = 0;
		uint64_t cnt = 0;

		for (size_t i = 0; i < f->parts.cnt; i++) {
			if (part == NODE_NONE ? keep[i] : i != part)
				continue;
			sum += f->parts.items[i].bin_ns[b];
			cnt += f->parts.items[i].bin_present[b];
		}
		json_add(ns, json_ns(sum));
		json_add(present, json_u64(cnt));
	}
	json_set(o, "ns", ns);
	if (part != NODE_NONE)
		json_set(o, "present", present);
	else
		json_decref(present);
	return o;
}

/* The data by which the scripts compare two selections. */
static json_t *selections_json(const struct page_input *in, const bool *keep)
{
	const struct findings *f = in->binned;
	json_t *o = json_object(), *sums = json_array(), *parts = json_array();
	size_t left_out = 0;

	for (size_t b = 0; b < f->bins.cnt; b++)
		json_add(sums, json_ns(f->bins.items[b].sum_ns));
	for (size_t i = 0; i < f->parts.cnt; i++) {
		left_out += !keep[i];
		if (keep[i])
			json_add(parts, part_bins_json(f, keep, i));
	}
	json_set(o, "latency_ns", sums);
	json_set(o, "parts", parts);
	json_set(o, "others", left_out ? part_bins_json(f, keep, NODE_NONE) : json_null());
	return json_packed_value(o);
}

static void add_others(json_t *o, const struct findings *f, const bool *keep)
{
	double slow_ns = 0, fast_ns = 0;
	size_t cnt = 0;
	json_t *others;

	for (size_t i = 0; i < f->parts.cnt; i++) {
		if (keep[i])
			continue;
		cnt++;
		slow_ns += f->parts.items[i].slow_mean_ns;
		fast_ns += f->parts.items[i].fast_mean_ns;
	}
	others = json_object();
	json_set(others, "count", json_integer((json_int_t)cnt));
	json_set(others, "slow_mean_ns", json_ns(slow_ns));
	json_set(others, "fast_mean_ns", json_ns(fast_ns));
	json_set(o, "others", cnt ? others : json_null());
	if (!cnt)
		json_decref(others);
}

static bool same_parts(const struct findings *a, const struct findings *b)
{
	return b && a->parts.cnt == b->parts.cnt && b->bins.cnt;
}

static json_t *slow_vs_fast_data(const struct page_input *in, struct diag *reterr)
{
	const struct findings *f = in->view.findings;
	_cleanup_(freep) bool *keep = parts_kept(f);
	json_t *o = f->parts.cnt ? page_view(in, "slow-vs-fast", NULL, reterr) : NULL, *list;

	if (!o)
		return NULL;
	list = json_object_get(o, "parts");
	for (size_t i = 0; i < f->parts.cnt; i++) {
		_cleanup_(freep) char *label = part_label(&f->parts.items[i], true);

		json_set(json_array_get(list, i), "label", json_text(label));
	}
	json_keep(list, keep);
	add_others(o, f, keep);
	json_set(o, "selections", same_parts(f, in->binned) ? selections_json(in, keep) : json_null());
	return o;
}

const struct page_section section_slow_vs_fast = {
	.id = "slow-vs-fast", .title = "Slow against fast", .data = slow_vs_fast_data
};

/* ---- over time ---- */

#define DOTS_MAX 100000
#define SLOW_DOTS_MAX 20000
#define EXACT_MAX ((uint64_t)1 << 53)	/* JavaScript's numbers are exact up to here */

/* All intervals, or the slowest and every n-th of the others; the caller frees it. */
static bool *dots_kept(const struct findings *f, size_t *ret_cnt)
{
	_cleanup_(freep) size_t *order = findings_by_latency(f);
	bool *keep = xcalloc(f->intervals.cnt + 1, sizeof(*keep));
	size_t all = 0, others, seen = 0;

	for (size_t i = 0; i < f->intervals.cnt; i++)
		all += !f->intervals.items[i].root_only;
	others = (all + DOTS_MAX - SLOW_DOTS_MAX - 1) / (DOTS_MAX - SLOW_DOTS_MAX);
	*ret_cnt = 0;
	for (size_t i = 0; i < f->intervals.cnt; i++) {
		if (f->intervals.items[order[i]].root_only)
			continue;
		keep[order[i]] = all <= DOTS_MAX || seen < SLOW_DOTS_MAX || seen % others == 0;
		*ret_cnt += keep[order[i]];
		seen++;
	}
	return keep;
}

/* {"start_ns":[0,d,d,...],"latency_ns":[...],"sid":[s,d,...]}: starts and SIDs as differences to the previous ones; large SIDs as
 * strings. */
static json_t *dots_json(const struct findings *f, const bool *keep)
{
	_cleanup_(str_release) struct str starts = STR_INIT, latencies = STR_INIT, sids = STR_INIT;
	int64_t last_ns = f->intervals.cnt ? f->intervals.items[0].start_ns : 0;
	uint64_t last_sid = 0;
	bool exact = true;

	for (size_t i = 0; i < f->intervals.cnt; i++)
		exact &= f->intervals.items[i].sid < EXACT_MAX;
	str_add(&starts, "{\"start_ns\":[");
	for (size_t i = 0; i < f->intervals.cnt; i++) {
		const struct interval_row *row = &f->intervals.items[i];
		const char *comma = sids.len ? "," : "";

		if (!keep[i])
			continue;
		str_addf(&starts, "%s%" PRId64, comma, row->start_ns - last_ns);
		str_addf(&latencies, "%s%" PRId64, comma, row->end_ns - row->start_ns);
		if (exact)
			str_addf(&sids, "%s%" PRId64, comma, (int64_t)row->sid - (int64_t)last_sid);
		else
			str_addf(&sids, "%s\"%" PRIu64 "\"", comma, row->sid);
		last_ns = row->start_ns;
		last_sid = row->sid;
	}
	str_add(&starts, "],\"latency_ns\":[");
	str_add(&starts, str_cstr(&latencies));
	str_add(&starts, "],\"sid\":[");
	str_add(&starts, str_cstr(&sids));
	str_add(&starts, "]}");
	return json_packed(starts.data, starts.len);
}

static json_t *over_time_data(const struct page_input *in, struct diag *reterr)
{
	const struct findings *f = in->view.findings;
	size_t drawn;
	_cleanup_(freep) bool *keep = dots_kept(f, &drawn);
	json_t *o;

	(void)reterr;
	if (drawn < 2)
		return NULL;
	o = json_object();
	json_set(o, "drawn", json_integer((json_int_t)drawn));
	json_set(o, "dots", dots_json(f, keep));
	return o;
}

const struct page_section section_over_time = { .id = "over-time", .title = "Latency over time", .data = over_time_data };

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_histogram.c - how the latency is distributed.
 *
 * Bucket edges are round numbers: 1, 2, 5 times a power of ten when the largest latency is at
 * least ten times the smallest (latencies spread over magnitudes), else a dozen equal steps of
 * 1, 2 or 5 times a power of ten.  A bucket holds edge <= latency < next edge.
 *
 *	latencies 3, 4, 30 ns: [2,5) 2, [5,10) 0, [10,20) 0, [20,50) 1; p50 (4 ns) stands at [2,5)
 */
#include <inttypes.h>
#include <string.h>

#include "base/banned.h"
#include "base/search.h"
#include "base/text/table.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"

struct bucket {
	int64_t from_ns, to_ns;		/* to_ns: exclusive, INT64_MAX in the last possible one */
	uint64_t cnt;
};

typedef VEC(struct bucket) buckets;

#define MAGNITUDES_RATIO 10
#define LINEAR_BUCKETS 12

/* The next edge of 1, 2, 5, 10, 20, ... after edge; INT64_MAX when there is none. */
static int64_t next_log_edge(int64_t edge)
{
	int64_t power = 1;

	while (power <= edge / 10)
		power *= 10;
	if (edge < 1)
		return 1;
	if (edge < 2 * power)
		return 2 * power;
	if (edge < 5 * power)
		return 5 * power;
	return power > INT64_MAX / 10 ? INT64_MAX : 10 * power;
}

/* The smallest of 1, 2, 5, 10, ... that is at least width. */
static int64_t round_width(int64_t width)
{
	int64_t edge = 1;

	while (edge < width && edge != INT64_MAX)
		edge = next_log_edge(edge);
	return edge;
}

static void add_log_buckets(buckets *list, int64_t min_ns, int64_t max_ns)
{
	int64_t edge = 0, next = 1;

	while (next <= min_ns && next != INT64_MAX) {
		edge = next;
		next = next_log_edge(edge);
	}
	for (;;) {
		VEC_ADD(list, (struct bucket){ edge, next, 0 });
		if (next > max_ns || next == INT64_MAX)
			return;
		edge = next;
		next = next_log_edge(edge);
	}
}

static void add_linear_buckets(buckets *list, int64_t min_ns, int64_t max_ns)
{
	int64_t width = round_width((max_ns - min_ns) / LINEAR_BUCKETS + 1);
	int64_t edge = min_ns - min_ns % width;

	while (edge <= max_ns) {
		int64_t next = edge > INT64_MAX - width ? INT64_MAX : edge + width;

		VEC_ADD(list, (struct bucket){ edge, next, 0 });
		if (next == INT64_MAX)
			return;
		edge = next;
	}
}

static size_t bucket_of(const buckets *list, int64_t latency_ns)
{
	return partition_point(i, list->cnt - 1, list->items[i + 1].from_ns <= latency_ns);
}

/* No buckets if there are no intervals. */
static void fill_buckets(const struct findings *f, buckets *list)
{
	int64_t min_ns = INT64_MAX, max_ns = 0;

	for (size_t i = 0; i < f->intervals.cnt; i++) {
		int64_t latency_ns = f->intervals.items[i].end_ns - f->intervals.items[i].start_ns;

		if (f->intervals.items[i].root_only)
			continue;
		if (latency_ns < min_ns)
			min_ns = latency_ns;
		if (latency_ns > max_ns)
			max_ns = latency_ns;
	}
	if (f->interval.cnt == 0)
		return;
	if (min_ns < 0)
		min_ns = 0;
	if (max_ns / MAGNITUDES_RATIO >= min_ns && max_ns >= MAGNITUDES_RATIO)
		add_log_buckets(list, min_ns, max_ns);
	else
		add_linear_buckets(list, min_ns, max_ns);
	for (size_t i = 0; i < f->intervals.cnt; i++) {
		int64_t latency_ns = f->intervals.items[i].end_ns - f->intervals.items[i].start_ns;

		if (f->intervals.items[i].root_only)
			continue;
		list->items[bucket_of(list, latency_ns)].cnt++;
	}
}

/* ---- text ---- */

static void add_mark(struct str *marks, const buckets *list, size_t bucket, const char *name,
		     int64_t latency_ns, bool utf8)
{
	char text[TEXT_MAX];

	if (bucket_of(list, latency_ns) != bucket)
		return;
	str_addf(marks, "%s%s %s", marks->len ? "  " : utf8 ? "◀ " : "< ", name,
		 text_ns(text, (double)latency_ns, utf8));
}

static void add_bucket(struct table *t, const struct style *s, const struct view_input *in,
		       const buckets *list, size_t i, uint64_t most)
{
	const struct interval_summary *iv = &in->findings->interval;
	const struct bucket *b = &list->items[i];
	_cleanup_(str_release) struct str bar = STR_INIT, marks = STR_INIT;
	char from[TEXT_MAX], to[TEXT_MAX], cnt[TEXT_MAX];

	add_bar(&bar, (double)b->cnt / (double)most, s->width && s->width < 100 ? 28 : 40, s->utf8);
	add_mark(&marks, list, i, "p50", iv->p50_ns, s->utf8);
	add_mark(&marks, list, i, "p90", iv->p90_ns, s->utf8);
	add_mark(&marks, list, i, "p99", iv->p99_ns, s->utf8);
	add_mark(&marks, list, i, "max", iv->max_ns, s->utf8);
	table_cell(t, "%s", text_ns(from, (double)b->from_ns, s->utf8));
	table_cell(t, "%s %s", s->utf8 ? "–" : "-", text_ns(to, (double)b->to_ns, s->utf8));
	table_cell(t, "%s", text_cnt(cnt, b->cnt));
	table_cell(t, "%s", str_cstr(&bar));
	table_cell(t, "%s", str_cstr(&marks));
}

/* The part of the variance that the slowest 1 % carries: sum of squared deviations. */
static double tail_share(const struct findings *f)
{
	double all = 0, tail = 0;

	for (size_t i = 0; i < f->intervals.cnt; i++) {
		int64_t latency_ns = f->intervals.items[i].end_ns - f->intervals.items[i].start_ns;
		double square = ((double)latency_ns - f->interval.mean_ns) *
				((double)latency_ns - f->interval.mean_ns);

		if (f->intervals.items[i].root_only)
			continue;
		all += square;
		if (latency_ns > f->interval.p99_ns)
			tail += square;
	}
	return all > 0 ? tail / all : 0;
}

static void histogram_text(const struct style *s, const struct view_input *in)
{
	_cleanup_(table_freep) struct table *t = table_new();
	buckets list = { NULL, 0, 0 };
	uint64_t most = 1;
	char percent[TEXT_MAX];

	fill_buckets(in->findings, &list);
	for (size_t i = 0; i < list.cnt; i++)
		if (list.items[i].cnt > most)
			most = list.items[i].cnt;
	print_heading(s, in);
	table_column(t, "", TABLE_RIGHT);
	table_column(t, "", TABLE_LEFT);
	table_column(t, "", TABLE_RIGHT);
	table_column(t, "", TABLE_LEFT);
	table_column(t, "", TABLE_LEFT);
	for (size_t i = 0; i < list.cnt; i++)
		add_bucket(t, s, in, &list, i, most);
	table_write(t, s->out, 0, glyphs_of(s)->ellipsis);
	if (in->findings->interval.cnt >= 100)
		fprintf(s->out, "the intervals beyond p99 carry %s of the variance\n",
			text_percent(percent, tail_share(in->findings)));
	VEC_RELEASE(&list);
}

/* ---- JSON and CSV ---- */

static json_t *histogram_json(const struct view_input *in)
{
	json_t *o = json_results("histogram", in), *array = json_array();
	buckets list = { NULL, 0, 0 };

	fill_buckets(in->findings, &list);
	for (size_t i = 0; i < list.cnt; i++) {
		json_t *bucket = json_object();

		json_set(bucket, "from_ns", json_integer(list.items[i].from_ns));
		json_set(bucket, "to_ns", json_integer(list.items[i].to_ns));
		json_set(bucket, "count", json_u64(list.items[i].cnt));
		json_add(array, bucket);
	}
	json_set(o, "buckets", array);
	VEC_RELEASE(&list);
	return o;
}

static void histogram_csv(FILE *out, const struct view_input *in)
{
	buckets list = { NULL, 0, 0 };

	fill_buckets(in->findings, &list);
	csv_line(out, "ttt", "from_ns", "to_ns", "count");
	for (size_t i = 0; i < list.cnt; i++)
		csv_line(out, "iiu", list.items[i].from_ns, list.items[i].to_ns, list.items[i].cnt);
	VEC_RELEASE(&list);
}

const struct view view_histogram = {
	.name = "histogram", .summary = "how the latency is distributed",
	.needs = NEEDS_FINDINGS | NEEDS_INTERVALS,
	.text = histogram_text, .json = histogram_json, .csv = histogram_csv,
};

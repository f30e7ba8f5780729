/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_intervals.c - the intervals one by one: the slowest first in text, in order of their start in
 * JSON and CSV.
 */
#include <inttypes.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"

#define ROWS_SHOWN 20			/* without --slowest */

/* The rows of JSON and CSV: all, or the slowest by --slowest; the caller frees it. */
static bool *rows_wanted(const struct view_input *in)
{
	const struct findings *f = in->findings;
	_cleanup_(freep) size_t *order = findings_by_latency(f);
	bool *wanted = xcalloc(f->intervals.cnt + 1, sizeof(*wanted));

	for (size_t i = 0; i < f->intervals.cnt; i++)
		wanted[order[i]] = !in->options.slowest || i < in->options.slowest;
	return wanted;
}

/* NULL: not known, or it is the run itself, which was not merged */
static const struct trace_origin *origin_of(const struct findings *f, const struct interval_row *row)
{
	return f->origins.cnt > 1 && row->origin < f->origins.cnt ? &f->origins.items[row->origin] : NULL;
}

static void intervals_text(const struct style *s, const struct view_input *in)
{
	const struct findings *f = in->findings;
	size_t cnt = f->intervals.cnt, shown = cnt, most = in->options.slowest ? in->options.slowest : ROWS_SHOWN;
	_cleanup_(table_freep) struct table *t = table_new();
	_cleanup_(freep) size_t *order = findings_by_latency(f);
	char text[TEXT_MAX];
	bool any = false;

	if (!in->options.ranking.all && shown > most)
		shown = most;
	print_heading(s, in);
	table_column(t, "sid", TABLE_RIGHT);
	table_column(t, "latency", TABLE_RIGHT);
	table_column(t, "started after", TABLE_RIGHT);
	table_column(t, "on thread", TABLE_RIGHT);
	table_column(t, "ended on", TABLE_RIGHT);
	if (f->origins.cnt > 1) {
		table_column(t, "run", TABLE_RIGHT);
		table_column(t, "host", TABLE_LEFT);
	}
	for (size_t i = 0; i < cnt && !any; i++)
		any = f->intervals.items[i].connection > 0;
	if (any) {
		table_column(t, "connection", TABLE_RIGHT);
		table_column(t, "bytes in", TABLE_RIGHT);
		table_column(t, "bytes out", TABLE_RIGHT);
	}
	table_column(t, "", TABLE_LEFT);
	for (size_t i = 0; i < shown; i++) {
		const struct interval_row *row = &f->intervals.items[order[i]];
		double after_ns = (double)row->start_ns - (double)f->intervals.items[0].start_ns;

		table_cell(t, "%" PRIu64, row->sid);
		table_cell(t, "%s", text_ns(text, (double)(row->end_ns - row->start_ns), s->utf8));
		table_cell(t, "%s", text_ns(text, after_ns, s->utf8));
		table_cell(t, "%" PRIu64, row->start_tid);
		table_cell(t, "%" PRIu64, row->end_tid);
		if (f->origins.cnt > 1) {
			table_cell(t, "%" PRIu32, origin_of(f, row)->run);
			table_cell(t, "%s", origin_of(f, row)->host ? origin_of(f, row)->host : "");
		}
		if (any) {
			table_cell(t, "%u", row->connection);
			table_cell(t, "%u", row->bytes_in);
			table_cell(t, "%u", row->bytes_out);
		}
		table_cell(t, "%s", row->root_only ? "root-only" : "");
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	if (shown < cnt)
		fprintf(s->out, "%s the slowest %zu of %s (--slowest N, --all)\n",
			glyphs_of(s)->ellipsis, shown, text_cnt(text, cnt));
}

static json_t *intervals_json(const struct view_input *in)
{
	_cleanup_(freep) bool *wanted = rows_wanted(in);
	json_t *o = json_results("intervals", in), *list = json_array();

	for (size_t i = 0; i < in->findings->intervals.cnt; i++) {
		const struct interval_row *row = &in->findings->intervals.items[i];
		json_t *interval;

		if (!wanted[i])
			continue;
		interval = json_object();
		json_set(interval, "sid", json_u64(row->sid));
		json_set(interval, "name", json_text(in->findings->interval.name));
		json_set(interval, "start_ns", json_integer(row->start_ns));
		json_set(interval, "end_ns", json_integer(row->end_ns));
		json_set(interval, "latency_ns", json_integer(row->end_ns - row->start_ns));
		json_set(interval, "start_thread", json_u64(row->start_tid));
		json_set(interval, "end_thread", json_u64(row->end_tid));
		json_set(interval, "root_only", json_boolean(row->root_only));
		if (origin_of(in->findings, row)) {
			json_set(interval, "origin_run", json_integer(origin_of(in->findings, row)->run));
			json_set(interval, "host", json_text(origin_of(in->findings, row)->host));
		}
		if (row->connection) {
			json_set(interval, "connection", json_integer(row->connection));
			json_set(interval, "port", row->port ? json_integer(row->port) : json_null());
			json_set(interval, "bytes_in", json_integer(row->bytes_in));
			json_set(interval, "bytes_out", json_integer(row->bytes_out));
		}
		json_add(list, interval);
	}
	json_set(o, "intervals", list);
	return o;
}

static void intervals_csv(FILE *out, const struct view_input *in)
{
	_cleanup_(freep) bool *wanted = rows_wanted(in);

	csv_line(out, "ttttttttttttt", "sid", "name", "start_ns", "end_ns", "latency_ns", "start_thread",
		 "end_thread", "connection", "port", "bytes_in", "bytes_out", "origin_run", "host");
	for (size_t i = 0; i < in->findings->intervals.cnt; i++) {
		const struct interval_row *row = &in->findings->intervals.items[i];
		const struct trace_origin *origin = origin_of(in->findings, row);

		if (wanted[i])
			csv_line(out, "utiiiuu" "uuuu" "ut", row->sid, in->findings->interval.name,
				 row->start_ns, row->end_ns, row->end_ns - row->start_ns, row->start_tid, row->end_tid,
				 (uint64_t)row->connection, (uint64_t)row->port, (uint64_t)row->bytes_in, (uint64_t)row->bytes_out,
				 (uint64_t)(origin ? origin->run : 0), origin ? origin->host : NULL);
	}
}

const struct view view_intervals = {
	.name = "intervals", .summary = "all intervals, slowest first (--slowest N, --all)",
	.needs = NEEDS_FINDINGS | NEEDS_INTERVALS,
	.text = intervals_text, .json = intervals_json, .csv = intervals_csv,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_runs.c - all runs: start, duration, result.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"

/* "2026-11-20 20:31", local time. */
static const char *text_date(char buf[TEXT_MAX], int64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(buf, TEXT_MAX, "%Y-%m-%d %H:%M", &tm))
		snprintf(buf, TEXT_MAX, "?");
	return buf;
}

/* Columns that would be empty in every line. */
struct left_out {
	bool name, lost, iteration;
};

/* The step of vprof iterate in the run, or NULL. */
static const struct iteration *iteration_of(const struct view_input *in, uint32_t run)
{
	for (size_t i = 0; in->iterations && i < in->iterations->cnt; i++)
		if (in->iterations->items[i].run == run)
			return &in->iterations->items[i];
	return NULL;
}

/* "budget, from 3", how many functions are new, the first factor, why it ended. */
static void add_iteration(struct table *t, const struct iteration *i)
{
	if (!i) {
		for (int column = 0; column < 4; column++)
			table_cell(t, "%s", "");
		return;
	}
	table_cell(t, "%s, from %" PRIu32, i->policy, i->first_run);
	table_cell(t, "%" PRIu32, i->added_cnt);
	table_cell(t, "%.*s", (int)strcspn(i->selected, ","), i->selected);
	table_cell(t, "%s", i->stop ? i->stop : "");
}

static void add_run(struct table *t, const struct style *s, const struct run *r,
		    const struct iteration *iteration, struct left_out without)
{
	char text[TEXT_MAX];

	table_cell(t, "%" PRIu32, r->number);
	if (!without.name)
		table_cell(t, "%s", r->name ? r->name : "");
	table_cell(t, "%s", text_date(text, r->started_ns));
	/* An imported run ran elsewhere. */
	table_cell(t, "%s", r->source && strcmp(r->source, "import") == 0 ? "" :
		   text_ns(text, (double)r->duration_ns, s->utf8));
	table_cell(t, "%s", run_status_name(r->status));
	table_cell(t, "%s", text_cnt(text, r->interval_cnt));
	table_cell(t, "%s", text_cnt(text, r->function_cnt));
	if (!without.lost)
		table_cell(t, "%s", text_cnt(text, r->lost_records));
	if (!without.iteration)
		add_iteration(t, iteration);
	table_cell(t, "%s", r->command ? r->command : "");
}

static void runs_text(const struct style *s, const struct view_input *in)
{
	_cleanup_(table_freep) struct table *t = table_new();
	struct left_out without = { true, true, !in->iterations || in->iterations->cnt == 0 };

	for (size_t i = 0; i < in->runs->cnt; i++) {
		without.name &= in->runs->items[i].name == NULL;
		without.lost &= in->runs->items[i].lost_records == 0;
	}
	table_column(t, "run", TABLE_RIGHT);
	if (!without.name)
		table_column(t, "name", TABLE_LEFT);
	table_column(t, "started", TABLE_LEFT);
	table_column(t, "took", TABLE_RIGHT);
	table_column(t, "status", TABLE_LEFT);
	table_column(t, "intervals", TABLE_RIGHT);
	table_column(t, "functions", TABLE_RIGHT);
	if (!without.lost)
		table_column(t, "lost", TABLE_RIGHT);
	if (!without.iteration) {
		table_column(t, "iterate", TABLE_LEFT);
		table_column(t, "new", TABLE_RIGHT);
		table_column(t, "first factor", TABLE_LEFT);
		table_column(t, "ended", TABLE_LEFT);
	}
	table_column(t, "command", TABLE_SHRINKS);
	for (size_t i = 0; i < in->runs->cnt; i++)
		add_run(t, s, &in->runs->items[i],
			iteration_of(in, in->runs->items[i].number), without);
	if (in->runs->cnt)
		table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	else
		fprintf(s->out, "no runs yet: vprof record -- COMMAND makes one\n");
}

static json_t *iteration_to_json(const struct iteration *i)
{
	json_t *o;

	if (!i)
		return json_null();
	o = json_object();
	json_set(o, "first_run", json_integer(i->first_run));
	json_set(o, "policy", json_text(i->policy));
	json_set(o, "recorded", json_integer(i->recorded_cnt));
	json_set(o, "dormant", json_integer(i->dormant_cnt));
	json_set(o, "added", json_integer(i->added_cnt));
	json_set(o, "probe_cost", json_number(i->probe_cost));
	json_set(o, "selected", json_text(i->selected));
	json_set(o, "stop", json_text(i->stop));
	return o;
}

static json_t *runs_json(const struct view_input *in)
{
	json_t *o = json_document("runs"), *list = json_array();

	for (size_t i = 0; i < in->runs->cnt; i++) {
		const struct run *r = &in->runs->items[i];
		json_t *run = json_object();

		json_set(run, "run", json_integer(r->number));
		json_set(run, "name", json_text(r->name));
		json_set(run, "command", json_text(r->command));
		json_set(run, "source", json_text(r->source));
		json_set(run, "started_ns", json_integer(r->started_ns));
		json_set(run, "duration_ns", json_integer(r->duration_ns));
		json_set(run, "status", json_text(run_status_name(r->status)));
		json_set(run, "exit_status", json_integer(r->exit_status));
		json_set(run, "intervals", json_u64(r->interval_cnt));
		json_set(run, "functions", json_u64(r->function_cnt));
		json_set(run, "lost_records", json_u64(r->lost_records));
		json_set(run, "iteration", iteration_to_json(iteration_of(in, r->number)));
		json_add(list, run);
	}
	json_set(o, "warnings", json_array());
	json_set(o, "runs", list);
	return o;
}

static void runs_csv(FILE *out, const struct view_input *in)
{
	csv_line(out, "ttttttttttt", "run", "name", "command", "source", "started_ns",
		 "duration_ns", "status", "exit_status", "intervals", "functions", "lost_records");
	for (size_t i = 0; i < in->runs->cnt; i++) {
		const struct run *r = &in->runs->items[i];

		csv_line(out, "utttiitiuuu", (uint64_t)r->number, r->name, r->command, r->source,
			 r->started_ns, r->duration_ns, run_status_name(r->status),
			 (int64_t)r->exit_status, r->interval_cnt, r->function_cnt, r->lost_records);
	}
}

const struct view view_runs = {
	.name = "runs", .summary = "all runs, or those of a group",
	.needs = NEEDS_RUNS,
	.text = runs_text, .json = runs_json, .csv = runs_csv,
};

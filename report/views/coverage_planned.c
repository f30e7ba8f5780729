/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * coverage_planned.c - which functions of a run's plan were recorded: the part of `show coverage` about one run.
 *
 *	Run 4 was to record 12 functions: 8 were called, 3 never in an interval, 1 is in no program that ran.
 *
 *	not recorded in run 4	place		reason
 *	retry			server.c:40	never called in an interval
 */
#include <inttypes.h>

#include "base/banned.h"
#include "base/map.h"
#include "base/search.h"
#include "base/text/table.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"

enum { ROWS_SHOWN = 20 };

struct planned_counts {
	size_t called, never, absent;
};

/* NULL: the function was not to be recorded. */
static const struct planned_function *planned_of(const struct view_input *in, uint64_t key)
{
	const struct planned_function *items;
	size_t at;

	if (!in->planned)
		return NULL;
	items = in->planned->items;
	/* In order of key as SQLite has it, which is signed. */
	at = partition_point(i, in->planned->cnt, (int64_t)items[i].key < (int64_t)key);
	if (at == in->planned->cnt || items[at].key != key || items[at].level == PLANNED_DORMANT)
		return NULL;
	return &items[at];
}

static const char *reason_of(const struct planned_function *f)
{
	return f->calls == 0 ? "never called in an interval" : "in no program that ran";
}

static struct planned_counts count_planned(const struct view_input *in)
{
	struct planned_counts c = { 0, 0, 0 };

	for (size_t i = 0; i < in->project->functions.cnt; i++) {
		const struct planned_function *f =
			planned_of(in, in->project->functions.items[i].key);

		if (!f)
			continue;
		c.never += f->calls == 0;
		c.absent += f->calls == UINT32_MAX;
		c.called += f->calls != 0 && f->calls != UINT32_MAX;
	}
	return c;
}

static void print_not_recorded(const struct style *s, const struct view_input *in)
{
	_cleanup_(table_freep) struct table *t = table_new();
	_cleanup_(freep) char *title = xasprintf("not recorded in run %" PRIu32, in->run->number);
	size_t rows = 0, left = 0;

	table_column(t, title, TABLE_SHRINKS);
	table_column(t, "place", TABLE_SHRINKS);
	table_column(t, "reason", TABLE_LEFT);
	for (size_t i = 0; i < in->project->functions.cnt; i++) {
		const struct project_function *f = &in->project->functions.items[i];
		const struct planned_function *planned = planned_of(in, f->key);

		if (!planned || (planned->calls != 0 && planned->calls != UINT32_MAX))
			continue;
		if (rows++ >= ROWS_SHOWN && !in->options.ranking.all) {
			left++;
			continue;
		}
		table_cell(t, "%s", f->name);
		table_cell(t, "%s:%u", f->file ? f->file : "?", f->line);
		table_cell(t, "%s", reason_of(planned));
	}
	fputc('\n', s->out);
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	if (left)
		fprintf(s->out, "%zu more (--all)\n", left);
}

void coverage_planned_text(const struct style *s, const struct view_input *in)
{
	struct planned_counts c = count_planned(in);
	char total[TEXT_MAX], called[TEXT_MAX], never[TEXT_MAX], absent[TEXT_MAX];

	if (c.called + c.never + c.absent == 0)
		return;
	fprintf(s->out, "\nRun %" PRIu32 " was to record %s function%s: called %s, never in an interval "
		"%s, in no program that ran %s.\n", in->run->number,
		text_cnt(total, c.called + c.never + c.absent), plural(c.called + c.never + c.absent),
		text_cnt(called, c.called), text_cnt(never, c.never), text_cnt(absent, c.absent));
	if (c.never + c.absent)
		print_not_recorded(s, in);
}

void coverage_planned_json(json_t *o, const struct view_input *in)
{
	struct planned_counts c = count_planned(in);
	json_t *list = json_array();

	for (size_t i = 0; i < in->project->functions.cnt; i++) {
		const struct project_function *f = &in->project->functions.items[i];
		const struct planned_function *planned = planned_of(in, f->key);

		if (planned)
			json_add(list, json_pack("{s:o,s:o,s:I,s:o,s:o}", "function",
						 json_text(f->name), "file", json_text(f->file),
						 "line", (json_int_t)f->line, "level",
						 json_text(planned_level_name(planned->level)), "calls",
						 planned->calls == UINT32_MAX ? json_null() :
						 json_integer(planned->calls)));
	}
	json_set(o, "run", json_array_size(list) ? json_integer(in->run->number) : json_null());
	json_set(o, "called", json_u64(c.called));
	json_set(o, "never_called", json_u64(c.never));
	json_set(o, "absent", json_u64(c.absent));
	json_set(o, "planned", list);
}

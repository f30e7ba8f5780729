/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_coverage.c - which functions carry a probe, file by file, and why others cannot.
 *
 * Everything that is not measured is listed: functions that cannot take a probe and units that were compiled
 * untouched, with the reason; units that libclang did not fully understand (functions and calls in them may be missing), with the
 * place; and for a run the functions of its plan that were not recorded.
 */
#include <string.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"

struct counts {
	const char *file;
	size_t functions, probed, skipped;
};

static const char *file_of(const struct project_function *f)
{
	return f->file ? f->file : "?";
}

/* Functions are in order of file: counts the file that begins at function i, returns its end. */
static size_t count_file(const struct project *p, size_t i, struct counts *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->file = file_of(&p->functions.items[i]);
	for (; i < p->functions.cnt; i++) {
		const struct project_function *f = &p->functions.items[i];

		if (strcmp(file_of(f), ret->file) != 0)
			break;
		ret->functions++;
		ret->probed += f->probed;
		ret->skipped += f->skipped != NULL;
	}
	return i;
}

static struct counts count_all(const struct project *p)
{
	struct counts all = { NULL, p->functions.cnt, 0, 0 };

	for (size_t i = 0; i < p->functions.cnt; i++) {
		all.probed += p->functions.items[i].probed;
		all.skipped += p->functions.items[i].skipped != NULL;
	}
	return all;
}

/* ---- text ---- */

static void print_files(const struct style *s, const struct project *p)
{
	_cleanup_(table_freep) struct table *t = table_new();
	struct counts file;

	table_column(t, "file", TABLE_SHRINKS);
	table_column(t, "functions", TABLE_RIGHT);
	table_column(t, "probed", TABLE_RIGHT);
	table_column(t, "cannot be", TABLE_RIGHT);
	for (size_t i = 0; i < p->functions.cnt;) {
		i = count_file(p, i, &file);
		table_cell(t, "%s", file.file);
		table_cell(t, "%zu", file.functions);
		table_cell(t, "%zu", file.probed);
		table_cell(t, "%zu", file.skipped);
	}
	if (p->functions.cnt)
		table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
}

static void print_reasons(const struct style *s, const struct project *p)
{
	_cleanup_(table_freep) struct table *t = table_new();
	bool any = false;

	table_column(t, "cannot be probed", TABLE_SHRINKS);
	table_column(t, "place", TABLE_SHRINKS);
	table_column(t, "reason", TABLE_LEFT);
	for (size_t i = 0; i < p->functions.cnt; i++) {
		const struct project_function *f = &p->functions.items[i];

		if (!f->skipped)
			continue;
		any = true;
		table_cell(t, "%s", f->name);
		table_cell(t, "%s:%u", file_of(f), f->line);
		table_cell(t, "%s", f->skipped);
	}
	if (any) {
		fputc('\n', s->out);
		table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	}
}

typedef const char *(*unit_reason)(const struct project_unit *u);

static const char *why_untouched(const struct project_unit *u) { return u->untouched; }
static const char *why_misread(const struct project_unit *u) { return u->misread; }

static void print_units(const struct style *s, const struct project *p, const char *title, unit_reason why)
{
	_cleanup_(table_freep) struct table *t = table_new();
	size_t cnt = 0;

	table_column(t, title, TABLE_SHRINKS);
	table_column(t, "reason", TABLE_SHRINKS);
	for (size_t i = 0; i < p->units.cnt; i++) {
		if (!why(&p->units.items[i]))
			continue;
		cnt++;
		table_cell(t, "%s", p->units.items[i].source);
		table_cell(t, "%s", why(&p->units.items[i]));
	}
	if (cnt) {
		fputc('\n', s->out);
		table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	}
}

/* Its functions carry no probe, and may be unknown: it was compiled untouched, or not understood from the start. */
static bool is_uncounted(const struct project *p, const struct project_unit *u)
{
	if (u->untouched || !u->misread)
		return u->untouched;
	for (size_t i = 0; i < p->functions.cnt; i++)
		if (p->functions.items[i].file && strcmp(p->functions.items[i].file, u->source) == 0)
			return false;
	return true;
}

/* "The functions of 2 of 3 units carry none: a.c and others ..."; nothing if all units could be looked at. */
static void say_uncounted(const struct project *p, struct str *ret)
{
	const struct project_unit *first = NULL;
	size_t cnt = 0;

	for (size_t i = 0; i < p->units.cnt; i++)
		if (is_uncounted(p, &p->units.items[i]) && !cnt++)
			first = &p->units.items[i];
	if (first)
		str_addf(ret, " The functions of %zu of %zu units carry none: %s%s was %s.", cnt, p->units.cnt,
			 first->source, cnt > 1 ? " and others; it" : "", first->untouched ? "compiled untouched" : "not understood");
}

/* Is every function of the build known, so that it can be said of all? */
static const char *all_of_them(const struct project *p, bool uncounted)
{
	if (uncounted)
		return "these are not all";
	for (size_t i = 0; i < p->units.cnt; i++)
		if (p->units.items[i].misread)
			return "all that were seen could";
	return "all could";
}

static void coverage_text(const struct style *s, const struct view_input *in)
{
	struct counts all = count_all(in->project);
	char a[TEXT_MAX], b[TEXT_MAX], c[TEXT_MAX];
	_cleanup_(freep) char *sentence = NULL;
	_cleanup_(str_release) struct str uncounted = STR_INIT;

	say_uncounted(in->project, &uncounted);
	if (in->project->units.cnt == 0)
		sentence = xstrdup("Nothing was built with this data directory: vprof build -- make, or vprof -d DIR of the build "
				   "(vprof doctor PROGRAM says what a program carries)");
	else if (all.skipped == 0)
		sentence = xasprintf("%s of %s functions carry a probe; %s.%s", text_cnt(a, all.probed),
				     text_cnt(b, all.functions), all_of_them(in->project, uncounted.len),
				     str_cstr(&uncounted));
	else
		sentence = xasprintf("%s of %s functions carry a probe; %s cannot.%s",
				     text_cnt(a, all.probed), text_cnt(b, all.functions),
				     text_cnt(c, all.skipped), str_cstr(&uncounted));
	print_answer(s, sentence);
	fputc('\n', s->out);
	print_files(s, in->project);
	print_reasons(s, in->project);
	print_units(s, in->project, "compiled untouched", why_untouched);
	print_units(s, in->project, "functions and calls may be missing", why_misread);
	coverage_planned_text(s, in);
}

/* ---- JSON and CSV ---- */

static json_t *units_json(const struct project *p, unit_reason why)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->units.cnt; i++) {
		const struct project_unit *u = &p->units.items[i];

		if (why(u))
			json_add(list, json_pack("{s:o,s:o,s:o}", "object", json_text(u->object), "source",
						 json_text(u->source), "reason", json_text(why(u))));
	}
	return list;
}

static json_t *coverage_json(const struct view_input *in)
{
	const struct project *p = in->project;
	json_t *o = json_document("coverage"), *files = json_array(), *skipped = json_array();
	struct counts all = count_all(p), file;

	for (size_t i = 0; i < p->functions.cnt;) {
		i = count_file(p, i, &file);
		json_add(files, json_pack("{s:o,s:I,s:I,s:I}", "file", json_text(file.file),
					  "functions", (json_int_t)file.functions,
					  "probed", (json_int_t)file.probed,
					  "skipped", (json_int_t)file.skipped));
	}
	for (size_t i = 0; i < p->functions.cnt; i++) {
		const struct project_function *f = &p->functions.items[i];

		if (f->skipped)
			json_add(skipped, json_pack("{s:o,s:o,s:I,s:o}", "function",
						    json_text(f->name), "file", json_text(f->file),
						    "line", (json_int_t)f->line,
						    "reason", json_text(f->skipped)));
	}
	json_set(o, "warnings", json_array());
	json_set(o, "functions", json_u64(all.functions));
	json_set(o, "probed", json_u64(all.probed));
	json_set(o, "files", files);
	json_set(o, "skipped", skipped);
	json_set(o, "untouched", units_json(p, why_untouched));
	json_set(o, "misread", units_json(p, why_misread));
	coverage_planned_json(o, in);
	return o;
}

/* One row per function. */
static void coverage_csv(FILE *out, const struct view_input *in)
{
	csv_line(out, "ttttt", "function", "file", "line", "probed", "skipped");
	for (size_t i = 0; i < in->project->functions.cnt; i++) {
		const struct project_function *f = &in->project->functions.items[i];

		csv_line(out, "ttuut", f->name, f->file, (uint64_t)f->line, (uint64_t)f->probed,
			 f->skipped);
	}
}

const struct view view_coverage = {
	.name = "coverage", .summary = "functions that carry a probe, and why others cannot",
	.needs = NEEDS_PROJECT,
	.text = coverage_text, .json = coverage_json, .csv = coverage_csv,
};

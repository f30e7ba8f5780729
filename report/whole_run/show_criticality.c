/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_criticality.c - call paths and threads that ran, or could, while few others did.
 *
 *	 CMetric    of all  slices  call path
 *	 3.24 s     38.1 %      12  main › write_frame
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "report/views.h"
#include "report/whole_run/whole_run.h"

#define PATHS_SHOWN 10			/* GAPP's top call paths */
#define FRAMES_SHOWN 6

/* In order of size, including the one without a name. */
static void add_functions(struct str *to, const struct style *s, const struct criticality *c)
{
	const struct critical_function *first = &c->functions.items[0];
	char a[TEXT_MAX], b[TEXT_MAX];

	str_addf(to, "%s: its part of the busy time is %s (%s%s)", first->function ? first->function : NO_FUNCTION,
		 text_percent(a, first->cmetric_ns / (double)c->busy_ns), text_ns(b, first->cmetric_ns, s->utf8),
		 first->function ? "" : ": the threads were in " NO_FUNCTION_WHY);
	if (!first->function && c->functions.cnt > 1)
		str_addf(to, "; then %s, %s (%s)", first[1].function, text_percent(a, first[1].cmetric_ns / (double)c->busy_ns),
			 text_ns(b, first[1].cmetric_ns, s->utf8));
}

static void print_criticality_answer(const struct style *s, const struct criticality *c)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	if (c->busy_ns == 0) {
		str_add(&text, "No thread was ever active.");
	} else if (!c->functions.cnt) {
		str_add(&text, "Few threads were active at no time.");
	} else {
		str_addf(&text, "While few threads are active (at most %g of %zu), they are mostly in ",
			 c->nmin < 1 ? 1 : c->nmin, c->threads.cnt);
		add_functions(&text, s, c);
		str_addc(&text, '.');
	}
	print_answer(s, str_cstr(&text));
}

static void print_criticality_heading(const struct style *s, const struct view_input *in)
{
	const struct criticality *c = in->made;
	_cleanup_(str_release) struct str line = STR_INIT;
	const char *dot = glyphs_of(s)->dot;
	char a[TEXT_MAX], b[TEXT_MAX], d[TEXT_MAX], e[TEXT_MAX];

	str_addf(&line, "%zu thread%s%s%s slice%s, %s critical (nmin %g)%sbusy %s of %s%s",
		 c->threads.cnt, plural(c->threads.cnt), dot, text_cnt(a, c->slices),
		 plural(c->slices), text_cnt(b, c->critical_slices), c->nmin, dot,
		 text_ns(d, (double)c->busy_ns, s->utf8), text_ns(e, (double)c->run_ns, s->utf8),
		 dot);
	add_run_label(&line, in->run);
	fprintf(s->out, "%s\n\n", str_cstr(&line));
}

static void print_paths(const struct style *s, const struct view_input *in)
{
	const struct criticality *c = in->made;
	size_t shown = in->options.ranking.all || c->paths.cnt <= PATHS_SHOWN ? c->paths.cnt
									       : PATHS_SHOWN;
	_cleanup_(table_freep) struct table *t = table_new();
	char text[TEXT_MAX];

	if (c->paths.cnt == 0)
		return;
	table_column(t, "CMetric", TABLE_RIGHT);
	table_column(t, "of busy", TABLE_RIGHT);
	table_column(t, "slices", TABLE_RIGHT);
	table_column(t, "call path in critical slices", TABLE_SHRINKS);
	for (size_t i = 0; i < shown; i++) {
		const struct critical_path_row *p = &c->paths.items[i];
		_cleanup_(str_release) struct str frames = STR_INIT;

		add_frame_names(&frames, s, p->frames, p->frame_cnt, FRAMES_SHOWN);
		table_cell(t, "%s", text_ns(text, p->cmetric_ns, s->utf8));
		table_cell(t, "%s", text_part(text, p->cmetric_ns, (double)c->busy_ns));
		table_cell(t, "%s", text_cnt(text, p->slices));
		table_cell(t, "%s", str_cstr(&frames));
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	print_whole_rest(s, c->paths.cnt, shown, "path");
	fputc('\n', s->out);
}

static void print_functions(const struct style *s, const struct view_input *in)
{
	const struct criticality *c = in->made;
	size_t shown = in->options.ranking.all || c->functions.cnt <= PATHS_SHOWN ? c->functions.cnt
										   : PATHS_SHOWN;
	_cleanup_(table_freep) struct table *t = table_new();
	char text[TEXT_MAX];

	if (c->functions.cnt == 0)
		return;
	table_column(t, "CMetric", TABLE_RIGHT);
	table_column(t, "of busy", TABLE_RIGHT);
	table_column(t, "function, while few are active", TABLE_SHRINKS);
	table_column(t, "place", TABLE_LEFT);
	for (size_t i = 0; i < shown; i++) {
		const struct critical_function *f = &c->functions.items[i];
		_cleanup_(str_release) struct str place = STR_INIT;

		add_source_place(&place, f->file, f->line);
		table_cell(t, "%s", text_ns(text, f->cmetric_ns, s->utf8));
		table_cell(t, "%s", text_part(text, f->cmetric_ns, (double)c->busy_ns));
		table_cell(t, "%s", f->function ? f->function : NO_FUNCTION);
		table_cell(t, "%s", str_cstr(&place));
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	print_whole_rest(s, c->functions.cnt, shown, "function");
	fputc('\n', s->out);
}

static void print_threads(const struct style *s, const struct view_input *in)
{
	const struct criticality *c = in->made;
	size_t shown = whole_rows_shown(in, c->threads.cnt);
	_cleanup_(table_freep) struct table *t = table_new();
	char text[TEXT_MAX];

	if (c->threads.cnt == 0)
		return;
	table_column(t, "CMetric", TABLE_RIGHT);
	table_column(t, "of busy", TABLE_RIGHT);
	table_column(t, "active", TABLE_RIGHT);
	table_column(t, "slices", TABLE_RIGHT);
	table_column(t, "critical", TABLE_RIGHT);
	table_column(t, "thread", TABLE_SHRINKS);
	for (size_t i = 0; i < shown; i++) {
		const struct critical_thread *x = &c->threads.items[i];
		_cleanup_(str_release) struct str label = STR_INIT;

		add_thread_label(&label, x->name, x->tid);
		table_cell(t, "%s", text_ns(text, x->cmetric_ns, s->utf8));
		table_cell(t, "%s", text_part(text, x->cmetric_ns, (double)c->busy_ns));
		table_cell(t, "%s", text_ns(text, (double)x->active_ns, s->utf8));
		table_cell(t, "%s", text_cnt(text, x->slices));
		table_cell(t, "%s", text_cnt(text, x->critical_slices));
		table_cell(t, "%s", str_cstr(&label));
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	print_whole_rest(s, c->threads.cnt, shown, "thread");
}

static void criticality_text(const struct style *s, const struct view_input *in)
{
	print_criticality_answer(s, in->made);
	print_criticality_heading(s, in);
	print_paths(s, in);
	print_functions(s, in);
	print_threads(s, in);
}

static json_t *json_threads(const struct criticality *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->threads.cnt; i++) {
		const struct critical_thread *x = &c->threads.items[i];
		json_t *o = json_object();

		json_set(o, "tid", json_u64(x->tid));
		json_set(o, "name", json_text(x->name));
		json_set(o, "cmetric_ns", json_ns(x->cmetric_ns));
		json_set(o, "active_ns", json_integer(x->active_ns));
		json_set(o, "slices", json_u64(x->slices));
		json_set(o, "critical_slices", json_u64(x->critical_slices));
		json_add(list, o);
	}
	return list;
}

static json_t *criticality_json(const struct view_input *in)
{
	const struct criticality *c = in->made;
	json_t *o = json_whole("criticality", in), *paths = json_array(), *functions = json_array();

	for (size_t i = 0; i < c->paths.cnt; i++) {
		json_t *row = json_object();

		json_set(row, "frames", json_frames(c->paths.items[i].frames,
						    c->paths.items[i].frame_cnt));
		json_set(row, "cmetric_ns", json_ns(c->paths.items[i].cmetric_ns));
		json_set(row, "slices", json_u64(c->paths.items[i].slices));
		json_add(paths, row);
	}
	for (size_t i = 0; i < c->functions.cnt; i++) {
		const struct critical_function *f = &c->functions.items[i];
		json_t *row = json_object();

		json_set(row, "function", json_text(f->function));
		json_set(row, "file", json_text(f->file));
		json_set(row, "line", json_line(f->line));
		json_set(row, "cmetric_ns", json_ns(f->cmetric_ns));
		json_add(functions, row);
	}
	json_set(o, "nmin", json_number(c->nmin));
	json_set(o, "run_ns", json_integer(c->run_ns));
	json_set(o, "busy_ns", json_integer(c->busy_ns));
	json_set(o, "slices", json_u64(c->slices));
	json_set(o, "critical_slices", json_u64(c->critical_slices));
	json_set(o, "threads", json_threads(c));
	json_set(o, "paths", paths);
	json_set(o, "functions", functions);
	return o;
}

static void criticality_csv(FILE *out, const struct view_input *in)
{
	const struct criticality *c = in->made;

	csv_line(out, "ttt", "path", "cmetric_ns", "slices");
	for (size_t i = 0; i < c->paths.cnt; i++) {
		const struct critical_path_row *p = &c->paths.items[i];
		_cleanup_(str_release) struct str path = STR_INIT;

		add_folded(&path, p->frames, p->frame_cnt);
		csv_line(out, "tdu", str_cstr(&path), p->cmetric_ns, p->slices);
	}
}

/* ---- the view ---- */

static double arg_nmin = NAN;		/* NAN: the default */

static int make_criticality(const struct view_input *in, void **ret, struct diag *reterr)
{
	if (arg_nmin < 0)
		return diag_set(reterr, EXIT_USAGE, -EINVAL, "--nmin is a number of threads, not %g", arg_nmin);
	*ret = criticality_new(in->trace, isnan(arg_nmin) ? -1 : arg_nmin);
	return 0;
}

static void release_criticality(void *made)
{
	criticality_free(made);
}

static const struct option_desc options[] = {
	{ 0, "nmin", "N", OPT_DOUBLE, &arg_nmin,
	  "criticality: a slice with at most N active threads is critical (default: half the threads)" },
	OPT_END
};

const struct view view_criticality = {
	.name = "criticality", .summary = "what runs while few other threads can run (--nmin)",
	.needs = NEEDS_TRACE, .options = options, .make = make_criticality, .release = release_criticality,
	.text = criticality_text, .json = criticality_json, .csv = criticality_csv,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_samples.c - blocked samples: on and off the processor in one table.
 *
 * The folded format is read by flamegraph.pl and similar tools: thread, then functions, then the type unless it is
 * running time.
 *	worker;main;log_sync;[io] 812
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "report/views.h"
#include "report/whole_run/whole_run.h"

/* The type in words, for a column of text. */
static const char *type_words(enum sample_type type)
{
	static const char *const words[SAMPLE_TYPE_CNT] = {
		[SAMPLE_CPU] = "running", [SAMPLE_IO] = "I/O", [SAMPLE_LOCK] = "waiting for a thread",
		[SAMPLE_SCHED] = "waiting for a processor", [SAMPLE_OTHER] = "sleeping, unknown",
	};

	return words[type];
}

static uint64_t sample_sum(const struct blocked_samples *b)
{
	uint64_t sum = 0;

	for (int type = 0; type < SAMPLE_TYPE_CNT; type++)
		sum += b->samples[type];
	return sum;
}

static const struct sample_row *first_blocked(const struct blocked_samples *b)
{
	for (size_t i = 0; i < b->rows.cnt; i++)
		if (b->rows.items[i].type != SAMPLE_CPU)
			return &b->rows.items[i];
	return NULL;
}

static void print_samples_answer(const struct style *s, const struct blocked_samples *b)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	uint64_t sum = sample_sum(b), blocked = sum - b->samples[SAMPLE_CPU];
	const struct sample_row *first = first_blocked(b);
	char a[TEXT_MAX], c[TEXT_MAX];

	if (sum == 0) {
		print_answer(s, "No sample hit anything: use a shorter --period.");
		return;
	}
	str_addf(&text, "%s of the threads' time is off the processor",
		 text_percent(a, (double)blocked / (double)sum));
	if (first)
		str_addf(&text, "; most of it, %s of all, in %s (%s)",
			 text_percent(c, (double)first->samples / (double)sum),
			 first->function ? first->function : NO_FUNCTION,
			 type_words(first->type));
	if (first && !first->function)
		str_add(&text, ": the threads were in " NO_FUNCTION_WHY);
	str_addc(&text, '.');
	print_answer(s, str_cstr(&text));
}

/* "5 threads · a sample every 1.00 ms · cpu 40 %, io 52 %, ... · run 3" */
static void print_samples_heading(const struct style *s, const struct view_input *in)
{
	const struct blocked_samples *b = in->made;
	_cleanup_(str_release) struct str line = STR_INIT;
	const char *dot = glyphs_of(s)->dot, *comma = "";
	uint64_t sum = sample_sum(b);
	char text[TEXT_MAX], cnt[TEXT_MAX];

	str_addf(&line, "%zu thread%s%sa sample every %s%s%s sample%s%s", b->thread_cnt,
		 plural(b->thread_cnt), dot, text_ns(text, (double)b->period_ns, s->utf8), dot,
		 text_cnt(cnt, sum), plural(sum), dot);
	for (int type = 0; type < SAMPLE_TYPE_CNT; type++)
		if (b->samples[type]) {
			str_addf(&line, "%s%s %s", comma, sample_type_name((enum sample_type)type),
				 text_percent(text, (double)b->samples[type] / (double)sum));
			comma = ", ";
		}
	str_add(&line, sum ? dot : "");
	add_run_label(&line, in->run);
	fprintf(s->out, "%s\n\n", str_cstr(&line));
}

static void samples_text(const struct style *s, const struct view_input *in)
{
	const struct blocked_samples *b = in->made;
	size_t shown = whole_rows_shown(in, b->rows.cnt);
	_cleanup_(table_freep) struct table *t = table_new();
	double sum = (double)sample_sum(b);
	char text[TEXT_MAX];

	print_samples_answer(s, b);
	print_samples_heading(s, in);
	table_column(t, "samples", TABLE_RIGHT);
	table_column(t, "of all", TABLE_RIGHT);
	table_column(t, "time", TABLE_RIGHT);
	table_column(t, "type", TABLE_LEFT);
	table_column(t, "function", TABLE_SHRINKS);
	table_column(t, "place", TABLE_LEFT);
	for (size_t i = 0; i < shown; i++) {
		const struct sample_row *r = &b->rows.items[i];
		_cleanup_(str_release) struct str place = STR_INIT;

		add_source_place(&place, r->file, r->line);
		table_cell(t, "%s", text_cnt(text, r->samples));
		table_cell(t, "%s", text_part(text, (double)r->samples, sum));
		table_cell(t, "%s", text_ns(text, (double)r->time_ns, s->utf8));
		table_cell(t, "%s", sample_type_name(r->type));
		table_style(t, r->type == SAMPLE_CPU ? "" : style_wait(s));
		table_cell(t, "%s", r->function ? r->function : NO_FUNCTION);
		table_cell(t, "%s", str_cstr(&place));
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	print_whole_rest(s, b->rows.cnt, shown, "row");
	if (b->rows.cnt)
		fprintf(s->out, "--format folded prints call paths for flame graphs\n");
}

static json_t *samples_json(const struct view_input *in)
{
	const struct blocked_samples *b = in->made;
	json_t *o = json_whole("samples", in), *rows = json_array(), *stacks = json_array();

	for (size_t i = 0; i < b->rows.cnt; i++) {
		const struct sample_row *r = &b->rows.items[i];
		json_t *row = json_object();

		json_set(row, "function", json_text(r->function));
		json_set(row, "file", json_text(r->file));
		json_set(row, "line", json_line(r->line));
		json_set(row, "type", json_text(sample_type_name(r->type)));
		json_set(row, "samples", json_u64(r->samples));
		json_set(row, "time_ns", json_integer(r->time_ns));
		json_add(rows, row);
	}
	for (size_t i = 0; i < b->stacks.cnt; i++) {
		const struct sample_stack *k = &b->stacks.items[i];
		json_t *stack = json_object();

		json_set(stack, "thread", json_text(k->thread));
		json_set(stack, "frames", json_frames(k->frames, k->frame_cnt));
		json_set(stack, "type", json_text(sample_type_name(k->type)));
		json_set(stack, "samples", json_u64(k->samples));
		json_set(stack, "time_ns", json_integer(k->time_ns));
		json_add(stacks, stack);
	}
	json_set(o, "period_ns", json_integer(b->period_ns));
	json_set(o, "start_ns", json_integer(b->start_ns));
	json_set(o, "rows", rows);
	json_set(o, "stacks", stacks);
	return o;
}

static void samples_csv(FILE *out, const struct view_input *in)
{
	const struct blocked_samples *b = in->made;

	csv_line(out, "tttttt", "function", "file", "line", "type", "samples", "time_ns");
	for (size_t i = 0; i < b->rows.cnt; i++) {
		const struct sample_row *r = &b->rows.items[i];
		_cleanup_(freep) char *line = r->line ? xasprintf("%" PRIu32, r->line) : NULL;

		csv_line(out, "ttttui", r->function, r->file, line, sample_type_name(r->type),
			 r->samples, r->time_ns);
	}
}

static void samples_folded(FILE *out, const struct view_input *in)
{
	const struct blocked_samples *b = in->made;

	for (size_t i = 0; i < b->stacks.cnt; i++) {
		const struct sample_stack *k = &b->stacks.items[i];
		_cleanup_(str_release) struct str line = STR_INIT;

		if (k->thread) {
			add_folded(&line, &k->thread, 1);
			str_addc(&line, ';');
		}
		add_folded(&line, k->frames, k->frame_cnt);
		if (k->frame_cnt == 0)
			str_add(&line, "[" NO_FUNCTION "]");
		if (k->type != SAMPLE_CPU)
			str_addf(&line, ";[%s]", sample_type_name(k->type));
		fprintf(out, "%s %" PRIu64 "\n", str_cstr(&line), k->samples);
	}
}

/* ---- the view ---- */

static const char *arg_period;		/* ns */

static int make_samples(const struct view_input *in, void **ret, struct diag *reterr)
{
	int64_t period_ns = SAMPLES_PERIOD_DEFAULT_NS;

	if (arg_period) {
		char *end;

		errno = 0;
		period_ns = strtoll(arg_period, &end, 10);
		if (errno || *end || end == arg_period || period_ns <= 0) {
			diag_set(reterr, EXIT_USAGE, -EINVAL,
				 "--period is a number of nanoseconds above 0, not '%s'", arg_period);
			return diag_remedy(reterr, -EINVAL, "vprof show samples --period 1000000");
		}
	}
	*ret = blocked_samples_new(in->trace, period_ns);
	return 0;
}

static void release_samples(void *made)
{
	blocked_samples_free(made);
}

static const struct option_desc options[] = {
	{ 0, "period", "NS", OPT_STR, &arg_period,
	  "samples: sampling period in ns (default 1000000)" },
	OPT_END
};

const struct view view_samples = {
	.name = "samples", .summary = "on-CPU and off-CPU samples, by function (--period)",
	.needs = NEEDS_TRACE, .options = options, .make = make_samples, .release = release_samples,
	.text = samples_text, .json = samples_json, .csv = samples_csv, .folded = samples_folded,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * show_execution_table.c - time by interval and function (paper 3.3.3).
 *
 * JSON and CSV have the whole table, one row per interval and function.  The text sums it up by label.  A label
 * absent from an interval counts as 0 ns there, as in the variance tree.  Example: f took 2, 0 and 4 ns in three
 * intervals: mean 2, sd 1.63.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/map.h"
#include "base/text/table.h"
#include "report/output.h"
#include "report/style.h"
#include "report/views.h"

struct label_sum {
	const char *label;
	uint64_t rows;			/* intervals that have it */
	long double sum_ns, squares_ns2;
	int64_t max_ns;
};

static const char *charge_name(enum charge charge)
{
	return charge == CHARGE_WAKER ? "waker" : "waiter";
}

static int by_mean(const void *a, const void *b)
{
	const struct label_sum *x = a, *y = b;

	if (x->sum_ns != y->sum_ns)
		return x->sum_ns > y->sum_ns ? -1 : 1;
	return strcmp(x->label, y->label);
}

/* One entry per label, largest sum first; the caller frees it. */
static struct label_sum *sum_up(const execution_rows *rows, size_t *ret_cnt)
{
	_cleanup_(names_freep) struct names *labels = names_new();
	VEC(struct label_sum) sums = { NULL, 0, 0 };

	for (size_t i = 0; i < rows->cnt; i++) {
		const struct execution_row *row = &rows->items[i];
		uint32_t id = names_add(labels, row->label);
		struct label_sum *sum;

		if (id == sums.cnt)
			VEC_EXTEND(&sums)->label = row->label;
		sum = &sums.items[id];
		sum->rows++;
		sum->sum_ns += row->nanoseconds;
		sum->squares_ns2 += (long double)row->nanoseconds * row->nanoseconds;
		if (row->nanoseconds > sum->max_ns)
			sum->max_ns = row->nanoseconds;
	}
	if (sums.cnt)
		qsort(sums.items, sums.cnt, sizeof(*sums.items), by_mean);
	*ret_cnt = sums.cnt;
	return sums.items;
}

static double deviation_ns(const struct label_sum *sum, uint64_t cnt)
{
	long double mean = sum->sum_ns / cnt, variance = sum->squares_ns2 / cnt - mean * mean;

	return variance > 0 ? (double)sqrtl(variance) : 0;
}

static void execution_table_text(const struct style *s, const struct view_input *in)
{
	const struct charged_rows *made = in->made;
	uint64_t cnt = in->findings->interval.cnt;
	_cleanup_(table_freep) struct table *t = table_new();
	_cleanup_(freep) struct label_sum *sums = NULL;
	size_t sum_cnt;
	char text[TEXT_MAX];

	sums = sum_up(&made->rows, &sum_cnt);
	print_heading(s, in);
	table_column(t, "function", TABLE_SHRINKS);
	table_column(t, "intervals", TABLE_RIGHT);
	table_column(t, "mean", TABLE_RIGHT);
	table_column(t, "sd", TABLE_RIGHT);
	table_column(t, "max", TABLE_RIGHT);
	for (size_t i = 0; i < sum_cnt; i++) {
		table_cell(t, "%s", sums[i].label);
		table_style(t, strncmp(sums[i].label, "wait:", 5) == 0 ? style_wait(s) : "");
		table_cell(t, "%s", text_cnt(text, sums[i].rows));
		table_cell(t, "%s", text_ns(text, (double)(sums[i].sum_ns / cnt), s->utf8));
		table_cell(t, "%s", text_ns(text, deviation_ns(&sums[i], cnt), s->utf8));
		table_cell(t, "%s", text_ns(text, (double)sums[i].max_ns, s->utf8));
	}
	table_write(t, s->out, s->width, glyphs_of(s)->ellipsis);
	fprintf(s->out, "blocked time is charged to the %s; functions include what they call\n"
		"--format csv prints a row per interval and function\n", charge_name(made->charge));
}

static json_t *execution_table_json(const struct view_input *in)
{
	const struct charged_rows *made = in->made;
	json_t *o = json_results("execution-table", in), *list = json_array();

	for (size_t i = 0; i < made->rows.cnt; i++) {
		const struct execution_row *row = &made->rows.items[i];
		json_t *entry = json_object();

		json_set(entry, "interval", json_u64(row->sid));
		json_set(entry, "function", json_text(row->label));
		json_set(entry, "nanoseconds", json_integer(row->nanoseconds));
		json_add(list, entry);
	}
	json_set(o, "charge", json_text(charge_name(made->charge)));
	json_set(o, "rows", list);
	return o;
}

static void execution_table_csv(FILE *out, const struct view_input *in)
{
	const struct charged_rows *made = in->made;

	csv_line(out, "ttt", "interval", "function", "nanoseconds");
	for (size_t i = 0; i < made->rows.cnt; i++)
		csv_line(out, "uti", made->rows.items[i].sid, made->rows.items[i].label,
			 made->rows.items[i].nanoseconds);
}

/* ---- the view ---- */

static const char *arg_charge = "waiter";

static int check_charge(struct diag *reterr)
{
	if (strcmp(arg_charge, "waiter") == 0 || strcmp(arg_charge, "waker") == 0)
		return 0;
	return diag_set(reterr, EXIT_USAGE, -EINVAL, "--charge is waiter or waker, not '%s'", arg_charge);
}

static int make_execution_table(const struct view_input *in, void **ret, struct diag *reterr)
{
	struct charged_rows *made = *ret = xcalloc(1, sizeof(*made));

	(void)reterr;
	made->charge = strcmp(arg_charge, "waker") == 0 ? CHARGE_WAKER : CHARGE_WAITER;
	return in->findings->interval.cnt ?
	       execution_table(in->trace, in->findings->interval.name, made->charge, &made->rows) : 0;
}

static void release_execution_table(void *ret)
{
	struct charged_rows *made = ret;

	VEC_RELEASE(&made->rows);
	free(made);
}

static const struct option_desc options[] = {
	{ 0, "charge", "WHOM", OPT_STR, &arg_charge,
	  "execution-table: charge blocked time to the waiter (default) or the waker" },
	OPT_END
};

const struct view view_execution_table = {
	.name = "execution-table", .summary = "time by interval and function (--charge waiter|waker)",
	.needs = NEEDS_FINDINGS | NEEDS_TRACE, .options = options,
	.check = check_charge, .make = make_execution_table, .release = release_execution_table,
	.text = execution_table_text, .json = execution_table_json, .csv = execution_table_csv,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql.c - `vprof sql QUERY`: a reading query on vprof.db, as a table, JSON or CSV.
 *
 * CSV and JSON are written row by row; a text table waits for the last row, to know its widths.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"
#include "base/text/table.h"
#include "cmd/commands.h"
#include "cmd/messages.h"
#include "cmd/pager.h"
#include "project/config/locate.h"
#include "report/output.h"
#include "store/query.h"

static const char *arg_format = "text";

/* ---- text ---- */

static void text_columns(void *table, const char *const *names, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		table_column(table, names[i], TABLE_LEFT);
}

static void text_row(void *table, const struct value *values, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		const struct value *v = &values[i];

		switch (v->type) {
		case VALUE_NULL:
			table_cell(table, "%s", "");
			break;
		case VALUE_INTEGER:
			table_cell(table, "%" PRId64, v->integer);
			break;
		case VALUE_REAL:
			table_cell(table, "%.15g", v->real);
			break;
		case VALUE_TEXT:
			table_cell(table, "%s", (const char *)v->bytes);
			break;
		case VALUE_BLOB:
			table_cell(table, "(%zu bytes)", v->len);
			break;
		}
	}
}

static int print_text(struct store *s, const char *query, struct diag *reterr)
{
	_cleanup_(table_freep) struct table *t = table_new();
	struct query_sink sink = { text_columns, text_row, t };
	int r = store_query(s, query, &sink, reterr);

	if (r == 0)
		table_write(t, stdout, 0, "");
	return r;
}

/* ---- JSON: { "schema", "columns", "rows": [[...], ...] } ---- */

static void json_columns(void *row_cnt, const char *const *names, size_t cnt)
{
	json_t *columns = json_array();

	(void)row_cnt;
	for (size_t i = 0; i < cnt; i++)
		json_add(columns, json_text(names[i]));
	fputs("{\n \"schema\": \"vprof.sql/1\",\n \"columns\": ", stdout);
	json_write_line(stdout, columns);
	fputs(",\n \"rows\": [", stdout);
	json_decref(columns);
}

static json_t *json_value(const struct value *v)
{
	switch (v->type) {
	case VALUE_INTEGER:
		return json_integer(v->integer);
	case VALUE_REAL:
		return json_number(v->real);
	case VALUE_TEXT:
		return json_text(v->bytes);
	case VALUE_NULL:
	case VALUE_BLOB:
		break;
	}
	return json_null();
}

static void json_row(void *row_cnt, const struct value *values, size_t cnt)
{
	json_t *row = json_array();

	for (size_t i = 0; i < cnt; i++)
		json_add(row, json_value(&values[i]));
	fputs((*(uint64_t *)row_cnt)++ ? ",\n  " : "\n  ", stdout);
	json_write_line(stdout, row);
	json_decref(row);
}

/* A query that fails half-way leaves an incomplete document, which no reader accepts. */
static int print_json(struct store *s, const char *query, struct diag *reterr)
{
	uint64_t row_cnt = 0;
	struct query_sink sink = { json_columns, json_row, &row_cnt };
	int r = store_query(s, query, &sink, reterr);

	if (r == 0)
		fputs(row_cnt ? "\n ]\n}\n" : "]\n}\n", stdout);
	return r;
}

/* ---- CSV ---- */

static void csv_columns(void *unused, const char *const *names, size_t cnt)
{
	(void)unused;
	for (size_t i = 0; i < cnt; i++) {
		if (i)
			fputc(',', stdout);
		csv_field(stdout, names[i]);
	}
	fputc('\n', stdout);
}

static void csv_row(void *unused, const struct value *values, size_t cnt)
{
	(void)unused;
	for (size_t i = 0; i < cnt; i++) {
		const struct value *v = &values[i];

		if (i)
			fputc(',', stdout);
		if (v->type == VALUE_INTEGER)
			printf("%" PRId64, v->integer);
		else if (v->type == VALUE_REAL)
			printf("%.17g", v->real);
		else if (v->type == VALUE_TEXT)
			csv_text(stdout, (const char *)v->bytes);
	}
	fputc('\n', stdout);
}

static int print_csv(struct store *s, const char *query, struct diag *reterr)
{
	struct query_sink sink = { csv_columns, csv_row, NULL };

	return store_query(s, query, &sink, reterr);
}

static const struct {
	const char *name;
	int (*print)(struct store *s, const char *query, struct diag *reterr);
} formats[] = {
	{ "text", print_text }, { "json", print_json }, { "csv", print_csv },
};

static int sql_run(int argc, char **argv)
{
	_cleanup_(args_release) struct args words = ARGS_INIT;
	_cleanup_(store_closep) struct store *store = NULL;
	struct diag diag = DIAG_INIT;
	int status;

	if (options_parse(argc, argv, &cmd_sql, &words, &status))
		return status;
	if (words.cnt != 1)
		return fail_now(EXIT_USAGE, "vprof sql \"SELECT * FROM run\"",
				"sql takes one query, in quotes");
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (strcmp(arg_format, formats[i].name) != 0)
			continue;
		if (store_open(data_dir(), false, &store, &diag) < 0)
			return fail(&diag);
		pager_start();
		if (formats[i].print(store, words.items[0], &diag) < 0)
			return fail(&diag);
		return EXIT_DONE;
	}
	return fail_now(EXIT_USAGE, "--format text, --format json, --format csv",
			"sql cannot print '%s'", arg_format);
}

static const struct option_desc sql_options[] = {
	{ 0, "format", "FORMAT", OPT_STR, &arg_format, "text (default), json, csv" },
	PAGER_OPTION,
	OPT_END
};

static const char *const sql_examples[] = {
	"vprof sql \"SELECT function, wait, share FROM latest_factor ORDER BY share DESC\"",
	"vprof sql --format csv \"SELECT sid, end_ns - start_ns FROM interval\"", NULL
};

const struct cmd cmd_sql = {
	.name = "sql", .synopsis = "QUERY [--format text|json|csv]",
	.summary = "query results with SQL (read-only)",
	.options = sql_options, .run = sql_run, .examples = sql_examples,
};

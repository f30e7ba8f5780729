/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.c - text in aligned columns.
 *
 * Cells are kept as strings until all are known; then each column is as wide as its widest cell, columns
 * stand two blanks apart, and if the lines are still wider than allowed, the columns that may shrink shrink,
 * the widest first, down to MIN_SHRUNK.  A cell of more than PADDED_MAX columns is printed whole, but other
 * lines are not padded to its width: a name of 1 MB in one of 100,000 lines would be 100 GB of blanks.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/str.h"
#include "base/text/table.h"
#include "base/text/label.h"
#include "base/text/utf8.h"

#define GAP 2
#define MIN_SHRUNK 12
#define PADDED_MAX 1000

struct column {
	char *title;
	enum table_align align;
};

struct cell {
	char *text;
	const char *style;		/* NULL: none */
	char *link;			/* URL; NULL: none */
	size_t kept;			/* columns at its start that are never shortened */
};

struct table {
	VEC(struct column) columns;
	VEC(struct cell) cells;
};

struct table *table_new(void)
{
	return xcalloc(1, sizeof(struct table));
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->columns.cnt; i++)
		free(t->columns.items[i].title);
	for (size_t i = 0; i < t->cells.cnt; i++) {
		free(t->cells.items[i].text);
		free(t->cells.items[i].link);
	}
	VEC_RELEASE(&t->columns);
	VEC_RELEASE(&t->cells);
	free(t);
}

void table_column(struct table *t, const char *title, enum table_align align)
{
	VEC_ADD(&t->columns, (struct column){ xstrdup(title), align });
}

void table_cell(struct table *t, const char *fmt, ...)
{
	_cleanup_(str_release) struct str raw = STR_INIT;
	struct str clean = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&raw, fmt, ap);
	va_end(ap);
	utf8_add_line(&clean, str_cstr(&raw));
	VEC_ADD(&t->cells, (struct cell){ str_take(&clean), NULL, NULL, 0 });
}

void table_keep(struct table *t, size_t columns)
{
	if (t->cells.cnt)
		t->cells.items[t->cells.cnt - 1].kept = columns;
}

void table_style(struct table *t, const char *sequence)
{
	if (t->cells.cnt)
		t->cells.items[t->cells.cnt - 1].style = *sequence ? sequence : NULL;
}

void table_link(struct table *t, const char *url)
{
	if (t->cells.cnt && url)
		t->cells.items[t->cells.cnt - 1].link = xstrdup(url);
}

static bool is_there(const struct table *t, const size_t *widths, size_t column)
{
	return widths[column] || t->columns.items[column].align != TABLE_SPARE;
}

static size_t sum_of(const struct table *t, const size_t *widths)
{
	size_t sum = 0, there = 0;

	for (size_t i = 0; i < t->columns.cnt; i++) {
		sum += widths[i];
		there += is_there(t, widths, i);
	}
	return sum + (there ? (there - 1) * GAP : 0);
}

static void drop_spare(const struct table *t, size_t *widths)
{
	for (size_t i = 0; i < t->columns.cnt; i++)
		if (t->columns.items[i].align == TABLE_SPARE)
			widths[i] = 0;
}

/* Takes columns off the widest shrinking column until the line fits or none can give. */
static void shrink(const struct table *t, size_t *widths, size_t width)
{
	while (sum_of(t, widths) > width) {
		size_t widest = t->columns.cnt;

		for (size_t i = 0; i < t->columns.cnt; i++)
			if (t->columns.items[i].align == TABLE_SHRINKS && widths[i] > MIN_SHRUNK &&
			    (widest == t->columns.cnt || widths[i] > widths[widest]))
				widest = i;
		if (widest == t->columns.cnt)
			return;
		widths[widest]--;
	}
}

/* The cell's text in at most width columns. */
static void add_cell_text(struct str *to, const struct cell *c, size_t width, const char *ellipsis)
{
	const char *rest = c->text;

	for (size_t kept = 0; kept < c->kept && kept < width && utf8_next(&rest); kept++)
		;
	str_addn(to, c->text, (size_t)(rest - c->text));
	label_add_shortened(to, rest, width - utf8_width(str_cstr(to)), ellipsis);
}

/* Blanks needed to pad a cell to its column's width. */
static size_t blanks_beside(size_t text, size_t column)
{
	if (column > PADDED_MAX)
		column = PADDED_MAX;
	return text < column ? column - text : 0;
}

static void add_linked(struct str *to, const struct cell *c, const char *text)
{
	if (c->link)
		str_addf(to, "\033]8;;%s\033\\", c->link);
	str_addf(to, "%s%s%s", c->style ? c->style : "", text, c->style ? "\033[0m" : "");
	if (c->link)
		str_add(to, "\033]8;;\033\\");
}

static void write_line(const struct table *t, const struct cell *cells, size_t cnt,
		       const size_t *widths, const char *ellipsis, FILE *out)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	_cleanup_(str_release) struct str text = STR_INIT;
	size_t blanks = 0;

	for (size_t i = 0; i < cnt; i++) {
		size_t width;

		if (!is_there(t, widths, i))
			continue;
		str_reset(&text);
		add_cell_text(&text, &cells[i], widths[i], ellipsis);
		width = utf8_width(str_cstr(&text));
		if (t->columns.items[i].align == TABLE_RIGHT && width)
			blanks += blanks_beside(width, widths[i]);
		if (width) {
			str_addf(&line, "%*s", (int)blanks, "");
			blanks = 0;
			add_linked(&line, &cells[i], str_cstr(&text));
		}
		/* Blanks are printed before the next cell with text, so that no line ends in blanks. */
		if (t->columns.items[i].align != TABLE_RIGHT || !width)
			blanks += blanks_beside(width, widths[i]);
		blanks += GAP;
	}
	fprintf(out, "%s\n", str_cstr(&line));
}

/* For each column: its title's or its widest cell's width. */
static size_t *natural_widths(const struct table *t)
{
	size_t cnt = t->columns.cnt;
	size_t *widths = xcalloc(cnt + 1, sizeof(*widths));

	for (size_t i = 0; i < t->cells.cnt; i++) {
		size_t w = utf8_width(t->cells.items[i].text);

		if (w > widths[i % cnt])
			widths[i % cnt] = w;
	}
	for (size_t i = 0; i < cnt; i++) {
		size_t title = utf8_width(t->columns.items[i].title);

		if (title > widths[i] && (widths[i] || t->columns.items[i].align != TABLE_SPARE))
			widths[i] = title;
	}
	return widths;
}

size_t table_width_whole(const struct table *t)
{
	_cleanup_(freep) size_t *widths = natural_widths(t);

	return sum_of(t, widths);
}

size_t table_width(const struct table *t)
{
	_cleanup_(freep) size_t *widths = natural_widths(t);

	drop_spare(t, widths);
	return sum_of(t, widths);
}

void table_write(const struct table *t, FILE *out, size_t width, const char *ellipsis)
{
	size_t cnt = t->columns.cnt;
	_cleanup_(freep) size_t *widths = natural_widths(t);
	_cleanup_(freep) struct cell *titles = xcalloc(cnt + 1, sizeof(*titles));
	bool titled = false;

	for (size_t i = 0; i < cnt; i++) {
		titles[i].text = t->columns.items[i].title;
		titled |= *titles[i].text != '\0';
	}
	if (width && sum_of(t, widths) > width)
		drop_spare(t, widths);
	if (width)
		shrink(t, widths, width);
	if (titled)
		write_line(t, titles, cnt, widths, ellipsis, out);
	for (size_t i = 0; i < t->cells.cnt; i += cnt) {
		size_t left = t->cells.cnt - i;

		write_line(t, &t->cells.items[i], left < cnt ? left : cnt, widths, ellipsis, out);
	}
}

void table_line(FILE *out, const char *text)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	utf8_add_line(&line, text);
	fprintf(out, "%s\n", str_cstr(&line));
}

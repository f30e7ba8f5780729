/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tsv_fields.c - see tsv_fields.h. */
#include "digest/tsv_fields.h"

#include <inttypes.h>
#include <string.h>
#include "base/banned.h"

void row_begin(struct tsv_row *row, char *line, size_t number)
{
	*row = (struct tsv_row){ .at = line, .line = number };
}

static void is_wrong(struct tsv_row *row, const char *wanted)
{
	if (!row->wrong)
		row->wrong = wanted;
	row->at = NULL;
}

/* The field as it stands there; "" and an error where there is none. */
static char *next_field(struct tsv_row *row)
{
	static char none[1];
	char *field = row->at, *tab;

	if (!row->wrong)
		row->column++;
	if (!field) {
		is_wrong(row, "a field: the row is too short");
		return none;
	}
	tab = strchr(field, '\t');
	row->at = tab ? tab + 1 : NULL;
	if (tab)
		*tab = '\0';
	return field;
}

/* \N is NULL, which SQL has for what is not known. */
static char unescaped(char c)
{
	static const char from[] = "tnrbf0\\'", to[] = "\t\n\r\b\f\0\\'";
	const char *at = c ? strchr(from, c) : NULL;

	return at ? to[at - from] : c == 'v' ? '\v' : '\0';
}

const char *row_text(struct tsv_row *row)
{
	char *field = next_field(row), *to = field;

	if (strcmp(field, "\\N") == 0)
		return "";
	for (const char *from = field; *from; from++) {
		char c = *from;

		if (c == '\\') {
			c = unescaped(*++from);
			if (!c) {
				is_wrong(row, "text: after a backslash comes one of t n r b f v ' and another one");
				return "";
			}
		}
		*to++ = c;
	}
	*to = '\0';
	return field;
}

/* Digits only; a value above `most` is wrong. */
static unsigned __int128 digits(const char *field, unsigned __int128 most, bool *ok)
{
	unsigned __int128 value = 0;

	*ok = *field != '\0';
	for (; *field && *ok; field++) {
		unsigned digit = (unsigned char)*field - (unsigned)'0';

		*ok = digit < 10 && value <= (most - digit) / 10;
		value = value * 10 + digit;
	}
	return *ok ? value : 0;
}

uint64_t row_number(struct tsv_row *row, uint64_t most)
{
	bool ok;
	unsigned __int128 value = digits(next_field(row), most < 9 ? 9 : most, &ok);

	if (!ok || value > most) {
		is_wrong(row, "a number, of that range");
		return 0;
	}
	return (uint64_t)value;
}

int64_t row_signed(struct tsv_row *row)
{
	const char *field = next_field(row);
	bool negative = *field == '-', ok;
	unsigned __int128 value = digits(field + negative, (unsigned __int128)INT64_MAX + negative, &ok);

	if (!ok)
		is_wrong(row, "a whole number of 64 bits, which may be negative");
	return (int64_t)(negative ? -(__int128)value : (__int128)value);
}

__int128 row_sum(struct tsv_row *row)
{
	bool ok;
	unsigned __int128 value = digits(next_field(row), SUM_MAX, &ok);

	if (!ok)
		is_wrong(row, "a sum: a whole number from 0 to 2^124");
	return (__int128)value;
}

unsigned row_name(struct tsv_row *row, const char *(*name_of)(unsigned number), unsigned cnt)
{
	const char *field = next_field(row);

	for (unsigned i = 0; i < cnt; i++)
		if (strcmp(field, name_of(i)) == 0)
			return i;
	is_wrong(row, "one of the names that this column has");
	return 0;
}

void row_skip(struct tsv_row *row, unsigned cnt)
{
	while (cnt--)
		next_field(row);
}

void row_end(struct tsv_row *row)
{
	if (!row->wrong && row->at) {
		row->column++;
		is_wrong(row, "the end of the row: it has more columns than the table");
	}
}

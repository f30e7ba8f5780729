/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuples_fields.c - see tuples_fields.h.
 */
#include "trace/tuples/tuples_fields.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "base/banned.h"

/* "FILE:LINE: expected WHAT in "segment TID ...", found "x"".  Always -EBADMSG. */
int field_expected(const struct parser *p, const char *what, const struct field *found)
{
	char shown[64] = "nothing";
	size_t len = 0;

	if (found) {
		shown[len++] = '"';
		for (size_t i = 0; i < found->len && len < sizeof(shown) - 2; i++)
			shown[len++] = isprint((unsigned char)found->text[i]) ? found->text[i] : '?';
		shown[len++] = '"';
		shown[len] = '\0';
	}
	return diag_set(p->reterr, EXIT_DATA, -EBADMSG, "%s:%" PRIu32 ": expected %s%s%s%s, found %s",
			p->origins.files.items[p->origins.files.cnt - 1], p->line, what,
			p->usage ? " in \"" : "", p->usage ? p->usage : "", p->usage ? "\"" : "",
			shown);
}

bool field_is(const struct field *f, const char *word)
{
	return f->len == strlen(word) && memcmp(f->text, word, f->len) == 0;
}

bool field_digits(const struct field *f, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	if (f->len == 0)
		return false;
	for (size_t i = 0; i < f->len; i++) {
		unsigned int digit = (unsigned int)(f->text[i] - '0');

		if (digit > 9 || value > (max - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*ret = value;
	return true;
}

int field_id(struct parser *p, const struct field *f, const char *what, uint64_t *ret)
{
	/* The largest number stands for "none" inside. */
	if (field_digits(f, UINT64_MAX, ret))
		return *ret < UINT64_MAX ? 0 : field_expected(p, "a number below 18446744073709551615", f);
	return field_expected(p, what, f);
}

int field_sid_or_none(struct parser *p, const struct field *f, uint64_t *ret)
{
	if (field_is(f, "-")) {
		*ret = SID_NONE;
		return 0;
	}
	return field_id(p, f, "a number or \"-\" as SID", ret);
}

int field_time(struct parser *p, const struct field *f, const char *what, int64_t *ret)
{
	uint64_t value;

	if (!field_digits(f, INT64_MAX, &value))
		return field_expected(p, what, f);
	*ret = (int64_t)value;
	return 0;
}

/* START_NS END_NS, in this order and possible. */
int field_span(struct parser *p, const struct field *f, int64_t *ret_start, int64_t *ret_end)
{
	int r = field_time(p, &f[0], "whole nanoseconds as START_NS", ret_start);

	if (r == 0)
		r = field_time(p, &f[1], "whole nanoseconds as END_NS", ret_end);
	if (r == 0 && *ret_end < *ret_start)
		r = field_expected(p, "END_NS not before START_NS", &f[1]);
	return r;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX into p->word and numbers the name; a NUL can be part of no name. */
int field_name(struct parser *p, const struct field *f, const char *what, struct names *names, uint32_t *ret)
{
	str_reset(&p->word);
	for (size_t i = 0; i < f->len; i++) {
		char c = f->text[i];

		if (c == '%' && i + 2 < f->len && hex_digit(f->text[i + 1]) >= 0 &&
		    hex_digit(f->text[i + 2]) >= 0) {
			c = (char)(hex_digit(f->text[i + 1]) << 4 | hex_digit(f->text[i + 2]));
			i += 2;
		}
		if (c == '\0')
			return field_expected(p, what, f);
		str_addc(&p->word, c);
	}
	if (p->word.len == 0)
		return field_expected(p, what, f);
	*ret = names_add(names, str_cstr(&p->word));
	return 0;
}

int field_string(struct parser *p, const struct field *f, const char *what, struct names *names, strings *list, uint32_t *ret)
{
	int r = field_name(p, f, what, names, ret);

	if (r == 0 && *ret == list->cnt)
		VEC_ADD(list, arena_strdup(p->t->arena, names_get(names, *ret)));
	return r;
}

int field_function(struct parser *p, const struct field *f, const char *what, uint32_t *ret)
{
	int r = field_name(p, f, what, p->functions, ret);

	if (r == 0 && *ret == p->t->functions.cnt)
		VEC_EXTEND(&p->t->functions)->name =
			arena_strdup(p->t->arena, names_get(p->functions, *ret));
	return r;
}

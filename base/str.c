/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * str.c - a growable string, and the few questions one asks of strings.
 */
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"

void str_release(struct str *s)
{
	free(s->data);
	*s = (struct str)STR_INIT;
}

void str_reset(struct str *s)
{
	s->len = 0;
	if (s->data)
		s->data[0] = '\0';
}

static void reserve(struct str *s, size_t extra)
{
	size_t need = s->len + extra + 1;

	if (need <= s->cap)
		return;
	s->cap = need < 64 ? 64 : need * 2;
	s->data = xrealloc(s->data, s->cap, 1);
}

void str_addn(struct str *s, const char *bytes, size_t len)
{
	reserve(s, len);
	if (len)
		memcpy(s->data + s->len, bytes, len);
	s->len += len;
	s->data[s->len] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_addn(s, text, strlen(text));
}

void str_addc(struct str *s, char c)
{
	str_addn(s, &c, 1);
}

void str_vaddf(struct str *s, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int len = vsnprintf(NULL, 0, fmt, ap);

	if (len > 0) {
		reserve(s, (size_t)len);
		vsnprintf(s->data + s->len, (size_t)len + 1, fmt, again);
		s->len += (size_t)len;
	}
	va_end(again);
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(s, fmt, ap);
	va_end(ap);
}

const char *str_cstr(const struct str *s)
{
	return s->data ? s->data : "";
}

char *str_take(struct str *s)
{
	char *text = s->data ? s->data : xstrdup("");

	*s = (struct str)STR_INIT;
	return text;
}

void str_add_shell_quoted(struct str *s, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (*word && word[strspn(word, plain)] == '\0') {
		str_add(s, word);
		return;
	}
	str_addc(s, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			str_add(s, "'\\''");
		else
			str_addc(s, *word);
	}
	str_addc(s, '\'');
}

bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool ends_with(const char *s, const char *suffix)
{
	size_t len = strlen(s), tail = strlen(suffix);

	return len >= tail && strcmp(s + len - tail, suffix) == 0;
}

/* Edit distance (insert, delete, replace, swap of neighbours), words cut at 63 characters. */
static size_t edit_distance(const char *a, const char *b)
{
	enum { LONGEST = 64 };
	size_t d[LONGEST][LONGEST];
	size_t a_len = strnlen(a, LONGEST - 1), b_len = strnlen(b, LONGEST - 1);

	for (size_t i = 0; i <= a_len; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= b_len; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= a_len; i++)
		for (size_t j = 1; j <= b_len; j++) {
			size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	return d[a_len][b_len];
}

const char *nearest_word(const char *word, const char *const *candidates, size_t cnt)
{
	const char *nearest = NULL;
	size_t best = strlen(word) / 3 + 1;

	for (size_t i = 0; i < cnt; i++)
		if (strcasecmp(word, candidates[i]) == 0)
			return candidates[i];
	for (size_t i = 0; i < cnt; i++) {
		size_t distance = edit_distance(word, candidates[i]);

		if (distance < best || (distance == best && !nearest)) {
			best = distance;
			nearest = candidates[i];
		}
	}
	return nearest;
}

const char *text_ns(char buf[TEXT_MAX], double ns, bool utf8)
{
	const char *const units[] = { "ns", utf8 ? "µs" : "us", "ms", "s" };
	double value = ns < 0 ? -ns : ns;
	size_t unit = 0;

	/* 999.5 would be printed as 1000. */
	while (unit + 1 < ARRAY_SIZE(units) && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	if (!(value <= DBL_MAX))
		snprintf(buf, TEXT_MAX, "?");
	else if (unit == 0 && value == (double)(int)value)
		snprintf(buf, TEXT_MAX, "%s%.0f ns", ns < 0 ? "-" : "", value);
	else
		snprintf(buf, TEXT_MAX, "%s%.*f %s", ns < 0 ? "-" : "",
			 value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
	return buf;
}

const char *text_cnt(char buf[TEXT_MAX], uint64_t cnt)
{
	char digits[TEXT_MAX];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)cnt);
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}

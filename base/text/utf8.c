/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * utf8.c - decoding, widths, and cutting a name so that both its ends can be read.
 *
 * Example: "connection_handler" to 11 columns with "…" is "conne…ndler".  Widths come from a
 * short table of ranges, not from wcwidth(): what is printed must not depend on the locale.
 */
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <strings.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/text/utf8.h"

#define REPLACEMENT 0xfffd

struct range {
	uint32_t first, last;
};

static const struct range combining[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x0610, 0x061a },
	{ 0x064b, 0x065f }, { 0x200b, 0x200f }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f },
};

static const struct range wide[] = {
	{ 0x1100, 0x115f }, { 0x2e80, 0x303e }, { 0x3041, 0xa4cf }, { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

static bool in_ranges(uint32_t c, const struct range *ranges, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

uint32_t utf8_next(const char **s)
{
	/* By number of following bytes: the smallest character that needs them. */
	static const uint32_t smallest[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)*s;
	unsigned following;
	uint32_t c = p[0];

	if (c == 0)
		return 0;
	(*s)++;
	if (c < 0x80)
		return c;
	if (c < 0xc2 || c > 0xf4)
		return REPLACEMENT;
	following = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	c &= 0x3fu >> following;
	for (unsigned i = 1; i <= following; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return REPLACEMENT;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < smallest[following] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return REPLACEMENT;
	*s += following;
	return c;
}

static size_t char_width(uint32_t c)
{
	if (in_ranges(c, combining, ARRAY_SIZE(combining)))
		return 0;
	return in_ranges(c, wide, ARRAY_SIZE(wide)) ? 2 : 1;
}

size_t utf8_width(const char *s)
{
	size_t width = 0;
	uint32_t c;

	while ((c = utf8_next(&s)))
		width += char_width(c);
	return width;
}

static bool is_control(uint32_t c)
{
	/* C0, DEL, C1, and the characters that reorder a line. */
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

static void add(struct str *to, const char *text, const char *kept_controls)
{
	const char *start = text;
	uint32_t c;

	for (; (c = utf8_next(&text)); start = text) {
		bool kept = c < 0x80 && strchr(kept_controls, (int)c);

		if (c == REPLACEMENT || (is_control(c) && !kept))
			str_add(to, "\xef\xbf\xbd");
		else
			str_addn(to, start, (size_t)(text - start));
	}
}

void utf8_add_clean(struct str *to, const char *text)
{
	add(to, text, "\n\t");
}

void utf8_add_line(struct str *to, const char *text)
{
	add(to, text, "");
}

void utf8_add_xml(struct str *to, const char *text)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	utf8_add_line(&clean, text);
	for (const char *c = str_cstr(&clean); *c; c++) {
		switch (*c) {
		case '<': str_add(to, "&lt;"); break;
		case '>': str_add(to, "&gt;"); break;
		case '&': str_add(to, "&amp;"); break;
		case '"': str_add(to, "&quot;"); break;
		case '\'': str_add(to, "&apos;"); break;
		default: str_addc(to, *c);
		}
	}
}

void utf8_put_xml(FILE *out, const char *text)
{
	_cleanup_(str_release) struct str escaped = STR_INIT;

	utf8_add_xml(&escaped, text);
	fputs(str_cstr(&escaped), out);
}

/* The longest start of text that is not wider than width: its bytes. */
static size_t head_bytes(const char *text, size_t width)
{
	const char *at = text, *end = text;
	size_t used = 0;
	uint32_t c;

	while ((c = utf8_next(&at))) {
		used += char_width(c);
		if (used > width)
			break;
		end = at;
	}
	return (size_t)(end - text);
}

void utf8_add_shortened(struct str *to, const char *text, size_t width, const char *ellipsis)
{
	size_t total = utf8_width(text), dots = utf8_width(ellipsis);
	size_t head, tail;

	if (total <= width) {
		str_add(to, text);
		return;
	}
	if (width <= dots) {
		str_addn(to, text, head_bytes(text, width));
		return;
	}
	head = (width - dots + 1) / 2;
	tail = width - dots - head;
	str_addn(to, text, head_bytes(text, head));
	str_add(to, ellipsis);
	/* From the left until what is left fits. */
	while (total > tail)
		total -= char_width(utf8_next(&text));
	str_add(to, text);
}

bool locale_is_utf8(void)
{
	/* Asked without setlocale(): numbers must keep their point. */
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = false;

	if (locale == (locale_t)0)
		return false;
	utf8 = strcasecmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return utf8;
}

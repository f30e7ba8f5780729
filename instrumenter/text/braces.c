/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * braces.c - where a {...} ends, by counting braces.
 *
 *	{ if (c == '}') puts("}"); }
 *	^0                         ^ past this one
 *
 * Braces in strings, characters, comments and lines that begin with '#' do not count.  Words and numbers are read as
 * a whole, because of the quotes in them: 1'000 begins no character, u8R"x()x" is a raw string. <% and %> are braces,
 * too.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "instrumenter/text/braces.h"

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static const char *past_quote(const char *p, const char *end)
{
	char quote = *p++;

	while (p < end && *p != quote)
		p += *p == '\\' ? 2 : 1;
	return p < end ? p + 1 : end;
}

/* p is at the quote of R"delimiter(...)delimiter" */
static const char *past_raw_string(const char *p, const char *end)
{
	const char *open = memchr(p, '(', (size_t)(end - p));
	size_t len = open ? (size_t)(open - p - 1) : 0;

	for (const char *at = open; at && (at = memchr(at, ')', (size_t)(end - at))); at++)
		if ((size_t)(end - at) > len + 1 && memcmp(at + 1, p + 1, len) == 0 &&
		    at[len + 1] == '"')
			return at + len + 2;
	return end;
}

static bool begins_raw_string(const char *word, const char *quote)
{
	static const char *const prefixes[] = { "R", "LR", "uR", "UR", "u8R" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if ((size_t)(quote - word) == strlen(prefixes[i]) && starts_with(word, prefixes[i]))
			return true;
	return false;
}

/* A name or a number, with the string that it may be the prefix of. */
static const char *past_word(const char *p, const char *end)
{
	const char *start = p;
	bool is_number = isdigit((unsigned char)*p);

	while (p < end && (is_word_char(*p) ||
			   (is_number && *p == '\'' && p + 1 < end && is_word_char(p[1]))))
		p++;
	return p < end && *p == '"' && begins_raw_string(start, p) ? past_raw_string(p, end) : p;
}

static const char *past_comment(const char *p, const char *end)
{
	const char *close = p[1] == '*' ? memmem(p + 2, (size_t)(end - p - 2), "*/", 2) :
			    memchr(p, '\n', (size_t)(end - p));

	return close ? close + (p[1] == '*' ? 2 : 0) : end;
}

/* Skips a token that is not a brace.  line_starts: only blanks precede p on its line. */
static const char *past_token(const char *p, const char *end, bool line_starts)
{
	if (is_word_char(*p))
		return past_word(p, end);
	if (*p == '"' || *p == '\'')
		return past_quote(p, end);
	if (*p == '/' && end - p > 1 && (p[1] == '*' || p[1] == '/'))
		return past_comment(p, end);
	if (*p == '#' && line_starts) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));

		return newline ? newline : end;
	}
	return p + 1;
}

/* '{' and "<%": 1; '}' and "%>": -1 */
static int brace_at(const char *p, const char *end)
{
	bool digraph = end - p > 1;

	if (*p == '{' || (digraph && p[0] == '<' && p[1] == '%'))
		return 1;
	return *p == '}' || (digraph && p[0] == '%' && p[1] == '>') ? -1 : 0;
}

size_t braces_end(const char *text, size_t len, size_t open)
{
	const char *p = text + open, *end = text + len;
	bool line_starts = false;
	int depth = 0;

	while (p < end) {
		int brace = brace_at(p, end);

		if (isspace((unsigned char)*p)) {
			line_starts |= *p++ == '\n';
			continue;
		}
		depth += brace;
		if (brace)
			p += *p == '{' || *p == '}' ? 1 : 2;
		else
			p = past_token(p, end, line_starts);
		line_starts = false;
		if (brace < 0 && depth == 0)
			return (size_t)(p - text);
	}
	return 0;
}

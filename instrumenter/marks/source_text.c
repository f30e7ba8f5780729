/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_text.c - splits a source file into tokens, as far as needed to find a word on a line.
 *
 * Example: on `	if (!p) return fail("return"); // return` the word return is there once, at offset 9: the others
 * stand in a string and in a comment.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/banned.h"
#include "base/str.h"
#include "instrumenter/marks/source_text.h"

size_t source_line(const char *text, uint32_t line)
{
	const char *at = text;

	for (uint32_t i = 1; i < line; i++) {
		at = strchr(at, '\n');
		if (!at)
			return SOURCE_NONE;
		at++;
	}
	return (size_t)(at - text);
}

/* Past a comment or literal that begins at s; s itself if none does. */
static const char *skip_opaque(const char *s)
{
	if (s[0] == '/' && s[1] == '*') {
		const char *end = strstr(s + 2, "*/");

		return end ? end + 2 : s + strlen(s);
	}
	if (s[0] == '/' && s[1] == '/')
		return s + strcspn(s, "\n");
	if (*s == '"' || *s == '\'') {
		const char *end = s + 1;

		while (*end && *end != *s && *end != '\n')
			end += *end == '\\' && end[1] ? 2 : 1;
		return *end ? end + 1 : end;
	}
	return s;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Past the token at s (a word, a number, one other character), or past a comment or literal. */
static const char *skip_token(const char *s)
{
	const char *opaque = skip_opaque(s);

	if (opaque != s)
		return opaque;
	if (!is_word_char(*s))
		return s + 1;
	while (is_word_char(*s))
		s++;
	return s;
}

/* Visits the tokens from the beginning of the text, because a comment may begin on an earlier line. */
static size_t find_on_line(const char *text, uint32_t line, const char *token, unsigned nth, bool last)
{
	size_t start = source_line(text, line), len = strlen(token), found = SOURCE_NONE;

	if (start == SOURCE_NONE)
		return SOURCE_NONE;

	const char *line_end = text + start + strcspn(text + start, "\n");

	for (const char *s = text; *s && s < line_end; s = skip_token(s)) {
		if (s < text + start || skip_opaque(s) != s || (size_t)(skip_token(s) - s) != len ||
		    strncmp(s, token, len) != 0)
			continue;
		found = (size_t)(s - text);
		if (!last && nth-- == 0)
			return found;
	}
	return last ? found : SOURCE_NONE;
}

size_t source_token(const char *text, uint32_t line, const char *token, unsigned nth)
{
	return find_on_line(text, line, token, nth, false);
}

size_t source_last_token(const char *text, uint32_t line, const char *token)
{
	return find_on_line(text, line, token, 0, true);
}

size_t source_statement_end(const char *text, size_t offset)
{
	int depth = 0;

	for (const char *s = text + offset; *s; s = skip_token(s)) {
		if (skip_opaque(s) != s)
			continue;
		if (strchr("([{", *s))
			depth++;
		else if (strchr(")]}", *s) && --depth < 0)
			return SOURCE_NONE;
		else if (*s == ';' && depth == 0)
			return (size_t)(s - text);
	}
	return SOURCE_NONE;
}

size_t source_include_place(const char *text)
{
	size_t place = 0, nesting = 0;
	bool any = false;

	for (const char *s = text; *s;) {
		const char *word = s + strspn(s, " \t");

		if (strncmp(word, "/*", 2) == 0) {
			s = skip_opaque(word);
			s += strcspn(s, "\n");
			s += *s == '\n';
			if (!any && place == 0)
				place = (size_t)(s - text);
			continue;
		}
		if (*word == '#') {
			word += 1 + strspn(word + 1, " \t");
			nesting += starts_with(word, "if");
			nesting -= starts_with(word, "endif") && nesting > 0;
		} else if (*word && *word != '\n' && strncmp(word, "//", 2) != 0) {
			break;			/* code begins */
		}
		s += strcspn(s, "\n");
		s += *s == '\n';
		if (nesting == 0 && starts_with(word, "include")) {
			place = (size_t)(s - text);
			any = true;
		}
	}
	return place;
}

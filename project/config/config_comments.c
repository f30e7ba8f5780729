/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config_comments.c - separates comments from text in a line of vprof.conf.
 *
 * inih sees neither comments nor, in text, the two characters that open one:
 *
 *	command = sh -c 'a ; b' ; mine	->	command = sh -c 'a \x01 b'
 *	[interval "a#b"]		->	[interval "a\x02b"]
 *	command = make \
 *		-j2			->	command = make \x03	-j2
 */
#include <ctype.h>
#include <string.h>

#include "base/banned.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "project/config/config_comments.h"

#define MASK_SEMICOLON '\x01'
#define MASK_HASH '\x02'

/* The length of the backslash and the end of the line at s; 0: these are not there. */
static size_t goes_on(const char *s)
{
	return starts_with(s, "\\\n") ? 2 : starts_with(s, "\\\r\n") ? 3 : 0;
}

/* Is the quote at s closed on its line?  Then returns its other end, else NULL. */
static const char *closing_quote(const char *s)
{
	for (const char *end = s + 1; *end && *end != '\n'; end++) {
		if (goes_on(end))
			end += goes_on(end) - 1;
		else if (*end == '\\' && *s == '"' && end[1] && end[1] != '\n')
			end++;
		else if (*end == *s)
			return end;
	}
	return NULL;
}

/* Whether a comment opens at s.  In a value it does so only after a blank. */
static bool opens_comment(const char *text, const char *s, bool value)
{
	if (*s != '#' && *s != ';')
		return false;
	if (value)
		return isspace((unsigned char)s[-1]);
	while (s > text && (s[-1] == ' ' || s[-1] == '\t'))
		s--;
	return s == text || s[-1] == '\n';
}

static char mask(char c)
{
	return c == ';' ? MASK_SEMICOLON : c == '#' ? MASK_HASH : c;
}

static char unmask(char c)
{
	return c == MASK_SEMICOLON ? ';' : c == MASK_HASH ? '#' : c;
}

/* s: the beginning of a line */
static bool opens_section(const char *s)
{
	s += starts_with(s, "\xef\xbb\xbf") ? 3 : 0;	/* what some editors begin a file with */
	return s[strspn(s, " \t")] == '[';
}

char *config_without_comments(const char *text)
{
	struct str out = STR_INIT;
	const char *quoted = NULL;	/* the end of the current quotes */
	bool value = false;		/* after the first '=' of a line */
	bool joined = false;		/* at the beginning of a line that goes on with a value */
	bool section = false;		/* in a line like [interval "a=b;c"], where only quoted characters are text */

	for (const char *s = text; *s; s++) {
		if (s == text || (s[-1] == '\n' && !joined)) {
			section = opens_section(s);
			value = false;
		}
		joined = false;
		value = value || (*s == '=' && !section);
		if (s == quoted)
			quoted = NULL;
		else if (!quoted && ((value && *s == '\'') || ((value || section) && *s == '"')))
			quoted = closing_quote(s);
		if (!quoted && opens_comment(text, s, value)) {
			s += strcspn(s, "\n") - 1;
			continue;
		}
		if (value && goes_on(s)) {
			str_addc(&out, JOINED_LINES);
			s += goes_on(s) - 1;
			joined = true;
			continue;
		}
		str_addc(&out, value || quoted ? mask(*s) : *s);
	}
	return str_take(&out);
}

char *config_section(const char *section)
{
	char *text = xstrdup(section);

	for (char *s = text; *s; s++)
		*s = unmask(*s);
	return text;
}

/* Without the marks of joined lines, and the blanks that these kept from inih at both ends. */
static char *join_lines(const char *value)
{
	struct str out = STR_INIT;

	for (const char *s = value; *s; s++)
		if (*s != JOINED_LINES && (out.len || !isspace((unsigned char)*s)))
			str_addc(&out, *s);
	while (out.len && isspace((unsigned char)out.data[out.len - 1]))
		out.data[--out.len] = '\0';
	return str_take(&out);
}

char *config_value(const char *text)
{
	_cleanup_(freep) char *value = join_lines(text);
	const char *end = *value == '"' ? closing_quote(value) : NULL;
	bool whole = end && !end[1];
	struct str out = STR_INIT;

	for (const char *s = value + whole; *s && !(whole && s == end); s++) {
		if (whole && *s == '\\' && (s[1] == '"' || s[1] == '\\'))
			s++;
		str_addc(&out, unmask(*s));
	}
	return str_take(&out);
}

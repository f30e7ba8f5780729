/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * foreign_bodies.c - function bodies of system headers, which libclang need not read.
 *
 * A body is a '{' after ')', or after what may follow that: const, noexcept, override.  A class is entered, for it
 * holds functions, and so is whatever else a '{' may begin.  Once a declaration has said constexpr, or anything else
 * that makes a body count for what is outside of it, and has a '(', its braces are passed over:
 *
 *	constexpr int f(int a) { if (a) { return 1; } return 2; }	passed over
 *	struct s { int g() const { return 1; } };			entered, and the body of g is blank
 *	template <class T> T h(T a) { return a; }			blank: "class" is one of a parameter
 */
#include <ctype.h>
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "instrumenter/parse/foreign_bodies.h"
#include "instrumenter/text/braces.h"

enum what { OTHER, KEEPS, TYPE, QUALIFIER, TEMPLATE };

static const struct {
	const char *word;
	enum what what;
} words[] = {
	{ "constexpr", KEEPS }, { "consteval", KEEPS }, { "auto", KEEPS }, { "requires", KEEPS }, { "concept", KEEPS },
	{ "__auto_type", KEEPS }, { "constinit", KEEPS }, { "operator", OTHER },
	{ "struct", TYPE }, { "class", TYPE }, { "union", TYPE }, { "enum", TYPE }, { "namespace", TYPE },
	{ "const", QUALIFIER }, { "volatile", QUALIFIER }, { "noexcept", QUALIFIER }, { "override", QUALIFIER },
	{ "final", QUALIFIER }, { "try", OTHER }, { "template", TEMPLATE },
};

struct walk {
	char *text, *end, *at;
	const struct lines *lines;
	bool foreign, is_unclosed;	/* is_unclosed: a brace has no end, so no further end is searched for */
	/* state of the declaration so far: */
	bool keeps, is_type, has_parenthesis, may_begin_body;
	size_t blank_cnt;
};

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static void begin_declaration(struct walk *w)
{
	w->keeps = w->is_type = w->has_parenthesis = w->may_begin_body = false;
}

/* A line that begins with '#' may change the file of the next lines. */
static void see_directive(struct walk *w)
{
	char *newline = memchr(w->at, '\n', (size_t)(w->end - w->at));

	w->at = newline ? newline + 1 : w->end;
	w->foreign = w->at < w->end && lines_at(w->lines, (size_t)(w->at - w->text)).foreign;
}

/* "<...>" after "template": the words in it belong to parameters. */
static void pass_parameters(struct walk *w)
{
	size_t depth = 0;
	char *p = w->at + strspn(w->at, " \n\t");

	if (*p != '<')
		return;
	for (; p < w->end && *p != '{' && *p != ';' && *p != '#'; p++) {
		depth += *p == '<';
		depth -= *p == '>' && depth;
		if (!depth) {
			w->at = p + 1;
			return;
		}
	}
}

/* A word or a number, with the quotes in 1'000. */
static void see_word(struct walk *w)
{
	const char *start = w->at;
	bool is_number = isdigit((unsigned char)*start);
	enum what what = OTHER;
	size_t len;

	while (w->at < w->end && (is_word_char(*w->at) || (is_number && (*w->at == '\'' || *w->at == '.'))))
		w->at++;
	len = (size_t)(w->at - start);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].word) == len && memcmp(words[i].word, start, len) == 0)
			what = words[i].what;
	w->keeps |= what == KEEPS;
	w->is_type |= what == TYPE && !w->has_parenthesis;
	w->may_begin_body &= what == QUALIFIER;
	if (what == TEMPLATE)
		pass_parameters(w);
}

static void blank(struct walk *w, char *from, const char *to)
{
	for (; from < to; from++)
		if (*from != '\n') {
			*from = ' ';
			w->blank_cnt++;
		}
}

/* Whether lines of other files begin inside. */
static bool has_directive(const char *from, const char *to)
{
	return memmem(from, (size_t)(to - from), "\n#", 2) != NULL;
}

/* Whether the declaration goes on: a{1} of "s() : a{1}, b{2} {}", or braces of a requires-clause. */
static bool goes_on(const struct walk *w)
{
	const char *next = w->at;

	while (next < w->end && isspace((unsigned char)*next))
		next++;
	return next < w->end && strchr("{,&|", *next) && *next;
}

static void see_brace(struct walk *w)
{
	bool is_body = w->has_parenthesis && w->may_begin_body && !w->is_type;
	bool is_whole = is_body || (w->keeps && w->has_parenthesis);
	size_t past = is_whole && !w->is_unclosed ?
		      braces_end(w->text, (size_t)(w->end - w->text), (size_t)(w->at - w->text)) : 0;
	char *end = w->text + past;

	w->is_unclosed |= is_whole && !past;
	if (!past) {			/* a class, or unknown */
		w->at++;
		begin_declaration(w);
		return;
	}
	if (has_directive(w->at, end))
		w->foreign = lines_at(w->lines, past - 1).foreign;
	else if (!w->keeps)
		blank(w, w->at + 1, end - 1);
	w->at = end;
	if (!w->keeps || !goes_on(w))
		begin_declaration(w);
}

static void see_character(struct walk *w)
{
	char c = *w->at;

	if (c == '{') {
		see_brace(w);
		return;
	}
	w->at++;
	if (c == ';' || c == '}')
		begin_declaration(w);
	w->has_parenthesis |= c == '(';
	if (!isspace((unsigned char)c) && !(c == '&' && w->may_begin_body))
		w->may_begin_body = c == ')';
}

static void see_quote(struct walk *w)
{
	char quote = *w->at++;

	while (w->at < w->end && *w->at != quote)
		w->at += *w->at == '\\' && w->at + 1 < w->end ? 2 : 1;
	w->at += w->at < w->end;
	w->may_begin_body = false;
}

/* To the next line of a foreign file. */
static void pass_own(struct walk *w)
{
	char *next = memmem(w->at, (size_t)(w->end - w->at), "\n#", 2);

	w->at = next ? next + 1 : w->end;
	begin_declaration(w);
}

size_t foreign_bodies_blank(char *view, size_t len, const struct lines *lines)
{
	struct walk w = { .text = view, .end = view + len, .at = view, .lines = lines };

	while (w.at < w.end) {
		if (*w.at == '#' && (w.at == w.text || w.at[-1] == '\n'))
			see_directive(&w);
		else if (!w.foreign)
			pass_own(&w);
		else if (is_word_char(*w.at))
			see_word(&w);
		else if (*w.at == '"' || *w.at == '\'')
			see_quote(&w);
		else
			see_character(&w);
	}
	return w.blank_cnt;
}

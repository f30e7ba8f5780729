/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <string.h>

#include "base/banned.h"
#include "project/runs/bare_name.h"

#define OPERATOR "operator"

/* The text behind the bracket that closes the one that begins here. */
static const char *behind(const char *at, char opens, char closes)
{
	int depth = 0;

	do {
		depth += (*at == opens) - (*at == closes);
		at++;
	} while (*at && depth > 0);
	return at;
}

static const char *skip(const char *at, const char *text)
{
	return starts_with(at, text) ? at + strlen(text) : at;
}

/* Behind the parameters that begin here and what qualifies them; NULL: nothing belongs to them, the name is complete. */
static const char *within_function(const char *at)
{
	static const char *const qualifiers[] = { " const", " volatile", " &&", " &" };

	at = behind(at, '(', ')');
	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++)
		at = skip(at, qualifiers[i]);
	return starts_with(at, "::") ? at : NULL;
}

static bool is_conversion(const char *type)
{
	return *type == ' ' && !starts_with(type, " new") && !starts_with(type, " delete") && !starts_with(type, " co_await");
}

/* In "operator<", "operator()" and their like, brackets belong to the name.  Returns what follows. */
static const char *add_operator(struct str *to, const char *at)
{
	size_t len;

	str_add(to, OPERATOR);
	at += strlen(OPERATOR);
	if (is_conversion(at)) {
		str_add(to, " type");
		while (*at && *at != '(')
			at = *at == '<' ? behind(at, '<', '>') : at + 1;
		return at;
	}
	len = starts_with(at, "()") || starts_with(at, "\"\"") ? 2 : strspn(at, "<>=-");
	str_addn(to, at, len);
	return len ? at + len + strspn(at + len, " ") : at;
}

static bool begins_word(const char *name, const char *at)
{
	return at == name || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
}

static bool begins_operator(const char *name, const char *at)
{
	const char *end = skip(at, OPERATOR);

	return end != at && begins_word(name, at) && !isalnum((unsigned char)*end) && *end != '_';
}

void add_bare_name(struct str *to, const char *name)
{
	static const char *const thunks[] = { "non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to " };
	const char *at = name;

	for (size_t i = 0; i < sizeof(thunks) / sizeof(thunks[0]); i++)
		at = skip(at, thunks[i]);
	while (at && *at) {
		if (starts_with(at, "(anonymous namespace)::")) {
			at += strlen("(anonymous namespace)::");
		} else if (begins_operator(name, at)) {
			at = add_operator(to, at);
		} else if (*at == '<') {
			at = behind(at, '<', '>');
		} else if (*at == '(') {
			at = within_function(at);
		} else if (starts_with(at, "{lambda")) {
			str_add(to, "{lambda}");
			at = skip(skip(skip(behind(at, '{', '}'), "::operator()"), "::_FUN"), "::__invoke");
		} else {
			str_addc(to, *at++);
		}
	}
}

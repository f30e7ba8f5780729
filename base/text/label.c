/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * label.c - forms of a name, the longest first; the first that fits is taken.
 *
 * "operator<", "operator->" and "operator()" have no arguments, and in "(anonymous namespace)::f" nothing is a list of parameters.
 */
#include "base/text/label.h"

#include <stdbool.h>
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/text/utf8.h"

#define NAME_LEAST 4			/* least columns of a name; the rest of the label gets what is left */

struct form {
	bool arguments, parameters;	/* whether the form prints them */
	unsigned parts;			/* print only the last parts of store::pool::take; 0: all */
};

static const struct form forms[] = {
	{ true, true, 0 }, { false, true, 0 }, { false, true, 2 }, { false, true, 1 },
	{ false, false, 0 }, { false, false, 2 }, { false, false, 1 },
};

enum { FORM_CNT = sizeof(forms) / sizeof(forms[0]) };

static const char *const signs[] = { " › ", " > ", " (" };

/* After "operator" and the signs of its name; returns its argument if no operator begins there. */
static const char *behind_operator(const char *at, const char *end)
{
	size_t len = strlen("operator");

	if ((size_t)(end - at) < len || strncmp(at, "operator", len) != 0)
		return at;
	at += len;
	if (strncmp(at, "()", 2) == 0)
		return at + 2;
	while (at < end && strchr("<>=-", *at))
		at++;
	return at;
}

/* After the bracket that closes the one at `at`; end if none does. */
static const char *behind_bracket(const char *at, const char *end)
{
	int round = 0, angle = 0;	/* depth; in "<(3 > 2)>" the > between round brackets compares */

	while (at < end) {
		const char *next = behind_operator(at, end);

		if (next > at) {
			at = next;
			continue;
		}
		round += (*at == '(') - (*at == ')');
		if (round == 0)
			angle += (*at == '<') - (*at == '>');
		at++;
		if (round <= 0 && angle <= 0)
			return at;
	}
	return end;
}

static bool begins_sign(const char *at)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (strncmp(at, signs[i], strlen(signs[i])) == 0)
			return true;
	return false;
}

/* Where the name ends and "› lock wait", "(body)" begins. */
static const char *end_of_name(const char *text)
{
	const char *end = text + strlen(text), *at = text;

	while (at < end) {
		const char *next = behind_operator(at, end);

		if (at > text && begins_sign(at))
			return at;
		if (next == at)
			next = *at == '<' || *at == '(' ? behind_bracket(at, end) : at + 1;
		at = next;
	}
	return end;
}

static bool is_nameless(const char *at)
{
	return strncmp(at, "(anonymous", 10) == 0 || strncmp(at, "{lambda", 7) == 0;
}

/* Where the last parts of the name begin: "a::b<c::d>::e(f::g)", 2: "b<c::d>::e(f::g)". */
static const char *last_parts(const char *name, const char *end, unsigned parts)
{
	const char *begins[64];
	size_t cnt = 0;

	begins[cnt++] = name;
	for (const char *at = name; at < end; ) {
		const char *next = behind_operator(at, end);

		if (next > at) {
			at = next;
		} else if (*at == '(' && !is_nameless(at)) {
			break;			/* parameters: what follows is no part of the name */
		} else if (*at == '<' || *at == '(') {
			at = behind_bracket(at, end);
		} else if (strncmp(at, "::", 2) == 0) {
			at += 2;
			begins[cnt % 64] = at;
			cnt++;
		} else {
			at++;
		}
	}
	return parts && cnt > parts && cnt < 64 ? begins[cnt - parts] : name;
}

static void add_form(struct str *to, const char *name, const char *end, const struct form *f, const char *ellipsis)
{
	const char *at = last_parts(name, end, f->parts);

	if (at > name)
		str_addf(to, "%s::", ellipsis);
	while (at < end) {
		const char *next = behind_operator(at, end);
		bool list = *at == '(' && !is_nameless(at), arguments = *at == '<';

		if (next == at && ((list && !f->parameters) || (arguments && !f->arguments))) {
			next = behind_bracket(at, end);
			if (next - at == 2)
				str_addn(to, at, 2);
			else
				str_addf(to, "%c%s%c", *at, ellipsis, list ? ')' : '>');
		} else if (next == at) {
			next = at + 1;
			str_addc(to, *at);
		} else {
			str_addn(to, at, (size_t)(next - at));
		}
		at = next;
	}
}

/* The shortest form that is not wider, or the shortest of all. */
static void add_fitting(struct str *to, const char *name, const char *end, size_t width, const char *ellipsis)
{
	for (size_t i = 0; i < FORM_CNT; i++) {
		_cleanup_(str_release) struct str text = STR_INIT;

		add_form(&text, name, end, &forms[i], ellipsis);
		if (utf8_width(str_cstr(&text)) <= width || i + 1 == FORM_CNT) {
			str_add(to, str_cstr(&text));
			return;
		}
	}
}

/* Cuts what does not fit.  Parts near the end of the name lose the fewest columns; in C++ the beginning is cut. */
static void add_cut(struct str *to, const char *name, size_t width, const char *ellipsis)
{
	size_t total = utf8_width(name), dots = utf8_width(ellipsis), head = strstr(name, ellipsis) ? 0 : width / 3;
	const char *at = name;

	if (total <= width || width <= dots) {
		utf8_add_shortened(to, name, width, ellipsis);
		return;
	}
	while (head && utf8_width(name) - utf8_width(at) < head)
		utf8_next(&at);
	str_addn(to, name, (size_t)(at - name));
	str_add(to, ellipsis);
	width -= dots + (total - utf8_width(at));
	while (utf8_width(at) > width)
		utf8_next(&at);
	str_add(to, at);
}

static bool is_label(const char *text, const char *end)
{
	return *end || strstr(text, "::") || (strchr(text, '<') && strchr(text, '>')) || strchr(text, '(');
}

void label_add_shortened(struct str *to, const char *text, size_t width, const char *ellipsis)
{
	const char *end = end_of_name(text);
	size_t behind = utf8_width(end);
	_cleanup_(str_release) struct str name = STR_INIT;

	if (utf8_width(text) <= width) {
		str_add(to, text);
		return;
	}
	if (!is_label(text, end) || width < behind + NAME_LEAST) {
		utf8_add_shortened(to, text, width, ellipsis);
		return;
	}
	add_fitting(&name, text, end, width - behind, ellipsis);
	add_cut(to, str_cstr(&name), width - behind, ellipsis);
	str_add(to, end);
}

void label_add_readable(struct str *to, const char *text, size_t width, const char *ellipsis)
{
	const char *end = end_of_name(text);

	if (utf8_width(text) <= width)
		str_add(to, text);
	else
		add_fitting(to, text, end, width, ellipsis);
	if (utf8_width(text) > width)
		str_add(to, end);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expression.c - the C expressions of vprof.conf: argN and ret put in place.
 *
 * The text is read word by word, so that "target0" and "p->ret" keep their names, as do words inside strings.
 * Everything else is left to the C compiler.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include "base/banned.h"
#include "instrumenter/plan/expression.h"

struct word {
	const char *start;
	size_t len;
	bool is_name, is_member;	/* is_member: after . or -> or :: */
};

/* The next piece of p: a name, a string, or one other character.  False at the end. */
static bool next_word(const char **p, const char *begin, struct word *ret)
{
	const char *s = *p, *back = s;

	if (!*s)
		return false;
	*ret = (struct word){ .start = s, .len = 1 };
	if (isalpha((unsigned char)*s) || *s == '_') {
		while (isalnum((unsigned char)s[ret->len]) || s[ret->len] == '_')
			ret->len++;
		while (back > begin && isspace((unsigned char)back[-1]))
			back--;
		ret->is_name = true;
		ret->is_member = back > begin && (back[-1] == '.' || (back - begin > 1 &&
				 (strncmp(back - 2, "->", 2) == 0 || strncmp(back - 2, "::", 2) == 0)));
	} else if (isdigit((unsigned char)*s)) {
		while (isalnum((unsigned char)s[ret->len]) || s[ret->len] == '.')
			ret->len++;
	} else if (*s == '"' || *s == '\'') {
		while (s[ret->len] && s[ret->len] != *s)
			ret->len += s[ret->len] == '\\' && s[ret->len + 1] ? 2 : 1;
		ret->len += s[ret->len] == *s;
	}
	*p = s + ret->len;
	return true;
}

static bool is_result(const struct word *w)
{
	return w->is_name && !w->is_member && w->len == 3 && strncmp(w->start, "ret", 3) == 0;
}

/* arg0, arg1 ... */
static bool is_argument(const struct word *w, size_t *ret_n)
{
	if (!w->is_name || w->is_member || w->len < 4 || w->len > 5 ||
	    strncmp(w->start, "arg", 3) != 0 || !isdigit((unsigned char)w->start[3]))
		return false;
	*ret_n = (size_t)(w->start[3] - '0');
	if (w->len == 5) {
		if (!isdigit((unsigned char)w->start[4]))
			return false;
		*ret_n = *ret_n * 10 + (size_t)(w->start[4] - '0');
	}
	return true;
}

const char *expression_expand(const char *text, parameter_name name_of, void *arg,
			      const char *ret_name, struct str *ret)
{
	const char *p = text;
	struct word w;
	size_t n;

	str_add(ret, "(unsigned long long)(");
	while (next_word(&p, text, &w)) {
		if (is_argument(&w, &n)) {
			const char *name = name_of(n, arg);

			if (!name)
				return "the function has no such argument";
			if (!*name)
				return "the argument has no name in the source";
			str_add(ret, name);
		} else if (is_result(&w)) {
			if (!ret_name)
				return "there is no result at this place";
			str_add(ret, ret_name);
		} else {
			str_addn(ret, w.start, w.len);
		}
	}
	str_addc(ret, ')');
	return NULL;
}

bool expression_uses_result(const char *text)
{
	const char *p = text;
	struct word w;

	while (next_word(&p, text, &w))
		if (is_result(&w))
			return true;
	return false;
}

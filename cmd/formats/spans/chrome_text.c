/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chrome_text.c - see chrome_text.h. */
#include "cmd/formats/spans/chrome_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"
#include "base/str.h"
#include "cmd/messages.h"

#define BLANKS " \t\r\n"

static const char *after_string(const char *c)
{
	for (c++; *c && *c != '"'; c++)
		c += *c == '\\' && c[1];
	return *c ? c + 1 : c;
}

/* The end of the last whole event of the list that is open at the end: "[...", or {"...":[...; 0: there is none. */
static size_t end_of_events(const char *text, size_t *ret_depth)
{
	size_t depth = 0, end = 0, list = text[strspn(text, BLANKS)] == '[' ? 1 : 2;
	const char *c = text;

	while (*c) {
		if (*c == '"') {
			c = after_string(c);
			continue;
		}
		if (*c == '[' || *c == '{') {
			depth++;
			if (depth == list)
				end = 0;
		} else if ((*c == ']' || *c == '}') && depth) {
			depth--;
			if (depth == list && *c == '}')
				end = (size_t)(c + 1 - text);
		}
		c++;
	}
	*ret_depth = list;
	return depth >= list ? end : 0;
}

static json_t *load_cut(const char *path, const char *text, size_t len, int line)
{
	_cleanup_(str_release) struct str closed = STR_INIT;
	size_t list, end = end_of_events(text, &list);
	json_error_t error;
	json_t *root;

	if (!end)
		return NULL;
	str_addn(&closed, text, end);
	str_add(&closed, list == 1 ? "]" : "]}");
	root = json_loads(str_cstr(&closed), 0, &error);
	if (root && (list == 2 || end + strspn(text + end, BLANKS ",") < len))
		warn_line("%s:%d: the file was cut off: it is read up to the last whole event", path, line);
	return root;
}

/* Damage elsewhere is none that a cut explains: the error is where the text ends. */
static bool is_at_end(const char *text, size_t len, const json_error_t *error)
{
	while (len && strchr(BLANKS, text[len - 1]))
		len--;
	return strlen(text) >= len && error->position >= 0 && (size_t)error->position >= len;
}

int chrome_text_load(const char *path, const char *text, size_t len, json_t **ret, struct diag *reterr)
{
	json_error_t error;

	if (len >= INT32_MAX)
		return diag_set(reterr, EXIT_DATA, -EFBIG, "%s:1: no JSON: the file is larger than 2 GiB", path);
	*ret = json_loadb(text, len, 0, &error);
	if (!*ret && is_at_end(text, len, &error))
		*ret = load_cut(path, text, len, error.line);
	return *ret ? 0 : diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%d: no JSON: %s", path, error.line, error.text);
}

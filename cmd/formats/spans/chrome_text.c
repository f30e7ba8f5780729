/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chrome_text.c - see chrome_text.h. */
#include "cmd/formats/spans/chrome_text.h"

#include <errno.h>
#include <math.h>
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

/* ---- exact times ---- */

enum { EXACT_DIGITS = 15 };		/* of a double */

/* The length of a number with a point that has more digits than a double holds; 0: it is none. */
static size_t long_number(const char *c)
{
	size_t whole = strspn(c, "0123456789"), part = whole && c[whole] == '.' ? strspn(c + whole + 1, "0123456789") : 0;
	size_t len = whole + 1 + part;

	return part && whole + part > EXACT_DIGITS && c[len] != 'e' && c[len] != 'E' ? len : 0;
}

/* Where the value of a key "ts" or "dur" stands; NULL: this string is none. */
static const char *time_value(const char *string, const char *end)
{
	size_t len = (size_t)(end - string);

	if (!(len == 4 && memcmp(string, "\"ts\"", 4) == 0) && !(len == 5 && memcmp(string, "\"dur\"", 5) == 0))
		return NULL;
	end += strspn(end, BLANKS);
	return *end == ':' ? end + 1 + strspn(end + 1, BLANKS) : NULL;
}

/* Puts long times into quotes: {"ts":1700000000000001.123} becomes {"ts":"1700000000000001.123"}.  Left empty where there are none. */
static void quote_times(const char *text, struct str *ret)
{
	const char *done = text, *c = text;

	while ((c = strchr(c, '"'))) {
		const char *end = after_string(c), *value = time_value(c, end);
		size_t len = value ? long_number(value) : 0;

		c = end;
		if (!len)
			continue;
		str_addn(ret, done, (size_t)(value - done));
		str_addf(ret, "\"%.*s\"", (int)len, value);
		done = c = value + len;
	}
	if (ret->len)
		str_add(ret, done);
}

static bool decimal_ns(const char *text, int64_t *ret)
{
	int64_t whole, ns = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	whole = strtoll(text, &end, 10);
	if (errno || whole >= CHROME_NS_MAX / 1000 || (*end && *end != '.'))
		return false;
	if (*end == '.') {
		const char *part = end + 1;
		size_t digits = strspn(part, "0123456789");

		if (part[digits])
			return false;
		for (size_t i = 0; i < 3; i++)
			ns = ns * 10 + (i < digits ? part[i] - '0' : 0);
		ns += digits > 3 && part[3] >= '5';
	}
	*ret = whole * 1000 + ns;
	return true;
}

bool chrome_text_ns(const json_t *event, const char *key, int64_t *ret)
{
	const json_t *v = json_object_get(event, key);
	double us = json_is_number(v) ? json_number_value(v) : NAN, whole;

	if (json_is_string(v))
		return decimal_ns(json_string_value(v), ret);
	if (!(us >= 0 && us < (double)(CHROME_NS_MAX / 1000)))
		return false;
	whole = floor(us);
	*ret = (int64_t)whole * 1000 + (int64_t)round((us - whole) * 1000);
	return true;
}

/* ---- where an event stands ---- */

/* The list of events: that of the whole text, or the value of "traceEvents" in it; NULL: there is none. */
static const char *list_of_events(const char *text)
{
	size_t depth = 0;

	text += strspn(text, BLANKS);
	if (*text == '[')
		return text;
	for (const char *c = text; *c; c++) {
		const char *end = *c == '"' ? after_string(c) : NULL;

		depth += *c == '[' || *c == '{';
		depth -= depth && (*c == ']' || *c == '}');
		if (!end)
			continue;
		if (depth == 1 && end - c == 13 && strncmp(c, "\"traceEvents\"", 13) == 0) {
			end += strspn(end, BLANKS ":");
			return *end == '[' ? end : NULL;
		}
		c = end - 1;
	}
	return NULL;
}

unsigned long chrome_text_line(const char *text, size_t event)
{
	const char *list = list_of_events(text), *c = list ? list : text;
	unsigned long line = 1;
	size_t depth = 0;

	for (; *c; c++) {
		bool is_next = depth == 1 && *c == ',';

		if (*c == '"') {
			c = after_string(c) - 1;
			continue;
		}
		depth += *c == '[' || *c == '{';
		depth -= depth && (*c == ']' || *c == '}');
		event -= is_next && event;
		if (event == 0 && (is_next || c == list))
			break;
	}
	if (*c)
		c += 1 + strspn(c + 1, BLANKS);
	for (; text < c; text++)
		line += *text == '\n';
	return line;
}

/* ---- a file that was cut off ---- */

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
	_cleanup_(str_release) struct str quoted = STR_INIT;
	json_error_t error;

	quote_times(text, &quoted);
	if (quoted.len) {
		text = str_cstr(&quoted);
		len = quoted.len;
	}
	if (len >= INT32_MAX)		/* jansson's positions are ints */
		return diag_set(reterr, EXIT_DATA, -EFBIG, "%s:1: no JSON: the file is larger than 2 GiB", path);
	*ret = json_loadb(text, len, 0, &error);
	if (!*ret && is_at_end(text, len, &error))
		*ret = load_cut(path, text, len, error.line);
	return *ret ? 0 : diag_set(reterr, EXIT_DATA, -EBADMSG, "%s:%d: no JSON: %s", path, error.line, error.text);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callers.c - see callers.h; every field of the file is checked. */
#include "trace/callers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/file.h"
#include "trace/format.h"

#define HEAD "vprof-callers 1"

enum { FIELDS_FIRST = 3, FIELDS_EACH = 3, FIELDS_MAX = FIELDS_FIRST + FIELDS_EACH * CALLER_FUNCTIONS };

/* Names come from programs: bytes that would end a field are replaced. */
static void add_field(struct str *to, const char *text)
{
	str_addc(to, '\t');
	for (const char *c = text ? text : ""; *c; c++)
		str_addc(to, (unsigned char)*c < ' ' ? '?' : *c);
}

void callers_text_begin(struct str *to)
{
	str_add(to, HEAD "\n");
}

void callers_text_add(struct str *to, uint32_t number, const struct wait_caller *c)
{
	str_addf(to, "%" PRIu32, number);
	add_field(to, c->module);
	add_field(to, c->is_built ? "built" : "foreign");
	for (uint32_t i = 0; i < c->function_cnt; i++) {
		add_field(to, c->functions[i].name);
		add_field(to, c->functions[i].file);
		str_addf(to, "\t%" PRIu32, c->functions[i].line);
	}
	str_addc(to, '\n');
}

static bool parse_number(const char *text, uint32_t most, uint32_t *ret)
{
	char *end;
	unsigned long value;

	if (*text < '0' || *text > '9' || strlen(text) > 10)
		return false;
	value = strtoul(text, &end, 10);
	*ret = (uint32_t)value;
	return !*end && value <= most;
}

/* Cuts the line at its tabs; 0: there are too many. */
static size_t split(char *line, char *ret[FIELDS_MAX])
{
	size_t cnt = 0;

	while (line && cnt < FIELDS_MAX)
		ret[cnt++] = strsep(&line, "\t");
	return line ? 0 : cnt;
}

static const char *kept(struct trace *t, const char *text)
{
	return *text ? arena_strdup(t->arena, text) : NULL;
}

static bool parse_line(char *line, struct trace *t, uint32_t *ret_number, struct wait_caller *ret)
{
	char *fields[FIELDS_MAX];
	size_t cnt = split(line, fields);
	bool built = cnt >= FIELDS_FIRST && strcmp(fields[2], "built") == 0;

	if (cnt < FIELDS_FIRST || (cnt - FIELDS_FIRST) % FIELDS_EACH ||
	    !parse_number(fields[0], TRACE_CALLERS_MAX, ret_number) || !*ret_number || !*fields[1] ||
	    (!built && strcmp(fields[2], "foreign") != 0))
		return false;
	*ret = (struct wait_caller){ .module = kept(t, fields[1]), .is_built = built };
	for (size_t i = FIELDS_FIRST; i < cnt; i += FIELDS_EACH) {
		struct code_function *f = &ret->functions[ret->function_cnt++];

		f->name = strcmp(fields[i], CALLER_NAMELESS) == 0 ? "" : kept(t, fields[i]);
		f->file = kept(t, fields[i + 1]);
		if (!f->name || !parse_number(fields[i + 2], UINT32_MAX, &f->line))
			return false;
	}
	return true;
}

/* Skips a line that is wrong, and goes on with the next. */
static void take_line(char *text, size_t number_of_line, struct trace *t)
{
	struct wait_caller c;
	uint32_t number;

	if (!parse_line(text, t, &number, &c)) {
		if (!t->losses.callers_line)
			t->losses.callers_line = number_of_line;
		return;
	}
	while (t->callers.cnt <= number)
		VEC_ADD(&t->callers, (struct wait_caller){ .function_cnt = 0 });
	t->callers.items[number] = c;
}

void callers_read(const char *path, struct trace *t)
{
	_cleanup_(freep) char *text = NULL;
	char *rest, *line;
	size_t len = 0, number_of_line = 1;
	int r = file_read(path, &text, &len);

	if (r == -ENOENT)
		return;
	rest = text;
	line = r < 0 ? NULL : strsep(&rest, "\n");
	if (!line || strlen(text) + (rest ? strlen(rest) + 1 : 0) != len || strcmp(line, HEAD) != 0) {
		t->losses.callers_line = 1;
		return;
	}
	while ((line = strsep(&rest, "\n")) && *line)
		take_line(line, ++number_of_line, t);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * function_source.c - a function's lines, numbered, from its file.
 *
 * The scan knows the line of the '{' and that of the '}'.  The head begins above, at most HEAD_LINES
 * up, below the nearest line that cannot belong to it: a blank one, a directive, or one that ends a
 * declaration, a body or a comment:
 *
 *	3  }					not ours
 *	4  static void
 *	5  idle(unsigned id)
 *	6  {					the body's line
 */
#include <errno.h>
#include <string.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/text/utf8.h"
#include "project/build/function_source.h"

enum { HEAD_LINES = 6, COLUMNS_MAX = 160 };

typedef VEC(const char *) line_starts;

static void find_lines(const char *text, line_starts *ret)
{
	for (const char *line = text; *line;) {
		VEC_ADD(ret, line);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
}

/* Does the line end what stands above a function? */
static bool ends_something(const char *line)
{
	size_t len = strcspn(line, "\r\n");

	while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	return len == 0 || line[0] == '#' || line[len - 1] == ';' || line[len - 1] == '}' ||
	       line[len - 1] == '/';
}

static uint32_t head_line(const line_starts *lines, uint32_t body)
{
	uint32_t line = body;

	while (line > 1 && body - line < HEAD_LINES && !ends_something(lines->items[line - 2]))
		line--;
	return line;
}

static void add_line(struct str *to, const char *line, uint32_t number)
{
	size_t len = strcspn(line, "\r\n");
	_cleanup_(freep) char *text = xstrndup(line, len < COLUMNS_MAX ? len : COLUMNS_MAX);

	str_addf(to, "%6u  ", number);
	utf8_add_clean(to, text);
	str_add(to, len > COLUMNS_MAX ? " ...\n" : "\n");
}

static int not_there(const struct project_function *f, struct diag *reterr)
{
	return diag_set(reterr, EXIT_ENVIRONMENT, -ENODATA,
			"'%s' has no line %u: it was changed since the build", f->file, f->end_line);
}

/* Reads f's file; the caller frees the text, and the list of its lines, also after an error. */
static int read_file_of(const struct project_function *f, char **ret_text, line_starts *ret, struct diag *reterr)
{
	int r;

	if (!f->file)
		return diag_set(reterr, EXIT_ENVIRONMENT, -ENOENT, "the file of '%s' is not known",
				f->name);
	r = file_read(f->file, ret_text, NULL);
	if (r < 0)
		return diag_set(reterr, EXIT_ENVIRONMENT, r, "cannot read '%s': %s", f->file,
				file_why(r));
	find_lines(*ret_text, ret);
	return f->line == 0 || f->end_line < f->line || f->end_line > ret->cnt ? not_there(f, reterr) : 0;
}

int function_text(const struct project_function *f, uint32_t *ret_line, char **ret, struct diag *reterr)
{
	_cleanup_(freep) char *text = NULL;
	line_starts lines = { NULL, 0, 0 };
	int r = read_file_of(f, &text, &lines, reterr);

	if (r == 0) {
		const char *last = lines.items[f->end_line - 1];

		*ret_line = head_line(&lines, f->line);
		*ret = xstrndup(lines.items[*ret_line - 1], (size_t)(last + strcspn(last, "\n") - lines.items[*ret_line - 1]));
	}
	VEC_RELEASE(&lines);
	return r;
}

int function_source(const struct project_function *f, struct str *to, struct diag *reterr)
{
	_cleanup_(freep) char *text = NULL;
	line_starts lines = { NULL, 0, 0 };
	uint32_t end;
	int r = read_file_of(f, &text, &lines, reterr);

	if (r < 0) {
		VEC_RELEASE(&lines);
		return r;
	}
	end = f->end_line - f->line < FUNCTION_SOURCE_LINES ? f->end_line :
							      f->line + FUNCTION_SOURCE_LINES - 1;
	utf8_add_line(to, f->file);
	str_addc(to, '\n');
	for (uint32_t i = head_line(&lines, f->line); i <= end; i++)
		add_line(to, lines.items[i - 1], i);
	if (end < f->end_line)
		str_addf(to, "        ... %u more lines, to line %u\n", f->end_line - end, f->end_line);
	VEC_RELEASE(&lines);
	return 0;
}

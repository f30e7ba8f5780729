/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * readable.c - the instrumented text of a unit, for people.
 *
 * The compiled text is preprocessed and consists mostly of headers.  For a unit of 12 lines with <stdio.h> this
 * prints:
 *
 *	static struct vprof_site vprof_function_0 ... = { 0, { 0 }, 3, 'i', 0x2bd84e0a5cbf9ea2ULL, "handle", "/src/main.c" };
 *	...
 *	/\* 561 lines of headers *\/
 *	/\* /src/main.c:3 *\/
 *	int handle(int x) {
 *		struct vprof_span vprof_span_ ... = vprof_in(&vprof_function_0);
 *		return x; }
 *
 * Left out are line markers, foreign headers, and the declarations that every unit begins with
 * (runtime/shared/probe.h); where lines are skipped, a comment gives the place.  In the compiled text insertions are
 * on the user's line, so that line numbers do not change; here insertions after a '{' have lines of their own, and
 * macros that became long lines are broken at blanks.
 */
#include <ctype.h>
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "instrumenter/marks/readable.h"
#include "instrumenter/text/lines.h"

#define LINES_FILLED 4			/* a gap of up to this many of the user's lines is shown as it is */
#define COLUMNS 100			/* a longer line is broken at the next blank */

struct reading {
	const char *file;		/* of the user's last line shown; lives as long as the lines */
	uint32_t line;
	struct str open;		/* that line, which may go on: a macro of a system header cuts it */
	bool is_open;
	unsigned left_out;		/* lines of headers since then */
	bool own_shown;			/* past the declarations of every unit */
	struct str *ret;
};

static bool is_marker(const char *p, size_t len)
{
	return len > 2 && p[0] == '#' && p[1] == ' ' && isdigit((unsigned char)p[2]);
}

static bool is_blank(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isspace((unsigned char)p[i]))
			return false;
	return true;
}

/* The text that instrument.c adds after the declarations of every unit begins with one of these. */
static bool begins_own_part(const char *p, size_t len)
{
	static const char *const starts[] = {
		"static struct vprof_label vprof_labels", "static struct vprof_site vprof_function_",
		"#pragma redefine_extname",
	};

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (len > strlen(starts[i]) && strncmp(p, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/* ---- One line of the user's, broken ------------------------------------------------- */

struct breaking {
	const char *text;
	size_t len, indent;		/* blanks at its beginning */
	size_t column;			/* columns written since the last break; 0: none */
	struct str *ret;
};

/* L'x' opens a literal; the quote in 1'000 does not. */
static bool opens_literal(const struct breaking *b, size_t at)
{
	size_t word = at;

	if (b->text[at] == '"')
		return true;
	while (word > 0 && (isalnum((unsigned char)b->text[word - 1]) || b->text[word - 1] == '_'))
		word--;
	return b->text[at] == '\'' && !isdigit((unsigned char)b->text[word]);
}

static size_t literal_end(const struct breaking *b, size_t at)
{
	char quote = b->text[at++];

	while (at < b->len && b->text[at] != quote)
		at += b->text[at] == '\\' ? 2 : 1;
	return at + 1 < b->len ? at + 1 : b->len;
}

static bool begins_insertion(const struct breaking *b, size_t at)
{
	static const char *const starts[] = {
		" struct vprof_span vprof_span_ ", " struct vprof_later vprof_later_", " if (vprof_event", " char vprof_here_",
	};

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (b->len - at > strlen(starts[i]) && strncmp(b->text + at, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/* After the ';' that ends the statement. */
static size_t statement_end(const struct breaking *b, size_t at)
{
	while (at < b->len && b->text[at] != ';')
		at = opens_literal(b, at) ? literal_end(b, at) : at + 1;
	return at < b->len ? at + 1 : b->len;
}

static void break_line(struct breaking *b)
{
	if (b->column == 0)
		return;
	str_addc(b->ret, '\n');
	str_addn(b->ret, b->text, b->indent);
	str_addc(b->ret, '\t');
	b->column = 0;
}

static void write_until(struct breaking *b, size_t *at, size_t end)
{
	str_addn(b->ret, b->text + *at, end - *at);
	b->column += end - *at;
	*at = end;
}

static size_t after_blanks(const struct breaking *b, size_t at)
{
	while (at < b->len && isspace((unsigned char)b->text[at]))
		at++;
	return at;
}

static void write_broken(struct breaking *b)
{
	for (size_t at = b->indent; at < b->len; ) {
		bool inserted = begins_insertion(b, at);

		if (inserted || (b->text[at] == ' ' && b->column >= COLUMNS)) {
			break_line(b);
			at = after_blanks(b, at);
		}
		if (inserted) {
			write_until(b, &at, statement_end(b, at));
			if (after_blanks(b, at) < b->len && !begins_insertion(b, at)) {
				break_line(b);
				at = after_blanks(b, at);
			}
		} else if (at < b->len) {
			write_until(b, &at, opens_literal(b, at) ? literal_end(b, at) : at + 1);
		}
	}
}

/* A raw string may hold quotes, and a directive must not be broken. */
static void write_line(const char *text, size_t len, struct str *ret)
{
	struct breaking b = { .text = text, .len = len, .ret = ret };

	b.indent = after_blanks(&b, 0);
	str_addn(ret, text, b.indent);
	if (text[b.indent] == '#' || strstr(text, "R\""))
		str_addn(ret, text + b.indent, len - b.indent);
	else
		write_broken(&b);
	str_addc(ret, '\n');
}

/* ---- The lines of a unit --------------------------------------------------------------- */

static void end_line(struct reading *r)
{
	if (r->is_open)
		write_line(str_cstr(&r->open), r->open.len, r->ret);
	r->is_open = false;
	str_reset(&r->open);
	if (r->left_out)
		str_addf(r->ret, "/* %u line%s of headers */\n", r->left_out, r->left_out == 1 ? "" : "s");
}

static void show_own(struct reading *r, const char *p, size_t len)
{
	r->own_shown |= begins_own_part(p, len);
	if (!r->own_shown)
		return;
	end_line(r);
	r->left_out = 0;
	str_addn(r->ret, p, len);
	str_addc(r->ret, '\n');
	r->line = 0;
}

static void show_users(struct reading *r, const char *p, size_t len, const struct position *at)
{
	bool same_file = r->file && strcmp(r->file, at->file) == 0 && !r->left_out;
	bool follows = same_file && at->line > r->line && at->line - r->line <= LINES_FILLED;
	size_t indent = 0;

	if (same_file && r->is_open && at->line == r->line) {
		while (indent < len && p[indent] == ' ')
			indent++;
		str_addc(&r->open, ' ');
	} else {
		end_line(r);
		if (!follows)
			str_addf(r->ret, "/* %s:%u */\n", at->file, at->line);
		for (uint32_t gap = follows ? at->line - r->line : 1; gap > 1; gap--)
			str_addc(r->ret, '\n');
	}
	r->left_out = 0;
	str_addn(&r->open, p + indent, len - indent);
	r->is_open = true;
	r->file = at->file;
	r->line = at->line;
}

/* The expansion of a system header's macro is in the user's file, but is marked as the system's. */
static bool is_users(const struct reading *r, const struct position *at)
{
	return !at->foreign || (r->file && strcmp(r->file, at->file) == 0);
}

void readable_text(const char *text, size_t len, const char *directory, const char *own_dir,
		   struct str *ret)
{
	_cleanup_(lines_freep) struct lines *lines = lines_new(text, len, directory, own_dir);
	struct reading r = { .ret = ret };

	for (size_t at = 0; at < len; ) {
		const char *eol = memchr(text + at, '\n', len - at);
		size_t line_len = eol ? (size_t)(eol - text) - at : len - at;
		struct position where = lines_at(lines, at);

		if (is_marker(text + at, line_len) || is_blank(text + at, line_len))
			;
		else if (strcmp(where.file, "<vprof>") == 0)
			show_own(&r, text + at, line_len);
		else if (is_users(&r, &where))
			show_users(&r, text + at, line_len, &where);
		else
			r.left_out++;
		at += line_len + 1;
	}
	end_line(&r);
	str_release(&r.open);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * readable.c - the instrumented text of a unit, for people.
 *
 * What is compiled is a preprocessed text, mostly of headers that nobody asked for.  Of a unit of 12
 * lines with <stdio.h> this remains:
 *
 *	static struct vprof_site vprof_sites[1] = {
 *	{ 0, 0, 0, 3, 0x2bd84e0a5cbf9ea2ULL, "handle", "/src/main.c" },
 *	};
 *	...
 *	/\* 561 lines of headers *\/
 *	/\* /src/main.c:3 *\/
 *	int handle(int x) { struct vprof_span vprof_span_ ... = vprof_in(&vprof_sites[0]); return x; }
 *
 * Left out are line markers, foreign headers, and the declarations that every unit begins with
 * (runtime/probe.h); where a place is not the line after the one before, it is said.
 */
#include <ctype.h>
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "instrumenter/lines.h"
#include "instrumenter/readable.h"

#define LINES_FILLED 4			/* a gap of the user's own up to this is shown as it is */

struct reading {
	const char *file;		/* of the user's last line shown; lives as long as the lines */
	uint32_t line;
	bool is_open;			/* that line may go on: a macro of a system header cuts it */
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

/* What instrument.c adds behind the declarations of every unit begins with one of these. */
static bool begins_own_part(const char *p, size_t len)
{
	static const char *const starts[] = {
		"static struct vprof_label vprof_labels", "static struct vprof_site vprof_sites",
		"#pragma redefine_extname",
	};

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (len > strlen(starts[i]) && strncmp(p, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

static void end_line(struct reading *r)
{
	if (r->is_open)
		str_addc(r->ret, '\n');
	r->is_open = false;
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
		str_addc(r->ret, ' ');
	} else {
		end_line(r);
		if (!follows)
			str_addf(r->ret, "/* %s:%u */\n", at->file, at->line);
		for (uint32_t gap = follows ? at->line - r->line : 1; gap > 1; gap--)
			str_addc(r->ret, '\n');
	}
	r->left_out = 0;
	str_addn(r->ret, p + indent, len - indent);
	r->is_open = true;
	r->file = at->file;
	r->line = at->line;
}

/* What a macro of a system header became stands in the user's file, but is marked as the system's. */
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
}

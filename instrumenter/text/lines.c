/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lines.c - finds the source of a byte of preprocessed text.
 *
 * The text is cut at its line markers into stretches.  Example:
 *
 *	offset 0	# 0 "log.c"
 *	offset 12	# 1 "/usr/include/stdio.h" 1 3 4
 *	offset 48	int puts(const char *);
 *	offset 72	# 2 "log.c" 2
 *	offset 86	int main(void)
 *
 * Offset 90 lies in the stretch that begins at 86 as line 2 of log.c, on its first line: log.c:2. The starts of all
 * lines are kept too, so that both questions are a binary search.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/search.h"
#include "base/str.h"
#include "instrumenter/text/lines.h"

struct stretch {
	size_t offset;			/* of its first byte, the one after the marker's line */
	size_t physical;		/* number of that line in the text, from 0 */
	uint32_t line;			/* the line number that the marker gives it */
	uint32_t file;			/* index into files */
	bool system;
};

struct source_file {
	char *path;
	bool foreign;
};

struct lines {
	VEC(size_t) starts;		/* offset of each line of the text */
	VEC(struct stretch) stretches;
	VEC(struct source_file) files;	/* by number in names */
	struct names *names;
	char *directory, *own_dir;
	size_t top;
};

static const char *const library_places[] = {
	"/usr/include/", "/usr/local/include/", "/usr/lib/", "/usr/local/lib/",
};

static bool path_is_foreign(const struct lines *l, const char *name, const char *path)
{
	size_t own_len = l->own_dir ? strlen(l->own_dir) : 0;

	if (name[0] == '<' || name[0] == '\0')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(library_places); i++)
		if (starts_with(path, library_places[i]))
			return true;
	return own_len && strncmp(path, l->own_dir, own_len) == 0 &&
	       strcmp(path + own_len, "/vprof.h") == 0;
}

static uint32_t file_number(struct lines *l, const char *name)
{
	uint32_t id = names_add(l->names, name);

	if (id < l->files.cnt)
		return id;
	_cleanup_(freep) char *joined = path_join(l->directory, name);
	struct source_file *f = VEC_EXTEND(&l->files);

	f->path = name[0] == '<' ? xstrdup(name) : path_real(joined);
	f->foreign = path_is_foreign(l, name, f->path);
	return id;
}

/* The quoted name of a marker, with \" \\ and \ooo undone.  False: not a quoted string. */
static bool read_name(const char *p, const char *end, struct str *ret, const char **ret_after)
{
	if (p == end || *p++ != '"')
		return false;
	while (p < end && *p != '"') {
		if (*p != '\\' || p + 1 == end) {
			str_addc(ret, *p++);
			continue;
		}
		p++;
		unsigned code = 0, digits = 0;

		while (digits < 3 && p < end && *p >= '0' && *p <= '7') {
			code = code * 8 + (unsigned)(*p++ - '0');
			digits++;
		}
		str_addc(ret, digits ? (char)code : *p++);
	}
	*ret_after = p + 1;
	return p < end;
}

/* `# 28 "log.c" 2 3` or `#line 28 "log.c"`; anything else is no marker. */
static bool read_marker(struct lines *l, const char *p, const char *end, struct stretch *ret)
{
	_cleanup_(str_release) struct str name = STR_INIT;
	unsigned long line = 0;
	const char *after;

	p++;
	if (end - p > 4 && strncmp(p, "line", 4) == 0)
		p += 4;
	while (p < end && *p == ' ')
		p++;
	if (p == end || *p < '0' || *p > '9')
		return false;
	while (p < end && *p >= '0' && *p <= '9' && line < UINT_MAX / 10)
		line = line * 10 + (unsigned long)(*p++ - '0');
	while (p < end && *p == ' ')
		p++;
	if (!read_name(p, end, &name, &after))
		return false;
	ret->line = (uint32_t)line;
	ret->system = memchr(after, '3', (size_t)(end > after ? end - after : 0)) != NULL;
	ret->file = file_number(l, str_cstr(&name));
	return true;
}

struct lines *lines_new(const char *text, size_t len, const char *directory, const char *own_dir)
{
	struct lines *l = xcalloc(1, sizeof(*l));
	bool at_top = true;

	l->names = names_new();
	l->directory = xstrdup(directory);
	l->own_dir = own_dir ? path_real(own_dir) : NULL;
	for (size_t at = 0; at < len; ) {
		const char *eol = memchr(text + at, '\n', len - at);
		size_t next = eol ? (size_t)(eol - text) + 1 : len;
		struct stretch s = { 0 };

		VEC_ADD(&l->starts, at);
		if (text[at] == '#' && read_marker(l, text + at, text + (eol ? next - 1 : len), &s)) {
			s.offset = next;
			s.physical = l->starts.cnt;
			VEC_ADD(&l->stretches, s);
			if (at_top && l->stretches.cnt <= 2)
				l->top = next;
		} else {
			at_top = false;
		}
		at = next;
	}
	return l;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->files.cnt; i++)
		free(l->files.items[i].path);
	VEC_RELEASE(&l->files);
	VEC_RELEASE(&l->starts);
	VEC_RELEASE(&l->stretches);
	names_free(l->names);
	free(l->directory);
	free(l->own_dir);
	free(l);
}

/* Index of the last line that starts at or before offset. */
static size_t physical_line(const struct lines *l, size_t offset)
{
	return partition_point(i, l->starts.cnt - 1, l->starts.items[i + 1] <= offset);
}

struct position lines_at(const struct lines *l, size_t offset)
{
	size_t after = partition_point(i, l->stretches.cnt, l->stretches.items[i].offset <= offset);

	if (after == 0)
		return (struct position){ "<unknown>", 0, true };
	const struct stretch *s = &l->stretches.items[after - 1];
	const struct source_file *f = &l->files.items[s->file];
	size_t below = physical_line(l, offset) - s->physical;

	return (struct position){ f->path, s->line + (uint32_t)below, s->system || f->foreign };
}

size_t lines_top(const struct lines *l)
{
	return l->top;
}

size_t lines_file_cnt(const struct lines *l)
{
	return l->files.cnt;
}

const char *lines_file(const struct lines *l, size_t i)
{
	return l->files.items[i].path;
}

bool lines_file_is_foreign(const struct lines *l, size_t i)
{
	return l->files.items[i].foreign;
}

void lines_find(const struct lines *l, size_t i, uint32_t line, void (*found)(size_t offset, void *arg),
		void *arg)
{
	for (size_t k = 0; k < l->stretches.cnt; k++) {
		const struct stretch *s = &l->stretches.items[k];
		bool last = k + 1 == l->stretches.cnt;
		/* The next one begins after its marker, which is a line, too. */
		size_t end = last ? l->starts.cnt : l->stretches.items[k + 1].physical - 1;

		if (s->file == i && line >= s->line && line - s->line < end - s->physical)
			found(l->starts.items[s->physical + line - s->line], arg);
	}
}

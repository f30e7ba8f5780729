/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.c - finds the lines of a note.
 *
 *	"vprof-unit 1\nby 0.9\nlevels iAa\nmark enqueue\trequest\n"
 */
#include <string.h>
#include "runtime/note.h"

enum { NAME_BYTES = 256 };		/* a longer name is not renamed */

/* The first line of that kind at or after *at, without the kind; moves *at past it.  NULL: there is none. */
static const char *next_line(const char **at, const char *kind)
{
	size_t len = strlen(kind);

	while (**at) {
		const char *line = *at;

		*at += strcspn(line, "\n");
		*at += **at == '\n';
		if (!strncmp(line, kind, len))
			return line + len;
	}
	return NULL;
}

bool note_is_there(const char *note)
{
	return note && next_line(&note, "levels ");
}

uint32_t note_level(const struct arena_map *a, unsigned int letter)
{
	switch (letter) {
	case 'A':
		return 2;
	case 'a':
		return a->control->as_sampled ? 1 : 2;
	case 'i':
		return 1;
	default:
		return 0;
	}
}

static bool copy_name(char *to, const char *from, size_t len)
{
	if (!len || len >= NAME_BYTES)
		return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

static void rename_mark(const struct arena_map *a, const char *line)
{
	size_t mark_len = strcspn(line, "\t\n");
	char mark[NAME_BYTES], interval[NAME_BYTES];
	uint32_t from, to;

	if (line[mark_len] != '\t' || !copy_name(mark, line, mark_len) ||
	    !copy_name(interval, line + mark_len + 1, strcspn(line + mark_len + 1, "\n")))
		return;
	from = arena_label(a, mark);
	to = arena_label(a, interval);
	if (from && to && !a->labels[from].interval)
		__atomic_store_n(&a->labels[from].renamed, to, __ATOMIC_RELEASE);
}

void note_apply(const struct arena_map *a, const char *note)
{
	const char *line;

	while (note && (line = next_line(&note, "mark ")))
		rename_mark(a, line);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fallthrough.c - puts "fall through" comments back into a preprocessed text.
 *
 * Copies every one-line comment that contains "fall" to the end of the line of the text that stands for the same line
 * of the file; gcc decides which of them count.  A line that already contains the comment has it in a string.
 */
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "instrumenter/insert/fallthrough.h"

bool fallthrough_is_told(const struct command *c)
{
	bool told = false;

	for (size_t w = 0; w < c->words.cnt; w++) {
		const char *word = c->words.items[w];

		if (strcmp(word, "-Wextra") == 0 || strcmp(word, "-W") == 0 ||
		    starts_with(word, "-Wimplicit-fallthrough") ||
		    starts_with(word, "-Werror=implicit-fallthrough"))
			told = true;
	}
	return told;
}

/* The last "/\*" or "//" before at, which is not before line; NULL. */
static const char *comment_before(const char *line, const char *at)
{
	for (const char *p = at - 2; p >= line; p--)
		if (p[0] == '/' && (p[1] == '*' || p[1] == '/'))
			return p;
	return NULL;
}

/* The text inside the comment in [line, end) that mentions falling. */
static bool find_comment(const char *line, const char *end, const char **ret, size_t *ret_len)
{
	for (const char *p = line; end - p >= 4; p++) {
		const char *open, *close;

		if ((*p | 0x20) != 'f' || strncasecmp(p, "fall", 4) != 0)
			continue;
		open = comment_before(line, p);
		if (!open)
			continue;
		close = memmem(open + 2, (size_t)(end - open - 2), "*/", 2);
		if (open[1] == '*' && !close)
			return false;
		*ret = open + 2;
		*ret_len = (size_t)((close ? close : end) - *ret);
		return true;
	}
	return false;
}

struct putting {
	const struct lines *lines;
	const char *text;
	size_t len;
	struct edits *ret;
	const char *comment;
	size_t comment_len;
};

static void put(size_t start, void *arg)
{
	const struct putting *p = arg;
	const char *eol = memchr(p->text + start, '\n', p->len - start);
	size_t end = eol ? (size_t)(eol - p->text) : p->len;

	if (p->text[start] != '#' &&
	    !memmem(p->text + start, end - start, p->comment, p->comment_len))
		edits_insert(p->ret, end, " /*%.*s*/", (int)p->comment_len, p->comment);
}

static void insert_of_file(struct putting *p, size_t file)
{
	_cleanup_(freep) char *source = NULL;
	size_t len;
	uint32_t number = 0;

	if (file_read(lines_file(p->lines, file), &source, &len) < 0)
		return;
	for (const char *line = source, *end = source + len, *next; line < end; line = next) {
		const char *eol = memchr(line, '\n', (size_t)(end - line));

		next = eol ? eol + 1 : end;
		number++;
		if (find_comment(line, eol ? eol : end, &p->comment, &p->comment_len))
			lines_find(p->lines, file, number, put, p);
	}
}

void fallthrough_insert(const struct lines *lines, const char *text, size_t len, struct edits *ret)
{
	struct putting p = { .lines = lines, .text = text, .len = len, .ret = ret };

	for (size_t i = 0; i < lines_file_cnt(lines); i++)
		if (!lines_file_is_foreign(lines, i))
			insert_of_file(&p, i);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refused.c - functions that a compiler rejects with a probe.
 *
 * Errors have the lines of the user's files, for the text has their line markers.  Names are looked for in quotes
 * only: 'int ns::f(char) [with T = int]' names ns::f.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "instrumenter/scan/refused.h"

#define REASON "the instrumented text did not compile: "
#define REASON_CONSTANT "constexpr, and some constant needs it as it is"

enum { CARE_ERRORS, CARE_NOTES, CARE_CONSTANTS, CARE_AROUND, CARE_NONE };

/* One line of a compiler's. */
struct message {
	const char *line;
	size_t len;
	char *file;			/* real path; NULL: it has no place */
	unsigned long number;
	const char *error;		/* "error: ..."; NULL: it is something else */
};

void refused_release(struct refused *r)
{
	for (size_t i = 0; i < r->reasons.cnt; i++)
		free(r->reasons.items[i]);
	VEC_RELEASE(&r->reasons);
	map_free(r->why);
	r->why = NULL;
}

static const char *find_in(const char *text, size_t len, const char *word)
{
	return memmem(text, len, word, strlen(word));
}

/* FILE:LINE[:COLUMN]: WHAT */
static void message_parse(const char *line, size_t len, struct message *ret)
{
	*ret = (struct message){ .line = line, .len = len };
	for (const char *c = line; (c = memchr(c, ':', len - (size_t)(c - line))); c++) {
		char *end;

		if (!isdigit((unsigned char)c[1]))
			continue;
		ret->number = strtoul(c + 1, &end, 10);
		if (*end == ':') {
			_cleanup_(freep) char *given = xstrndup(line, (size_t)(c - line));

			ret->file = path_real(given);
			break;
		}
	}
	ret->error = find_in(line, len, "rror: ");
	if (ret->error && find_in(line, len, "warning: "))
		ret->error = NULL;
	if (ret->error)
		ret->error--;
}

size_t refused_first_error(const char *messages, const char **ret)
{
	const char *found = strstr(messages, "rror: ");

	*ret = found && found > messages ? found - 1 : "";
	return strcspn(*ret, "\n");
}

/* Functions without a probe count, too: the record does not show what else was inserted. */
static bool is_candidate(const struct refused *r, const struct unit *u, const struct scan_function *f)
{
	uint64_t known;

	return (f->probed || u->known.has_events) && !f->skipped && !(r->why && map_get(r->why, f->key, &known));
}

static void refuse(struct refused *r, const struct scan_function *f, const char *error, size_t len)
{
	bool constant = f->may_be_constant && find_in(error, len, "constexpr");

	if (!r->why)
		r->why = map_new();
	VEC_ADD(&r->reasons, constant ? xstrdup(REASON_CONSTANT) : xasprintf(REASON "%.*s", (int)len, error));
	map_set(r->why, f->key, r->reasons.cnt);
}

static bool is_around(const struct scan_function *f, const struct message *m)
{
	return m->file && f->line <= m->number && m->number <= f->end_line && strcmp(f->file, m->file) == 0;
}

/* The head of a function may begin some lines above its body; the compiler counts it as part of it. */
static const struct scan_function *function_behind(const struct refused *r, const struct unit *u, const struct message *m)
{
	const struct scan_function *best = NULL;

	for (size_t i = 0; i < u->functions.cnt; i++) {
		const struct scan_function *f = &u->functions.items[i];

		if (is_candidate(r, u, f) && f->line >= m->number && f->line - m->number <= 2 && strcmp(f->file, m->file) == 0 &&
		    (!best || f->line < best->line))
			best = f;
	}
	return best;
}

/* A function that is refused for its first error does not incriminate the functions around it for its second. */
static bool is_new(const struct refused *r, const struct scan_function *f)
{
	uint64_t reason;

	return r->why && map_get(r->why, f->key, &reason) && reason > r->known_cnt;
}

/* Refuses the innermost functions around the line, of which there may be several; all: every one. */
static void refuse_around(struct refused *r, const struct unit *u, const struct message *m, bool all, const char *why,
			  size_t len)
{
	uint32_t least = UINT32_MAX;
	bool inside = false;

	for (size_t i = 0; m->file && i < u->functions.cnt; i++) {
		const struct scan_function *f = &u->functions.items[i];
		bool around = is_around(f, m);

		inside |= around;
		if (around && (is_candidate(r, u, f) || is_new(r, f)) && f->end_line - f->line < least)
			least = f->end_line - f->line;
	}
	for (size_t i = 0; least != UINT32_MAX && i < u->functions.cnt; i++) {
		const struct scan_function *f = &u->functions.items[i];

		if (is_candidate(r, u, f) && is_around(f, m) && (all || f->end_line - f->line == least))
			refuse(r, f, why, len);
	}
	if (m->file && !inside && all) {
		const struct scan_function *f = function_behind(r, u, m);

		if (f)
			refuse(r, f, why, len);
	}
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether the function's full name is in quotes in the message. */
static bool is_named(const struct message *m, const char *name)
{
	size_t len = strlen(name);
	const char *at = m->line, *end = m->line + m->len;
	bool quoted = false;

	for (const char *from = at; len && (at = find_in(from, (size_t)(end - from), name)); from = at + len) {
		for (; from < at; from++)
			quoted ^= *from == '\'' || *from == '`';
		if (quoted && at > m->line && !is_name_char(at[-1]) && at[-1] != ':' &&
		    (at + len == end || (!is_name_char(at[len]) && at[len] != ':')))
			return true;
	}
	return false;
}

static void refuse_named(struct refused *r, const struct unit *u, const struct message *m, const char *why, size_t len)
{
	if (!memchr(m->line, '\'', m->len))
		return;
	for (size_t i = 0; i < u->functions.cnt; i++)
		if (is_candidate(r, u, &u->functions.items[i]) && is_named(m, u->functions.items[i].name))
			refuse(r, &u->functions.items[i], why, len);
}

static void ask_line(struct refused *r, const struct unit *u, const struct message *m, const char *why, size_t len)
{
	if (m->error || r->care >= CARE_NOTES) {
		refuse_around(r, u, m, r->care >= CARE_AROUND, why, len);
		refuse_named(r, u, m, why, len);
	}
}

/* Notes, and lines before the first error, belong to the nearest error above, or to the first. */
static void ask(struct refused *r, const struct unit *u, const char *messages)
{
	const char *why, *next;
	size_t why_len = refused_first_error(messages, &why);

	for (const char *line = messages; *line; line = *next ? next + 1 : next) {
		struct message m;

		next = line + strcspn(line, "\n");
		message_parse(line, (size_t)(next - line), &m);
		if (m.error) {
			why = m.error;
			why_len = (size_t)(next - why);
		}
		ask_line(r, u, &m, why, why_len);
		free(m.file);
	}
}

static bool has_constants(const struct unit *u)
{
	for (size_t i = 0; i < u->functions.cnt; i++)
		if (u->functions.items[i].probed && u->functions.items[i].may_be_constant)
			return true;
	return false;
}

bool refused_add(struct refused *r, const struct unit *u, const char *messages)
{
	for (; r->care < CARE_NONE; r->care++) {
		r->known_cnt = r->reasons.cnt;
		if (r->care == CARE_CONSTANTS && !r->constants && has_constants(u)) {
			r->constants = REASON_CONSTANT;
			return true;
		}
		if (r->care != CARE_CONSTANTS)
			ask(r, u, messages);
		if (r->reasons.cnt != r->known_cnt)
			return true;
	}
	return false;
}

void refused_take(struct refused *r, const struct unit *before)
{
	for (size_t i = 0; i < before->functions.cnt; i++) {
		const struct scan_function *f = &before->functions.items[i];

		if (!f->skipped)
			continue;
		if (starts_with(f->skipped, REASON))
			refuse(r, f, f->skipped + strlen(REASON), strlen(f->skipped) - strlen(REASON));
		else if (strcmp(f->skipped, REASON_CONSTANT) == 0)
			r->constants = REASON_CONSTANT;
	}
}

void refused_apply(const struct refused *r, struct unit *u)
{
	for (size_t i = 0; i < u->functions.cnt; i++) {
		struct scan_function *f = &u->functions.items[i];
		uint64_t reason;

		if (f->skipped)
			continue;
		if (r->why && map_get(r->why, f->key, &reason))
			f->skipped = arena_strdup(u->arena, r->reasons.items[reason - 1]);
		else if (r->constants && f->may_be_constant)
			f->skipped = r->constants;
	}
}

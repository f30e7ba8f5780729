/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * location.c - the text form of a place in the source.
 *
 * A text is parsed from its ends: "@entry" or "@return" at the end, then FILE: in front.  "log/server.c:28" is a line
 * because what follows the colon is a number; "std::sort" has no FILE because "::" is part of a name: the FILE ends
 * at the last single colon.
 *
 * The key and the condition are cut off first, at the first blank that "key=" or "if" follows.  Both words end what
 * precedes them, because no expression contains the word "if" outside of parentheses:
 *
 *	push2worker key=arg0 ? arg0->p : arg2 if arg1 != 0
 *	push2worker  the place;  "arg0 ? arg0->p : arg2"  the key;  "arg1 != 0"  the condition
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "instrumenter/plan/location.h"

static int bad_location(const char *text, const char *why, struct diag *reterr)
{
	diag_set(reterr, EXIT_USAGE, -EINVAL, "'%s' is not a location: %s", text, why);
	return diag_remedy(reterr, -EINVAL, "a location is FUNCTION, FUNCTION@entry, FUNCTION@return, "
			   "FILE:FUNCTION, FILE:LINE or mark:NAME; it may be followed by "
			   "key=EXPRESSION and if EXPRESSION");
}

/* The colon that ends FILE, or NULL. */
static const char *file_colon(const char *text, const char *end)
{
	for (const char *p = end; p-- > text; ) {
		if (*p != ':')
			continue;
		if (p > text && p[-1] == ':') {		/* "::" */
			p--;
			continue;
		}
		return p;
	}
	return NULL;
}

static bool all_digits(const char *s)
{
	return *s && s[strspn(s, "0123456789")] == '\0';
}

/* C and C++ names; blanks only in "operator new", "operator bool" and the like, and among parameters. */
static bool is_name(const char *s)
{
	if (!isalpha((unsigned char)*s) && !strchr("_~:", *s))
		return false;
	return *s && (!s[strcspn(s, " \t(")] || strstr(s, "operator ") || strchr(s, '('));
}

static int parse_line(const char *text, const char *digits, struct location *l, struct diag *reterr)
{
	errno = 0;
	unsigned long line = strtoul(digits, NULL, 10);

	if (errno || line == 0 || line > INT32_MAX)
		return bad_location(text, "lines are counted from 1", reterr);
	l->line = (uint32_t)line;
	l->place = PLACE_LINE;
	return 0;
}

static int parse_function(const char *text, const char *name, const char *at, struct location *l,
			  struct diag *reterr)
{
	if (at && strcmp(at, "@entry") == 0)
		l->place = PLACE_ENTRY;
	else if (at && strcmp(at, "@return") == 0)
		l->place = PLACE_RETURN;
	else if (at)
		return bad_location(text, "'@' is followed by entry or return", reterr);
	l->function = xstrndup(name, at ? (size_t)(at - name) : strlen(name));
	if (!is_name(l->function))
		return bad_location(text, "there is no function name", reterr);
	return 0;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Does the word "if" stand at s? */
static bool is_if(const char *s)
{
	return starts_with(s, "if") && !in_word(s[2]);
}

/* The text after "key =" at s, or NULL. */
static const char *behind_key(const char *s)
{
	if (!starts_with(s, "key"))
		return NULL;
	s += 3 + strspn(s + 3, " \t");
	return *s == '=' && s[1] != '=' ? s + 1 : NULL;
}

/* Where the place ends: at the key or condition, or at the end of the text. */
static const char *place_end(const char *text, const char **ret_behind)
{
	const char *blank = text;

	for (; *(blank += strcspn(blank, " \t")); blank = *ret_behind) {
		*ret_behind = blank + strspn(blank, " \t");
		if (is_if(*ret_behind) || behind_key(*ret_behind))
			return blank;
	}
	*ret_behind = blank;
	return blank;
}

/* The word "if" outside of parentheses and quotes, or the end. */
static const char *find_if(const char *s)
{
	const char *start = s;
	size_t depth = 0;

	for (; *s; s += *s != '\0') {
		if (strchr("([{", *s))
			depth++;
		else if (strchr(")]}", *s))
			depth -= depth > 0;
		else if (*s == '"' || *s == '\'')
			for (char quote = *s++; *s && *s != quote; s++)
				s += *s == '\\' && s[1];
		else if (depth == 0 && is_if(s) && (s == start || !in_word(s[-1])))
			return s;
	}
	return s;
}

/* Without blanks around it; NULL if nothing is left. */
static char *expression_between(const char *start, const char *end)
{
	while (start < end && isspace((unsigned char)*start))
		start++;
	while (end > start && isspace((unsigned char)end[-1]))
		end--;
	return end > start ? xstrndup(start, (size_t)(end - start)) : NULL;
}

static int parse_behind(const char *text, const char *behind, struct location *l, struct diag *reterr)
{
	const char *key = behind_key(behind), *condition = find_if(key ? key : behind);

	/* No expression begins with =, and after "key=" it would read as a comparison. */
	if (key && (!(l->key = expression_between(key, condition)) || l->key[0] == '='))
		return bad_location(text, "key= is followed by an expression", reterr);
	if (*condition && !(l->condition = expression_between(condition + 2, strchr(condition, '\0'))))
		return bad_location(text, "if is followed by an expression", reterr);
	return 0;
}

static int parse_place(const char *text, struct location *ret, struct diag *reterr)
{
	struct location l = { .place = PLACE_DEFAULT };
	const char *at = strchr(text, '@');
	const char *end = at ? at : text + strlen(text);
	const char *colon, *rest;
	int err;

	if (starts_with(text, "mark:")) {
		if (!text[5])
			return bad_location(text, "mark: is followed by a name", reterr);
		l.place = PLACE_MARK;
		l.mark = xstrdup(text + 5);
		*ret = l;
		return 0;
	}
	colon = file_colon(text, end);
	rest = colon ? colon + 1 : text;
	if (colon == text)
		return bad_location(text, "the file name is empty", reterr);
	if (colon)
		l.file = xstrndup(text, (size_t)(colon - text));
	if (all_digits(rest) && l.file)
		err = parse_line(text, rest, &l, reterr);
	else
		err = parse_function(text, rest, at, &l, reterr);
	if (err < 0) {
		location_release(&l);
		return err;
	}
	*ret = l;
	return 0;
}

int location_parse(const char *text, struct location *ret, struct diag *reterr)
{
	const char *behind, *end = place_end(text, &behind);
	_cleanup_(freep) char *place = xstrndup(text, (size_t)(end - text));
	int r = parse_place(place, ret, reterr);

	if (r < 0 || !*behind)
		return r;
	if (ret->place == PLACE_MARK)
		r = bad_location(text, "a mark has its key and its condition in the source", reterr);
	else
		r = parse_behind(text, behind, ret, reterr);
	if (r < 0)
		location_release(ret);
	return r;
}

void location_release(struct location *l)
{
	free(l->key);
	free(l->condition);
	free(l->file);
	free(l->function);
	free(l->mark);
	*l = (struct location){ .place = PLACE_DEFAULT };
}

static char *place_text(const struct location *l)
{
	const char *file = l->file ? l->file : "", *colon = l->file ? ":" : "";

	switch (l->place) {
	case PLACE_MARK:
		return xasprintf("mark:%s", l->mark);
	case PLACE_LINE:
		return xasprintf("%s:%u", l->file, l->line);
	case PLACE_ENTRY:
		return xasprintf("%s%s%s@entry", file, colon, l->function);
	case PLACE_RETURN:
		return xasprintf("%s%s%s@return", file, colon, l->function);
	case PLACE_DEFAULT:
		break;
	}
	return xasprintf("%s%s%s", file, colon, l->function ? l->function : "");
}

char *location_text(const struct location *l)
{
	_cleanup_(freep) char *place = place_text(l);

	return xasprintf("%s%s%s%s%s", place, l->key ? " key=" : "", l->key ? l->key : "",
			 l->condition ? " if " : "", l->condition ? l->condition : "");
}

bool location_file_matches(const char *wanted, const char *path)
{
	size_t path_len = strlen(path), wanted_len;

	while (starts_with(wanted, "./"))
		wanted += 2;
	wanted_len = strlen(wanted);
	if (!ends_with(path, wanted))
		return false;
	return path_len == wanted_len || wanted[0] == '/' || path[path_len - wanted_len - 1] == '/';
}

bool location_function_matches(const char *wanted, const char *name)
{
	size_t name_len = strlen(name), wanted_len = strlen(wanted);

	if (!ends_with(name, wanted))
		return false;
	return name_len == wanted_len ||
	       (name_len - wanted_len >= 2 && strncmp(name + name_len - wanted_len - 2, "::", 2) == 0);
}

/* Without parameters, and without the <> of a specialisation. */
static size_t bare_length(const char *shown)
{
	const char *open = shown;
	size_t len;

	while ((open = strchr(open, '(')) && open - shown >= 8 && starts_with(open - 8, "operator()"))
		open += 2;
	len = open ? (size_t)(open - shown) : strlen(shown);
	return open && len > 2 && starts_with(open - 2, "<>") ? len - 2 : len;
}

bool location_names(const char *wanted, const char *shown)
{
	size_t wanted_len = strlen(wanted), shown_len = strlen(shown);

	return strcmp(wanted, shown) == 0 ||
	       (wanted_len == bare_length(shown) && strncmp(wanted, shown, wanted_len) == 0) ||
	       (shown_len == bare_length(wanted) && strncmp(wanted, shown, shown_len) == 0);
}

void interval_directive_release(struct interval_directive *d)
{
	free(d->name);
	free(d->key);
	free(d->trace);
	free(d->span);
	free(d->parent);
	location_release(&d->start);
	location_release(&d->end);
	for (size_t i = 0; i < d->resumes.cnt; i++)
		location_release(&d->resumes.items[i]);
	VEC_RELEASE(&d->resumes);
	*d = (struct interval_directive){ .name = NULL };
}

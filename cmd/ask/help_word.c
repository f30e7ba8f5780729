/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * help_word.c - `vprof help WORD`: explains a word that vprof prints, from doc/glossary.md.
 *
 * A row may list several words, "wakeup, waker"; "vprof help waker" finds it.  It also finds a word as a view prints it: "(arrived, not read)",
 * "by save (runnable)", "handed-over", and the wait classes of JSON, "lock".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "cmd/ask/help_word.h"
#include "cmd/messages.h"

static const struct {
	const char *words, *meaning;
} glossary[] = {
#include "cmd/ask/glossary.inc"
};

/* "waker" is one of "wakeup, waker". */
static bool is_one_of(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; at; at = strchr(at, ',') ? strchr(at, ',') + 2 : NULL)
		if (strncasecmp(at, word, len) == 0 && (at[len] == ',' || at[len] == '\0'))
			return true;
	return false;
}

/* Strips what a view prints around the word: "by ...", a remark in parentheses after it, and parentheses around it. */
static char *bare_word(const char *printed)
{
	char *word, *open, *end;

	printed += strncmp(printed, "by ", 3) == 0 ? 3 : 0;
	printed += *printed == '(';
	word = xstrdup(printed);
	open = strstr(word, " (");
	if (open)			/* "save (runnable)" */
		memmove(word, open + 2, strlen(open + 2) + 1);
	end = strchr(word, ')');
	if (end)
		*end = '\0';
	for (char *at = word; *at; at++)
		*at = *at == '-' ? ' ' : *at;
	return word;
}

/* "busy" begins "busy with other requests", and "runnable" begins "runnable time"; len: of the first word. */
static bool begins_alike(const char *words, const char *word)
{
	size_t len = strcspn(word, ", ");

	for (const char *at = words; len && at; at = strchr(at, ',') ? strchr(at, ',') + 2 : NULL)
		if (strncasecmp(at, word, len) == 0 && strchr(", ", at[len]))
			return true;
	return false;
}

static bool help_as_printed(const char *printed)
{
	_cleanup_(freep) char *word = bare_word(printed);

	for (size_t i = 0; i < ARRAY_SIZE(glossary); i++)
		if (is_one_of(glossary[i].words, word) || begins_alike(glossary[i].words, word)) {
			printf("%s: %s\n", glossary[i].words, glossary[i].meaning);
			return true;
		}
	return false;
}

bool help_word(const char *word)
{
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(glossary); i++)
		if (is_one_of(glossary[i].words, word)) {
			printf("%s: %s\n", glossary[i].words, glossary[i].meaning);
			found++;
		}
	return found > 0 || help_as_printed(word);
}

void help_words(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(glossary); i++)
		printf("%-26s %s\n", glossary[i].words, glossary[i].meaning);
}

char *help_words_list(void)
{
	struct str s = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(glossary); i++)
		str_addf(&s, "%s%s", i ? ", " : "", glossary[i].words);
	return str_take(&s);
}

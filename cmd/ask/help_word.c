/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * help_word.c - `vprof help WORD`: explains a word that vprof prints, from doc/glossary.md.
 *
 * A row may list several words, "wakeup, waker"; "vprof help waker" finds it.
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

bool help_word(const char *word)
{
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(glossary); i++)
		if (is_one_of(glossary[i].words, word)) {
			printf("%s: %s\n", glossary[i].words, glossary[i].meaning);
			found++;
		}
	return found > 0;
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

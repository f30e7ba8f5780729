/* SPDX-License-Identifier: GPL-3.0-or-later */
/* help_word.h - explains the words that vprof prints. */
#ifndef CMD_ASK_HELP_WORD_H
#define CMD_ASK_HELP_WORD_H

#include <stdbool.h>

bool help_word(const char *word);	/* prints its meaning; false: the glossary does not have it */
void help_words(void);			/* prints all */
char *help_words_list(void);		/* "interval, segment, ..."; the caller frees it */

#endif

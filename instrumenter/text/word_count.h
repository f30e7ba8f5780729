/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * word_count.h - counts the occurrences of given names in a text, in one pass over it.
 *
 *	names: read, write	text: "n = read(fd); pread(fd); read();"	counts: 2, 0
 */
#ifndef INSTRUMENTER_TEXT_WORD_COUNT_H
#define INSTRUMENTER_TEXT_WORD_COUNT_H

#include <stddef.h>
#include "base/map.h"

/* counts[i] of the name with number i; the caller has made them 0.  A word is letters, digits and '_'. */
void words_count(const struct names *names, const char *text, size_t len, size_t *counts);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * word_count.c - counts words.
 *
 * A preprocessed text has a million bytes and a hundred thousand words, and a hundred names are counted: searching
 * for one after the other took a fifth of the time of instrumenting.  So a word is looked up only if some name has
 * its first letter and length.
 */
#include <string.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "instrumenter/text/word_count.h"

enum { LONG = 63 };			/* the length filter does not distinguish names of this many letters or more */

static bool is_word(unsigned char c)
{
	return (unsigned char)((c | 0x20) - 'a') < 26 || (unsigned char)(c - '0') < 10 || c == '_';
}

static uint64_t length_bit(size_t len)
{
	return UINT64_C(1) << (len < LONG ? len : LONG);
}

void words_count(const struct names *names, const char *text, size_t len, size_t *counts)
{
	_cleanup_(freep) char *word = NULL;
	uint64_t lengths[256] = { 0 };		/* of the names that begin with a letter */
	size_t longest = 0;
	bool in_word[256];

	for (unsigned c = 0; c < 256; c++)
		in_word[c] = is_word((unsigned char)c);
	for (size_t i = 0; i < names_cnt(names); i++) {
		const char *name = names_get(names, (uint32_t)i);
		size_t name_len = strlen(name);

		lengths[(unsigned char)*name] |= length_bit(name_len);
		longest = name_len > longest ? name_len : longest;
	}
	word = xmalloc(longest + 1);
	for (size_t at = 0, end; at < len; at = end) {
		uint32_t found;

		for (end = at; end < len && in_word[(unsigned char)text[end]]; end++)
			;
		if (end == at) {
			end++;
			continue;
		}
		if (end - at > longest || !(lengths[(unsigned char)text[at]] & length_bit(end - at)))
			continue;
		memcpy(word, text + at, end - at);
		word[end - at] = '\0';
		found = names_find(names, word);
		if (found != NAMES_NONE)
			counts[found]++;
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * known.h - what the last compile of a unit found out, and this one need not.
 *
 *	the same files, nothing to insert	the user's own command is run, and nothing else
 *	the same preprocessed text		probes go where the record says; libclang is not asked
 *
 * A unit with events in it (an interval that begins there, a lock defined there) or with recursion that ends in
 * a call (tail_calls.c) is parsed each time.
 */
#ifndef INSTRUMENTER_KNOWN_H
#define INSTRUMENTER_KNOWN_H

#include "instrumenter/instrument.h"

/* Of a preprocessed text; never 0. */
uint64_t known_text_hash(const char *text, size_t len, enum language language, const char *standard);

/* Whether before, the record of the last compile, tells all about a text with that hash and length. */
bool known_text(const struct unit *before, uint64_t text_hash, size_t len,
		const struct launcher_options *o);

/* Whether nothing is to be inserted into now, a unit that was not looked at yet, because nothing is into
 * before, and its files are as they were. */
bool known_plain(const struct unit *before, const struct unit *now, const struct launcher_options *o);

/* Writes down in in->unit what the next compile may go by.  since_ns: when this one began; a file that
 * is not older may have been read before it was changed. */
void known_note(const struct instrumenting *in, uint64_t text_hash, uint64_t since_ns);

#endif

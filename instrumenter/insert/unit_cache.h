/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit_cache.h - reuses what the last compile of a unit found out.
 *
 *	the same files, no probe	the user's own command is run, and nothing else; primitives are
 *					redirected in the object that it made (redirect_object.h)
 *	and none the last time		the same, and of the record only the head is looked at (scan_head.h): it stays but
 *					for time and size of the object
 *	the same preprocessed text	probes go where the record says; libclang is not asked
 *
 * A unit with events in it (an interval that begins there, a lock defined there, a wrapper for one of the
 * user's own primitives) is parsed each time, one with recursion that ends in a call (tail_calls.c) if it
 * has probes.
 */
#ifndef INSTRUMENTER_INSERT_UNIT_CACHE_H
#define INSTRUMENTER_INSERT_UNIT_CACHE_H

#include "instrumenter/insert/instrument.h"

/* The hash of a preprocessed text; never 0. */
uint64_t known_text_hash(const char *text, size_t len, enum language language, const char *standard);

/* Whether before, the record of the last compile, holds all about a text with that hash and length. */
bool known_text(const struct unit *before, uint64_t text_hash, size_t len,
		const struct launcher_options *o);

/* Whether now, a unit that was not scanned yet, can be compiled without edits, because before had no probes and its
 * files are unchanged. */
bool known_plain(const struct unit *before, const struct unit *now, const struct launcher_options *o);

/* The same, from the first lines of its record, if before was compiled without edits too. */
struct known_record {
	char *path, *text;
	size_t len;
};
bool known_unchanged(const struct unit *now, const struct launcher_options *o, struct args *ret_redirected,
		     struct known_record *ret);
void known_record_keep(struct known_record *r, uint64_t ns, uint64_t bytes);	/* of the new object */
void known_record_release(struct known_record *r);	/* also a _cleanup_ function; {0} to begin with */

/* u was compiled by the user's own command alone, and the object was edited to redirect these primitives. */
void known_note_plain(struct unit *u, const struct args *redirected, const struct launcher_options *o);

/* Adds the primitives that u uses to ret, for object_redirect(); pragmas are u's, from sync.c.  False: one needs more
 * than a forwarder, or the object's kind cannot have one. */
bool known_redirected(const struct unit *u, const char *pragmas, const struct launcher_options *o, struct args *ret);

/* Notes in in->unit what the next compile may reuse.  since_ns: when this one began; a file that is not older may
 * have been read before it was changed. */
void known_note(const struct instrumenting *in, uint64_t text_hash, uint64_t since_ns);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_head.h - the lines before the JSON of a scan record: all that has to be looked at where nothing changed.
 *
 *	vprof-scan 3
 *	made 18ea4760c2a1b2c3 0000000000001a2f		time and size of the object
 *	plain 5b1f0c...					of the command that made it, see known.h; 0: not by it alone
 *	redirected sem_post sem_wait			primitives, in that object
 *	keys fedcba9876543210				functions that could take a probe
 *	input 18ea4...0 0000000000000102 /src/a.h	time and size of a file that it was made of
 *	{"object": ...
 */
#ifndef INSTRUMENTER_SCAN_HEAD_H
#define INSTRUMENTER_SCAN_HEAD_H

#include "base/str.h"
#include "instrumenter/scan.h"

struct scan_head {
	uint64_t made_ns, made_bytes, plain;
	const char *redirected;		/* words with a blank before each */
	VEC(uint64_t) keys;
	VEC(struct scan_input) inputs;
	size_t len;			/* in bytes; the JSON begins there */
};

/* Puts the head of u's record into s. */
void scan_head_add(const struct unit *u, struct str *s);

/* NULL, or what is wrong with it.  Texts are a's. */
const char *scan_head_read(const char *text, size_t len, struct arena *a, struct scan_head *ret);
void scan_head_release(struct scan_head *h);	/* also a _cleanup_ function */

/* In the text of a record that was read: the object has another time and size. */
void scan_head_stamp(char *text, uint64_t ns, uint64_t bytes);

#endif

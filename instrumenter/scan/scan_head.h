/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_head.h - the begin of a scan record: enough to read if nothing changed.
 *
 *	vprof-scan 1
 *	made 18ea4760c2a1b2c3 0000000000001a2f		time and size of the object
 *	plain 5b1f0c...					of the command that made it, see unit_cache.h; 0: not by it alone
 *	redirected sem_post sem_wait			primitives, in that object
 *	head 0000000000001b07				number of bytes that follow, packed (base/pack.h):
 *	keys fedcba9876543210				functions of the source that could take a probe
 *	input 18ea4...0 0000000000000102 /src/a.h	time and size of a file that it was made of
 *	part 3f2a90c1d4e5b607 /src/a.h			functions of another file (scan_part.h)
 *
 * The rest of the record follows, packed.
 */
#ifndef INSTRUMENTER_SCAN_SCAN_HEAD_H
#define INSTRUMENTER_SCAN_SCAN_HEAD_H

#include "base/str.h"
#include "instrumenter/scan/scan.h"

#define SCAN_BYTES_MAX (256u << 20)	/* of a record, unpacked */

struct scan_part_name {
	uint64_t hash;
	const char *file;
};
typedef VEC(struct scan_part_name) scan_part_names;

struct scan_head {
	uint64_t made_ns, made_bytes, plain;
	const char *redirected;		/* words with a blank before each */
	VEC(uint64_t) keys;
	VEC(struct scan_input) inputs;
	scan_part_names parts;
	size_t len;			/* in bytes; the rest begins there */
};

/* Puts the head of u's record into s.  parts: where its functions of other files are. */
int scan_head_add(const struct unit *u, const scan_part_names *parts, struct str *s);

/* NULL, or what is wrong with it.  Texts are in a. */
const char *scan_head_read(const char *text, size_t len, struct arena *a, struct scan_head *ret);
void scan_head_release(struct scan_head *h);	/* also a _cleanup_ function */

/* Changes the time and size of the object in the text of a record. */
void scan_head_stamp(char *text, uint64_t ns, uint64_t bytes);

#endif

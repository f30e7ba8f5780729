/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest.h - reads and writes sums as a file, FILE.vpd (format: vprof-digest(5)).
 *
 * A file may come from anywhere.  In the result of digest_parse() every number is in range, every place is in a tree, and no sum
 * can overflow what is computed from it.
 */
#ifndef DIGEST_DIGEST_H
#define DIGEST_DIGEST_H

#include "analysis/summed/summed.h"
#include "base/diag.h"
#include "base/str.h"

#define DIGEST_MAGIC "vprofdg1"		/* 8 bytes; the digit is the version of the format */
#define DIGEST_BYTES_MAX ((size_t)1 << 28)	/* unpacked */

/* Appends the file's bytes.  -EOVERFLOW: the sums of a window are too large to be exact. */
int digest_write(const struct summed *s, struct str *to, struct diag *reterr);

/* name: of the file, for messages.  EXIT_DATA. */
int digest_parse(const char *bytes, size_t len, const char *name, struct summed **ret, struct diag *reterr);

/* path "-": standard input. */
int digest_read(const char *path, struct summed **ret, struct diag *reterr);

/* digest_check.c: whether the sums of n intervals, none longer than max_ns, are exact.  Returns NULL, or what is wrong. */
const char *window_wrong(const struct summed *s, const struct summed_window *w);

#endif

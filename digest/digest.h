/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digest.h - sums in a file, FILE.vpd: vprof-digest(5) has the format.
 *
 * A file may come from anywhere: what digest_parse() yields has every number in range, every place in a tree, and no sum that
 * could overflow what is made of it.
 */
#ifndef DIGEST_DIGEST_H
#define DIGEST_DIGEST_H

#include "analysis/summed/summed.h"
#include "base/diag.h"
#include "base/str.h"

#define DIGEST_MAGIC "vprofdg1"		/* 8 bytes; the number is of the format */
#define DIGEST_BYTES_MAX ((size_t)1 << 28)	/* unpacked */

/* Appends the file's bytes.  -EOVERFLOW: sums of a window are too large to be exact. */
int digest_write(const struct summed *s, struct str *to, struct diag *reterr);

/* name: of the file, for messages.  EXIT_DATA. */
int digest_parse(const char *bytes, size_t len, const char *name, struct summed **ret, struct diag *reterr);

/* "-": standard input. */
int digest_read(const char *path, struct summed **ret, struct diag *reterr);

/* digest_check.c: whether n intervals, none longer than max_ns, have exact sums.  NULL: yes, else what is wrong. */
const char *window_wrong(const struct summed *s, const struct summed_window *w);

#endif

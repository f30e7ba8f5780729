/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack.h - text in few bytes (zstd).
 *
 * A packed text contains its length; unpack() refuses one that claims more than the caller takes.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stddef.h>
#include "base/str.h"

/* Appends the packed text to ret. */
int pack(const char *text, size_t len, struct str *ret);

/* *ret is NUL-terminated and freed by the caller.  -EBADMSG: the bytes are no packed text, or one of more than most. */
int unpack(const char *bytes, size_t len, size_t most, char **ret, size_t *ret_len);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * protobuf_read.h - reads protocol buffer messages field by field.  Private to cmd/formats/.
 *
 *	struct pb m = pb_of(data, len);
 *	struct pb_field f;
 *	while ((r = pb_next(&m, &f)) > 0)
 *		if (f.number == 8)
 *			...
 *	if (r < 0)		damaged at m.at
 */
#ifndef CMD_FORMATS_SPANS_PROTOBUF_READ_H
#define CMD_FORMATS_SPANS_PROTOBUF_READ_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

struct pb {				/* what is left of a message; points into the caller's data */
	const uint8_t *at, *end;
};

struct pb_field {
	uint32_t number;
	uint64_t value;			/* of a varint or a fixed number; else 0 */
	struct pb bytes;		/* of a text or a message; else at is NULL */
};

static inline struct pb pb_of(const void *data, size_t len)
{
	return (struct pb){ data, data ? (const uint8_t *)data + len : NULL };
}

/* 1: *ret is the next field.  0: there is none.  -EBADMSG: damaged at m->at.  -ENODATA: m ends within the field at m->at. */
int pb_next(struct pb *m, struct pb_field *ret);

/* The text of a field, up to its first NUL, with U+FFFD for what is no UTF-8; lives as long as a. */
const char *pb_string(struct arena *a, struct pb bytes);

#endif

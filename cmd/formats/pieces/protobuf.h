/* SPDX-License-Identifier: GPL-3.0-or-later */
/* protobuf.h - appends protocol buffer messages field by field.  Private to cmd/formats/. */
#ifndef CMD_FORMATS_PIECES_PROTOBUF_H
#define CMD_FORMATS_PIECES_PROTOBUF_H

#include <stdint.h>
#include "base/str.h"

void pb_raw_varint(struct str *to, uint64_t value);		/* of packed fields */
void pb_varint(struct str *to, unsigned field, uint64_t value);	/* a negative value as its 64 bits */
void pb_fixed64(struct str *to, unsigned field, uint64_t value);
void pb_message(struct str *to, unsigned field, const struct str *message);
void pb_text(struct str *to, unsigned field, const char *text);	/* made valid UTF-8 */

#endif

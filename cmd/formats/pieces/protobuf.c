/* SPDX-License-Identifier: GPL-3.0-or-later */
/* protobuf.c - see protobuf.h. */
#include "cmd/formats/pieces/protobuf.h"

#include "base/banned.h"
#include "base/cleanup.h"
#include "base/text/utf8.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2 };

void pb_raw_varint(struct str *to, uint64_t value)
{
	while (value >= 0x80) {
		str_addc(to, (char)(value | 0x80));
		value >>= 7;
	}
	str_addc(to, (char)value);
}

static void add_key(struct str *to, unsigned field, enum wire wire)
{
	pb_raw_varint(to, (uint64_t)field << 3 | wire);
}

void pb_varint(struct str *to, unsigned field, uint64_t value)
{
	add_key(to, field, WIRE_VARINT);
	pb_raw_varint(to, value);
}

void pb_fixed64(struct str *to, unsigned field, uint64_t value)
{
	add_key(to, field, WIRE_64);
	for (unsigned i = 0; i < 8; i++)
		str_addc(to, (char)(value >> 8 * i));
}

void pb_message(struct str *to, unsigned field, const struct str *message)
{
	add_key(to, field, WIRE_BYTES);
	pb_raw_varint(to, message->len);
	str_addn(to, str_cstr(message), message->len);
}

void pb_text(struct str *to, unsigned field, const char *text)
{
	_cleanup_(str_release) struct str clean = STR_INIT;

	utf8_add_line(&clean, text);
	pb_message(to, field, &clean);
}

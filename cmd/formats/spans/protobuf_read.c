/* SPDX-License-Identifier: GPL-3.0-or-later */
/* protobuf_read.c - see protobuf_read.h. */
#include "cmd/formats/spans/protobuf_read.h"

#include <errno.h>
#include <string.h>

#include "base/banned.h"
#include "base/str.h"
#include "base/text/utf8.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };
enum { VARINT_BYTES = 10, NUMBER_MOST = (1 << 29) - 1 };

static int read_varint(struct pb *m, uint64_t *ret)
{
	*ret = 0;
	for (unsigned i = 0; i < VARINT_BYTES; i++) {
		if (m->at == m->end)
			return -ENODATA;
		*ret |= (uint64_t)(*m->at & 0x7f) << 7 * i;
		if (!(*m->at++ & 0x80))
			return 0;
	}
	return -EBADMSG;
}

static int read_fixed(struct pb *m, unsigned bytes, uint64_t *ret)
{
	if ((size_t)(m->end - m->at) < bytes)
		return -ENODATA;
	*ret = 0;
	for (unsigned i = 0; i < bytes; i++)
		*ret |= (uint64_t)m->at[i] << 8 * i;
	m->at += bytes;
	return 0;
}

static int read_bytes(struct pb *m, struct pb *ret)
{
	uint64_t len;
	int e = read_varint(m, &len);

	if (e < 0)
		return e;
	if (len > (uint64_t)(m->end - m->at))
		return -ENODATA;
	*ret = pb_of(m->at, len);
	m->at += len;
	return 0;
}

static int read_value(struct pb *m, enum wire wire, struct pb_field *ret)
{
	switch (wire) {
	case WIRE_VARINT:
		return read_varint(m, &ret->value);
	case WIRE_64:
		return read_fixed(m, 8, &ret->value);
	case WIRE_BYTES:
		return read_bytes(m, &ret->bytes);
	case WIRE_32:
		return read_fixed(m, 4, &ret->value);
	default:
		return -EBADMSG;	/* the groups of the first version have no place in what is read here */
	}
}

int pb_next(struct pb *m, struct pb_field *ret)
{
	struct pb rest = *m;
	uint64_t key;
	int e;

	if (m->at == m->end)
		return 0;
	e = read_varint(&rest, &key);
	if (e < 0)
		return e;
	if (key >> 3 == 0 || key >> 3 > NUMBER_MOST)
		return -EBADMSG;
	*ret = (struct pb_field){ .number = (uint32_t)(key >> 3) };
	e = read_value(&rest, (enum wire)(key & 7), ret);
	if (e < 0)
		return e;
	m->at = rest.at;
	return 1;
}

const char *pb_string(struct arena *a, struct pb bytes)
{
	_cleanup_(str_release) struct str clean = STR_INIT;
	const char *text = bytes.at ? arena_strndup(a, (const char *)bytes.at, (size_t)(bytes.end - bytes.at)) : "";

	utf8_add_line(&clean, text);
	return strcmp(str_cstr(&clean), text) == 0 ? text : arena_strdup(a, str_cstr(&clean));
}

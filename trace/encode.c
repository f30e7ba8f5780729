/* SPDX-License-Identifier: Apache-2.0 */
/* encode.c - varints; the idea and an example are in encode.h. */
#include <string.h>
#include "base/map.h"
#include "trace/encode.h"

void encode_long_varint(struct encoder *e, uint64_t value)
{
	unsigned char bytes[VARINT_BYTES_MAX], *at = encode_room(e) < sizeof(bytes) ? bytes : e->data + e->len;
	size_t cnt = 0;

	for (; value > 0x7f; value >>= 7)
		at[cnt++] = (unsigned char)(value | 0x80);
	at[cnt++] = (unsigned char)value;
	if (encode_room(e) < cnt) {
		e->full = true;
		return;
	}
	if (at == bytes)
		memcpy(e->data + e->len, bytes, cnt);
	e->len += cnt;
}

void encode_text(struct encoder *e, const char *text, size_t len)
{
	if (encode_room(e) < len + VARINT_BYTES_MAX) {
		e->full = true;
		return;
	}
	encode_varint(e, len);
	memcpy(e->data + e->len, text, len);
	e->len += len;
}

uint64_t decode_long_varint(struct decoder *d)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint64_t byte;

		if (d->at == d->end)
			break;
		byte = *d->at++;
		if (shift == 63 && byte > 1)
			break;
		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	d->bad = true;
	d->at = d->end;
	return 0;
}

const char *decode_text(struct decoder *d, size_t *ret_len)
{
	uint64_t len = decode_varint(d);
	const char *text = (const char *)d->at;

	if (d->bad || len > decode_left(d)) {
		d->bad = true;
		d->at = d->end;
		*ret_len = 0;
		return NULL;
	}
	d->at += len;
	*ret_len = len;
	return text;
}

/* Each step is reversible, since its factor is odd, so two different words give two different sums. */
uint64_t encode_checksum(const void *data, size_t len)
{
	const char *at = data;
	uint64_t sum = len, word;
	size_t left = len;

	for (; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum = hash_u64(sum, word);
	}
	word = 0;
	if (left)
		memcpy(&word, at, left);
	return hash_u64(sum, word);
}

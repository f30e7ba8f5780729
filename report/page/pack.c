/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack.c - JSON for the page: parts of arrays, compressed texts.
 *
 * What is packed is read by DecompressionStream("deflate"), which is zlib's format.  100,000 latencies of six digits are 700 kB
 * as text, 320 kB packed, 430 kB in base64.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/banned.h"
#include "report/page/sections.h"

void json_keep(json_t *array, const bool *keep)
{
	json_t *kept = json_array();

	for (size_t i = 0; i < json_array_size(array); i++)
		if (keep[i])
			json_array_append(kept, json_array_get(array, i));
	json_array_clear(array);
	json_array_extend(array, kept);
	json_decref(kept);
}

static char *base64_of(const unsigned char *bytes, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = xcalloc((len + 2) / 3 * 4 + 1, 1), *to = text;

	for (size_t i = 0; i < len; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16 | (uint32_t)(i + 1 < len ? bytes[i + 1] : 0) << 8 |
				 (i + 2 < len ? bytes[i + 2] : 0);

		*to++ = digits[three >> 18];
		*to++ = digits[three >> 12 & 63];
		*to++ = i + 1 < len ? digits[three >> 6 & 63] : '=';
		*to++ = i + 2 < len ? digits[three & 63] : '=';
	}
	return text;
}

json_t *json_packed(const char *text, size_t len)
{
	uLongf packed_len = compressBound(len);
	_cleanup_(freep) unsigned char *packed = xcalloc(packed_len + 1, 1);
	_cleanup_(freep) char *base64 = NULL;
	json_t *o = json_object();

	/* It fails for lack of memory or room only; there is room. */
	if (compress2(packed, &packed_len, (const unsigned char *)text, len, 9) != Z_OK)
		abort();
	base64 = base64_of(packed, packed_len);
	json_set(o, "packed", json_string(base64));
	return o;
}

json_t *json_packed_value(json_t *value)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	json_t *packed;

	if (!out)
		abort();
	json_write_compact(out, value);
	fclose(out);
	packed = json_packed(text, len);
	free(text);
	json_decref(value);
	return packed;
}

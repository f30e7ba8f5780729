/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack.c - JSON for the page: the heaviest items of arrays, and compressed texts.
 *
 * The page reads packed texts with DecompressionStream("deflate"), which is zlib's format.  100,000 latencies of six digits take
 * 700 kB as text, 320 kB packed, 430 kB in base64.
 */
#include <stdlib.h>
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

struct weighed {
	size_t item;
	double weight;
};

static int heaviest_first(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

bool *keep_heaviest(const double *weights, size_t cnt, size_t most)
{
	_cleanup_(freep) struct weighed *order = xcalloc(cnt + 1, sizeof(*order));
	bool *keep = xcalloc(cnt + 1, sizeof(*keep));

	for (size_t i = 0; i < cnt; i++)
		order[i] = (struct weighed){ i, weights[i] };
	qsort(order, cnt, sizeof(*order), heaviest_first);
	for (size_t i = 0; i < cnt && i < most; i++)
		keep[order[i].item] = true;
	return keep;
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

	/* It can fail only for lack of memory or of space, and there is enough space. */
	if (compress2(packed, &packed_len, (const unsigned char *)text, len, 9) != Z_OK)
		abort();
	base64 = base64_of(packed, packed_len);
	json_set(o, "packed", json_string(base64));
	return o;
}

char *json_compact_text(const json_t *value, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	if (!out)
		abort();
	json_write_compact(out, value);
	fclose(out);
	return text;
}

json_t *json_packed_value(json_t *value)
{
	size_t len;
	_cleanup_(freep) char *text = json_compact_text(value, &len);

	json_decref(value);
	return json_packed(text, len);
}

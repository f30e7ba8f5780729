/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack.c - text in few bytes (zstd), with a checksum: damage is noticed.
 */
#include <errno.h>
#include <zstd.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/pack.h"

#define LEVEL 3				/* zstd's default; higher levels save little more, lower ones a third less */

static void free_context(ZSTD_CCtx **c)
{
	ZSTD_freeCCtx(*c);
}

int pack(const char *text, size_t len, struct str *ret)
{
	_cleanup_(free_context) ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t most = ZSTD_compressBound(len), n;
	_cleanup_(freep) char *bytes = xmalloc(most);

	if (!context)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(context, bytes, most, text, len);
	if (ZSTD_isError(n))
		return -ENOMEM;
	str_addn(ret, bytes, n);
	return 0;
}

int unpack(const char *bytes, size_t len, size_t most, char **ret, size_t *ret_len)
{
	unsigned long long claimed = ZSTD_getFrameContentSize(bytes, len);
	_cleanup_(freep) char *text = NULL;

	/* zstd's two error values are larger than any size that the caller accepts. */
	if (claimed > most || ZSTD_findFrameCompressedSize(bytes, len) != len)
		return -EBADMSG;
	text = xmalloc((size_t)claimed + 1);
	if (ZSTD_decompress(text, (size_t)claimed, bytes, len) != claimed)
		return -EBADMSG;
	text[claimed] = '\0';
	*ret_len = (size_t)claimed;
	*ret = TAKE_PTR(text);
	return 0;
}

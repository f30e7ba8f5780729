/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perfetto_unpack.c - see perfetto_unpack.h. */
#include "cmd/formats/spans/perfetto_unpack.h"

#include <errno.h>
#include <limits.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"

enum { PIECE_BYTES = 64 << 10, UNPACKED_MOST = 64 << 20 };	/* Perfetto packs 512 KiB at a time */

static int unpack_zlib(struct pb packed, struct str *ret)
{
	_cleanup_(freep) unsigned char *piece = xmalloc(PIECE_BYTES);
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)packed.at, .avail_in = (unsigned)(packed.end - packed.at) };
	int r = inflateInit(&z) == Z_OK ? Z_OK : Z_MEM_ERROR;

	while (r == Z_OK && ret->len <= UNPACKED_MOST) {
		z.next_out = piece;
		z.avail_out = PIECE_BYTES;
		r = inflate(&z, Z_NO_FLUSH);
		if (r == Z_OK || r == Z_STREAM_END)
			str_addn(ret, (const char *)piece, PIECE_BYTES - z.avail_out);
		if (r == Z_OK && z.avail_out == PIECE_BYTES)
			break;			/* the input ends within the stream */
	}
	inflateEnd(&z);
	return ret->len > UNPACKED_MOST ? -E2BIG : r == Z_STREAM_END ? 0 : -EBADMSG;
}

static int unpack_zstd(struct pb packed, struct str *ret)
{
	_cleanup_(freep) unsigned char *piece = xmalloc(PIECE_BYTES);
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	ZSTD_inBuffer in = { packed.at, (size_t)(packed.end - packed.at), 0 };
	size_t r = 1, had = 1;

	while (zstd && r && !ZSTD_isError(r) && had && ret->len <= UNPACKED_MOST) {
		ZSTD_outBuffer out = { piece, PIECE_BYTES, 0 };

		r = ZSTD_decompressStream(zstd, &out, &in);
		had = out.pos || in.pos < in.size;
		if (!ZSTD_isError(r))
			str_addn(ret, (const char *)piece, out.pos);
	}
	ZSTD_freeDCtx(zstd);
	return ret->len > UNPACKED_MOST ? -E2BIG : r == 0 ? 0 : -EBADMSG;
}

int perfetto_unpack(struct pb packed, bool is_zstd, struct str *ret)
{
	if (packed.end - packed.at > INT_MAX)
		return -E2BIG;
	return is_zstd ? unpack_zstd(packed, ret) : unpack_zlib(packed, ret);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - the trace file: blocks, each compressed and checked by itself.
 *
 * A block that does not fit on the disk is cut off again, so that the file always ends with a
 * whole one; from then on blocks are dropped and the run goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "trace/encode.h"
#include "trace/file.h"
#include "trace/format.h"

enum { ZSTD_LEVEL = 1 };

static bool write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

int trace_file_open(struct trace_file *f, const char *path, uint64_t magic, uint32_t version)
{
	struct trace_header header = { magic, version, sizeof(header) };

	f->packed_cap = ZSTD_compressBound(TRACE_BLOCK_RAW_MAX);
	f->packed = malloc(f->packed_cap);
	f->zstd = ZSTD_createCCtx();
	if (!f->packed || !f->zstd)
		return -ENOMEM;
	f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return -errno;
	if (!write_all(f->fd, &header, sizeof(header)))
		return errno ? -errno : -EIO;
	f->bytes = sizeof(header);
	return 0;
}

int trace_file_close(struct trace_file *f)
{
	int r = 0;

	if (f->fd >= 0 && close(f->fd))
		r = -errno;
	f->fd = -1;
	free(f->packed);
	ZSTD_freeCCtx(f->zstd);
	f->packed = NULL;
	f->zstd = NULL;
	return r;
}

void trace_file_block(struct trace_file *f, uint32_t kind, const void *data, size_t len)
{
	struct trace_block block = { TRACE_BLOCK_MAGIC, kind, (uint32_t)len, 0, 0 };
	size_t packed;

	if (f->full || !len || len > TRACE_BLOCK_RAW_MAX)
		return;
	packed = ZSTD_compressCCtx(f->zstd, f->packed, f->packed_cap, data, len, ZSTD_LEVEL);
	if (ZSTD_isError(packed))
		return;
	block.stored_bytes = (uint32_t)packed;
	block.checksum = encode_checksum(f->packed, packed);
	if (write_all(f->fd, &block, sizeof(block)) && write_all(f->fd, f->packed, packed)) {
		f->bytes += sizeof(block) + packed;
		return;
	}
	f->full = true;
	if (ftruncate(f->fd, (off_t)f->bytes)) {
		/* The reader cuts the half block off by itself. */
	}
}

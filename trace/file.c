/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - the trace file: blocks, each compressed and checked by itself.
 *
 * A block that does not fit on the disk is not begun, so that the file always ends with a whole one; from
 * then on blocks are dropped and the run goes on.  Room for the end, which says what is missing, is reserved
 * all the time:
 *
 *	blocks ... 5,000,000 | END_BYTES | AHEAD_BYTES	reserved 6,100,000
 *	a block of 200,000: written, still reserved	blocks ... 5,200,000 | ...
 *	one of 900,000 on a full disk: 64 kB would not be left after it, so it is dropped
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "trace/encode.h"
#include "trace/file.h"
#include "trace/format.h"

enum {
	ZSTD_LEVEL = 1,
	STORED_BLOCKS = 15, TOLD_BYTES = 1 << 14, STORED_RATIO_PERCENT = 70,
	STORED_MAX = 1 << 17,		/* of a block of zstd's */
	END_BYTES = 1 << 16,
	FAILED_MAX = 256,		/* a file full of damaged blocks is not searched for ever */
	AHEAD_BYTES = 1 << 20,		/* large enough that one block in four reserves more */
};

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

static bool start_packing(struct trace_file *f)
{
	f->packed_cap = sizeof(struct trace_place) + ZSTD_compressBound(TRACE_BLOCK_RAW_MAX);
	f->packed = malloc(f->packed_cap);
	f->zstd = ZSTD_createCCtx();
	return f->packed && f->zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL));
}

int trace_file_open(struct trace_file *f, const char *path, uint64_t magic, uint32_t version)
{
	struct trace_header header = { magic, version, sizeof(header) };

	if (!start_packing(f))
		return -ENOMEM;
	f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (f->fd < 0)
		return -errno;
	if (!write_all(f->fd, &header, sizeof(header)))
		return errno ? -errno : -EIO;
	f->bytes = sizeof(header);
	return 0;
}

uint64_t trace_place_checksum(const struct trace_block *block, const struct trace_place *place)
{
	const uint64_t words[] = {
		(uint64_t)block->kind << 32 | block->magic, (uint64_t)block->stored_bytes << 32 | block->raw_bytes,
		place->number, place->since, place->until,
	};

	return encode_checksum(words, sizeof(words));
}

/* Whether a whole block begins at byte at. */
static bool is_block(struct trace_file *f, uint64_t at, struct trace_block *ret, struct trace_place *ret_place)
{
	const size_t both = sizeof(*ret) + sizeof(*ret_place);

	if (pread(f->fd, f->packed, both, (off_t)at) != (ssize_t)both)
		return false;
	memcpy(ret, f->packed, sizeof(*ret));
	memcpy(ret_place, f->packed + sizeof(*ret), sizeof(*ret_place));
	return ret->magic == TRACE_BLOCK_MAGIC && ret_place->checksum == trace_place_checksum(ret, ret_place) &&
	       ret->stored_bytes <= f->packed_cap &&
	       pread(f->fd, f->packed, ret->stored_bytes, (off_t)(at + sizeof(*ret))) == (ssize_t)ret->stored_bytes &&
	       encode_checksum(f->packed, ret->stored_bytes) == ret->checksum;
}

/* The next place, from `at` on, where a block may begin; UINT64_MAX: there is none. */
static uint64_t find_magic(struct trace_file *f, uint64_t at)
{
	const uint32_t magic = TRACE_BLOCK_MAGIC;
	ssize_t n;

	while ((n = pread(f->fd, f->packed, f->packed_cap, (off_t)at)) >= (ssize_t)sizeof(magic)) {
		const unsigned char *found = memmem(f->packed, (size_t)n, &magic, sizeof(magic));

		if (found)
			return at + (uint64_t)(found - f->packed);
		at += (uint64_t)n - sizeof(magic) + 1;
	}
	return UINT64_MAX;
}

/* Finds the end of the last whole block: f->bytes, f->number.  Damage before it is left to the reader. */
static void find_end(struct trace_file *f)
{
	struct trace_block block;
	struct trace_place place;
	uint64_t at = f->bytes;

	for (int failed = 0; at != UINT64_MAX && failed < FAILED_MAX;) {
		if (is_block(f, at, &block, &place)) {
			at += sizeof(block) + block.stored_bytes;
			f->bytes = at;
			f->number = place.number > f->number ? place.number : f->number;
		} else {
			failed++;
			at = find_magic(f, at + 1);
		}
	}
}

int trace_file_reopen(struct trace_file *f, const char *path, uint64_t magic, uint32_t version)
{
	struct trace_header header;

	if (!start_packing(f))
		return -ENOMEM;
	f->fd = file_open_plain(path, O_RDWR | O_NOFOLLOW);
	if (f->fd < 0)
		return f->fd;
	if (pread(f->fd, &header, sizeof(header), 0) != sizeof(header) || header.magic != magic ||
	    header.version != version || header.header_bytes != sizeof(header))
		return -EBADMSG;
	f->bytes = sizeof(header);
	find_end(f);
	return ftruncate(f->fd, (off_t)f->bytes) || lseek(f->fd, (off_t)f->bytes, SEEK_SET) < 0 ? -errno : 0;
}

int trace_file_close(struct trace_file *f)
{
	int r = 0;

	if (f->fd >= 0 && f->reserved > f->bytes && ftruncate(f->fd, (off_t)f->bytes)) {
		/* The reservation remains. */
	}
	if (f->fd >= 0 && close(f->fd))
		r = -errno;
	f->fd = -1;
	free(f->packed);
	ZSTD_freeCCtx(f->zstd);
	f->packed = NULL;
	f->zstd = NULL;
	return r;
}

/* Whether the file has room for len bytes and its end.  On a file system without reservation, the write
 * itself finds out. */
static bool reserve(struct trace_file *f, size_t len)
{
	uint64_t until = f->bytes + len + END_BYTES;
	int r;

	if (f->limit && until > f->limit) {
		f->error = 0;
		return false;
	}
	if (until <= f->reserved)
		return true;
	r = fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)f->bytes, (off_t)(until + AHEAD_BYTES - f->bytes));
	if (!r) {
		f->reserved = until + AHEAD_BYTES;
		return true;
	}
	if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
		r = fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)f->bytes, (off_t)(until - f->bytes));
	if (!r)
		f->reserved = until;
	else
		f->error = errno;
	return !r || (errno != ENOSPC && errno != EDQUOT && errno != EFBIG);
}

static bool write_block(struct trace_file *f, const struct trace_block *block)
{
	if (write_all(f->fd, block, sizeof(*block)) && write_all(f->fd, f->packed, block->stored_bytes)) {
		f->bytes += sizeof(*block) + block->stored_bytes;
		f->number++;
		return true;
	}
	f->error = errno;
	if (ftruncate(f->fd, (off_t)f->bytes) || lseek(f->fd, (off_t)f->bytes, SEEK_SET) < 0) {
		/* The reader drops the half block. */
	}
	return false;
}

static unsigned char *put_bytes(unsigned char *to, uint64_t value, unsigned int cnt)
{
	for (; cnt; cnt--, value >>= 8)
		*to++ = (unsigned char)value;
	return to;
}

/*
 * As zstd stores what cannot be compressed (RFC 8878), so that readers need no special case.  10 bytes:
 *
 *	28 b5 2f fd	a frame	| a0	its size in 4 bytes: | 0a 00 00 00 | 51 00 00	the last block: 10 << 3 | 1 | the bytes
 */
static size_t store(unsigned char *to, const unsigned char *data, size_t len)
{
	unsigned char *at = put_bytes(to, ZSTD_MAGICNUMBER, 4);

	at = put_bytes(at, 0xa0, 1);
	at = put_bytes(at, len, 4);
	while (len) {
		size_t part = len < STORED_MAX ? len : STORED_MAX;

		at = put_bytes(at, part << 3 | (part == len), 3);
		memcpy(at, data, part);
		at += part;
		data += part;
		len -= part;
	}
	return (size_t)(at - to);
}

/*
 * Calls of many rarely called functions hardly repeat themselves, so that zstd searches in vain and saves
 * little more than the shorter codes of frequent bytes.  So if compression hardly shrank a block, the next
 * blocks are stored uncompressed, unless the file has a limit:
 *
 *	PostgreSQL, 500 functions	0.80 of the bytes in 2.2 ns each: stored
 *	SQLite				0.48 in 2.8: compressed
 *
 * Then the next block is compressed again as a trial.
 */
static size_t compress(struct trace_file *f, unsigned char *to, const void *data, size_t len)
{
	size_t packed = ZSTD_compress2(f->zstd, to, f->packed_cap - sizeof(struct trace_place), data, len);

	if (len >= TOLD_BYTES && !ZSTD_isError(packed) && packed * 100 / len >= STORED_RATIO_PERCENT)
		f->stored_left = STORED_BLOCKS;
	return packed;
}

static bool pack(struct trace_file *f, struct trace_block *block, struct trace_place *place, const void *data, size_t len)
{
	bool stores = f->in_haste || (f->stored_left && !f->limit);
	unsigned char *to = f->packed + sizeof(*place);
	size_t packed;

	if (f->stored_left)
		f->stored_left--;
	packed = stores ? store(to, data, len) : compress(f, to, data, len);

	if (ZSTD_isError(packed))
		return false;
	/* Blocks of long, repetitive names do that. */
	if (len / TRACE_BLOCK_RATIO_MAX > packed)
		packed = store(to, data, len);
	block->raw_bytes = (uint32_t)len;
	block->stored_bytes = (uint32_t)(sizeof(*place) + packed);
	place->number = f->number + 1;
	place->checksum = trace_place_checksum(block, place);
	memcpy(f->packed, place, sizeof(*place));
	block->checksum = encode_checksum(f->packed, block->stored_bytes);
	return true;
}

bool trace_file_records(struct trace_file *f, uint32_t kind, const void *data, size_t len, uint64_t since, uint64_t until)
{
	struct trace_block block = { .magic = TRACE_BLOCK_MAGIC, .kind = kind };
	struct trace_place place = { .since = since, .until = until };

	if (!len)
		return true;
	if (f->full || len > TRACE_BLOCK_RAW_MAX || !pack(f, &block, &place, data, len))
		return false;
	/* Compressed, the block may still fit. */
	if (f->in_haste && !reserve(f, sizeof(block) + block.stored_bytes)) {
		f->in_haste = false;
		if (!pack(f, &block, &place, data, len))
			return false;
	}
	f->full = !reserve(f, sizeof(block) + block.stored_bytes) || !write_block(f, &block);
	return !f->full;
}

bool trace_file_block(struct trace_file *f, uint32_t kind, const void *data, size_t len)
{
	return trace_file_records(f, kind, data, len, 0, 0);
}

bool trace_file_last(struct trace_file *f, uint32_t kind, const void *data, size_t len)
{
	struct trace_block block = { .magic = TRACE_BLOCK_MAGIC, .kind = kind };
	struct trace_place place = { .number = 0 };

	return len && len < END_BYTES / 4 && pack(f, &block, &place, data, len) && write_block(f, &block);
}

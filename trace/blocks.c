/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blocks.c - the blocks of a trace file, checked: sizes before memory is taken, sums before anything
 * is unpacked.
 *
 * The file is cut where its last block is not whole: a recorder that was killed leaves that, and
 * all before is good.  A block that is whole but does not match its checksum is damage.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "trace/blocks.h"
#include "trace/encode.h"
#include "trace/format.h"

enum { RATIO_MAX = 512 };	/* zstd makes no trace smaller than that: a bomb */

int blocks_damaged(const struct blocks *b, const char *what, struct diag *reterr)
{
	return diag_set(reterr, EXIT_DATA, -EBADMSG, "trace '%s' is damaged at byte %llu: %s",
			b->path, (unsigned long long)b->at, what);
}

/* false: the file ends before len bytes, or cannot be read. */
static bool read_at(const struct blocks *b, void *data, size_t len, uint64_t at)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(b->fd, (char *)data + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

int blocks_open(struct blocks *b, const char *path, uint64_t magic, uint32_t oldest, uint32_t newest,
		struct diag *reterr)
{
	struct trace_header header;
	struct stat st;

	*b = (struct blocks){ .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (b->fd < 0 || fstat(b->fd, &st))
		return diag_set(reterr, EXIT_DATA, -errno, "cannot read trace '%s': %s", path,
				strerror(errno));
	b->size = (uint64_t)st.st_size;
	if (!read_at(b, &header, sizeof(header), 0) || header.magic != magic)
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is not a vprof trace", path);
	if (header.version < oldest || header.version > newest || header.header_bytes != sizeof(header))
		return diag_set(reterr, EXIT_DATA, -EBADMSG,
				"trace '%s' has format version %u; this vprof reads %u to %u",
				path, header.version, oldest, newest);
	b->next = sizeof(header);
	return 0;
}

void blocks_close(struct blocks *b)
{
	if (b->fd >= 0)
		close(b->fd);
	ZSTD_freeDCtx(b->zstd);
	free(b->packed);
	free(b->plain);
	for (size_t i = 0; i < BLOCKS_KEPT; i++)
		free(b->kept[i].plain);
}

/* Room for len bytes; what was there is gone. */
static void make_room(unsigned char **data, size_t *cap, size_t len)
{
	if (len <= *cap)
		return;
	free(*data);
	*data = xmalloc(len);
	*cap = len;
}

/* Reads what is packed in the block, and unpacks it.  NULL, or what is wrong; *ret_cut: the file ends in it. */
static const char *unpack(struct blocks *b, const struct trace_block *block, bool check, bool *ret_cut)
{
	uint64_t at = b->at + sizeof(*block);

	*ret_cut = block->stored_bytes > b->size - at;
	if (*ret_cut)
		return NULL;
	make_room(&b->packed, &b->packed_cap, block->stored_bytes);
	*ret_cut = !read_at(b, b->packed, block->stored_bytes, at);
	if (*ret_cut)
		return NULL;
	if (check && encode_checksum(b->packed, block->stored_bytes) != block->checksum)
		return "the checksum of a block is wrong";
	make_room(&b->plain, &b->plain_cap, block->raw_bytes);
	if (!b->zstd)
		b->zstd = ZSTD_createDCtx();
	if (!b->zstd || ZSTD_decompressDCtx(b->zstd, b->plain, block->raw_bytes, b->packed, block->stored_bytes) !=
			block->raw_bytes)
		return "a block cannot be unpacked";
	return NULL;
}

static bool read_block(struct blocks *b, bool check, int *ret_err, struct diag *reterr)
{
	struct trace_block block;
	const char *wrong = NULL;
	bool cut = false;

	*ret_err = 0;
	b->at = b->next;
	b->cut_bytes = b->size - b->at;
	if (b->at >= b->size || !read_at(b, &block, sizeof(block), b->at))
		return false;
	if (block.magic != TRACE_BLOCK_MAGIC)
		wrong = "no block begins here";
	else if (!block.raw_bytes || block.raw_bytes > TRACE_BLOCK_RAW_MAX ||
		 block.stored_bytes > ZSTD_COMPRESSBOUND(TRACE_BLOCK_RAW_MAX) ||
		 block.raw_bytes / RATIO_MAX > block.stored_bytes)
		wrong = "a block of impossible size";
	else
		wrong = unpack(b, &block, check, &cut);
	if (cut)
		return false;
	if (wrong) {
		*ret_err = blocks_damaged(b, wrong, reterr);
		return false;
	}
	b->kind = block.kind;
	b->len = block.raw_bytes;
	b->next = b->at + sizeof(block) + block.stored_bytes;
	return true;
}

bool blocks_next(struct blocks *b, int *ret_err, struct diag *reterr)
{
	return read_block(b, true, ret_err, reterr);
}

/* The block that was read last is kept, and what was in its place is the last one. */
static void exchange(struct blocks *b, struct unpacked *kept)
{
	struct unpacked last = { b->at, b->next, b->plain, b->plain_cap, b->len, b->kind };

	b->at = kept->at;
	b->next = kept->next;
	b->plain = kept->plain;
	b->plain_cap = kept->cap;
	b->len = kept->len;
	b->kind = kept->kind;
	*kept = last;
}

bool blocks_again(struct blocks *b, uint64_t at, int *ret_err, struct diag *reterr)
{
	if (b->at == at)
		return true;
	for (size_t i = 0; i < BLOCKS_KEPT; i++)
		if (b->kept[i].at == at) {
			exchange(b, &b->kept[i]);
			return true;
		}
	exchange(b, &b->kept[b->kept_next]);
	b->kept_next = (b->kept_next + 1) % BLOCKS_KEPT;
	b->next = at;
	return read_block(b, false, ret_err, reterr);
}

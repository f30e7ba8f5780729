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
#include "base/map.h"
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
	free(b->packed.data);
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

/* What is packed at byte at of the file, not unpacked yet; the file may end before, or in it. */
static void look(const struct blocks *b, struct packed_block *p, uint64_t at)
{
	const struct trace_block *head = &p->head;

	p->at = at;
	p->wrong = NULL;
	p->is_cut = at >= b->size || !read_at(b, &p->head, sizeof(p->head), at);
	if (p->is_cut)
		return;
	if (head->magic != TRACE_BLOCK_MAGIC && head->magic != TRACE_BLOCK_MAGIC_BYTES)
		p->wrong = "no block begins here";
	else if (!head->raw_bytes || head->raw_bytes > TRACE_BLOCK_RAW_MAX ||
		 head->stored_bytes > ZSTD_COMPRESSBOUND(TRACE_BLOCK_RAW_MAX) ||
		 head->raw_bytes / RATIO_MAX > head->stored_bytes)
		p->wrong = "a block of impossible size";
	if (p->wrong)
		return;
	p->is_cut = head->stored_bytes > b->size - at - sizeof(*head);
	if (p->is_cut)
		return;
	make_room(&p->data, &p->cap, head->stored_bytes);
	p->is_cut = !read_at(b, p->data, head->stored_bytes, at + sizeof(*head));
}

static bool has_its_sum(const struct packed_block *p)
{
	uint64_t sum = p->head.magic == TRACE_BLOCK_MAGIC_BYTES ? hash_bytes(0, p->data, p->head.stored_bytes) :
								 encode_checksum(p->data, p->head.stored_bytes);

	return sum == p->head.checksum;
}

static uint64_t behind(const struct packed_block *p)
{
	return p->at + sizeof(p->head) + p->head.stored_bytes;
}

static bool unpack(struct blocks *b, const struct packed_block *p)
{
	make_room(&b->plain, &b->plain_cap, p->head.raw_bytes);
	if (!b->zstd)
		b->zstd = ZSTD_createDCtx();
	return b->zstd && ZSTD_decompressDCtx(b->zstd, b->plain, p->head.raw_bytes, p->data, p->head.stored_bytes) ==
				  p->head.raw_bytes;
}

static bool read_block(struct blocks *b, const struct packed_block *p, int *ret_err, struct diag *reterr)
{
	*ret_err = 0;
	b->at = p->at;
	b->cut_bytes = b->size - b->at;
	if (p->is_cut)
		return false;
	if (p->wrong || !unpack(b, p)) {
		*ret_err = blocks_damaged(b, p->wrong ? p->wrong : "a block cannot be unpacked", reterr);
		return false;
	}
	b->kind = p->head.kind;
	b->len = p->head.raw_bytes;
	b->next = behind(p);
	return true;
}

bool blocks_next(struct blocks *b, int *ret_err, struct diag *reterr)
{
	struct packed_block *p = &b->packed;

	look(b, p, b->next);
	if (!p->is_cut && !p->wrong && !has_its_sum(p))
		p->wrong = "the checksum of a block is wrong";
	return read_block(b, p, ret_err, reterr);
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
	look(b, &b->packed, at);
	return read_block(b, &b->packed, ret_err, reterr);
}

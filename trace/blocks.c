/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blocks.c - the blocks of a trace file, checked: sizes before memory is taken, sums before anything is
 * unpacked.
 *
 * block_list.c has found where they stand.  A file whose last block is cut off comes from a recorder that was
 * killed; all blocks before that are good.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/file.h"
#include "base/map.h"
#include "trace/blocks.h"
#include "trace/encode.h"
#include "trace/format.h"
#include "trace/kernel_format.h"

int blocks_damaged(const struct blocks *b, const char *what, struct diag *reterr)
{
	return diag_set(reterr, EXIT_DATA, -EBADMSG, "trace '%s' is damaged at byte %llu: %s",
			b->path, (unsigned long long)b->at, what);
}

/* A header of another kind of file is not damage. */
static bool is_of_other_kind(const struct trace_header *h)
{
	return h->header_bytes == sizeof(*h) && (h->magic == TRACE_MAGIC || h->magic == KERNEL_MAGIC);
}

static int other_version(const char *path, uint32_t version, uint32_t known, struct diag *reterr)
{
	diag_set(reterr, EXIT_DATA, -EBADMSG, "trace '%s' has format version %u; this vprof reads version %u", path, version, known);
	return diag_remedy(reterr, -EBADMSG, "analyze it with the vprof that recorded it, or record again with this one");
}

int blocks_open(struct blocks *b, const char *path, uint64_t magic, uint32_t version, struct diag *reterr)
{
	struct trace_header header = { .magic = 0 };
	struct stat st;
	bool is_header;

	*b = (struct blocks){ .path = path, .fd = file_open_plain(path, O_RDONLY) };
	if (b->fd < 0 || fstat(b->fd, &st)) {
		int err = b->fd < 0 ? b->fd : -errno;

		return diag_set(reterr, EXIT_DATA, err, "cannot read trace '%s': %s", path, file_why(err));
	}
	b->size = (uint64_t)st.st_size;
	is_header = block_read_at(b->fd, &header, sizeof(header), 0) && header.magic == magic;
	if (is_header && (header.version != version || header.header_bytes != sizeof(header)))
		return other_version(path, header.version, version, reterr);
	if (is_header || !is_of_other_kind(&header))
		block_list_make(&b->list, b->fd, b->size, is_header ? sizeof(header) : 0);
	if (!is_header && !b->list.whole.cnt)
		return diag_set(reterr, EXIT_DATA, -EBADMSG, "'%s' is not a vprof trace", path);
	b->cut_bytes = b->list.cut_bytes;
	return 0;
}

void blocks_share_seen(struct blocks *b, struct map *seen)
{
	b->seen = seen;
	b->shares_seen = true;
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
	block_list_release(&b->list);
	VEC_RELEASE(&b->lost);
	VEC_RELEASE(&b->twice);
	if (!b->shares_seen)
		map_free(b->seen);
}

bool blocks_have_holes(const struct blocks *b)
{
	const struct listed_block *whole = b->list.whole.items;
	size_t cnt = b->list.whole.cnt;

	return b->list.damaged_bytes || b->list.damaged.cnt || b->lost.cnt || b->twice.cnt || (cnt && whole[0].number > 1) ||
	       (cnt && whole[cnt - 1].number - whole[0].number != cnt - 1);
}

/* Makes room for len bytes; the old contents are lost. */
static void make_room(unsigned char **data, size_t *cap, size_t len)
{
	if (len <= *cap)
		return;
	free(*data);
	*data = xmalloc(len);
	*cap = len;
}

/* Reads the packed contents at byte `at` of the file; false: they cannot be read. */
static bool read_packed(const struct blocks *b, struct packed_block *p, uint64_t at)
{
	const struct trace_block *head = &p->head;

	p->at = at;
	if (!block_read_at(b->fd, &p->head, sizeof(p->head), at) || !block_list_takes(head))
		return false;
	make_room(&p->data, &p->cap, head->stored_bytes);
	return block_read_at(b->fd, p->data, head->stored_bytes, at + sizeof(*head));
}

static bool has_its_sum(const struct packed_block *p)
{
	return encode_checksum(p->data, p->head.stored_bytes) == p->head.checksum;
}

static bool unpack(struct blocks *b, const struct packed_block *p)
{
	const size_t skip = sizeof(struct trace_place);

	make_room(&b->plain, &b->plain_cap, p->head.raw_bytes);
	if (!b->zstd)
		b->zstd = ZSTD_createDCtx();
	if (!b->zstd || p->head.stored_bytes < skip ||
	    ZSTD_decompressDCtx(b->zstd, b->plain, p->head.raw_bytes, p->data + skip, p->head.stored_bytes - skip) !=
		    p->head.raw_bytes)
		return false;
	b->at = p->at;
	b->kind = p->head.kind;
	b->len = p->head.raw_bytes;
	return true;
}

static bool is_seen(struct blocks *b, uint64_t checksum)
{
	uint64_t *slot;

	if (!b->seen)
		b->seen = map_new();
	slot = map_slot(b->seen, checksum);
	return (*slot)++ > 0;
}

bool blocks_next(struct blocks *b, int *ret_err, struct diag *reterr)
{
	struct packed_block *p = &b->packed;

	(void)reterr;
	*ret_err = 0;
	while (b->turn < b->list.whole.cnt) {
		const struct listed_block *l = &b->list.whole.items[b->turn++];

		if (b->skips_chunks && l->kind == BLOCK_CHUNKS)
			continue;
		b->number = l->number;
		if (!read_packed(b, p, l->at) || !has_its_sum(p) || !unpack(b, p))
			VEC_ADD(&b->lost, *l);
		else if (is_seen(b, p->head.checksum))
			VEC_ADD(&b->twice, b->number);
		else
			return true;
	}
	return false;
}

uint64_t blocks_identity(const struct blocks *b)
{
	uint64_t hash = hash_u64(0, b->size);

	for (size_t i = 0; i < b->list.whole.cnt; i++) {
		const struct listed_block *l = &b->list.whole.items[i];

		hash = hash_u64(hash_u64(hash, l->at), l->checksum);
	}
	return hash;
}

/* Keeps the block that was read last; the entry that it replaces becomes the last one. */
static void exchange(struct blocks *b, struct unpacked *kept)
{
	struct unpacked last = { b->at, b->plain, b->plain_cap, b->len, b->kind };

	b->at = kept->at;
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
	*ret_err = 0;
	b->at = at;
	if (!read_packed(b, &b->packed, at) || (b->checks_again && !has_its_sum(&b->packed)) || !unpack(b, &b->packed))
		*ret_err = blocks_damaged(b, "a block cannot be unpacked", reterr);
	return !*ret_err;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mutate.c - a file of blocks (trace/format.h), taken apart, changed, put together.
 *
 * One time in sixteen the file's bytes are changed as they are: headers and sums have to be looked at, too.
 * Else one block changes: as bytes; or as the row of varints that it is, of which one gets another value,
 * is doubled, dropped, or followed by others.  Values that break programs are near 0, near powers of
 * two, and those that stand elsewhere in the block.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "tests/fuzz/mutate.h"
#include "trace/encode.h"
#include "trace/file.h"
#include "trace/format.h"

enum { BLOCKS_MAX = 64, PLAIN_MAX = 1 << 16 };

struct plain_block {
	uint32_t kind;
	size_t len;
	uint8_t *data;			/* PLAIN_MAX bytes */
};

struct plain_file {
	struct plain_block blocks[BLOCKS_MAX];
	size_t cnt;
};

static struct plain_file file;

/* The blocks that are whole; the rest is dropped. */
static void take_apart(const uint8_t *data, size_t len)
{
	struct trace_block block;
	size_t at = sizeof(struct trace_header);

	file.cnt = 0;
	while (at <= len && len - at >= sizeof(block) && file.cnt < BLOCKS_MAX) {
		struct plain_block *b = &file.blocks[file.cnt];
		const size_t skip = sizeof(struct trace_place);
		size_t plain;

		memcpy(&block, data + at, sizeof(block));
		at += sizeof(block);
		if (block.stored_bytes > len - at || block.stored_bytes < skip)
			break;
		if (!b->data)
			b->data = malloc(PLAIN_MAX);
		plain = ZSTD_decompress(b->data, PLAIN_MAX, data + at + skip, block.stored_bytes - skip);
		at += block.stored_bytes;
		if (ZSTD_isError(plain))
			continue;
		b->kind = block.kind;
		b->len = plain;
		file.cnt++;
	}
}

static size_t put_together(const struct fuzz_target *target, uint8_t *data, size_t cap)
{
	struct trace_header header = { target->magic, target->version, sizeof(header) };
	size_t at = sizeof(header);

	if (cap < at)
		return 0;
	memcpy(data, &header, sizeof(header));
	for (size_t i = 0; i < file.cnt; i++) {
		const struct plain_block *b = &file.blocks[i];
		struct trace_block block = { TRACE_BLOCK_MAGIC, b->kind, (uint32_t)b->len, 0, 0 };
		/* Now and then a hole, or one that stands there twice. */
		struct trace_place place = { i + 1 + (rand() % 64 == 0), (uint64_t)rand() % 100, (uint64_t)rand() % 200, 0 };
		size_t packed;

		if (cap - at < sizeof(block) + sizeof(place))
			break;
		packed = ZSTD_compress(data + at + sizeof(block) + sizeof(place), cap - at - sizeof(block) - sizeof(place),
				       b->data, b->len, 1);
		if (ZSTD_isError(packed))
			break;
		block.stored_bytes = (uint32_t)(packed + sizeof(place));
		place.checksum = trace_place_checksum(&block, &place);
		memcpy(data + at + sizeof(block), &place, sizeof(place));
		block.checksum = encode_checksum(data + at + sizeof(block), block.stored_bytes);
		memcpy(data + at, &block, sizeof(block));
		at += sizeof(block) + block.stored_bytes;
	}
	return at;
}

static uint64_t wild_value(const uint64_t *values, size_t cnt)
{
	uint64_t random = (uint64_t)rand();

	switch (random % 6) {
	case 0:
		return random / 6 % 4;
	case 1:
		return ((uint64_t)1 << random / 6 % 64) + random / 400 % 3 - 1;
	case 2:
		return random / 6 % 256;
	case 3:
		return UINT64_MAX - random / 6 % 3;
	default:
		return cnt ? values[random / 6 % cnt] + (random / 10000 % 4 ? 0 : random % 5 - 2) : 0;
	}
}

/* One change in a row of numbers. */
static size_t change_values(uint64_t *values, size_t cnt, size_t cap)
{
	size_t at = cnt ? (size_t)rand() % cnt : 0, other = cnt ? (size_t)rand() % cnt : 0, len;

	switch (rand() % 4) {
	case 0:
		if (cnt < cap && cnt) {
			memmove(values + at + 1, values + at, (cnt - at) * sizeof(*values));
			values[at] = wild_value(values, cnt);
			return cnt + 1;
		}
		break;
	case 1:
		if (cnt) {
			memmove(values + at, values + at + 1, (cnt - at - 1) * sizeof(*values));
			return cnt - 1;
		}
		break;
	case 2:					/* a few numbers once more, elsewhere */
		len = 1 + (size_t)rand() % 12;
		if (other + len <= cnt && cnt + len <= cap) {
			memmove(values + at + len, values + at, (cnt - at) * sizeof(*values));
			memmove(values + at, values + (other >= at ? other + len : other),
				len * sizeof(*values));
			return cnt + len;
		}
		break;
	default:
		if (cnt)
			values[at] = wild_value(values, cnt);
	}
	return cnt;
}

static void change_as_varints(struct plain_block *b)
{
	static uint64_t values[PLAIN_MAX];
	struct decoder d = { b->data, b->data + b->len, false };
	struct encoder e = { b->data, 0, PLAIN_MAX, false };
	size_t cnt = 0;

	while (decode_left(&d) && !d.bad)
		values[cnt++] = decode_varint(&d);
	for (int i = rand() % 4; i >= 0; i--)
		cnt = change_values(values, cnt, PLAIN_MAX - 16);
	for (size_t i = 0; i < cnt; i++)
		encode_varint(&e, values[i]);
	b->len = e.len;
}

static void change_blocks(void)
{
	struct plain_block *b = &file.blocks[(size_t)rand() % file.cnt], *other, old;

	other = &file.blocks[(size_t)rand() % file.cnt];
	old = *b;
	switch (rand() % 4) {
	case 0:
		*b = *other;
		*other = old;
		break;
	case 1:
		if (file.cnt > 1) {
			*b = file.blocks[--file.cnt];
			file.blocks[file.cnt] = old;
		}
		break;
	case 2:
		if (file.cnt < BLOCKS_MAX) {
			other = &file.blocks[file.cnt++];
			if (!other->data)
				other->data = malloc(PLAIN_MAX);
			other->kind = b->kind;
			other->len = b->len;
			memcpy(other->data, b->data, b->len);
		}
		break;
	default:
		b->kind = (uint32_t)rand() % 10;
	}
}

size_t mutate_blocks(const struct fuzz_target *target, uint8_t *data, size_t len, size_t cap,
		     unsigned int seed)
{
	struct plain_block *b;

	srand(seed);
	take_apart(data, len);
	if (!file.cnt || rand() % 16 == 0)
		return LLVMFuzzerMutate(data, len, cap);
	b = &file.blocks[(size_t)rand() % file.cnt];
	switch (rand() % 8) {
	case 0:
		change_blocks();
		break;
	case 1:
	case 2:
		b->len = LLVMFuzzerMutate(b->data, b->len, PLAIN_MAX);
		break;
	default:
		change_as_varints(b);
	}
	return put_together(target, data, cap);
}

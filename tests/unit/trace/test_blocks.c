/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_blocks.c - what is read many at once is what is read one by one: the checksums of blocks, and calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/cmocka_all.h"
#include "tests/oracle/random_trace.h"
#include "trace/blocks.h"
#include "trace/encode.h"
#include "trace/file.h"
#include "trace/raw/raw.h"
#include "base/banned.h"

/* ---- blocks ---- */

enum { BLOCKS = 11 };

static char path[] = "blocks-XXXXXX";
static off_t starts[BLOCKS + 1];		/* of the blocks, and of what would be behind */

static size_t len_of(size_t block)
{
	return 1 + block * 7919 % 5000;
}

static unsigned char byte_of(size_t block, size_t i)
{
	return (unsigned char)(i * 31 + block * 7 + i * i % 251);
}

static void write_blocks(void)
{
	struct trace_file f = { .fd = -1 };
	unsigned char data[5001];

	assert_int_equal(trace_file_open(&f, path, TRACE_MAGIC, TRACE_VERSION), 0);
	starts[0] = sizeof(struct trace_header);
	for (size_t k = 0; k < BLOCKS; k++) {
		struct trace_block head;
		int fd = open(path, O_RDWR);

		assert_int_equal(lseek(f.fd, starts[k], SEEK_SET), starts[k]);
		for (size_t i = 0; i < len_of(k); i++)
			data[i] = byte_of(k, i);
		trace_file_block(&f, (enum trace_block_kind)(1 + k % 3), data, len_of(k));
		assert_int_equal(pread(fd, &head, sizeof(head), starts[k]), sizeof(head));
		starts[k + 1] = starts[k] + (off_t)(sizeof(head) + head.stored_bytes);
		close(fd);
	}
	trace_file_close(&f);
	assert_int_equal(truncate(path, starts[BLOCKS]), 0);
}

/* How many are read: all but the missing ones; *ret_cut: of the last one. */
static size_t read_blocks(size_t missing, size_t missing_cnt, uint64_t *ret_cut)
{
	struct diag diag = DIAG_INIT;
	struct blocks b;
	size_t k = 0, cnt = 0;
	int err;

	assert_int_equal(blocks_open(&b, path, TRACE_MAGIC, TRACE_VERSION, &diag), 0);
	for (; blocks_next(&b, &err, &diag); k++, cnt++) {
		k += k == missing ? missing_cnt : 0;
		assert_true(k < BLOCKS);
		assert_int_equal(b.kind, 1 + k % 3);
		assert_int_equal(b.len, len_of(k));
		assert_int_equal(b.number, k + 1);
		for (size_t i = 0; i < b.len; i++)
			assert_int_equal(b.plain[i], byte_of(k, i));
	}
	assert_int_equal(err, 0);
	*ret_cut = b.cut_bytes;
	assert_int_equal(blocks_have_holes(&b), missing_cnt > 0);
	blocks_close(&b);
	return cnt;
}

static void change_byte(off_t at)
{
	int fd = open(path, O_RDWR);
	unsigned char byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

/* Wherever the damage is, all other blocks are read. */
static void test_damage(void **state)
{
	uint64_t cut;

	(void)state;
	write_blocks();
	assert_int_equal(read_blocks(BLOCKS, 0, &cut), BLOCKS);
	assert_int_equal(cut, 0);
	for (size_t k = 0; k < BLOCKS; k++) {
		const off_t damaged[] = { starts[k], starts[k + 1] - 1, starts[k] + (off_t)sizeof(struct trace_block) - 1,
					  starts[k] + 9, starts[k] + 12, starts[k] + 15, starts[k] + (off_t)sizeof(struct trace_block) };

		for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
			change_byte(damaged[i]);
			assert_int_equal(read_blocks(k, 1, &cut), BLOCKS - 1);
			change_byte(damaged[i]);
		}
	}
}

static void set_version(uint32_t version)
{
	int fd = open(path, O_RDWR);

	assert_int_equal(pwrite(fd, &version, sizeof(version), (off_t)offsetof(struct trace_header, version)), sizeof(version));
	close(fd);
}

/* A block of another version, older or newer, is refused: a reader that took it for damage would read a trace that never was. */
static void test_version(void **state)
{
	const uint32_t others[] = { 0, TRACE_VERSION + 1, UINT32_MAX };

	(void)state;
	write_blocks();
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct diag diag = DIAG_INIT;
		char expected[64];
		struct blocks b;

		set_version(others[i]);
		assert_int_equal(blocks_open(&b, path, TRACE_MAGIC, TRACE_VERSION, &diag), -EBADMSG);
		blocks_close(&b);
		snprintf(expected, sizeof(expected), "has format version %u; this vprof reads version 1", others[i]);
		assert_int_equal(diag.status, EXIT_DATA);
		assert_non_null(strstr(diag.text, path));
		assert_non_null(strstr(diag.text, expected));
		assert_non_null(strstr(diag.remedy, "the vprof that recorded it"));
	}
	set_version(TRACE_VERSION);
	assert_int_equal(read_blocks(BLOCKS, 0, &(uint64_t){ 0 }), BLOCKS);
}

static void test_cut(void **state)
{
	uint64_t cut;

	(void)state;
	for (size_t k = BLOCKS; k-- > 0; ) {
		write_blocks();
		for (size_t i = 0; i < 3; i++) {
			const off_t ends[] = { starts[k + 1] - 1, starts[k] + 5, starts[k] };

			assert_int_equal(truncate(path, ends[i]), 0);
			assert_int_equal(read_blocks(BLOCKS, 0, &cut), k);
			assert_int_equal(cut, ends[i] - starts[k]);
		}
	}
}

/* One that was read before is read again, near and far. */
static void test_again(void **state)
{
	struct diag diag = DIAG_INIT;
	struct blocks b;
	int err;

	(void)state;
	write_blocks();
	assert_int_equal(blocks_open(&b, path, TRACE_MAGIC, TRACE_VERSION, &diag), 0);
	for (size_t k = 0; k < BLOCKS; k++)
		assert_true(blocks_next(&b, &err, &diag));
	for (size_t turn = 0; turn < 60; turn++) {
		size_t k = turn * turn * 5 % BLOCKS;

		assert_true(blocks_again(&b, (uint64_t)starts[k], &err, &diag));
		assert_int_equal(b.len, len_of(k));
		assert_int_equal(b.plain[b.len - 1], byte_of(k, b.len - 1));
	}
	assert_false(blocks_next(&b, &err, &diag));
	blocks_close(&b);
}

enum { LARGE = 1 << 15, LARGE_BLOCKS = 40, REPEATED = 200 };

/* Bytes that repeat, or random bytes with low values more frequent. */
static void fill(unsigned char *data, size_t block, bool repeats)
{
	unsigned int seed = (unsigned int)block;

	for (size_t i = 0; i < LARGE; i++) {
		unsigned int random = (unsigned int)rand_r(&seed) >> 8;

		data[i] = repeats && i >= REPEATED ? data[i - REPEATED] : (unsigned char)(random % 256 * (random / 256 % 256) / 256);
	}
}

/* After a block that hardly shrinks, the next 15 are stored uncompressed; all are read as they were. */
static void test_stored(void **state)
{
	static unsigned char data[LARGE];
	struct trace_file f = { .fd = -1 };
	struct diag diag = DIAG_INIT;
	struct blocks b;
	int err;

	(void)state;
	assert_int_equal(trace_file_open(&f, path, TRACE_MAGIC, TRACE_VERSION), 0);
	for (size_t k = 0; k < LARGE_BLOCKS; k++) {
		fill(data, k, k < 10 || k > 30);
		assert_true(trace_file_block(&f, BLOCK_CHUNKS, data, LARGE));
		assert_int_equal(f.stored_left, k < 10 ? 0 : k < 26 ? 25 - k : k < 42 ? 41 - k : 0);
	}
	assert_true(trace_file_block(&f, BLOCK_LABELS, "a", 1));
	trace_file_close(&f);
	assert_int_equal(blocks_open(&b, path, TRACE_MAGIC, TRACE_VERSION, &diag), 0);
	for (size_t k = 0; k < LARGE_BLOCKS; k++) {
		assert_true(blocks_next(&b, &err, &diag));
		fill(data, k, k < 10 || k > 30);
		assert_int_equal(b.len, LARGE);
		assert_memory_equal(b.plain, data, LARGE);
	}
	assert_true(blocks_next(&b, &err, &diag));
	assert_false(blocks_next(&b, &err, &diag));
	blocks_close(&b);
}

static uint64_t bytes_of_hard_ones(uint64_t limit)
{
	static unsigned char data[LARGE];
	struct trace_file f = { .fd = -1 };

	assert_int_equal(trace_file_open(&f, path, TRACE_MAGIC, TRACE_VERSION), 0);
	f.limit = limit;
	for (size_t k = 0; k < 8; k++) {
		fill(data, k, false);
		assert_true(trace_file_block(&f, BLOCK_CHUNKS, data, LARGE));
	}
	trace_file_close(&f);
	return f.bytes;
}

/* A limit on the size means as much trace in it as possible: blocks are compressed. */
static void test_limit_compresses(void **state)
{
	(void)state;
	assert_true(bytes_of_hard_ones(0) > 7 * LARGE);
	assert_true(bytes_of_hard_ones(1 << 30) < 8 * LARGE * 95 / 100);
}

/* ---- calls ---- */

enum { BYTES = 96, CALLS = 40, ROUNDS = 60000 };

static size_t one_by_one(struct decoder *d, uint64_t *before, struct raw_call *ret, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt && decode_left(d) >= 8; i++) {
		struct decoder at = *d;
		struct raw_record r;
		uint64_t start = *before;

		raw_decode_record(&at, &start, &r);
		if (at.bad || r.kind != EVENT_NONE || at.at - d->at > 8)
			break;
		ret[i] = (struct raw_call){ r.ticks, r.words[0], r.fid };
		*before = start;
		d->at = at.at;
	}
	return i;
}

/* Numbers of any width, or any bytes; a head may be an event's, or that of no function. */
static size_t make_bytes(struct random *r, unsigned char *data)
{
	struct encoder e = { data, 0, BYTES, false };
	size_t any = random_below(r, 4);

	if (any == 0) {
		for (size_t i = 0; i < BYTES; i++)
			data[i] = (unsigned char)random_below(r, random_below(r, 3) ? 128 : 256);
		return BYTES - random_below(r, 16);
	}
	while (!e.full) {
		uint64_t head = random_below(r, 300), moved = random_below(r, 1u << (1 + random_below(r, 24)));

		if (any == 1 && random_below(r, 9) == 0)
			head = (uint64_t[]){ 0, 1, 2ULL * TRACE_FIDS_MAX, 2ULL * (TRACE_FIDS_MAX + 1), 2ULL * (TRACE_FIDS_MAX + 2) }[random_below(r, 5)];
		else
			head = 2 + 2 * head + (random_below(r, 40) == 0);
		encode_varint(&e, head);
		encode_varint(&e, zigzag(random_below(r, 5) ? (int64_t)moved : -(int64_t)moved));
		encode_varint(&e, random_below(r, 1u << (1 + random_below(r, 24))));
	}
	return e.len;
}

static size_t compare_calls(const unsigned char *data, size_t len, size_t cnt)
{
	struct raw_call expected[CALLS], calls[CALLS];
	struct decoder d = { data, data + len, false }, e = d;
	uint64_t before = 1000, expected_before = 1000;
	size_t taken = one_by_one(&e, &expected_before, expected, cnt);

	assert_int_equal(raw_decode_calls(&d, &before, calls, cnt), taken);
	assert_ptr_equal(d.at, e.at);
	assert_false(d.bad);
	assert_true(before == expected_before);
	for (size_t i = 0; i < taken; i++)
		assert_true(calls[i].start == expected[i].start && calls[i].end == expected[i].end &&
			    calls[i].fid == expected[i].fid);
	return taken;
}

static void test_calls(void **state)
{
	struct random r = { 1 };
	size_t taken = 0;

	(void)state;
	for (size_t round = 0; round < ROUNDS; round++) {
		unsigned char data[BYTES], *exact;
		size_t len = make_bytes(&r, data), cnt = random_below(&r, 5) ? CALLS : random_below(&r, CALLS);

		exact = malloc(len ? len : 1);		/* a byte too far is noticed */
		memcpy(exact, data, len);
		raw_calls_anywhere = round % 2;
		taken += compare_calls(exact, len, cnt);
		free(exact);
	}
	raw_calls_anywhere = false;
	assert_true(taken > 2 * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damage), cmocka_unit_test(test_version),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_stored), cmocka_unit_test(test_limit_compresses),
		cmocka_unit_test(test_calls),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 99;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}

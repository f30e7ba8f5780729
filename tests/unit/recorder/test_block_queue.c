/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_block_queue.c - the producer of blocks waits for no disk, until there are too many; all come out in order, once.
 *
 * The disk is a pipe: nothing more goes in until it is read.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "recorder/block_queue.h"
#include "tests/unit/cmocka_all.h"
#include "trace/format.h"

enum { CAP = 8192, FEW = 100, MANY = 3 * BLOCK_QUEUE_MAX, MAGIC = 4711, HANGS_S = 60 };

static char path[] = "block-queue-XXXXXX";
static struct trace_file file;
static struct encoder block;
static bool memory_is_out;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	return memory_is_out && size == CAP ? NULL : __real_malloc(size);
}

/* A byte of block i; zstd cannot make them smaller. */
static unsigned char byte_of(unsigned int i, size_t at)
{
	uint64_t h = (i * (uint64_t)CAP + at + 1) * 0x9e3779b97f4a7c15ULL;

	h ^= h >> 29;
	return (unsigned char)(h * 0xbf58476d1ce4e5b9ULL >> 56);
}

static void put(struct block_queue *q, unsigned int i)
{
	assert_true(block.len == 0 && block.cap == CAP);
	for (block.len = 0; block.len < CAP; block.len++)
		block.data[block.len] = byte_of(i, block.len);
	block_queue_put(q, 7, &block);
}

static struct block_queue *open_queue(void)
{
	struct block_queue *q;

	memset(&file, 0, sizeof(file));
	block = (struct encoder){ .data = malloc(CAP), .cap = CAP };
	assert_int_equal(trace_file_open(&file, path, MAGIC, 1), 0);
	fcntl(file.fd, F_SETFL, 0);		/* a slow disk has its writer wait; so the pipe does */
	assert_int_equal(block_queue_open(&file, &q), 0);
	return q;
}

static void close_all(void)
{
	assert_int_equal(trace_file_close(&file), 0);
	free(block.data);
}

static int open_pipe(void)
{
	int fd;

	strcpy(path, "block-queue-XXXXXX");
	close(mkstemp(path));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	fcntl(fd, F_SETFL, 0);
	fcntl(fd, F_SETPIPE_SZ, 4096);
	return fd;
}

/* false: the other end is closed. */
static bool read_all(int fd, void *to, size_t len)
{
	ssize_t n;

	for (char *at = to; len; at += n, len -= (size_t)n) {
		n = read(fd, at, len);
		if (n <= 0)
			return false;
	}
	return true;
}

struct reader {
	int fd;
	unsigned int cnt;		/* blocks in order */
	bool wrong;
	pthread_t thread;
};

static void *read_blocks(void *context)
{
	static unsigned char packed[4 * CAP], data[CAP];
	struct reader *r = context;
	struct trace_header header;
	struct trace_block b;
	struct trace_place place;

	r->wrong = !read_all(r->fd, &header, sizeof(header)) || header.magic != MAGIC;
	while (!r->wrong && read_all(r->fd, &b, sizeof(b))) {
		r->wrong = b.kind != 7 || b.stored_bytes > sizeof(packed) || !read_all(r->fd, packed, b.stored_bytes) ||
			   b.stored_bytes < sizeof(place) || !memcpy(&place, packed, sizeof(place)) ||
			   place.number != r->cnt + 1 || place.checksum != trace_place_checksum(&b, &place) ||
			   ZSTD_decompress(data, sizeof(data), packed + sizeof(place), b.stored_bytes - sizeof(place)) != CAP;
		for (size_t at = 0; at < CAP && !r->wrong; at++)
			r->wrong = data[at] != byte_of(r->cnt, at);
		r->cnt++;
	}
	return NULL;
}

static void start_reading(struct reader *r)
{
	assert_int_equal(pthread_create(&r->thread, NULL, read_blocks, r), 0);
}

static void all_were_read(struct reader *r, unsigned int cnt)
{
	pthread_join(r->thread, NULL);
	assert_false(r->wrong);
	assert_int_equal(r->cnt, cnt);
	close(r->fd);
	unlink(path);
}

/* The reader starts when all blocks have been put in: if one waited for the disk, this would never end. */
static void test_waits_for_no_disk(void **state)
{
	struct reader r = { .fd = open_pipe() };
	struct block_queue *q = open_queue();

	(void)state;
	for (unsigned int i = 0; i < FEW; i++)
		put(q, i);
	start_reading(&r);
	block_queue_close(q);
	close_all();
	all_were_read(&r, FEW);
}

/* More than wait at once, with memory for more than two and without. */
static void test_all_in_order(void **state)
{
	(void)state;
	for (int out = 0; out < 2; out++) {
		struct reader r = { .fd = open_pipe() };
		struct block_queue *q = open_queue();

		memory_is_out = out;
		start_reading(&r);
		for (unsigned int i = 0; i < MANY; i++)
			put(q, i);
		memory_is_out = false;
		block_queue_close(q);
		close_all();
		all_were_read(&r, MANY);
	}
}

/* Blocks that do not fit are dropped, and no thread waits for them. */
static void test_a_full_disk(void **state)
{
	struct block_queue *q;

	(void)state;
	strcpy(path, "block-queue-XXXXXX");
	close(mkstemp(path));
	q = open_queue();
	file.limit = 20 * CAP;
	for (unsigned int i = 0; i < MANY; i++)
		put(q, i);
	block_queue_close(q);
	assert_true(file.full && file.bytes > CAP && file.bytes <= 20 * CAP);
	close_all();
	unlink(path);
}

static void test_nothing(void **state)
{
	struct block_queue *q;

	(void)state;
	strcpy(path, "block-queue-XXXXXX");
	close(mkstemp(path));
	q = open_queue();
	block_queue_put(q, 7, &block);
	block_queue_close(q);
	block_queue_close(NULL);
	assert_int_equal(file.bytes, sizeof(struct trace_header));
	close_all();
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_for_no_disk),
		cmocka_unit_test(test_all_in_order),
		cmocka_unit_test(test_a_full_disk),
		cmocka_unit_test(test_nothing),
	};

	alarm(HANGS_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_reader_damage.c - traces that are cut, damaged, hostile, or no traces: an error or a sound
 * model, never a crash.
 */
#include <signal.h>
#include <sys/resource.h>
#include "tests/unit/raw_trace.h"

static char *read_file(size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	char *data = malloc(1 << 20);

	*ret_len = fread(data, 1, 1 << 20, f);
	fclose(f);
	return data;
}

static int read_bytes(const char *data, size_t len, struct trace **ret, struct diag *diag)
{
	FILE *f = fopen(path, "wb");

	fwrite(data, 1, len, f);
	fclose(f);
	return trace_read(path, NULL, ret, diag);
}

static void make_sample(void)
{
	static const struct rec recs[] = {
		{ 1, EVENT_BEGIN, { 10, 1, 7, 0 } }, { 1, EVENT_ENQUEUE, { 15, 500, 600 } },
		{ 1, EVENT_WAIT, { 20, 50, WAIT_LOCK, 99, 2 << 1, 45 } },
		{ 1, EVENT_NONE, { 1, 18, 52 } }, { 2, EVENT_DEQUEUE, { 25, 500, 600 } },
		{ 2, EVENT_RESUME, { 26, 1, 7 } }, { 2, EVENT_LOSS, { 35, 25, 17 } },
		{ 2, EVENT_FRAME, { 27, 30, 2 } }, { 2, EVENT_END, { 60, 1, 7 } },
		{ 2, EVENT_OPEN_FRAME, { 5, 1 } }, { 1, EVENT_CREATE, { 61, 3 } },
		{ 3, EVENT_START, { 63, 10, 65, 0 } }, { 3, EVENT_WORK, { 64, 3, 1 } },
	};

	begin_trace();
	for (size_t i = 0; i < sizeof(recs) / sizeof(recs[0]); i++)
		put_rec(&recs[i]);
	trace_file_close(&file);
}

/* Cut anywhere, the trace is read to its last whole block, or refused where no clock is left. */
static void test_cut(void **state)
{
	size_t len;
	char *data;
	unsigned int readable = 0;

	(void)state;
	make_sample();
	data = read_file(&len);
	for (size_t cut = 0; cut < len; cut++) {
		struct diag diag = DIAG_INIT;
		struct trace *t = NULL;

		if (read_bytes(data, cut, &t, &diag)) {
			assert_int_equal(diag.status, EXIT_DATA);
			assert_true(strstr(diag.text, path) != NULL);
			continue;
		}
		readable++;
		assert_true(t->losses.cut_bytes < len);
		trace_free(t);
	}
	assert_true(readable > len / 2);
	free(data);
	unlink(path);
}

/* Cut anywhere and gone on with: what stands behind the last whole block is gone, and what is added is read. */
static void test_going_on(void **state)
{
	struct trace_block block;
	size_t len, whole = sizeof(struct trace_header);
	char *data;

	(void)state;
	make_sample();
	data = read_file(&len);
	for (size_t cut = 0; cut < len; cut++) {
		struct trace_file f = { .fd = -1 };
		struct diag diag = DIAG_INIT;
		struct trace *t = NULL;

		memcpy(&block, data + whole, sizeof(block));
		if (cut >= whole + sizeof(block) + block.stored_bytes)
			whole += sizeof(block) + block.stored_bytes;
		if (read_bytes(data, cut, &t, &diag) == 0)
			trace_free(TAKE_PTR(t));
		if (trace_file_reopen(&f, path, TRACE_MAGIC, TRACE_VERSION)) {
			assert_true(cut < sizeof(struct trace_header));
			trace_file_close(&f);
			continue;
		}
		assert_int_equal(f.bytes, whole);
		assert_true(trace_file_block(&f, BLOCK_ANCHORS, "\1\1\1\2\2\2", 6));
		assert_int_equal(trace_file_close(&f), 0);
		assert_int_equal(trace_read(path, NULL, &t, &diag), 0);
		assert_int_equal(t->losses.cut_bytes, 0);
		trace_free(t);
	}
	free(data);
	unlink(path);
}

/* Random damage, with and without a right checksum: an error or a sound model, never a crash. */
static void test_damage(void **state)
{
	size_t len;
	char *data, *copy;

	(void)state;
	make_sample();
	data = read_file(&len);
	copy = malloc(len);
	for (unsigned int seed = 0; seed < 1000; seed++) {
		unsigned int random = seed, changes = 1 + seed % 4;
		struct diag diag = DIAG_INIT;
		struct trace *t = NULL;

		memcpy(copy, data, len);
		while (changes--)
			copy[(size_t)rand_r(&random) % len] = (char)rand_r(&random);
		if (read_bytes(copy, len, &t, &diag))
			assert_int_equal(diag.status, EXIT_DATA);
		trace_free(t);
	}
	free(copy);
	free(data);
	unlink(path);
}

/* Blocks whose bytes are random: they pass the checksum, so the records themselves are hostile. */
static void test_hostile(void **state)
{
	(void)state;
	for (unsigned int seed = 0; seed < 1000; seed++) {
		unsigned int random = seed, left = 64 + seed % 512;
		struct diag diag = DIAG_INIT;
		struct trace *t = NULL;
		unsigned char data[1024];
		struct encoder e = { data, 0, sizeof(data), false };

		begin_trace();
		while (left--)
			put(&e, rand_r(&random) % 3 ? (uint64_t)rand_r(&random) % 40 :
			    (uint64_t)rand_r(&random) << (rand_r(&random) % 34));
		trace_file_block(&file, 1 + seed % 6, e.data, e.len);
		put_rec(&(struct rec){ 1, EVENT_BEGIN, { 10, 1, 7, 0 } });
		/* Well-formed chunks of wild numbers. */
		for (int i = 0; i < 50; i++) {
			struct rec rec = { rand_r(&random) % 3 + 1,
					   rand_r(&random) % EVENT_CNT, { 0 } };

			for (int w = 0; w < 6; w++)
				rec.words[w] = rand_r(&random) % 4 ? (uint64_t)rand_r(&random) % 50 :
					~(uint64_t)0 >> rand_r(&random) % 64;
			if (rec.kind == EVENT_NONE)
				rec.words[0] = rec.words[0] % 9 + 1;
			put_rec(&rec);
		}
		trace_file_close(&file);
		if (trace_read(path, NULL, &t, &diag))
			assert_int_equal(diag.status, EXIT_DATA);
		trace_free(t);
		unlink(path);
	}
}

/* The disk fills up in the middle of a block: what was whole before is read, nothing is cut. */
static void test_disk_full(void **state)
{
	struct rlimit before, small;
	struct trace *t;
	unsigned int cnt = 0;

	(void)state;
	begin_trace();
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ 2000, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	while (!file.full) {
		put_rec(&(struct rec){ 1, EVENT_NONE, { 1, 10 + cnt, 11 + cnt } });
		cnt++;
	}
	put_rec(&(struct rec){ 1, EVENT_NONE, { 1, 5, 6 } });
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	t = read_trace(NULL);
	assert_true(cnt > 10);
	assert_int_equal(t->invocations.cnt, cnt - 1);
	assert_int_equal(t->losses.cut_bytes, 0);
	trace_free(t);
	unlink(path);
}

static void test_not_a_trace(void **state)
{
	struct diag diag = DIAG_INIT;
	struct trace *t = NULL;

	char text[] = "not-a-trace-XXXXXX";
	int fd = mkstemp(text);

	(void)state;
	assert_int_equal(write(fd, "text\n", 5), 5);
	close(fd);
	assert_true(trace_read(text, NULL, &t, &diag) < 0);
	assert_int_equal(diag.status, EXIT_DATA);
	assert_non_null(strstr(diag.text, "is not a vprof trace"));
	unlink(text);
	assert_true(trace_read("/dev/null", NULL, &t, &diag) < 0);
	assert_int_equal(diag.status, EXIT_DATA);
	assert_string_equal(diag.text, "cannot read trace '/dev/null': it is not a plain file");
	assert_true(trace_read("/nowhere/t", NULL, &t, &diag) < 0);
	assert_int_equal(diag.status, EXIT_DATA);
	assert_null(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut), cmocka_unit_test(test_going_on), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_not_a_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_jit_names.c - names of code that a process made itself: what its files say, what was written last, and files that are not
 * to be trusted or make no sense.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/banned.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "recorder/stacks/jit_names.h"
#include "tests/unit/cmocka_all.h"

static char dir[] = "/tmp/test_jit_names.XXXXXX";

static char *write_bytes(const char *name, const void *bytes, size_t len)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
	return path;
}

static struct jit_names *read_map(const char *text)
{
	char *path = write_bytes("map", text, strlen(text));
	struct jit_names *n = jit_names_read_files(path, NULL, geteuid());

	unlink(path);
	free(path);
	return n;
}

static void is_at(const struct jit_names *n, uint64_t address, const char *name, const char *file, int line)
{
	int found_line = 0;
	const char *found_file = NULL, *found = n ? jit_names_find(n, address, &found_file, &found_line) : NULL;

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(found_line, line);
	if (file)
		assert_string_equal(found_file, file);
	else
		assert_null(found_file);
}

static void test_map(void **state)
{
	struct jit_names *n = read_map("1000 10 LazyCompile:*handle /srv/app.js:12:3\n1010 8 Builtin:Call\n"
				       "2000 20 Lcom/acme/Shop;::sell\nnonsense\n3000 0 empty\n"
				       "4000 10 LazyCompile:~ /srv/app.js:7:1\n5000 10 JS:^sum file:///srv/m.mjs:3:9\n6000 10 cut");

	(void)state;
	assert_non_null(n);
	is_at(n, 0xfff, NULL, NULL, 0);
	is_at(n, 0x1000, "handle", "app.js", 12);
	is_at(n, 0x100f, "handle", "app.js", 12);
	is_at(n, 0x1010, "Builtin:Call", NULL, 0);
	is_at(n, 0x1018, NULL, NULL, 0);
	is_at(n, 0x201f, "Lcom/acme/Shop;::sell", NULL, 0);
	is_at(n, 0x3000, NULL, NULL, 0);
	is_at(n, 0x4000, "(anonymous)", "app.js", 7);
	is_at(n, 0x5000, "sum", "m.mjs", 3);
	is_at(n, 0x6000, NULL, NULL, 0);
	jit_names_free(n);
}

/* Memory is used again. */
static void test_latest(void **state)
{
	struct jit_names *n = read_map("1000 100 old\n1080 10 inside\n2000 10 first\n2000 10 second\n3000 10 a\n2ff0 40 over\n");

	(void)state;
	is_at(n, 0x1000, NULL, NULL, 0);
	is_at(n, 0x1085, "inside", NULL, 0);
	is_at(n, 0x2000, "second", NULL, 0);
	is_at(n, 0x3005, "over", NULL, 0);
	jit_names_free(n);
}

/* By definition: the last line that has the address, if nothing written later touches its code. */
static void test_latest_against_definition(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct { uint64_t start, end; } all[12];
		_cleanup_(str_release) struct str text = STR_INIT;
		struct jit_names *n;

		for (unsigned i = 0; i < 12; i++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			all[i].start = 0x100 + (random >> 33) % 64;
			all[i].end = all[i].start + 1 + (random >> 45) % 12;
			str_addf(&text, "%lx %lx f%u\n", (unsigned long)all[i].start, (unsigned long)(all[i].end - all[i].start), i);
		}
		n = read_map(str_cstr(&text));
		for (uint64_t at = 0xf0; at < 0x160; at++) {
			_cleanup_(freep) char *wanted = NULL;

			for (unsigned i = 0; i < 12; i++) {
				bool is_whole = all[i].start <= at && at < all[i].end;

				for (unsigned j = i + 1; j < 12 && is_whole; j++)
					is_whole = all[j].end <= all[i].start || all[i].end <= all[j].start;
				if (is_whole)
					wanted = xasprintf("f%u", i);
			}
			is_at(n, at, wanted, NULL, 0);
		}
		jit_names_free(n);
	}
}

static void test_inert(void **state)
{
	struct jit_names *n = read_map("1000 10 evil\033[2Jname\xc2\x9b\n");

	(void)state;
	is_at(n, 0x1000, "evil?[2Jname??", NULL, 0);
	jit_names_free(n);
}

static void test_not_trusted(void **state)
{
	char *path = write_bytes("perf-1.map", "1000 10 f\n", 10), *link = xasprintf("%s/link", dir), *fifo = xasprintf("%s/fifo", dir);
	struct jit_names *n;

	(void)state;
	assert_int_equal(symlink(path, link), 0);
	assert_null(jit_names_read_files(link, NULL, geteuid()));
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_null(jit_names_read_files(fifo, NULL, geteuid()));
	assert_null(jit_names_read_files(dir, NULL, geteuid()));
	assert_null(jit_names_read_files("/none/such", NULL, geteuid()));
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		assert_null(jit_names_read_files(path, NULL, 0));
		n = jit_names_read_files(path, NULL, 12345);
		assert_non_null(n);
		jit_names_free(n);
	}
	unlink(link);
	unlink(fifo);
	unlink(path);
	free(link);
	free(fifo);
	free(path);
}

static void add(struct str *s, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		str_addc(s, ((const char *)bytes)[i]);
}

static void add_load(struct str *s, uint64_t address, uint64_t bytes, const char *name)
{
	uint32_t head[] = { 0, (uint32_t)(16 + 40 + strlen(name) + 1), 0, 0, 7, 7 };
	uint64_t body[] = { address, address, bytes, 1 };

	add(s, head, sizeof(head));
	add(s, body, sizeof(body));
	add(s, name, strlen(name) + 1);
}

static void add_move(struct str *s, uint64_t from, uint64_t address, uint64_t bytes)
{
	uint32_t head[] = { 1, 16 + 48, 0, 0, 7, 7 };
	uint64_t body[] = { address, from, address, bytes, 1 };

	add(s, head, sizeof(head));
	add(s, body, sizeof(body));
}

static void make_dump(struct str *s)
{
	uint32_t head[] = { 0x4a695444, 1, 40, 62, 0, 7, 0, 0, 0, 0 };

	add(s, head, sizeof(head));
	add_load(s, 0x1000, 0x10, "sell");
	add_load(s, 0x2000, 0x10, "JS:*buy /srv/app.js:4:1");
	add_move(s, 0x1000, 0x3000, 0x10);
	add_load(s, 0x1000, 0x10, "other");
}

static void test_dump(void **state)
{
	_cleanup_(str_release) struct str s = STR_INIT;
	struct jit_names *n;
	char *path;

	(void)state;
	make_dump(&s);
	path = write_bytes("jit-7.dump", str_cstr(&s), s.len);
	n = jit_names_read_files(NULL, path, geteuid());
	assert_non_null(n);
	is_at(n, 0x1008, "other", NULL, 0);
	is_at(n, 0x2008, "buy", "app.js", 4);
	is_at(n, 0x3008, "sell", NULL, 0);
	jit_names_free(n);
	unlink(path);
	free(path);
}

/* Read to an end, whatever it holds. */
static void test_damaged_dump(void **state)
{
	uint64_t random = 3;

	(void)state;
	for (int round = 0; round < 500; round++) {
		_cleanup_(str_release) struct str s = STR_INIT;
		_cleanup_(freep) char *bytes = NULL, *path = NULL;
		size_t len;

		make_dump(&s);
		bytes = xmalloc(s.len);
		memcpy(bytes, str_cstr(&s), s.len);
		for (int i = 0; i < 3; i++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			bytes[12 + (random >> 33) % (s.len - 12)] = (char)(random >> 50);
		}
		len = round % 2 ? s.len : (random >> 20) % s.len;
		path = write_bytes("jit-7.dump", bytes, len);
		jit_names_free(jit_names_read_files(NULL, path, geteuid()));
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map), cmocka_unit_test(test_latest), cmocka_unit_test(test_latest_against_definition),
		cmocka_unit_test(test_inert), cmocka_unit_test(test_not_trusted), cmocka_unit_test(test_dump),
		cmocka_unit_test(test_damaged_dump),
	};
	int failed;

	if (!mkdtemp(dir))
		return 99;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return failed;
}
